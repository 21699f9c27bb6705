// SPDX-License-Identifier: GPL-2.0
/* Map depot handles to call chains. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "input/handle_map.h"

struct handle_entry {
	u64 handle;
	u32 stack;		/* number of the call chain in handle_map.stacks */
};

static bool handle_equals(const void *array, u32 id, const void *key)
{
	const struct handle_map *h = array;
	const u64 *handle = key;

	return h->v[id].handle == *handle;
}

static u32 find_handle_entry(const struct handle_map *h, u64 handle)
{
	return hash_index_find(&h->index, XXH3_64bits(&handle, sizeof(handle)),
			       handle_equals, h, &handle);
}

bool handle_map_add(struct handle_map *h, u64 handle, struct text_slice stack)
{
	u32 id = find_handle_entry(h, handle), text = strings_intern(&h->stacks, stack);

	if (id != HASH_INDEX_NONE)
		return h->v[id].stack == text;
	h->v = grow_array(h->v, h->n, &h->cap, sizeof(*h->v));
	h->v[h->n] = (struct handle_entry){ handle, text };
	hash_index_add(&h->index, XXH3_64bits(&handle, sizeof(handle)), h->n++);
	return true;
}

struct text_slice handle_map_lookup(struct handle_map *h, u64 handle,
				    char name[HANDLE_NAME_LEN])
{
	u32 id = find_handle_entry(h, handle);

	h->used = true;
	if (id != HASH_INDEX_NONE)
		return h->stacks.v[h->v[id].stack];
	return (struct text_slice){ name, snprintf(name, HANDLE_NAME_LEN, " handle:%llu\n",
						   handle) };
}

void handle_map_free(struct handle_map *h)
{
	strings_free(&h->stacks);
	free(h->v);
	hash_index_free(&h->index);
}
