/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for KUnit tests of code that stops when its task is killed. */
#ifndef _MM_OWNER_TESTS_KILL_H
#define _MM_OWNER_TESTS_KILL_H

#include <linux/sched/signal.h>

/* Make fatal_signal_pending(current) return @pending. The test itself is not killed. */
static inline void set_fatal_signal(bool pending)
{
	unsigned long flags;

	if (!lock_task_sighand(current, &flags))
		return;
	if (pending)
		sigaddset(&current->pending.signal, SIGKILL);
	else
		sigdelset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	unlock_task_sighand(current, &flags);
}

#endif /* _MM_OWNER_TESTS_KILL_H */
