/* SPDX-License-Identifier: GPL-2.0 */
/* Interned strings: each distinct string is stored once and has a number. */
#ifndef OWNERTOP_STRINGS_H
#define OWNERTOP_STRINGS_H

#include "base/chunks.h"
#include "base/hash_index.h"
#include "base/text.h"

struct strings {
	struct text_slice *v;		/* the strings by number, each also NUL-terminated */
	u32 n;
	u32 cap;
	struct hash_index index;
	struct chunk *chunks;
};

/* Returns the number of the string @t, or HASH_INDEX_NONE. */
u32 strings_find(const struct strings *st, struct text_slice t);
/* Look up or store the string @t. Returns its number; a new string has the number st->n had. */
u32 strings_intern(struct strings *st, struct text_slice t);
void strings_free(struct strings *st);

#endif
