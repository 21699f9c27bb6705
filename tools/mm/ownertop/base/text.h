/* SPDX-License-Identifier: GPL-2.0 */
/* A stretch of text that is not NUL-terminated: a view into somebody's buffer. */
#ifndef OWNERTOP_TEXT_H
#define OWNERTOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
	const char *s;
	size_t len;
};

static inline bool text_starts(struct text t, const char *head, size_t len)
{
	return t.len >= len && !memcmp(t.s, head, len);
}

/* As memcmp() orders them; what ends earlier comes first. */
static inline int text_compare(struct text a, struct text b)
{
	int order = memcmp(a.s, b.s, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* For a string literal: its length costs nothing at run time. */
#define TEXT_STARTS(t, literal) text_starts(t, literal, sizeof(literal) - 1)

#endif
