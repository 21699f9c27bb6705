/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What groups held at the mark, from which growth is counted, and at the update before the last.
 * Each update reads into a new model, so groups are known by a hash of their fields.
 */
#ifndef OWNERTOP_HISTORY_H
#define OWNERTOP_HISTORY_H

#include <time.h>

#include "base/hash_index.h"
#include "base/packed.h"
#include "model/dumps.h"
#include "model/measure.h"

/* The sums of all groups at one time. */
struct past {
	struct packed_table rows;
	struct hash_index index;
	struct sum total;
};

/* The sums of a group, or of some groups, now and before. */
struct figures {
	struct sum now;
	struct sum before;
	struct sum mark;
};

struct history {
	time_t start;		/* of the mark; 0: there is none */
	struct past mark;
	struct past before;
};

/* Set the mark: from now on, growth is the difference to the answer in @m. @now: its time. */
void history_mark(struct history *h, const struct model *m, time_t now);
/* Keep the sums of an answer before the next one is read. */
void history_keep(struct history *h, const struct model *m);
/* Mark the answer in @m if it is the first one. */
void history_begin(struct history *h, const struct model *m, time_t now);
/* Find the figures of a group. Those of a time when it did not exist are zeros. */
struct figures history_find(const struct history *h, const struct model *m, const struct group *g);
struct figures history_get_total(const struct history *h, const struct model *m);
void figures_add(struct figures *to, const struct figures *f);
/* Hash the fields of a group. */
u64 history_hash_group(const struct model *m, const struct group *g);
/* Free the history, so that history_begin() starts a new one. */
void history_free(struct history *h);

#endif
