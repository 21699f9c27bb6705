// SPDX-License-Identifier: GPL-2.0
/*
 * The 16-byte record: losses, times in ns, and references.
 */

#include <linux/init.h>
#include <linux/sched/clock.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "record.h"

DEFINE_PER_CPU(long[OWNER_LOSS_REASONS], owner_losses);

/* Add up a count of losses over all CPUs. */
long owner_read_losses(enum owner_loss reason)
{
	unsigned int cpu;
	long sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(owner_losses[reason], cpu);
	return sum;
}

/* Value of local_clock() when owner_ticks() was 0, or up to a tick more. */
static u64 clock_at_tick_0;

static int __init owner_time_init(void)
{
	u64 now = owner_ticks();
	u64 first = (u64)INITIAL_JIFFIES >> OWNER_TICKS_SHIFT;

	/* The first tick can have begun before the clock: times are later then, not negative. */
	clock_at_tick_0 = max(local_clock(), (now - first) * OWNER_TICK_NS) - now * OWNER_TICK_NS;
	return 0;
}
early_initcall(owner_time_init);

/**
 * owner_record_time_to_ns() - convert a record's time to the clock of page_owner and of the log
 * @time: the record's time
 *
 * The offset between ticks and that clock is read once, at boot, although they drift: a
 * record must show the same timestamp each time it is read.
 *
 * Return: ns since boot.
 */
u64 owner_record_time_to_ns(u32 time)
{
	u64 now = owner_ticks();

	return clock_at_tick_0 + (now - (u32)((u32)now - time)) * OWNER_TICK_NS;
}

/**
 * owner_record_get_refs() - take references to the handles of a record
 * @owner: a copy of the record, read under the RCU read lock that is still held. Its
 *	task is set to 0 if the depot has evicted it.
 *
 * Return: false if the depot has evicted the chain: the object has been freed.
 */
bool owner_record_get_refs(struct owner_record *owner)
{
	if (!stack_depot_get(owner->stack))
		return false;
	if (owner->task && !stack_depot_get(owner->task))
		owner->task = 0;
	return true;
}

/**
 * owner_record_put_refs() - drop the references that owner_record_get_refs() took
 * @owner: a copy of the record
 */
void owner_record_put_refs(const struct owner_record *owner)
{
	stack_depot_put(owner->stack);
	stack_depot_put(owner->task);
}
