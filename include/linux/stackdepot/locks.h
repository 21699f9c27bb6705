/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPUs may take the locks of the stack depot. <linux/stackdepot.h> includes this file. */
#ifndef _LINUX_STACKDEPOT_LOCKS_H
#define _LINUX_STACKDEPOT_LOCKS_H

#include <linux/percpu.h>
#include <linux/preempt.h>

/* Locks of the depot that this CPU holds, waits for, or must not take. */
DECLARE_PER_CPU(unsigned int, stack_depot_locks);

/**
 * stack_depot_may_lock - Check whether stack depot may take its locks
 *
 * Context: Any context.
 *
 * Return: false in NMI, if this has interrupted the holder of a lock or a CPU that waits for
 *	   one, and after stack_depot_forbid_locks()
 */
static __always_inline bool stack_depot_may_lock(void)
{
	return !in_nmi() && !this_cpu_read(stack_depot_locks);
}

/**
 * stack_depot_forbid_locks - Let stack depot take no lock on this CPU
 *
 * Until stack_depot_allow_locks(), stack depot behaves as in NMI: new stack traces are
 * refused, and irq_work evicts those whose last reference is dropped.
 *
 * Context: Any context. Disables preemption.
 */
static __always_inline void stack_depot_forbid_locks(void)
{
	preempt_disable();
	this_cpu_inc(stack_depot_locks);
}

/**
 * stack_depot_allow_locks - Undo stack_depot_forbid_locks()
 */
static __always_inline void stack_depot_allow_locks(void)
{
	this_cpu_dec(stack_depot_locks);
	preempt_enable();
}

#endif /* _LINUX_STACKDEPOT_LOCKS_H */
