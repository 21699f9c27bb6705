/* SPDX-License-Identifier: GPL-2.0 */
/* When dumps were taken: --time. */
#ifndef OWNERTOP_TIMES_H
#define OWNERTOP_TIMES_H

#include <stdbool.h>

#include "base/types.h"

struct dumps;

enum time_source {
	TIME_RECORDS,		/* the newest time stamp in the dump */
	TIME_MTIME,		/* when the file was written */
	TIME_LIST,		/* a list of times from the user */
};

struct dump_times {
	enum time_source source;
	u64 *list;		/* TIME_LIST: time of each dump, in ns since any moment */
	u32 n;
	u32 cap;
};

/* Parse the argument of --time. Ends the program with a message if it is wrong. */
void dump_times_parse(struct dump_times *t, const char *text);

/*
 * Returns an array with the ns from the first dump to each dump. Returns NULL after a
 * message if a dump is not later than the one before.
 */
u64 *dump_times_find(const struct dump_times *t, const struct dumps *dumps);

void dump_times_free(struct dump_times *t);

#endif
