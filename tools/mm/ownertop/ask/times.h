/* SPDX-License-Identifier: GPL-2.0 */
/* The times at which the dumps of a trend were taken, as --time selects them. */
#ifndef OWNERTOP_TIMES_H
#define OWNERTOP_TIMES_H

#include <stdbool.h>

#include "base/types.h"

struct dumps;

enum time_source {
	TIME_RECORDS,		/* a dump has the time stamp of its newest record */
	TIME_MTIME,		/* a dump has the modification time of its file */
	TIME_LIST,		/* the user lists the times of the dumps */
};

struct dump_times {
	enum time_source source;
	u64 *list;		/* for TIME_LIST: ns of each dump, from any origin */
	u32 n;
	u32 cap;
};

/* Parse the argument of --time, ending the program with a message if it is wrong. */
void dump_times_parse(struct dump_times *t, const char *text);

/*
 * Compute the time of each dump. Returns an array of ns since the first dump, or NULL after a
 * message if a dump is not later than the one before it.
 */
u64 *dump_times_find(const struct dump_times *t, const struct dumps *dumps);

void dump_times_free(struct dump_times *t);

#endif
