/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for KUnit tests of code that stops when its task is killed. */
#ifndef _MM_OWNER_TESTS_KILL_H
#define _MM_OWNER_TESTS_KILL_H

#include <linux/sched/signal.h>
#include <linux/spinlock.h>

/* From now on fatal_signal_pending(current) is true. The test itself is not killed. */
static inline void set_fatal_signal(void)
{
	spin_lock_irq(&current->sighand->siglock);
	sigaddset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
}

static inline void clear_fatal_signal(void)
{
	spin_lock_irq(&current->sighand->siglock);
	sigdelset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
}

#endif /* _MM_OWNER_TESTS_KILL_H */
