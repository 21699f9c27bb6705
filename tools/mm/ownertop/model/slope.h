/* SPDX-License-Identifier: GPL-2.0 */
/* Compute the growth per hour of each group over many dumps, and sort the groups by it. */
#ifndef OWNERTOP_SLOPE_H
#define OWNERTOP_SLOPE_H

#include "model/answer.h"

/* The least-squares line through one measure of a group in all dumps of a trend. */
struct slope {
	double per_hour;
	double r2;		/* coefficient of determination, 0 to 1 */
	bool r2_known;		/* false for two dumps and for a measure that never changed */
	u32 up;			/* number of times the measure grew from one dump to the next */
	u32 down;
};

struct trend {
	const struct answer *a;
	double *sort_keys;	/* by group number: growth per hour of view.measure, or its size */
	u32 *order;		/* numbers of the groups: first the n that changed */
	u32 n;
	u32 shown;
	u32 unchanged;
	struct sum *not_shown;	/* by dump: sum of the first n groups that are not shown */
};

void trend_init(struct trend *t, const struct answer *a);
/*
 * Show the largest groups of the last dump, too: as many again, behind the others. Groups that did
 * not change are among them.
 */
void trend_show_largest(struct trend *t);

/*
 * Group numbers for which trend_get_group_sum() and trend_compute_slope() take the total of all
 * groups, and the sum of the groups that changed and are not shown.
 */
#define TREND_TOTAL U32_MAX
#define TREND_NOT_SHOWN (U32_MAX - 1)

struct slope trend_compute_slope(const struct trend *t, u32 group, enum measure measure);
struct sum trend_get_group_sum(const struct trend *t, u32 group, u32 dump);
void trend_free(struct trend *t);

#endif
