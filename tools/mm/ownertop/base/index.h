/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open-addressing index from a 64-bit hash to the number of an element in
 * somebody's array. It stores eight bytes an element and knows nothing of what
 * it indexes: the owner compares.
 */
#ifndef OWNERTOP_INDEX_H
#define OWNERTOP_INDEX_H

#include <stdbool.h>

#include "base/types.h"

#define INDEX_NONE U32_MAX

struct index_slot {
	u32 tag;		/* half of the hash: rejects, and places on growth */
	u32 id_plus_1;	/* 0: free */
};

struct index {
	struct index_slot *slots;
	u32 mask;
	u32 used;
};

typedef bool (*index_same_fn)(const void *owner, u32 id, const void *key);

u32 index_find(const struct index *ix, u64 hash, index_same_fn same,
	       const void *owner, const void *key);
void index_add(struct index *ix, u64 hash, u32 id);
void index_free(struct index *ix);

#endif
