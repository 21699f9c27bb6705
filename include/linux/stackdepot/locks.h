/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPUs may wait for the locks of the stack depot. <linux/stackdepot.h> includes this file. */
#ifndef _LINUX_STACKDEPOT_LOCKS_H
#define _LINUX_STACKDEPOT_LOCKS_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

/*
 * Locks of the depot that this CPU holds or waits for, and STACK_DEPOT_FORBIDDEN for each
 * stack_depot_forbid_locks().
 */
DECLARE_PER_CPU(unsigned int, stack_depot_locks);

#define STACK_DEPOT_FORBIDDEN	BIT(16)

/**
 * stack_depot_may_lock - Check whether stack depot may wait for its locks
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
 * stack_depot_forbid_locks - Let stack depot wait for no lock on this CPU
 *
 * Until stack_depot_allow_locks(), stack depot stores new stack traces only if its lock is
 * free, and irq_work evicts those whose last reference is dropped.
 *
 * Context: Any context. Disables preemption.
 */
static __always_inline void stack_depot_forbid_locks(void)
{
	preempt_disable();
	this_cpu_add(stack_depot_locks, STACK_DEPOT_FORBIDDEN);
}

/**
 * stack_depot_allow_locks - Undo stack_depot_forbid_locks()
 */
static __always_inline void stack_depot_allow_locks(void)
{
	this_cpu_sub(stack_depot_locks, STACK_DEPOT_FORBIDDEN);
	preempt_enable();
}

#endif /* _LINUX_STACKDEPOT_LOCKS_H */
