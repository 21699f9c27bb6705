/* SPDX-License-Identifier: GPL-2.0 */
/* Find and sort the groups that differ between two dumps. */
#ifndef OWNERTOP_GROWTH_H
#define OWNERTOP_GROWTH_H

#include "model/answer.h"

/* The sums of a group in the older and in the newer dump. */
struct dump_sums {
	struct sum sums[2];
};

struct growth {
	const struct answer *a;
	u32 *order;		/* numbers of the groups that differ */
	u32 n;
	u32 shown;		/* number of groups that are shown, from the front of order */
	u32 appeared;		/* groups that only the newer dump has */
	u32 gone;		/* groups that only the older dump has */
	u32 unchanged;
	struct dump_sums not_shown;
	struct dump_sums total;
};

void growth_init(struct growth *g, const struct answer *a);
struct dump_sums growth_find_group_sums(const struct growth *g, u32 group);
void growth_free(struct growth *g);

#endif
