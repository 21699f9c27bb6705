/* SPDX-License-Identifier: GPL-2.0 */
/* The views: what ownertop makes of records. */
#ifndef OWNERTOP_VIEWS_H
#define OWNERTOP_VIEWS_H

#include <stdio.h>

#include "output/writer.h"

/* Options and settings that are refused unless the view has the bit. */
enum {
	TAKES_TOP = 1 << 0,
	TAKES_DIFF = 1 << 1,
	TAKES_MIN = 1 << 2,
	TAKES_CALLEES = 1 << 3,
	TAKES_TIME = 1 << 4,
	TAKES_LIVE = 1 << 5,
	TAKES_ORDER = 1 << 6,	/* sort= by several keys or by another than a measure */
	TAKES_GROUPS = 1 << 7,
	TAKES_MODE = 1 << 8,
};

struct view {
	const char *name;
	struct group_list group;	/* defaults of the options */
	struct group_list redrawn;	/* default groups of --live on this machine */
	u32 depth;
	u32 top;
	double least_percent;
	bool ages;		/* shows ages */
	unsigned int takes;
	bool pair;		/* the first input is the older of two dumps */
	bool series;		/* each input is a dump, from the oldest to the newest */
	bool no_terminal;	/* the text is not for a terminal */
	view_writer write[NR_FORMATS];
};

/* The first is the default. */
extern const struct view views[];
extern const unsigned int nr_views;

/* Returns the view of that name, or NULL. */
const struct view *view_find(const char *name);
/* Returns the view with the most similar name, or NULL. */
const struct view *view_nearest(const char *name);

#endif
