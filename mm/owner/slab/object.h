/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hooks for allocation (alloc.c) and for free (free.c) share: find the record of an
 * object, and the flags of its slab's records.
 */
#ifndef _MM_OWNER_SLAB_OBJECT_H
#define _MM_OWNER_SLAB_OBJECT_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kfence.h>
#include <linux/percpu-defs.h>
#include <linux/types.h>

#include "../../slab.h"
#include "../capture.h"
#include "../record.h"
#include "records.h"

DECLARE_PER_CPU(long, owner_slow_captures);

void owner_count_sampled(struct owner_slab_records *records, int n);
void owner_charge_sample(const struct kmem_cache *s, depot_stack_handle_t stack, long n,
			 const struct owner_record *record);
void owner_drop_object_record(struct kmem_cache *s, const struct owner_record *record,
			      struct owner_slab_records *records, u64 handle_pair);

/*
 * Find the record of an object, if its slab is not a page of KFENCE. The index is the
 * object's offset times the inverse of the size of an object, in units of 2^-32. The
 * inverse is rounded up by less than 1, so the product is too large by less than
 * offset / 2^32 objects. An offset is that of an object's start, so this never reaches the
 * next index. The lower 32 bits of an address have no tag of KASAN.
 */
static __always_inline struct owner_record *object_record_fast(const struct kmem_cache *s,
							       const struct slab *slab,
							       struct owner_slab_records *records,
							       const void *object)
{
	u32 offset = (u32)(unsigned long)object - (u32)(unsigned long)slab_address(slab);
	u64 index = (u64)offset * s->owner_inverse_size;
	struct owner_record *record;

	/* Multiply by the size of a record and drop the fraction, in one instruction each. */
	BUILD_BUG_ON(sizeof(*record) != BIT(4));
	record = (void *)records->record + (index >> (32 - 4) & ~(sizeof(*record) - 1));
	/* Keep the compiler from computing the address again for each use. */
	OPTIMIZER_HIDE_VAR(record);
	return record;
}

/* The record of the last free of the object that has this record. */
static __always_inline struct owner_record *freed_record_of(struct owner_freed_records *freed,
							    struct owner_slab_records *records,
							    const struct owner_record *record)
{
	/* The difference in bytes: no division by the size of a record, nor multiplication. */
	return (void *)freed->record + ((void *)record - (void *)records->record);
}

/* Return the index of an object in the records of its slab. */
static inline unsigned int object_index(const struct kmem_cache *s, const struct slab *slab,
					struct owner_slab_records *records, const void *object)
{
	return is_kfence_address(object) ? 0 :
	       object_record_fast(s, slab, records, object) - records->record;
}

static __always_inline struct owner_charge object_charge(const struct kmem_cache *s, u32 size)
{
	return (struct owner_charge){ .counted = true, .size = size, .cache = s };
}

/*
 * Make free look at the slab's records. Sampled objects are counted; the first other one
 * sets a flag, for good.
 */
static __always_inline void make_free_check_records(struct slab *slab,
						    struct owner_slab_records *records,
						    unsigned int rate)
{
	if (unlikely(rate))
		owner_count_sampled(records, 1);
	else if (unlikely(!(READ_ONCE(slab->obj_exts) & OBJEXTS_OWNER_UNSAMPLED)))
		set_bit(OBJEXTS_OWNER_UNSAMPLED_BIT, &slab->obj_exts);
}

/* Drop the record of an object that was not freed through a hook, or is resized. */
static __always_inline void drop_stale_record(struct kmem_cache *s,
					      struct owner_slab_records *records,
					      struct owner_record *record)
{
	u64 handle_pair;

	if (likely(!READ_ONCE(record->handle_pair)))
		return;
	handle_pair = owner_record_take_handles(record);
	if (handle_pair)
		owner_drop_object_record(s, record, records, handle_pair);
}

#endif /* _MM_OWNER_SLAB_OBJECT_H */
