/* SPDX-License-Identifier: GPL-2.0 */
/* Short forms of figures and names, for text that people read. */
#ifndef OWNERTOP_HUMAN_H
#define OWNERTOP_HUMAN_H

#include "base/text.h"
#include "base/types.h"

#define HUMAN_LEN 24

/* "1.5K": one decimal and a binary unit. The functions below return @buf. */
const char *human_bytes(char buf[HUMAN_LEN], u64 bytes);
/* @ns: an age; U64_MAX, which prints "-", if it is not known */
const char *human_age(char buf[HUMAN_LEN], u64 ns);
/*
 * Returns a copy of @name in which control characters and bytes that are not UTF-8 are
 * replaced by escapes as "\x1b". The caller frees it.
 */
char *human_name(struct text name);
const char *human_percent(char buf[HUMAN_LEN], u64 part, u64 total);

#endif
