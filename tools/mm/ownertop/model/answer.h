/* SPDX-License-Identifier: GPL-2.0 */
/* Records, sums and dumps that were read for one view, and how the view orders them. */
#ifndef OWNERTOP_ANSWER_H
#define OWNERTOP_ANSWER_H

#include "input/health.h"
#include "input/meminfo.h"
#include "input/slabinfo.h"
#include "model/dumps.h"
#include "model/measure.h"

/* How a view orders its groups and how many it shows. */
struct view_options {
	enum measure measure;	/* shares and widths are of this figure */
	unsigned char order[OWNER_SORTS];	/* sort keys, enum owner_sort */
	u32 nr_order;
	u32 top;		/* groups to show; 0: all */
	u64 min_held;		/* bytes that a group holds at least to be shown */
	u32 each;		/* top is for each value of this key, plus 1; 0: of all groups */
	bool callees;		/* trees: the function that allocates is below the root */
};

struct answer {
	struct view_options view;
	struct model model;
	struct dumps dumps;	/* dumps that a view compares; other views use only model */
	u64 *dump_ns;		/* trend: ns from the first dump to each dump */
	struct histograms histograms;	/* view explain: of the last dump */
	struct input_health health;
	struct meminfo meminfo;	/* of the machine of the last dump, if it is known */
	struct slabinfo slabinfo;	/* of that machine, in a view by cache */
	struct record_selection rest_of_select;	/* the query's selection without its expression */
};

#endif
