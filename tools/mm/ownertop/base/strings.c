// SPDX-License-Identifier: GPL-2.0
/* Interned strings. They are never moved: pointers to them stay valid. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/strings.h"

static bool interned_string_equals(const void *array, u32 id, const void *key)
{
	const struct strings *st = array;
	const struct text_slice *t = key;

	return st->v[id].len == t->len && !memcmp(st->v[id].s, t->s, t->len);
}

u32 strings_find(const struct strings *st, struct text_slice t)
{
	return hash_index_find(&st->index, XXH3_64bits(t.s, t.len), interned_string_equals, st, &t);
}

u32 strings_intern(struct strings *st, struct text_slice t)
{
	u64 hash = XXH3_64bits(t.s, t.len);
	u32 id = hash_index_find(&st->index, hash, interned_string_equals, st, &t);
	char *copy;

	if (id != HASH_INDEX_NONE)
		return id;

	copy = chunks_take(&st->chunks, t.len + 1);
	memcpy(copy, t.s, t.len);
	copy[t.len] = '\0';

	st->v = grow_array(st->v, st->n, &st->cap, sizeof(*st->v));
	st->v[st->n] = (struct text_slice){ copy, t.len };
	hash_index_add(&st->index, hash, st->n);
	return st->n++;
}

void strings_free(struct strings *st)
{
	chunks_free(&st->chunks);
	free(st->v);
	hash_index_free(&st->index);
	*st = (struct strings){ 0 };
}
