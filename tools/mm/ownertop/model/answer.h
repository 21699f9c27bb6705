/* SPDX-License-Identifier: GPL-2.0 */
/* Everything that was read for one view, and how the view orders it. */
#ifndef OWNERTOP_ANSWER_H
#define OWNERTOP_ANSWER_H

#include "input/health.h"
#include "model/dumps.h"
#include "model/measure.h"

/* How a view orders its groups and how many it shows. */
struct view_options {
	enum measure measure;	/* shares and widths are of this figure */
	unsigned char order[OWNER_SORTS];	/* sort keys, enum owner_sort */
	u32 nr_order;
	u32 top;		/* groups to show; 0: all */
	u32 groups;		/* groups to keep, the others are one sum; 0: all */
	bool callees;		/* trees: the function that allocates is below the root */
};

struct answer {
	struct view_options view;
	struct model model;
	struct dumps dumps;	/* of a view that compares dumps; else only model is used */
	u64 *dump_ns;		/* trend: time of each dump after the first */
	struct input_health health;
	struct selection asked;	/* selection left to do after the kernel has filtered */
};

#endif
