/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model: groups of records and their sums. Its memory grows with the
 * groups and the distinct names in them, never with the records.
 */
#ifndef OWNERTOP_MODEL_H
#define OWNERTOP_MODEL_H

#include "field.h"
#include "record.h"
#include "sources.h"
#include "stacks.h"

struct filter {
	const char *cache;	/* globs; NULL: any */
	const char *comm;
	const s64 *pids;
	u32 nr_pids;	/* 0: any */
	u64 older;		/* ns before model.now, or earlier; 0: any */
};

/* Which records, and how they are grouped. */
struct selection {
	struct field_list group;
	struct filter filter;
	struct chain_rules chains;
	struct names *names;	/* NULL: frames as they are */
};

struct sum {
	u64 objects;
	u64 bytes;
	u64 held;
};

void sum_add(struct sum *to, const struct sum *sum);

/* A field that is not grouped by is 0 in every key. */
struct group_key {
	s64 pid;
	s64 tgid;
	u32 chain;
	u32 cache;
	u32 comm;
	u32 module;
	u32 minute;	/* since boot */
	u32 kind;
};

struct group {
	struct group_key key;
	struct sum sum;
	u64 oldest;	/* time stamps; TS_UNKNOWN if no record has one */
	u64 newest;
};

struct model {
	const struct selection *select;
	/* Takes records in place of the model, if set: their text may matter. */
	const char *(*take)(void *taker, const struct record *rec);
	void *taker;
	u64 now;		/* time stamp that ages are counted from */

	struct stacks stacks;
	struct strings caches;
	struct strings comms;

	struct group *groups;
	u32 nr_groups;
	u32 groups_cap;
	struct index group_index;

	struct sum total;	/* of all groups */
	struct sum filtered;	/* of the records no filter let through */
	struct sources sources;
	u64 newest;	/* time stamp, of all records */

	bool coverage_known;
	u64 tracked;
	u64 untracked;
};

void model_init(struct model *m, const struct selection *select);

/* Returns NULL, or why the record is not counted. */
const char *model_add(struct model *m, const struct record *rec);

/* How much earlier than all the newest the group's oldest record is, in ns. */
u64 model_age(const struct model *m, const struct group *g);

/* What the kernel says it has and has not seen. Adds up over inputs. */
void model_coverage(struct model *m, u64 tracked, u64 untracked);

/* One frame of a chain. */
struct text model_frame(const struct model *m, const struct chain *chain, u32 i);
/* Did the input tell? Other formats than that of records tell less. */
bool model_known(const struct model *m, const struct group *g, enum field field);
/* The value of a field that is a number. */
s64 model_number(const struct model *m, const struct group *g, enum field field);
/* The value of any other field but FIELD_STACK. */
struct text model_name(const struct model *m, const struct group *g, enum field field);

void model_free(struct model *m);

#endif
