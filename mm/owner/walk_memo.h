/* SPDX-License-Identifier: GPL-2.0 */
/* Records like one that has been looked at. */
#ifndef _MM_OWNER_KNOWN_H
#define _MM_OWNER_KNOWN_H

#include <linux/types.h>

#include "record.h"
#include "sample.h"
#include "slab_records.h"
#include "walk.h"

/* A slab as it was when RCU was read-locked; it may be gone by now. */
struct owner_slab_view {
	struct slab *slab;
	struct kmem_cache *cache;
	unsigned long exts;		/* slab->obj_exts as it stood there */
	struct owner_slab_records *records;	/* can be read until RCU is unlocked */
	unsigned int objects;		/* that it has room for */
	unsigned int allocated;		/* or kept free by the CPU that has the slab */
};

/* What the same records have in common. */
struct memo_key {
	u64 handle_pair;		/* 0: nothing is known here */
	u32 size_and_rate;
	int nid;
	const struct kmem_cache *cache;
};

/* A span of ages is a bit. */
struct memo_entry {
	struct memo_key key;		/* its handles with references */
	u64 counted;			/* spans in which such are counted here */
	u64 unknown;			/* in which it is not known yet where */
	struct owner_sum *sum;		/* to which what is counted here will be added */
	unsigned int count;
	u32 oldest;			/* of those, in ticks */
	u32 youngest;
};

#define MEMO_BITS		12
#define MEMO_SPANS_MAX		64
#define MEMO_ALL_SPANS		U64_MAX

/*
 * What a walk knows of records. Whether one is counted can hang on its age: in
 * each of some spans of ages it does not.
 */
struct owner_walk_memo {
	u32 now;				/* from which ages are counted */
	unsigned int nr_spans;
	u32 ends[MEMO_SPANS_MAX];		/* in ticks: the next span begins there */
	struct memo_entry records[1 << MEMO_BITS];	/* one for each hash */
};

struct owner_walk_memo *owner_memo_alloc(u32 now);
void owner_memo_free(struct owner_walk_memo *known);
unsigned int owner_memo_count(struct owner_walk_memo *known, const struct owner_slab_view *slab,
			      unsigned int index);
void owner_memo_remember(struct owner_walk_memo *known, const struct owner_object *object, u64 spans,
			 struct owner_sum *sum);
void owner_memo_flush(struct owner_walk_memo *known);

#endif /* _MM_OWNER_KNOWN_H */
