// SPDX-License-Identifier: GPL-2.0
/*
 * Slab records: the array of records beside each slab.
 *
 * Readers look at them without a lock (walk.c): they are freed after a grace period.
 */

#include <linux/build_bug.h>
#include <linux/kfence.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../../slab.h"
#include "../compat.h"
#include "../record.h"
#include "records.h"

/* Sum over all CPUs: slabs and their records are freed on other CPUs than allocated. */
static DEFINE_PER_CPU(struct owner_records_counts, records_counts);

/**
 * owner_records_read_counts() - sum up the memory of records over all CPUs
 * @counts: the sums
 */
void owner_records_read_counts(struct owner_records_counts *counts)
{
	int cpu;

	memset(counts, 0, sizeof(*counts));
	for_each_possible_cpu(cpu) {
		const struct owner_records_counts *part = per_cpu_ptr(&records_counts, cpu);

		counts->slabs += READ_ONCE(part->slabs);
		counts->slots += READ_ONCE(part->slots);
		counts->bytes += READ_ONCE(part->bytes);
	}
}

/**
 * owner_records_size() - size of the records of a slab, and of its records of frees
 * @objects: number of objects in the slab
 *
 * Return: the size in bytes.
 */
size_t owner_records_size(unsigned int objects)
{
	struct owner_slab_records *records;

	/* Both kinds are allocated from the same cache. */
	BUILD_BUG_ON(sizeof(struct owner_freed_records) != sizeof(*records));
	return struct_size(records, record, objects);
}

/*
 * Allocate zeroed records that have no records themselves, without the reserves and
 * without the OOM killer. Slabs that SLUB allocated at a lower order, slabs of KFENCE and
 * caches that were created before the allocator was up have no cache for their records.
 */
static void *alloc_records(struct kmem_cache *s, const struct slab *slab, gfp_t flags)
{
	struct kmem_cache *cache = READ_ONCE(s->owner_record_cache);
	unsigned int objects = slab->objects;
	/* kmalloc() aligns a power of 2 to its size. */
	size_t bytes = roundup_pow_of_two(owner_records_size(objects));
	void *records;

	if (unlikely(!stack_depot_may_lock()))
		return owner_kmalloc_nolock(bytes, slab_nid(slab));
	flags = (gfp_nested_mask(flags) & ~__GFP_HIGH) | OWNER_GFP_UNTRACKED | __GFP_ZERO;
	if (likely(cache && objects == s->owner_slab_objects))
		return kmem_cache_alloc_node(cache, flags, slab_nid(slab));
	records = owner_kmalloc_untracked(bytes, flags, slab_nid(slab));
	/* Only a struct page points to the records, and kmemleak does not scan that. */
	if (records)
		kmemleak_not_leak(records);
	return records;
}

/* Free records that no slab has got. */
static void free_unused_records(const void *records)
{
	if (likely(stack_depot_may_lock()))
		kfree(records);
	else
		kfree_nolock(records);
}

/* The memory that an allocation takes, with its share of the waste in its slab. */
static long memory_taken(const void *memory)
{
	struct slab *slab = virt_to_slab(memory);

	return slab ? slab_size(slab) / slab->objects : folio_size(virt_to_folio(memory));
}

/**
 * owner_slab_records_alloc() - allocate the records of a slab
 * @s: the slab's cache
 * @slab: the slab
 * @flags: flags of the allocation that is tracked
 *
 * Return: the slab's records. If another CPU allocates them at the same time, both get
 *	the same. NULL if there is no memory: the loss is counted.
 */
noinline struct owner_slab_records *owner_slab_records_alloc(struct kmem_cache *s,
							     struct slab *slab, gfp_t flags)
{
	struct owner_slab_records *records;
	unsigned long exts, tag = OBJEXTS_OWNER_TAG;

	if (slab_state < UP) {
		owner_count_loss(OWNER_LOST_EARLY);
		return NULL;
	}
	records = alloc_records(s, slab, flags);
	if (!records) {
		owner_count_loss(OWNER_LOST_VECTOR);
		return NULL;
	}
	records->start = (unsigned long)slab_address(slab);
	if (is_kfence_address(slab_address(slab)))
		tag |= OBJEXTS_OWNER_SLOW;
	exts = READ_ONCE(slab->obj_exts);
	do {
		if (exts & OBJEXTS_OWNER_RECORDS) {
			free_unused_records(records);
			return owner_slab_records_untag(exts);
		}
		records->obj_exts = exts;
	} while (!try_cmpxchg(&slab->obj_exts, &exts, (unsigned long)records | tag));

