/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures that groups had at the start of live mode and at the update before the last. Each
 * update reads into a new model, so groups are known by a hash of their fields.
 */
#ifndef OWNERTOP_HISTORY_H
#define OWNERTOP_HISTORY_H

#include <time.h>

#include "base/hash_index.h"
#include "base/packed.h"
#include "model/report.h"

struct history {
	struct packed_table rows;
	struct hash_index index;
	u64 updates;
	time_t start;		/* time of the first update */
	struct sum total_start;
	struct sum total_before;
	struct sum total_now;
};

/* Changes of one measure. */
struct history_change {
	bool known;		/* false: more groups than history_update() keeps */
	struct change tick;	/* since the previous update */
	struct change start;
};

void history_init(struct history *h);
/* Keep the figures of the groups of @r after an update; if they are many, of the first ones. */
void history_update(struct history *h, const struct report *r);
struct history_change history_find(const struct history *h, const struct model *m,
				   const struct group *g, enum measure measure);
struct history_change history_of_total(const struct history *h, enum measure measure);
/* Hash the fields of a group. */
u64 history_hash_group(const struct model *m, const struct group *g);
void history_free(struct history *h);

#endif
