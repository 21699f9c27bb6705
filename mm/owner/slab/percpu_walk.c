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

#include "../record.h"
#include "../walk.h"
#include "percpu.h"

/*
 * A position is a bucket and, in the lower bits, the least number of a record that has
 * not been looked at in this bucket.
 */
#define NUMBER_BITS	48
#define NUMBER_MASK	GENMASK_ULL(NUMBER_BITS - 1, 0)

/* Find the first record of a bucket at or after the cursor, and take references to it. */
static struct owner_percpu_record *find_in_bucket(struct owner_cursor *cursor,
						  struct list_head *bucket)
{
	struct owner_percpu_record *record;

	list_for_each_entry_rcu(record, bucket, node) {
		if (record->number < (cursor->pos & NUMBER_MASK))
			continue;
		cursor->ref = record->owner;
		/* This fails if the area was freed: its record left the table first. */
		if (owner_record_get_refs(&cursor->ref)) {
			cursor->found_pos = (cursor->pos & ~NUMBER_MASK) | record->number;
			cursor->pos = cursor->found_pos + 1;
			return record;
		}
		cursor->ref.handle_pair = 0;
	}
	return NULL;
}

static void fill_object(struct owner_object *object, const struct owner_percpu_record *record,
			const struct owner_record *owner)
{
	object->kind = OWNER_KIND_PERCPU;
	object->slab_cache = NULL;
	object->cache = "percpu";
	object->held = record->size;
	object->index = 0;
	object->nid = NUMA_NO_NODE;
	/* There is no one page: each CPU has its own. */
	object->pfn = 0;
	object->address = record->area;
	object->span = record->size / num_possible_cpus();
	object->size = record->size;
	object->owner = *owner;
}

static int next_area(struct owner_cursor *cursor, struct owner_object *object)
{
	struct owner_percpu_record *record = NULL;
	int error = owner_cursor_yield(cursor);
	u64 bucket;

	if (error)
		return error;
	rcu_read_lock();
	while (owner_percpu_table && !record) {
		bucket = cursor->pos >> NUMBER_BITS;
		if (bucket >> owner_percpu_bits)
			break;
		record = find_in_bucket(cursor, &owner_percpu_table[bucket]);
		if (!record)
			cursor->pos = (bucket + 1) << NUMBER_BITS;
	}
	if (record)
		fill_object(object, record, &cursor->ref);
	rcu_read_unlock();
	return !!record;
}

const struct owner_source_ops owner_percpu_source = {
	.next	= next_area,
};
