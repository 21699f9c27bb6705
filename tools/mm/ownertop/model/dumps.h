/* SPDX-License-Identifier: GPL-2.0 */
/* The sums of each group in several dumps that were read into one model. */
#ifndef OWNERTOP_DUMPS_H
#define OWNERTOP_DUMPS_H

#include "model/model.h"

struct dump {
	const char *path;
	u64 newest;		/* time stamp of the newest record */
	struct packed_table sums;	/* by group number, without the groups of later dumps */
	struct sum total;
	struct sum filtered;
	struct sum undecided;
	unsigned int unknown_fields;
	struct sources sources;
	struct input_summary summary;
};

struct dumps {
	struct dump *v;
	u32 n;
	u32 cap;
};

/* Move the sums of @m into a new dump and clear them; @m can then read the next dump. */
void dumps_add(struct dumps *dumps, struct model *m, const char *path);
/* Put the totals of the last dump back into @m, for the notes of a view. */
void dumps_restore_last(const struct dumps *dumps, struct model *m);
/* The sum of a group in a dump; zero if the group is not in it. */
struct sum dumps_find_sum(const struct dump *dump, u32 group);
void dumps_free(struct dumps *dumps);

/* The change of a figure. An s64 could not hold every difference of two u64. */
struct change {
	u64 by;
	bool shrunk;
};

struct change change_between(u64 before, u64 after);
/* For qsort(): the largest growth first. */
int change_compare(struct change a, struct change b);
const char *change_sign(struct change c);

#endif
