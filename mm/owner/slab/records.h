/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slab records: the array of records beside each slab.
 *
 * A slab gets its records when the first of its objects is tracked. They take the
 * place of the slab's vector of extensions in slab->obj_exts and keep that vector,
 * so memory cgroups and allocation profiling see what they saw before, and a slab
 * without records costs nothing. The records of a slab are one allocation, from a cache
 * of objects of that size (record_caches.c). Included by mm/slab.h.
 */
#ifndef _MM_OWNER_SLAB_RECORDS_H
#define _MM_OWNER_SLAB_RECORDS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/memcontrol.h>
#include <linux/percpu-defs.h>
#include <linux/slab_owner.h>
#include <linux/types.h>

#include "../owner.h"

struct kmem_cache;
struct slab;

#ifdef CONFIG_SLAB_OWNER

/**
 * struct owner_slab_records - the records of one slab
 * @sampled: number of tracked objects that were sampled
 * @start: the lower 32 bits of the slab's address, for readers of a dump
 * @obj_exts: the value that slab->obj_exts would have without slab_owner. If it has
 *	OBJEXTS_OWNER_RECORDS set, it is the address of a struct owner_freed_records, which
 *	has that value.
 * @rcu: frees the records after the slab was freed
 * @record: who holds each object, by the object's index
 */
struct owner_slab_records {
	union {
		struct {
			atomic_t sampled;
			u32 start;
			unsigned long obj_exts;
		};
		struct rcu_head rcu;
	};
	struct owner_record record[];
};

/*
 * Bits of slab->obj_exts, if the rest is the address of a struct owner_slab_records. The fast paths
 * read the records' header only for slabs with samples and for objects with free=on.
 */
enum {
	/* Bit 0 says that the word is no memory cgroup of a page. */
	OBJEXTS_OWNER_NO_CGROUP_BIT,
	/*
	 * The word is the address of records. Memory cgroups never set this bit together with bit
	 * 0, which is their MEMCG_DATA_OBJEXTS.
	 */
	OBJEXTS_OWNER_RECORDS_BIT,
	/* Set for good when the first object that was not sampled is tracked. */
	OBJEXTS_OWNER_UNSAMPLED_BIT,
	/*
	 * A slab with records of frees, which the fast paths handle for rules with free=on only,
	 * or a page of KFENCE, which no fast path handles, because its object is not at a multiple
	 * of the object size.
	 */
	OBJEXTS_OWNER_SLOW_BIT,
	OBJEXTS_OWNER_BITS
};

#define OBJEXTS_OWNER_RECORDS	BIT(OBJEXTS_OWNER_RECORDS_BIT)
#define OBJEXTS_OWNER_UNSAMPLED	BIT(OBJEXTS_OWNER_UNSAMPLED_BIT)
#define OBJEXTS_OWNER_SLOW	BIT(OBJEXTS_OWNER_SLOW_BIT)
#define OBJEXTS_OWNER_TAG	(BIT(OBJEXTS_OWNER_NO_CGROUP_BIT) | OBJEXTS_OWNER_RECORDS)
#define OBJEXTS_OWNER_MASK	(BIT(OBJEXTS_OWNER_BITS) - 1)

#ifdef CONFIG_MEMCG
static_assert(BIT(OBJEXTS_OWNER_NO_CGROUP_BIT) == MEMCG_DATA_OBJEXTS);
#endif

/* Both kinds of records have this alignment, which leaves these bits free. */
#define OWNER_RECORDS_ALIGN	BIT(OBJEXTS_OWNER_BITS)

/* The slab's records. The caller has seen OBJEXTS_OWNER_RECORDS in @exts. */
static __always_inline struct owner_slab_records *owner_slab_records_untag(unsigned long exts)
{
	return (struct owner_slab_records *)(exts & ~OBJEXTS_OWNER_MASK);
}

