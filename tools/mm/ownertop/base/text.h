/* SPDX-License-Identifier: GPL-2.0 */
/* A slice of the text in a buffer: a pointer and a length, without a NUL at its end. */
#ifndef OWNERTOP_TEXT_H
#define OWNERTOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text_slice {
	const char *s;
	size_t len;
};

static inline bool text_starts_with(struct text_slice t, const char *head, size_t len)
{
	return t.len >= len && !memcmp(t.s, head, len);
}

/* Compare two texts byte by byte. A text sorts before a longer text that begins with it. */
static inline int text_slice_compare(struct text_slice a, struct text_slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	/* An empty slice can have no pointer. */
	int order = len ? memcmp(a.s, b.s, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* text_starts_with() for a string literal, whose length is a constant. */
#define TEXT_STARTS(t, literal) text_starts_with(t, literal, sizeof(literal) - 1)

#endif
