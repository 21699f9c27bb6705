/* SPDX-License-Identifier: GPL-2.0 */
/* What every writer writes: the groups in order, and what is not among them. */
#ifndef OWNERTOP_REPORT_H
#define OWNERTOP_REPORT_H

#include "model/answer.h"

struct report {
	const struct model *model;
	enum measure measure;
	u32 *order;	/* indexes of groups, the largest first */
	u32 kept;		/* of the language's groups=; the others are one, other */
	u32 shown;		/* that many of them are written */
	struct sum not_shown;
	struct sum other;
};

/* The groups of what was read, as its options ask for. */
void report_init(struct report *r, const struct answer *a);
struct group report_group(const struct report *r, u32 rank);
void report_free(struct report *r);

#endif
