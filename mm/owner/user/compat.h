/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Older kernels have other names of workqueues, task work that may allocate, and flags of mappings
 * that are a number.
 */
#ifndef _MM_OWNER_USER_COMPAT_H
#define _MM_OWNER_USER_COMPAT_H

#include <linux/task_work.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#ifdef timer_container_of

/* How to queue task work where nothing may be allocated: it never is. */
#define OWNER_TASK_WORK_RESUME	TWA_RESUME

#else

#define EMPTY_VMA_FLAGS		0
#define system_dfl_wq		system_unbound_wq
#define OWNER_TASK_WORK_RESUME	(TWA_RESUME | TWAF_NO_ALLOC)

#endif

#endif /* _MM_OWNER_USER_COMPAT_H */
