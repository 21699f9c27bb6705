/* SPDX-License-Identifier: GPL-2.0 */
/* The groups of two dumps that differ, those that grew most first. */
#ifndef OWNERTOP_GROWTH_H
#define OWNERTOP_GROWTH_H

#include "model/answer.h"

/* The sums of a group in the older and in the newer dump. */
struct pair {
	struct sum sums[2];
};

struct growth {
	const struct answer *a;
	u32 *order;		/* numbers of the groups that differ */
	u32 n;
	u32 shown;
	u32 appeared;
	u32 gone;
	u32 unchanged;
	struct pair not_shown;
	struct pair total;
};

void growth_init(struct growth *g, const struct answer *a);
struct pair growth_pair(const struct growth *g, u32 group);
void growth_free(struct growth *g);

#endif
