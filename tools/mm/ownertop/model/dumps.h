/* SPDX-License-Identifier: GPL-2.0 */
/* Several dumps in one model: what each group had in each of them. */
#ifndef OWNERTOP_DUMPS_H
#define OWNERTOP_DUMPS_H

#include "model/model.h"

struct dump {
	const char *path;
	u64 newest;		/* time stamp */
	struct packed sums;	/* by number of group; those that came later had nothing here */
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

/* Moves the sums of what @m has read out of it, so that the next dump can come. */
void dumps_add(struct dumps *dumps, struct model *m, const char *path);
/* All are taken: what is said of one dump is said of the last. */
void dumps_restore_last(const struct dumps *dumps, struct model *m);
struct sum dumps_sum(const struct dump *dump, u32 group);
void dumps_free(struct dumps *dumps);

/* How a figure changed; either way by all that a u64 can hold. */
struct change {
	u64 by;
	bool shrunk;
};

struct change change_of(u64 before, u64 after);
/* Negative if @a grew more than @b: the order of a list of growth. */
int change_compare(struct change a, struct change b);
const char *change_sign(struct change c);

#endif
