/* SPDX-License-Identifier: GPL-2.0 */
/* Names in which the kernel has written bytes in octal: control characters, backslashes. */
#ifndef OWNERTOP_OCTAL_H
#define OWNERTOP_OCTAL_H

#include "base/text.h"

/* Decode a name that has backslashes, for octal_decode(). */
struct text_slice octal_decode_escapes(struct text_slice name, char *buf);

/*
 * Decode each \ooo in @name. Returns @name itself if it has none, otherwise a copy in @buf,
 * which has room for @name.
 */
static inline struct text_slice octal_decode(struct text_slice name, char *buf)
{
	return memchr(name.s, '\\', name.len) ? octal_decode_escapes(name, buf) : name;
}

#endif
