// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of each per-CPU area.
 *
 * Areas are few and their allocator's bitmaps have no room for records, so the
 * records stand in a hash table of their own, by the area's address: what is
 * not allocated takes none. Readers hold RCU only.
 */

#include <linux/hash.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "owner.h"
#include "rules.h"

struct percpu_record {
	struct hlist_node node;
	const void *area;
	struct slab_owner owner;
	struct rcu_head rcu;
};

atomic_long_t owner_percpu_areas;

#define TABLE_BITS	12

/* Set once they can be used. */
static struct hlist_head *table __ro_after_init;
static struct kmem_cache *record_cache __ro_after_init;

/*
 * Guards the table against other writers. Nests inside the per-CPU allocator's
 * lock, which is taken with interrupts off.
 */
static DEFINE_SPINLOCK(table_lock);

static int __init owner_percpu_init(void)
{
	if (!slab_owner_wanted())
		return 0;
	record_cache = kmem_cache_create("percpu_owner", sizeof(struct percpu_record), 0,
					 SLAB_NO_MERGE, NULL);
	if (record_cache)
		table = kcalloc(1 << TABLE_BITS, sizeof(*table), GFP_KERNEL);
	return table ? 0 : -ENOMEM;
}
early_initcall(owner_percpu_init);

static struct hlist_head *bucket_of(const void *area)
{
	return &table[hash_ptr(area, TABLE_BITS)];
}

/* What the rules say of it: how deep, 0 if it is to have no owner. */
static unsigned int depth_for(gfp_t flags, size_t size)
{
	const struct owner_rule *rule;
	unsigned int depth = 0;

	rcu_read_lock();
	rule = owner_rule_for_kind(OWNER_KIND_PERCPU, flags, size, NUMA_NO_NODE);
	if (rule->track)
		depth = rule->depth ?: OWNER_DEPTH;
	rcu_read_unlock();
	return depth;
}

/* Called with the area just allocated, by who may not wait: nor does this. */
void __percpu_owner_alloc(const void *area, gfp_t flags, size_t size)
{
	/* What the area takes on all CPUs is what its owner holds. */
	unsigned int depth = depth_for(flags, size * num_possible_cpus());
	struct percpu_record *record;
	unsigned long irqflags;

	if (!depth)
		return;
	if (!table)
		return owner_lost(OWNER_LOST_EARLY);
	record = kmem_cache_alloc(record_cache, GFP_NOWAIT | __GFP_NOWARN | __GFP_NO_OBJ_EXT);
	if (!record)
		return owner_lost(OWNER_LOST_VECTOR);
	if (!owner_take_down(&record->owner, flags, size * num_possible_cpus(), depth,
			     OWNER_CALLER)) {
		kmem_cache_free(record_cache, record);
		return;
	}
	record->area = area;
	spin_lock_irqsave(&table_lock, irqflags);
	hlist_add_head_rcu(&record->node, bucket_of(area));
	spin_unlock_irqrestore(&table_lock, irqflags);
	atomic_long_inc(&owner_percpu_areas);
}

static struct percpu_record *take_out(const void *area)
{
	struct percpu_record *record;

	hlist_for_each_entry(record, bucket_of(area), node) {
		if (record->area != area)
			continue;
		hlist_del_rcu(&record->node);
		return record;
	}
	return NULL;
}

void __percpu_owner_free(const void *area)
{
	struct percpu_record *record;
	unsigned long irqflags;

	if (!table)
		return;
	spin_lock_irqsave(&table_lock, irqflags);
	record = take_out(area);
	spin_unlock_irqrestore(&table_lock, irqflags);
	if (!record)
		return;
	atomic_long_dec(&owner_percpu_areas);
	owner_put(&record->owner);
	kfree_rcu(record, rcu);
}

/* The areas in one bucket from the @skip-th on: hold the first that has not gone. */
static struct percpu_record *hold_next(struct slab_walk *walk, struct hlist_head *bucket,
				       unsigned int skip)
{
	struct percpu_record *record;
	unsigned int i = 0;

	hlist_for_each_entry_rcu(record, bucket, node) {
		if (i++ < skip)
			continue;
		walk->place++;
		walk->held = record->owner;
		/* A record's references are dropped only after it left the table. */
		if (owner_get(&walk->held))
			return record;
		walk->held.handles = 0;
	}
	return NULL;
}

/**
 * percpu_walk_next - find the next per-CPU area that has an owner
 * @walk: between slab_walk_begin() and slab_walk_end(), from walk->place on
 * @object: where it is described
 *
 * A place is a bucket in the upper bits, and how many of its areas have been
 * found in the lower.
 *
 * Return: true if there is one.
 */
bool percpu_walk_next(struct slab_walk *walk, struct owner_object *object)
{
	struct percpu_record *record = NULL;
	unsigned long bucket;

	slab_walk_release(walk);
	rcu_read_lock();
	while (table && !record) {
		bucket = walk->place >> OWNER_PLACE_SHIFT;
		if (bucket >> TABLE_BITS)
			break;
		record = hold_next(walk, &table[bucket], (u16)walk->place);
		if (!record)
			walk->place = (bucket + 1) << OWNER_PLACE_SHIFT;
	}
	if (record) {
		object->owner = walk->held;
		object->cache = "percpu";
		object->slab_size = walk->held.size;
		object->index = 0;
		object->nid = NUMA_NO_NODE;
		object->address = record->area;
		/* It has a page on each CPU. */
		object->pfn = 0;
	}
	rcu_read_unlock();
	return record;
}
