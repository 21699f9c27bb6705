// SPDX-License-Identifier: GPL-2.0
/*
 * Walking the call chains that hold something, by the depot's counters.
 *
 * Each chain's counters are beside it in the depot. A CPU adds to counters of its own
 * first; stack_depot_read_counters() adds them up. Counters save a walk over memory, but
 * have no ages. OWNER_OBJECTS and OWNER_BYTES count a sample as one object, OWNER_HELD has the
 * bytes of all objects that it stands for.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_refs.h>
#include <linux/string.h>

#include "walk.h"

/*
 * Other CPUs may change the counters between two reads. Correct values that cannot be:
 * negative bytes, or fewer held bytes than requested bytes.
 */
static struct owner_estimate estimate_objects(const long *counters)
{
	long bytes = max(counters[OWNER_BYTES], 0L);

	return (struct owner_estimate){
		.records = counters[OWNER_OBJECTS],
		.objects = counters[OWNER_OBJECTS],
		.bytes = bytes,
		.held = max(counters[OWNER_HELD], bytes),
	};
}

static struct owner_estimate estimate_pages(const long *counters)
{
	u64 bytes = (u64)counters[OWNER_PAGES] << PAGE_SHIFT;

	return (struct owner_estimate){
		.records = counters[OWNER_PAGES],
		.objects = counters[OWNER_PAGES],
		.bytes = bytes,
		.held = bytes,
	};
}

/* Enough for most chains. */
#define READ_ATTEMPTS	4

/*
 * Read the counters of a chain until two reads in a row agree: then they are what the chain
 * held at one moment. One read looks at the CPUs one after the other. If it is interrupted
 * on the way, it sees objects that are allocated on a CPU that it has not reached yet, and
 * does not see that they are freed on one that it has passed: thousands may be counted that
 * never existed at the same time.
 */
static bool read_counters(depot_stack_handle_t stack, long *counters)
{
	long again[STACK_DEPOT_COUNTERS];
	unsigned int attempts = 0;

	do {
		if (!stack_depot_read_counters(stack, counters) ||
		    !stack_depot_read_counters(stack, again))
			return false;
	} while (memcmp(counters, again, sizeof(again)) && ++attempts < READ_ATTEMPTS);
	return true;
}

/* Leave a reference to the next chain for which @which is positive in cursor->ref. */
static int find_chain(struct owner_cursor *cursor, enum owner_counter which, long *counters)
{
	int error;

	for (;;) {
		owner_cursor_put_refs(cursor);
		/* owner_cursor_yield() looks for a signal only every 20 ms: look now. */
		error = owner_cursor_has_signal(cursor) ? -ERESTARTSYS : owner_cursor_yield(cursor);
		if (error)
			return error;
		cursor->found_pos = cursor->pos;
		cursor->ref.stack = stack_depot_next_counted(&cursor->pos);
		if (!cursor->ref.stack)
			return 0;
		if ((owner_chain_sums_read(cursor->sums, cursor->ref.stack, counters) ||
		     read_counters(cursor->ref.stack, counters)) && counters[which] > 0)
			return 1;
	}
}

static int next_slab_chain(struct owner_cursor *cursor, struct owner_object *object)
{
	long counters[STACK_DEPOT_COUNTERS];
	int found = find_chain(cursor, OWNER_OBJECTS, counters);

	if (found > 0)
		*object = (struct owner_object){
			.source = OWNER_SOURCE_SLAB,
			.owner.stack = cursor->ref.stack,
			.counted = estimate_objects(counters),
		};
	return found;
}

static int next_page_chain(struct owner_cursor *cursor, struct owner_object *object)
{
	long counters[STACK_DEPOT_COUNTERS];
	int found = find_chain(cursor, OWNER_PAGES, counters);

	if (found > 0)
		*object = (struct owner_object){
			.source = OWNER_SOURCE_PAGE,
			.owner.stack = cursor->ref.stack,
			.counted = estimate_pages(counters),
		};
	return found;
}

/*
 * Some chains are read at moments of their own: an object that is freed during the walk, and
 * one that is allocated through another chain instead, may both be counted.
 */
const struct owner_source_ops owner_slab_chain_source = {
	.next	= next_slab_chain,
};

const struct owner_source_ops owner_page_chain_source = {
	.next	= next_page_chain,
};