/* The slab's records from the value of slab->obj_exts; NULL if the slab has none. */
static __always_inline struct owner_slab_records *owner_slab_records_of(unsigned long exts)
{
	return exts & OBJEXTS_OWNER_RECORDS ? owner_slab_records_untag(exts) : NULL;
}

/**
 * struct owner_freed_records - who freed each object of a slab last
 * @obj_exts: as in struct owner_slab_records, which points here instead
 * @rcu: frees the records after the slab was freed
 * @record: by the object's index. Its size is nonzero from the allocation of an object
 *	on whose rule has free=on; its handles are set when that object is freed.
 */
struct owner_freed_records {
	union {
		unsigned long obj_exts;
		struct rcu_head rcu;
	};
	struct owner_record record[];
};

/* The records of frees from the value of owner_slab_records.obj_exts; NULL if there are none. */
static __always_inline struct owner_freed_records *owner_freed_records_untag(unsigned long exts)
{
	return exts & OBJEXTS_OWNER_RECORDS ?
	       (struct owner_freed_records *)(exts - OBJEXTS_OWNER_RECORDS) : NULL;
}

/* The slab cannot be freed meanwhile. Return: NULL if no rule has asked for these records. */
static __always_inline struct owner_freed_records *
owner_freed_records(struct owner_slab_records *records)
{
	return owner_freed_records_untag(READ_ONCE(records->obj_exts));
}

/*
 * Return the address of the pointer to the vector of extensions. The pointer is in
 * slab->obj_exts, or in the slab's records if it has any, or in its records of frees. Another
 * CPU may move the pointer meanwhile.
 */
static __always_inline unsigned long *owner_obj_exts_ptr(unsigned long *obj_exts)
{
	unsigned long exts = READ_ONCE(*obj_exts);
	struct owner_slab_records *records;
	struct owner_freed_records *freed;

	if (!static_branch_unlikely(&slab_owner_key) || !(exts & OBJEXTS_OWNER_RECORDS))
		return obj_exts;
	records = owner_slab_records_untag(exts);
	freed = owner_freed_records(records);
	return freed ? &freed->obj_exts : &records->obj_exts;
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
	struct owner_freed_records *freed;

	if (!exts || !static_branch_unlikely(&slab_owner_key) || !(exts & OBJEXTS_OWNER_RECORDS))
		return exts;
	/* Read once: another CPU may move this word into records of frees. */
	exts = READ_ONCE(owner_slab_records_untag(exts)->obj_exts);
	freed = owner_freed_records_untag(exts);
	return freed ? READ_ONCE(freed->obj_exts) : exts;
}

/**
 * struct owner_records_counts - memory that records take
 * @slabs: number of slabs that have records
 * @slots: number of objects that these slabs have room for, each with a record
 * @bytes: memory of these records, with their share of the waste in the slabs that they
 *	are allocated from
 */
struct owner_records_counts {
	long slabs;
	long slots;
	long bytes;
};

void owner_records_read_counts(struct owner_records_counts *counts);
long owner_read_samples(void);

struct owner_slab_records *owner_slab_records_alloc(struct kmem_cache *s, struct slab *slab,
						    gfp_t flags);
void owner_slab_records_free(struct slab *slab, struct owner_slab_records *records);
struct owner_freed_records *owner_freed_records_alloc(struct kmem_cache *s, struct slab *slab,
						      struct owner_slab_records *records,
						      gfp_t flags);
struct owner_record *owner_freed_records_of(const struct slab *slab);
unsigned long owner_obj_exts_of(const struct slab *slab);
size_t owner_records_size(unsigned int objects);

/* mm/owner/slab/record_caches.c */
void owner_record_caches_create(void);
void __slab_owner_cache_created(struct kmem_cache *s);

/* A cache was created: create a cache for the records of its slabs, too. */
static inline void slab_owner_cache_created(struct kmem_cache *s)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_cache_created(s);
}

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

static inline void slab_owner_cache_created(struct kmem_cache *s)
{
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_SLAB_RECORDS_H */
