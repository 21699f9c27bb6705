/* SPDX-License-Identifier: GPL-2.0 */
/* How each group went over many dumps: its growth per hour, those first that leak most. */
#ifndef OWNERTOP_SLOPE_H
#define OWNERTOP_SLOPE_H

#include "model/answer.h"

/* A straight line through one figure in all dumps, by least squares. */
struct slope {
	double per_hour;
	double r2;		/* part of the changes that the line explains */
	bool r2_known;		/* not of two dumps, nor of what never changed */
	u32 up;			/* from one dump to the next */
	u32 down;
};

struct trend {
	const struct answer *a;
	struct slope *slopes;	/* by number of group, of what is sorted by */
	u32 *order;		/* numbers of the groups that changed */
	u32 n;
	u32 shown;
	u32 unchanged;
};

void trend_init(struct trend *t, const struct answer *a);
/* Of a group, or of the total if it is TREND_TOTAL. */
#define TREND_TOTAL U32_MAX
struct slope trend_slope(const struct trend *t, u32 group, enum measure sort);
struct sum trend_sum(const struct trend *t, u32 group, u32 dump);
void trend_free(struct trend *t);

#endif
