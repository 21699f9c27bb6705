/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slab records: the array of records beside each slab.
 *
 * A slab gets its records when the first of its objects is tracked. They take the
 * place of the slab's vector of extensions in slab->obj_exts and keep that vector,
 * so memory cgroups and allocation profiling see what they saw before, and a slab
 * without records costs nothing. Included by mm/slab.h.
 */
#ifndef _MM_OWNER_SLAB_RECORDS_H
#define _MM_OWNER_SLAB_RECORDS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/percpu-defs.h>
#include <linux/slab_owner.h>
#include <linux/types.h>

#include "owner.h"

struct kmem_cache;
struct owner_freed_records;
struct slab;

#ifdef CONFIG_SLAB_OWNER

/**
 * struct owner_slab_records - the records of one slab
 * @record: who holds each object, by the object's index
 * @tracked: number of tracked objects that were sampled. OWNER_TRACKED_UNSAMPLED is
 *	set, for good, with the first tracked object that was not. While this is 0, no
 *	object of the slab is tracked.
 * @inverse_size: 2^32 divided by the size of an object, rounded up: an object's offset
 *	times this, divided by 2^32, is the object's index
 * @obj_exts: the value that slab->obj_exts would have without slab_owner
 * @freed: who freed each object last; NULL until a rule asks for that
 * @rcu: frees the records after the slab was freed
 */
struct owner_slab_records {
	struct owner_record *record;
	atomic_t tracked;
	u32 inverse_size;
	union {
		struct {
			unsigned long obj_exts;
			struct owner_freed_records *freed;
		};
		struct rcu_head rcu;
	};
};

#define OWNER_TRACKED_UNSAMPLED	BIT(30)

/*
 * Set in slab->obj_exts if the rest is the address of a struct owner_slab_records.
 * Memory cgroups never set this bit together with MEMCG_DATA_OBJEXTS.
 */
#define OBJEXTS_OWNER_RECORDS	2UL

/* The slab's records. The caller has seen OBJEXTS_OWNER_RECORDS in @exts. */
static __always_inline struct owner_slab_records *owner_slab_records_untag(unsigned long exts)
{
	return (struct owner_slab_records *)(exts & ~3UL);
}

/* The slab's records from the value of slab->obj_exts; NULL if the slab has none. */
static __always_inline struct owner_slab_records *owner_slab_records_of(unsigned long exts)
{
	return exts & OBJEXTS_OWNER_RECORDS ? owner_slab_records_untag(exts) : NULL;
}

/*
 * Return the address of the pointer to the vector of extensions. The pointer is in
 * slab->obj_exts, or in the slab's records if it has any.
 */
static __always_inline unsigned long *owner_obj_exts_ptr(unsigned long *obj_exts)
{
	unsigned long exts = READ_ONCE(*obj_exts);

	if (static_branch_unlikely(&slab_owner_key) && exts & OBJEXTS_OWNER_RECORDS)
		return &owner_slab_records_untag(exts)->obj_exts;
	return obj_exts;
}

/*
 * cmpxchg() on the vector of extensions. Repeated if another CPU moves the vector
 * into new records in between. Return: the old value.
 */
static __always_inline unsigned long
owner_obj_exts_cmpxchg(unsigned long *obj_exts, unsigned long old, unsigned long new)
{
	unsigned long *ptr, found;

	do {
		ptr = owner_obj_exts_ptr(obj_exts);
		found = cmpxchg(ptr, old, new);
	} while (unlikely(found != old && ptr != owner_obj_exts_ptr(obj_exts)));
	return found;
}

/* The value of slab->obj_exts without slab_owner. Most slabs have 0: test that first. */
static __always_inline unsigned long owner_obj_exts_without_records(unsigned long exts)
{
	if (exts && static_branch_unlikely(&slab_owner_key) && exts & OBJEXTS_OWNER_RECORDS)
		return READ_ONCE(owner_slab_records_untag(exts)->obj_exts);
	return exts;
}

/**
 * struct owner_freed_records - who freed each object of a slab last
 * @rcu: frees the records after the slab was freed
 * @record: by the object's index. Its size is nonzero from the allocation of an object
 *	on whose rule has free=on; its handles are set when that object is freed.
 */
struct owner_freed_records {
	struct rcu_head rcu;
	struct owner_record record[];
};

/* The slab cannot be freed meanwhile. Return: NULL if no rule has asked for these records. */
static __always_inline struct owner_freed_records *
owner_freed_records(struct owner_slab_records *records)
{
	return READ_ONCE(records->freed);
}

/*
 * Number of sampled objects: the sum over all CPUs. One CPU's part can be negative, as
 * objects are freed on other CPUs.
 */
DECLARE_PER_CPU(long, owner_nr_sampled);

/* Number of slabs that have records, and the bytes of these records. */
extern atomic_long_t owner_nr_tracked_slabs;
extern atomic_long_t owner_records_bytes;

struct owner_slab_records *owner_slab_records_alloc(struct kmem_cache *s, struct slab *slab,
						    gfp_t flags);
void owner_slab_records_free(struct slab *slab, struct owner_slab_records *records);
struct owner_freed_records *owner_freed_records_alloc(struct slab *slab,
						      struct owner_slab_records *records,
						      gfp_t flags);
const struct owner_record *owner_freed_records_of(const struct slab *slab);

#else /* CONFIG_SLAB_OWNER */

static inline unsigned long
owner_obj_exts_cmpxchg(unsigned long *obj_exts, unsigned long old, unsigned long new)
{
	return cmpxchg(obj_exts, old, new);
}

static inline unsigned long owner_obj_exts_without_records(unsigned long exts)
{
	return exts;
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_SLAB_RECORDS_H */
