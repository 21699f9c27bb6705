// SPDX-License-Identifier: GPL-2.0
/*
 * Walking the per-CPU areas that have an owner.
 *
 * A reader holds RCU only while it looks for one record. To continue, it uses the
 * numbers of the records: they increase along a bucket, so each record is found once.
 */

#include <linux/bits.h>
#include <linux/numa.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>

#include "percpu.h"
#include "walk.h"

/* A position is a bucket and a number. Together they fit into a file's position. */
#define NUMBER_BITS	48
#define NUMBER_MASK	GENMASK_ULL(NUMBER_BITS - 1, 0)

/* Hold the first area of this bucket, from walk->place on, that has not gone. */
static struct owner_percpu_record *hold_next(struct owner_cursor *walk, struct list_head *bucket)
{
	struct owner_percpu_record *record;

	list_for_each_entry_rcu(record, bucket, node) {
		if (record->number < (walk->place & NUMBER_MASK))
			continue;
		walk->held = record->owner;
		/* A record's references are dropped only after it left the table. */
		if (owner_record_get(&walk->held)) {
			walk->place = (walk->place & ~NUMBER_MASK) | (record->number + 1);
			return record;
		}
		walk->held.handle_pair = 0;
	}
	return NULL;
}

/**
 * owner_percpu_next - find the next per-CPU area that has an owner
 * @walk: between owner_cursor_begin() and owner_cursor_end(), from walk->place on
 * @object: where it is described
 *
 * A place is a bucket in the upper bits, and in the lower the least number that
 * has not been found in it.
 *
 * Return: true if there is one.
 */
bool owner_percpu_next(struct owner_cursor *walk, struct owner_object *object)
{
	struct owner_percpu_record *record = NULL;
	u64 bucket;

	owner_cursor_release(walk);
	rcu_read_lock();
	while (owner_percpu_table && !record) {
		bucket = walk->place >> NUMBER_BITS;
		if (bucket >> OWNER_PERCPU_TABLE_BITS)
			break;
		record = hold_next(walk, &owner_percpu_table[bucket]);
		if (!record)
			walk->place = (bucket + 1) << NUMBER_BITS;
	}
	if (record) {
		object->owner = walk->held;
		object->cache = "percpu";
		object->size = record->size;
		object->slab_size = record->size;
		object->index = 0;
		object->nid = NUMA_NO_NODE;
		object->address = record->area;
		/* It has a page on each CPU. */
		object->pfn = 0;
	}
	rcu_read_unlock();
	return record;
}
