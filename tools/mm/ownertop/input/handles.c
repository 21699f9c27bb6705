// SPDX-License-Identifier: GPL-2.0
/* From a handle to its call chain. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "input/handles.h"

struct handle {
	u64 handle;
	u32 stack;		/* index into stacks */
};

static bool same_handle(const void *owner, u32 id, const void *key)
{
	const struct handles *h = owner;
	const u64 *handle = key;

	return h->v[id].handle == *handle;
}

static u32 find(const struct handles *h, u64 handle)
{
	return index_find(&h->index, XXH3_64bits(&handle, sizeof(handle)),
			  same_handle, h, &handle);
}

bool handles_add(struct handles *h, u64 handle, struct text stack)
{
	u32 id = find(h, handle), text = strings_intern(&h->stacks, stack);

	if (id != INDEX_NONE)
		return h->v[id].stack == text;
	h->v = grow(h->v, h->n, &h->cap, sizeof(*h->v));
	h->v[h->n] = (struct handle){ handle, text };
	index_add(&h->index, XXH3_64bits(&handle, sizeof(handle)), h->n++);
	return true;
}

struct text handles_stack(struct handles *h, u64 handle,
			  char name[HANDLE_NAME_LEN])
{
	u32 id = find(h, handle);

	h->asked = true;
	if (id != INDEX_NONE)
		return h->stacks.v[h->v[id].stack];
	return (struct text){ name, snprintf(name, HANDLE_NAME_LEN, " handle:%llu\n",
					     handle) };
}

void handles_free(struct handles *h)
{
	strings_free(&h->stacks);
	free(h->v);
	index_free(&h->index);
}
