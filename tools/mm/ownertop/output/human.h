/* SPDX-License-Identifier: GPL-2.0 */
/* Figures as a person reads them. */
#ifndef OWNERTOP_HUMAN_H
#define OWNERTOP_HUMAN_H

#include <stddef.h>

#include "model/dumps.h"
#include "model/report.h"

#define HUMAN_LEN 24

const char *human_bytes(char buf[HUMAN_LEN], u64 bytes);
/* Bytes as above, objects as they are. */
const char *human_figure(char buf[HUMAN_LEN], u64 v, enum sort_by sort);
/* The standard error of what is sorted by, for held of bytes; "-": it is no estimate. */
const char *human_error(char buf[HUMAN_LEN], const struct sum *sum, enum sort_by sort);
/* The head of its column. */
const char *human_error_head(enum sort_by sort);
/* With its sign. */
const char *human_change(char buf[HUMAN_LEN], struct change c, enum sort_by sort);
/* @ns: U64_MAX if not known */
const char *human_age(char buf[HUMAN_LEN], u64 ns);
/*
 * A name as it can be shown: what would move the cursor, or is no character at
 * all, as "\x1b". To be freed.
 */
char *human_name(struct text name);
const char *human_percent(char buf[HUMAN_LEN], u64 part, u64 whole);

#endif
