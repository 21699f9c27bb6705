/* SPDX-License-Identifier: GPL-2.0 */
/* When dumps were taken. */
#ifndef OWNERTOP_TIMES_H
#define OWNERTOP_TIMES_H

#include <stdbool.h>

#include "base/types.h"

struct dumps;

enum time_source {
	TIME_RECORDS,		/* the newest time stamp in the dump */
	TIME_MTIME,		/* when its file was written */
	TIME_GIVEN,
};

struct times {
	enum time_source source;
	u64 *given;		/* ns since some moment */
	u32 n;
	u32 cap;
};

/* The value of --time; ends the program if it makes no sense. */
void times_parse(struct times *t, const char *text);

/*
 * For each dump the time since the first one. Returns NULL after a message if
 * they do not follow each other.
 */
u64 *times_of(const struct times *t, const struct dumps *dumps);

void times_free(struct times *t);

#endif
