/* SPDX-License-Identifier: GPL-2.0 */
/* Records like one that has been looked at. */
#ifndef _MM_OWNER_KNOWN_H
#define _MM_OWNER_KNOWN_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/barrier.h>

#include "owner.h"

/* A slab as it was when RCU was read-locked; it may be gone by now. */
struct slab_view {
	struct slab *slab;
	struct kmem_cache *cache;
	unsigned long exts;		/* slab->obj_exts as it stood there */
	struct slab_owners *owners;	/* can be read until RCU is unlocked */
	unsigned int objects;		/* that it has room for */
	unsigned int allocated;		/* or kept free by the CPU that has the slab */
};

/*
 * Read a record as it stood at one moment, without handles if it had no owner then.
 * False if it changed meanwhile.
 */
static __always_inline bool owner_read(const struct slab_owner *record, struct slab_owner *owner)
{
	u64 again;

	/* Pairs with own(): who sees the handles sees the rest. */
	owner->handles = smp_load_acquire(&record->handles);
	if (!owner->handles)
		return true;
	owner->details = READ_ONCE(record->details);
	/* The rest may be another owner's, which has the same handles or took them out. */
	smp_rmb();
	/* Pairs with own(), should it be the next one's. */
	again = smp_load_acquire(&record->handles);
	return again == owner->handles && READ_ONCE(record->details) == owner->details;
}

/* What the same records have in common. */
struct known_key {
	u64 handles;			/* 0: nothing is known here */
	u32 size_and_rate;
	int nid;
	const struct kmem_cache *cache;
};

/* A span of ages is a bit. */
struct known_record {
	struct known_key key;		/* its handles with references */
	u64 counted;			/* spans in which such are counted here */
	u64 unknown;			/* in which it is not known yet where */
	struct owner_sum *sum;		/* to which what is counted here will be added */
	unsigned int count;
	u32 oldest;			/* of those, in ticks */
	u32 youngest;
};

#define KNOWN_BITS		12
#define KNOWN_SPANS_MAX		64
#define KNOWN_ALL_SPANS		U64_MAX

/*
 * What a walk knows of records. Whether one is counted can hang on its age: in
 * each of some spans of ages it does not.
 */
struct slab_known {
	u32 now;				/* from which ages are counted */
	unsigned int nr_spans;
	u32 ends[KNOWN_SPANS_MAX];		/* in ticks: the next span begins there */
	struct known_record records[1 << KNOWN_BITS];	/* one for each hash */
};

struct slab_known *slab_known_alloc(u32 now);
void slab_known_free(struct slab_known *known);
unsigned int slab_known_count(struct slab_known *known, const struct slab_view *slab,
			      unsigned int index);
void slab_known_remember(struct slab_known *known, const struct owner_object *object, u64 spans,
			 struct owner_sum *sum);
void slab_known_forget(struct slab_known *known);

#endif /* _MM_OWNER_KNOWN_H */
