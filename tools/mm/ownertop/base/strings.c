// SPDX-License-Identifier: GPL-2.0
/* Interned strings. They are stored in chunks that are never moved: pointers stay valid. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/strings.h"

#define CHUNK_SIZE 16384

struct string_chunk {
	struct string_chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

static char *allocate_chars(struct strings *st, size_t len)
{
	struct string_chunk *c = st->chunks;
	char *p;

	if (!c || c->size - c->used < len) {
		size_t size = len > CHUNK_SIZE ? len : CHUNK_SIZE;

		c = xmalloc(sizeof(*c) + size);
		c->next = st->chunks;
		c->used = 0;
		c->size = size;
		st->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += len;
	return p;
}

static bool interned_string_equals(const void *array, u32 id, const void *key)
{
	const struct strings *st = array;
	const struct text_slice *t = key;

	return st->v[id].len == t->len && !memcmp(st->v[id].s, t->s, t->len);
}

u32 strings_intern(struct strings *st, struct text_slice t)
{
	u64 hash = XXH3_64bits(t.s, t.len);
	u32 id = hash_index_find(&st->index, hash, interned_string_equals, st, &t);
	char *copy;

	if (id != HASH_INDEX_NONE)
		return id;

	copy = allocate_chars(st, t.len + 1);
	memcpy(copy, t.s, t.len);
	copy[t.len] = '\0';

	st->v = grow_array(st->v, st->n, &st->cap, sizeof(*st->v));
	st->v[st->n] = (struct text_slice){ copy, t.len };
	hash_index_add(&st->index, hash, st->n);
	return st->n++;
}

void strings_free(struct strings *st)
{
	while (st->chunks) {
		struct string_chunk *next = st->chunks->next;

		free(st->chunks);
		st->chunks = next;
	}
	free(st->v);
	hash_index_free(&st->index);
	*st = (struct strings){ 0 };
}
