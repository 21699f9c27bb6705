/* SPDX-License-Identifier: GPL-2.0 */
/* Let KUnit tests run code as a task that is being killed does. */
#ifndef _MM_OWNER_TESTS_KILL_H
#define _MM_OWNER_TESTS_KILL_H

#include <linux/sched/signal.h>

/* From now on fatal_signal_pending(current) is true. The test itself is not killed. */
static inline void set_fatal_signal(void)
{
	sigaddset(&current->pending.signal, SIGKILL);
	set_thread_flag(TIF_SIGPENDING);
}

static inline void clear_fatal_signal(void)
{
	sigdelset(&current->pending.signal, SIGKILL);
	clear_thread_flag(TIF_SIGPENDING);
}

#endif /* _MM_OWNER_TESTS_KILL_H */
