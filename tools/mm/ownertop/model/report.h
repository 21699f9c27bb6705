/* SPDX-License-Identifier: GPL-2.0 */
/* The groups of an answer in the order of the view, and the sums of the others. */
#ifndef OWNERTOP_REPORT_H
#define OWNERTOP_REPORT_H

#include "model/answer.h"

struct report {
	const struct model *model;
	enum measure measure;
	u32 *order;		/* group numbers by rank */
	u32 n;
	u32 shown;		/* groups that top= or --top shows */
	struct sum not_shown;
};

/* Sort the groups of the answer @a as its view options say. */
void report_init(struct report *r, const struct answer *a);
struct group report_get_group(const struct report *r, u32 rank);
void report_free(struct report *r);

#endif
