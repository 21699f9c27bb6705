// SPDX-License-Identifier: GPL-2.0
/*
 * Slab records: the array of records beside each slab.
 *
 * Readers look at them without a lock (walk_slab.c): they are freed after a grace period.
 */

#include <linux/kmemleak.h>
#include <linux/math.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../slab.h"
#include "record.h"
#include "slab_records.h"

/* Set in slab->obj_exts: the value is not the memory cgroup of a page. */
#ifdef CONFIG_MEMCG
#define OBJEXTS_BIT	MEMCG_DATA_OBJEXTS
#else
#define OBJEXTS_BIT	0UL
#endif

atomic_long_t owner_nr_tracked_slabs;
atomic_long_t owner_records_bytes;

/*
 * Allocate zeroed memory that has no records itself, without the reserves and without
 * the OOM killer. The size is hidden from the compiler: kmalloc() of a constant size
 * ignores __GFP_NO_OBJ_EXT when it chooses the cache.
 */
static void *alloc_untracked(size_t bytes, gfp_t flags, int node)
{
	OPTIMIZER_HIDE_VAR(bytes);
	flags = gfp_nested_mask(flags) & ~__GFP_HIGH;
	return kmalloc_node(bytes, flags | __GFP_NO_OBJ_EXT | __GFP_ZERO, node);
}

static size_t slab_records_bytes(unsigned int objects)
{
	return sizeof(struct owner_slab_records) + array_size(objects, sizeof(struct owner_record));
}

static size_t freed_records_bytes(unsigned int objects)
{
	struct owner_freed_records *freed;

	return struct_size(freed, record, objects);
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
	unsigned int objects = objs_per_slab(s, slab);
	int node = slab_nid(slab);
	struct owner_slab_records *records;
	unsigned long exts;

	if (slab_state < UP) {
		owner_count_loss(OWNER_LOST_EARLY);
		return NULL;
	}
	records = alloc_untracked(sizeof(*records), flags, node);
	if (records)
		records->record = alloc_untracked(array_size(objects, sizeof(*records->record)),
						  flags, node);
	if (!records || !records->record) {
		kfree(records);
		owner_count_loss(OWNER_LOST_VECTOR);
		return NULL;
	}
	records->inverse_size = DIV_ROUND_UP_ULL(BIT_ULL(32), s->size);
	exts = READ_ONCE(slab->obj_exts);
	do {
		if (exts & OBJEXTS_OWNER_RECORDS) {
			kfree(records->record);
			kfree(records);
			return owner_slab_records_untag(exts);
		}
		records->obj_exts = exts;
	} while (!try_cmpxchg(&slab->obj_exts, &exts,
			      (unsigned long)records | OBJEXTS_BIT | OBJEXTS_OWNER_RECORDS));

	/* Only a struct page points to the records, and kmemleak does not scan that. */
	kmemleak_not_leak(records);
	kmemleak_not_leak(records->record);
	atomic_long_inc(&owner_nr_tracked_slabs);
	atomic_long_add(slab_records_bytes(objects), &owner_records_bytes);
	return records;
}

/**
 * owner_freed_records_alloc() - allocate the records of who freed a slab's objects
 * @slab: the slab
 * @records: the slab's records
 * @flags: flags of the allocation that is tracked
 *
 * Return: the records. If another CPU allocates them at the same time, both get the
 *	same. NULL if there is no memory.
 */
struct owner_freed_records *owner_freed_records_alloc(struct slab *slab,
						      struct owner_slab_records *records,
						      gfp_t flags)
{
	struct owner_freed_records *freed, *other;

	freed = alloc_untracked(freed_records_bytes(slab->objects), flags, slab_nid(slab));
	if (!freed)
		return NULL;
	other = cmpxchg(&records->freed, NULL, freed);
	if (other) {
		kfree(freed);
		return other;
	}
	kmemleak_not_leak(freed);
	atomic_long_add(freed_records_bytes(slab->objects), &owner_records_bytes);
	return freed;
}

/**
 * owner_freed_records_of() - find the records of who freed a slab's objects
 * @slab: the slab, which may be freed meanwhile
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: the records by index, NULL if there are none.
 */
const struct owner_record *owner_freed_records_of(const struct slab *slab)
{
	unsigned long exts = READ_ONCE(slab->obj_exts);
	struct owner_slab_records *records = owner_slab_records_of(exts);
	struct owner_freed_records *freed = records ? owner_freed_records(records) : NULL;

	/*
	 * Pairs with __slab_owner_free_slab(): if slab->obj_exts is unchanged, @freed was
	 * read before it became a part of records->rcu.
	 */
	smp_rmb();
	return freed && READ_ONCE(slab->obj_exts) == exts ? freed->record : NULL;
}

static void free_records_rcu(struct rcu_head *rcu)
{
	struct owner_slab_records *records = container_of(rcu, struct owner_slab_records, rcu);

	kfree(records->record);
	kfree(records);
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

	atomic_long_dec(&owner_nr_tracked_slabs);
	atomic_long_sub(slab_records_bytes(slab->objects), &owner_records_bytes);

	/* Lazy call_rcu() can wait for seconds: a freed slab should give its memory back now. */
	call_rcu_hurry(&records->rcu, free_records_rcu);
	if (freed) {
		atomic_long_sub(freed_records_bytes(slab->objects), &owner_records_bytes);
		call_rcu_hurry(&freed->rcu, free_freed_records_rcu);
	}
}
