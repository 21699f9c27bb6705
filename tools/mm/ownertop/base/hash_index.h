/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash index of an array that the caller has: it maps the 64-bit hash of a key to the
 * number of the element. It takes eight bytes for an element. The caller compares keys.
 */
#ifndef OWNERTOP_HASH_INDEX_H
#define OWNERTOP_HASH_INDEX_H

#include <stdbool.h>

#include "base/types.h"

#define HASH_INDEX_NONE U32_MAX

struct hash_index_slot {
	u32 tag;		/* upper half of the hash: decides the slot, rejects others */
	u32 id_plus_1;		/* number of the element + 1; 0: the slot is free */
};

struct hash_index {
	struct hash_index_slot *slots;
	u32 mask;
	u32 used;
};

/* Does element number @id of the indexed @array have @key? */
typedef bool (*hash_index_equal_fn)(const void *array, u32 id, const void *key);

/*
 * Look up an element in a hash index. @hash: hash of @key; @array: passed to @equal. Returns
 * the number of the element, or HASH_INDEX_NONE.
 */
u32 hash_index_find(const struct hash_index *ix, u64 hash, hash_index_equal_fn equal,
		    const void *array, const void *key);
/* Add element number @id to a hash index. The caller has checked that no element has its key. */
void hash_index_add(struct hash_index *ix, u64 hash, u32 id);
void hash_index_free(struct hash_index *ix);

#endif
