/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model: groups of records and their sums. Its memory grows with the
 * groups and the distinct names in them, never with the records.
 */
#ifndef OWNERTOP_MODEL_H
#define OWNERTOP_MODEL_H

#include "base/field.h"
#include "base/human.h"
#include "base/packed.h"
#include "input/record.h"
#include "input/sink.h"
#include "model/histogram.h"
#include "model/sources.h"
#include "model/stacks.h"
#include "model/sum.h"
#include "model/user_chains.h"

/* Selection of records that a model counts, and of the fields that it groups them by. */
struct record_selection {
	struct group_list group;
	struct owner_sentence sentence;	/* only its expression and sources are used */
	bool by_handle;		/* also group by the handle of the call chain */
	struct chain_options chains;
	struct frame_names *names;	/* to look up frames; NULL: show frames as they are */
	struct user_chain_options user;
	struct binaries *binaries;	/* to look up user frames; NULL: show them as they are */
};

/*
 * Upper limit of the indexes in the key of a group: all fields and the handle of the call chain.
 */
#define GROUP_KEY_MAX (OWNER_GROUP_FIELDS + 1)

/* Value of a group's numeric field that is unknown or absent. */
#define NUMBER_NONE S64_MIN

/*
 * A group of records with the same key. The key has an index for each field of select->group,
 * into the table of chains, names or numbers. The index of the handle is last, if
 * select->by_handle is set.
 */
struct group {
	struct sum sum;
	u64 oldest;	/* time stamps; TS_UNKNOWN if one of the records has none */
	u64 newest;
	u32 key[GROUP_KEY_MAX];
};

/* The columns of a group in model.groups, behind those of its sum. */
enum {
	GROUP_OLDEST = SUM_COLUMNS,	/* plus 1, so that TS_UNKNOWN is 0 and takes no space */
	GROUP_SPAN,		/* newest - oldest */
	GROUP_KEY,
};

struct model {
	const struct record_selection *select;
	struct record_sink sink;	/* readers hand their records to this */
	struct histograms *histograms;	/* count the records of the groups; may be NULL */

	struct stacks stacks;
	struct user_chains user;
	struct strings words;	/* names of caches, tasks and cgroups, gfp flags */
	struct strings numbers;

	struct packed_table groups;
	u32 key_words;
	struct hash_index group_index;

	struct sum total;	/* sum of all groups */
	struct sum counted;	/* sum of total, filtered and undecided */
	bool sampled;		/* a record of any dump was sampled */
	struct sum known;	/* those of known owners among the groups */
	struct sum filtered;	/* records that the expression does not hold for */
	u64 with_user;		/* objects of the groups with a user chain */
	struct sum undecided;	/* records that lack a field the expression needs */
	unsigned int unknown_fields;	/* bit mask: the fields that those records lack */
	struct sources sources;
	u64 newest;		/* time stamp of the newest record */
};

void model_init(struct model *m, const struct record_selection *select);

struct group model_get_group(const struct model *m, u32 i);

static inline u64 model_get_oldest(const struct model *m, u32 i)
{
	return packed_get(&m->groups, i, GROUP_OLDEST) - 1;
}

static inline u64 model_get_newest(const struct model *m, u32 i)
{
	return model_get_oldest(m, i) + packed_get(&m->groups, i, GROUP_SPAN);
}

/* The sum of some groups, with their number and the span of their times. */
struct group_totals {
	u64 groups;
	struct sum sum;
	u64 oldest;		/* time stamps; TS_UNKNOWN if a group has none */
	u64 newest;
};

#define GROUP_TOTALS_NONE ((struct group_totals){ .oldest = TS_UNKNOWN, .newest = TS_UNKNOWN })

/* Add a group. */
void group_totals_add(struct group_totals *to, const struct sum *sum, u64 oldest, u64 newest);

/* Returns the age of an object with time stamp @ts; TS_UNKNOWN if that is unknown. */
u64 model_compute_age(const struct model *m, u64 ts);

/*
 * Returns the call chain or the user chain of a group, which must be grouped by that @field. A
 * user chain without frames is that of objects that have none.
 */
const struct chain *model_get_chain(const struct model *m, const struct group *g,
				    enum owner_field field);
/* Returns the frames that the numbers of a chain of @field stand for. */
const struct strings *model_get_frames(const struct model *m, enum owner_field field);
/* Is a field of the groups shown? The user chain may be left out if no object has one. */
bool model_shows_field(const struct model *m, enum owner_field field);

/* Returns frame number @i of a chain of @field. */
struct text_slice model_get_frame(const struct model *m, enum owner_field field,
				  const struct chain *chain, u32 i);
/* Does the group have a value of @field? Some inputs do not tell all fields. */
bool model_field_is_known(const struct model *m, const struct group *g, enum owner_field field);
/* Returns the value of a numeric field of a group. */
s64 model_get_number(const struct model *m, const struct group *g, enum owner_field field);
/* Write the value of a numeric field of a group as text: a bucket with its unit. Returns @buf. */
const char *model_format_number(char buf[HUMAN_LEN], const struct model *m, const struct group *g,
				enum owner_field field);
/* Returns the value of a field of a group that is neither a number nor the call chain. */
struct text_slice model_get_name(const struct model *m, const struct group *g,
				 enum owner_field field);
/* Returns the depot handle of a group's chain, or HANDLE_UNKNOWN. Requires select->by_handle. */
u64 model_get_handle(const struct model *m, const struct group *g);

/*
 * Replace the time stamp @newest by @ts if that is newer. TS_UNKNOWN is the largest u64, but
 * must not replace a known time.
 */
void update_newest_time(u64 *newest, u64 ts);

/* Free the tables that only the addition of records needs. No record may be added afterwards. */
void model_finish(struct model *m);
void model_free(struct model *m);

#endif
