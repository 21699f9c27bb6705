/* SPDX-License-Identifier: GPL-2.0 */
/* Short forms of figures and names, for text that people read. */
#ifndef OWNERTOP_HUMAN_H
#define OWNERTOP_HUMAN_H

#include "base/text.h"
#include "base/types.h"

#define HUMAN_LEN 24

/* Write a size as "1.5K": one decimal and a binary unit. Returns @buf. */
const char *human_format_bytes(char buf[HUMAN_LEN], u64 bytes);
/*
 * Write an age as "26h", in the largest unit of which it has at least two. U64_MAX, an unknown
 * age, is "-". Returns @buf.
 */
const char *human_format_age(char buf[HUMAN_LEN], u64 ns);
/*
 * Returns a copy of @name in which control characters and bytes that are not UTF-8 are
 * replaced by escapes as "\x1b". The caller frees it.
 */
char *human_escape_name(struct text_slice name);
const char *human_format_percent(char buf[HUMAN_LEN], u64 part, u64 total);

#endif
