/* SPDX-License-Identifier: GPL-2.0 */
/* A view of the data, such as table, tree or flame, with its default options and writers. */
#ifndef OWNERTOP_VIEWS_H
#define OWNERTOP_VIEWS_H

#include <stdio.h>

#include "ask/option_list.h"
#include "output/writer.h"

struct view {
	const char *name;
	struct group_list group;	/* default of --group */
	struct group_list live_group;	/* default groups of --live on this machine */
	u32 depth;
	u32 top;
	double least_percent;
	bool rows;		/* the text is a table with a row for each group */
	bool explains;		/* reads dumps as a series; histograms are of the last */
	bool summary;		/* on a terminal, a few lines on the answer come first */
	bool fixed_groups;	/* --group and the sentence cannot change the groups */
	bool by_function;	/* default of --by */
	bool ages;		/* the view shows ages of objects */
	unsigned int takes;
	bool pair;		/* the first input is the older of two dumps */
	bool series;		/* each input is a dump, from the oldest to the newest */
	bool no_terminal;	/* the output is not for a terminal */
	view_writer write[NR_FORMATS];
};

/* All views of ownertop; the first is the default. */
extern const struct view views[];
extern const unsigned int nr_views;

/* Returns the view called @name, or NULL. */
const struct view *view_find_by_name(const char *name);

#endif
