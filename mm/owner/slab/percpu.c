// SPDX-License-Identifier: GPL-2.0
/*
 * The per-CPU allocator's hooks: record the owner of each per-CPU area.
 *
 * The records are in a hash table, by the area's address: there are few areas, and the
 * allocator's bitmaps have no room for records. percpu_walk.c reads the table.
 */

#include <linux/hash.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../capture.h"
#include "../rules/rules.h"
#include "../sample.h"
#include "../user/hooks.h"
#include "percpu.h"

atomic_long_t owner_percpu_areas;

/* NULL until early_initcall, and without slab_owner=on or slab_owner=ready. */
struct list_head *owner_percpu_table __ro_after_init;
unsigned int owner_percpu_bits __ro_after_init;
static struct kmem_cache *record_cache __ro_after_init;

/*
 * Serializes writers of the table, and protects next_number. Nests inside pcpu_lock, which
 * is taken with interrupts disabled.
 */
static DEFINE_SPINLOCK(table_lock);
static u64 next_number;

static int __init owner_percpu_init(void)
{
	struct list_head *buckets = NULL;
	unsigned int i;

	if (!slab_owner_wanted())
		return 0;
	/*
	 * SLAB_NOLEAKTRACE: records are not tracked themselves, and kmemleak does not scan
	 * them: each holds its area's address. Untracked memory for each record would
	 * not do: KFENCE's slabs have extensions, which the free hooks look at.
	 */
	record_cache = kmem_cache_create("percpu_owner", sizeof(struct owner_percpu_record), 0,
					 SLAB_NO_MERGE | SLAB_NOLEAKTRACE, NULL);
	owner_percpu_bits = owner_percpu_bits_for((u64)totalram_pages() << PAGE_SHIFT);
	if (record_cache)
		buckets = kvmalloc_array(BIT(owner_percpu_bits), sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return -ENOMEM;
	for (i = 0; i < BIT(owner_percpu_bits); i++)
		INIT_LIST_HEAD(&buckets[i]);
	owner_percpu_table = buckets;
	return 0;
}
early_initcall(owner_percpu_init);

static struct list_head *bucket_of(const void *area)
{
	return &owner_percpu_table[hash_ptr(area, owner_percpu_bits)];
}

/* The caller of alloc_percpu() may be atomic, so this does not sleep. */
void __owner_percpu_alloc(const void *area, gfp_t flags, size_t size)
{
	struct owner_percpu_record *record;
	struct owner_choice choice;
	unsigned long irqflags;

	/* The owner holds a copy of the area on each possible CPU. */
	size *= num_possible_cpus();
	choice = owner_choose_percpu_tracking(flags, size, STACK_DEPOT_CALLER);
	if (!choice.depth || !owner_is_sampled(choice.rate, size))
		return;
	if (!owner_percpu_table)
		return owner_count_loss(OWNER_LOST_EARLY);
	record = kmem_cache_alloc(record_cache, GFP_NOWAIT | __GFP_NOWARN);
	if (!record)
		return owner_count_loss(OWNER_LOST_VECTOR);
	if (!owner_record_fill(&record->owner, flags, choice.depth, STACK_DEPOT_CALLER,
			       OWNER_NO_CHARGE)) {
		kmem_cache_free(record_cache, record);
		return;
	}
	if (choice.user)
		owner_user_attach(&record->owner, flags);
	record->owner.size_and_rate = owner_record_size_and_rate(0, choice.rate);
	record->size = size;
	record->area = area;
	spin_lock_irqsave(&table_lock, irqflags);
	record->number = next_number++;
	list_add_tail_rcu(&record->node, bucket_of(area));
	spin_unlock_irqrestore(&table_lock, irqflags);
	atomic_long_inc(&owner_percpu_areas);
}

/* Remove the record of an area from the table, under table_lock. NULL if it has none. */
static struct owner_percpu_record *remove_record(const void *area)
{
	struct owner_percpu_record *record;

	list_for_each_entry(record, bucket_of(area), node) {
		if (record->area != area)
			continue;
		list_del_rcu(&record->node);
		return record;
	}
	return NULL;
}

/* Not kfree_rcu(): it calls kmemleak, which does not know the record and would warn. */
static void free_record(struct rcu_head *rcu)
{
	kmem_cache_free(record_cache, container_of(rcu, struct owner_percpu_record, rcu));
}

void __owner_percpu_free(const void *area)
{
	struct owner_percpu_record *record;
	unsigned long irqflags;

	if (!owner_percpu_table)
		return;
	spin_lock_irqsave(&table_lock, irqflags);
	record = remove_record(area);
	spin_unlock_irqrestore(&table_lock, irqflags);
	if (!record)
		return;
	atomic_long_dec(&owner_percpu_areas);
	owner_record_drop(record->owner.handle_pair, OWNER_NO_CHARGE);
	call_rcu(&record->rcu, free_record);
}
