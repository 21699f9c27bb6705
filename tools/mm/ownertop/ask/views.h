/* SPDX-License-Identifier: GPL-2.0 */
/* What can be made of the records: each view by its name. */
#ifndef OWNERTOP_VIEWS_H
#define OWNERTOP_VIEWS_H

#include <stdio.h>

#include "output/writer.h"

enum format {
	FORMAT_TEXT,		/* for people; or the view's own */
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_TSV,		/* as the kernel answers */
	NR_FORMATS
};

/* Options that not every view has a use for. */
enum {
	TAKES_TOP = 1 << 0,
	TAKES_DIFF = 1 << 1,
	TAKES_MIN = 1 << 2,
	TAKES_CALLEES = 1 << 3,
	TAKES_TIME = 1 << 4,
	TAKES_LIVE = 1 << 5,
	TAKES_ORDER = 1 << 6,	/* by more than one of bytes, held and objects */
	TAKES_GROUPS = 1 << 7,
	TAKES_MODE = 1 << 8,
};

struct view {
	const char *name;
	struct group_list group;	/* these are defaults */
	struct group_list redrawn;	/* of this machine, again and again */
	u32 depth;
	u32 top;
	double least_percent;
	bool ages;		/* it shows them */
	unsigned int takes;
	bool pair;		/* the first input is the older of two dumps */
	bool series;		/* each input is a dump of its own */
	bool no_terminal;	/* its text is for a file */
	view_writer write[NR_FORMATS];
};

/* The first one is the default. */
extern const struct view views[];
extern const unsigned int nr_views;

/* NULL if there is no such view. */
const struct view *view_find(const char *name);
/* The one that may have been meant, or NULL. */
const struct view *view_nearest(const char *name);

#endif
