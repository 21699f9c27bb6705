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
	struct sum known;
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

/* Append a dump to @dumps: move the sums out of @m, which can then read the next dump. */
void dumps_append_from_model(struct dumps *dumps, struct model *m, const char *path);
/* Put the totals of the last dump back into @m, for the notes of a view. */
void dumps_restore_last(const struct dumps *dumps, struct model *m);
/* Returns the sum of group number @group in @dump; zero if the dump does not have the group. */
struct sum dumps_find_group_sum(const struct dump *dump, u32 group);
void dumps_free(struct dumps *dumps);

/* The difference of two figures of u64, which an s64 could not always hold. */
struct change {
	u64 by;
	bool shrunk;
};

struct change change_between(u64 before, u64 after);
/* Compare two changes for qsort(): the largest growth is first. */
int change_compare(struct change a, struct change b);
const char *change_get_sign(struct change c);

#endif
