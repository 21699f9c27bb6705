// SPDX-License-Identifier: GPL-2.0
/* A hash index with open addressing and linear probing, at most seven eighths full. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_index.h"

#define FIRST_SLOTS 256

static u32 hash_tag(u64 hash)
{
	return hash >> 32;
}

u32 hash_index_find(const struct hash_index *ix, u64 hash, hash_index_equal_fn equal,
		    const void *array, const void *key)
{
	u32 tag = hash_tag(hash);
	u32 i;

	if (!ix->slots)
		return HASH_INDEX_NONE;
	for (i = tag & ix->mask; ix->slots[i].id_plus_1; i = (i + 1) & ix->mask) {
		const struct hash_index_slot *slot = &ix->slots[i];

		if (slot->tag == tag && equal(array, slot->id_plus_1 - 1, key))
			return slot->id_plus_1 - 1;
	}
	return HASH_INDEX_NONE;
}

static void insert_hash_slot(struct hash_index *ix, struct hash_index_slot slot)
{
	u32 i = slot.tag & ix->mask;

	while (ix->slots[i].id_plus_1)
		i = (i + 1) & ix->mask;
	ix->slots[i] = slot;
}

/*
 * Double the slots in place, because two copies of a large index would be the peak of memory.
 * Elements are inserted again in their order, from the first one after a free slot: each finds
 * a slot that is free, or its own.
 */
static void double_hash_slots(struct hash_index *ix)
{
	u32 slots = ix->mask + 1, first = 0, i;

	ix->slots = xrealloc(ix->slots, 2 * (size_t)slots * sizeof(*ix->slots));
	memset(ix->slots + slots, 0, slots * sizeof(*ix->slots));
	ix->mask = 2 * slots - 1;
	while (ix->slots[first].id_plus_1)
		first++;
	for (i = 0; i < slots; i++) {
		struct hash_index_slot *from = &ix->slots[(first + i) % slots], slot = *from;

		if (!slot.id_plus_1)
			continue;
		from->id_plus_1 = 0;
		insert_hash_slot(ix, slot);
	}
}

void hash_index_add(struct hash_index *ix, u64 hash, u32 id)
{
	if (!ix->slots) {
		ix->slots = xcalloc(FIRST_SLOTS, sizeof(*ix->slots));
		ix->mask = FIRST_SLOTS - 1;
	} else if (ix->used >= ix->mask - ix->mask / 8) {
		double_hash_slots(ix);
	}
	insert_hash_slot(ix, (struct hash_index_slot){
		.tag = hash_tag(hash),
		.id_plus_1 = id + 1,
	});
	ix->used++;
}

void hash_index_free(struct hash_index *ix)
{
	free(ix->slots);
	*ix = (struct hash_index){ 0 };
}
