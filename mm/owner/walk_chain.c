// SPDX-License-Identifier: GPL-2.0
/*
 * What call chains hold, as it was counted when objects and pages came and went.
 *
 * A chain's counters stand beside it in the depot. CPUs count by themselves and
 * pass on what they have when they let go of the chain, when they go offline, and
 * when a reader asks, see handles.c. So all chains can be told what they hold without
 * a walk over memory; but not how old that is, and nothing of what samples stand for.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/stackdepot.h>

#include "slab_records.h"
#include "walk.h"

/**
 * owner_chains_count_all - do the counters tell what all slab objects add up to?
 *
 * As it is now: who then counts may meet the first sample of a rule that was just
 * written, and takes it for one object.
 *
 * Return: false if some owners were sampled: each of those stands for others.
 */
bool owner_chains_count_all(void)
{
	long sampled = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sampled += READ_ONCE(per_cpu(owner_nr_sampled, cpu));
	return !sampled;
}

/* Each record is an object. What takes less than was asked for was read amid changes. */
static struct owner_estimate holds_objects(const long *counters)
{
	long bytes = max(counters[OWNER_BYTES], 0L);

	return (struct owner_estimate){
		.records = counters[OWNER_OBJECTS],
		.objects = counters[OWNER_OBJECTS],
		.bytes = bytes,
		.held = max(counters[OWNER_HELD], bytes),
	};
}

static struct owner_estimate holds_pages(const long *counters)
{
	u64 bytes = (u64)counters[OWNER_PAGES] << PAGE_SHIFT;

	return (struct owner_estimate){
		.records = counters[OWNER_PAGES],
		.objects = counters[OWNER_PAGES],
		.bytes = bytes,
		.held = bytes,
	};
}

/**
 * owner_chains_next - find the next call chain that holds slab objects, or pages
 * @walk: from walk->place on, 0 at first; it holds the chain until it is asked for the next
 * @which: OWNER_OBJECTS or OWNER_PAGES
 * @holds: what of those the chain holds
 *
 * After owner_counters_flush(). What comes and goes on several CPUs meanwhile may be
 * seen to go only, or to come only.
 *
 * Return: 1 if there is one: walk->held.stack; 0 if there is none; -ERESTARTSYS if a
 *	signal came.
 */
int owner_chains_next(struct owner_cursor *walk, enum owner_counter which,
		       struct owner_estimate *holds)
{
	long counters[STACK_DEPOT_COUNTERS];

	for (;;) {
		owner_cursor_release(walk);
		if (signal_pending(current))
			return -ERESTARTSYS;
		walk->held.stack = stack_depot_next_counted(&walk->place);
		if (!walk->held.stack)
			return 0;
		if (stack_depot_counters(walk->held.stack, counters) &&
		    counters[which] > 0)
			break;
	}
	*holds = which == OWNER_PAGES ? holds_pages(counters) : holds_objects(counters);
	return 1;
}