	this_cpu_inc(records_counts.slabs);
	this_cpu_add(records_counts.slots, (unsigned int)slab->objects);
	this_cpu_add(records_counts.bytes, memory_taken(records));
	return records;
}

/**
 * owner_freed_records_alloc() - allocate the records of who freed a slab's objects
 * @s: the slab's cache
 * @slab: the slab
 * @records: the slab's records
 * @flags: flags of the allocation that is tracked
 *
 * Return: the records. If another CPU allocates them at the same time, both get the
 *	same. NULL if there is no memory.
 */
struct owner_freed_records *owner_freed_records_alloc(struct kmem_cache *s, struct slab *slab,
						      struct owner_slab_records *records,
						      gfp_t flags)
{
	struct owner_freed_records *freed = alloc_records(s, slab, flags);
	unsigned long exts = READ_ONCE(records->obj_exts);

	if (!freed)
		return NULL;
	do {
		if (exts & OBJEXTS_OWNER_RECORDS) {
			free_unused_records(freed);
			return owner_freed_records_untag(exts);
		}
		freed->obj_exts = exts;
	} while (!try_cmpxchg(&records->obj_exts, &exts,
			      (unsigned long)freed | OBJEXTS_OWNER_RECORDS));
	this_cpu_add(records_counts.bytes, memory_taken(freed));
	return freed;
}

/*
 * Read records->obj_exts of a slab that may be freed meanwhile. Return: 0 if the slab does not have
 * these records any more, or if @records is NULL.
 */
static unsigned long read_inner_exts(const struct slab *slab, struct owner_slab_records *records)
{
	unsigned long exts = records ? READ_ONCE(records->obj_exts) : 0;

	/*
	 * Pairs with __slab_owner_free_slab(): if the slab still has these records, the word was
	 * read before it became a part of records->rcu.
	 */
	smp_rmb();
	return owner_slab_records_of(READ_ONCE(slab->obj_exts)) == records ? exts : 0;
}

/**
 * owner_freed_records_of() - find the records of who freed a slab's objects
 * @slab: the slab, which may be freed meanwhile
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: the records by index, NULL if there are none.
 */
struct owner_record *owner_freed_records_of(const struct slab *slab)
{
	struct owner_slab_records *records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	struct owner_freed_records *freed;

	freed = owner_freed_records_untag(read_inner_exts(slab, records));
	return freed ? freed->record : NULL;
}

/**
 * owner_obj_exts_of() - get the value that slab->obj_exts would have without slab_owner
 * @slab: the slab, which may be freed meanwhile
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: the value. It is meaningless if the slab was freed meanwhile.
 */
unsigned long owner_obj_exts_of(const struct slab *slab)
{
	unsigned long exts = READ_ONCE(slab->obj_exts);
	struct owner_slab_records *records = owner_slab_records_of(exts);
	struct owner_freed_records *freed;

	if (!records)
		return exts;
	exts = read_inner_exts(slab, records);
	freed = owner_freed_records_untag(exts);
	return freed ? READ_ONCE(freed->obj_exts) : exts;
}

static void free_records_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct owner_slab_records, rcu));
}

static void free_freed_records_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct owner_freed_records, rcu));
}

/**
 * owner_slab_records_free() - free the records of a slab after a grace period
 * @slab: the slab, which does not point to them any more
 * @records: its records, all of them empty
 */
void owner_slab_records_free(struct slab *slab, struct owner_slab_records *records)
{
	struct owner_freed_records *freed = owner_freed_records(records);

	this_cpu_dec(records_counts.slabs);
	this_cpu_sub(records_counts.slots, slab->objects);
	this_cpu_sub(records_counts.bytes, memory_taken(records));

	/* Lazy call_rcu() can wait for seconds: a freed slab should give its memory back now. */
	call_rcu_hurry(&records->rcu, free_records_rcu);
	if (freed) {
		this_cpu_sub(records_counts.bytes, memory_taken(freed));
		call_rcu_hurry(&freed->rcu, free_freed_records_rcu);
	}
}
