/* SPDX-License-Identifier: GPL-2.0 */
/* What every writer writes: the groups in order, and what is not among them. */
#ifndef OWNERTOP_REPORT_H
#define OWNERTOP_REPORT_H

#include "input/health.h"
#include "model/model.h"

enum sort_by {
	SORT_BYTES,
	SORT_HELD,
	SORT_OBJECTS,
	NR_SORTS
};

struct answer;

struct report {
	const struct model *model;
	const struct health *health;
	enum sort_by sort;
	u32 *order;	/* indexes of groups, the largest first */
	u32 kept;		/* of the language's groups=; the others are one, other */
	u32 shown;		/* that many of them are written */
	struct sum not_shown;
	struct sum other;
};

const char *sort_name(enum sort_by sort);
/* Is what the language sorts by an amount, and has shares? */
bool sort_is_measure(enum owner_sort sort);
/* The first that is, bytes if none is. */
enum sort_by sort_measure(const unsigned char *order, u32 n);
/* The other figure of the two that matter. */
enum sort_by sort_beside(enum sort_by sort);
u64 sort_value(const struct sum *sum, enum sort_by sort);

/* The groups of what was read, as its options ask for. */
void report_init(struct report *r, const struct answer *a);
struct group report_group(const struct report *r, u32 rank);
void report_free(struct report *r);

#endif
