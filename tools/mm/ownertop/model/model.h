/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model: groups of records and their sums. Its memory grows with the
 * groups and the distinct names in them, never with the records.
 */
#ifndef OWNERTOP_MODEL_H
#define OWNERTOP_MODEL_H

#include "base/field.h"
#include "base/packed.h"
#include "input/record.h"
#include "input/sink.h"
#include "model/sources.h"
#include "model/stacks.h"
#include "model/sum.h"

/* Which records, and how they are grouped. */
struct selection {
	struct group_list group;
	struct owner_sentence sentence;	/* its expression and its sources */
	bool by_handle;		/* a call chain is told from others by its handle as well */
	struct chain_rules chains;
	struct names *names;	/* NULL: frames as they are */
};

/* Of all fields; the chain's handle. */
#define GROUP_KEY_MAX (OWNER_FIELDS + 2)

/* A number that a group does not have. */
#define NUMBER_NONE S64_MIN

/*
 * The key has a number for each field that is grouped by, in their order: of a
 * chain or a name, and also of a number, the place in its table. The handle comes
 * last, if chains are told apart by it.
 */
struct group {
	struct sum sum;
	u64 oldest;	/* time stamps; TS_UNKNOWN if a record has none */
	u64 newest;
	u32 key[GROUP_KEY_MAX];
};

/* Groups are kept in rows, of which these are the columns. */
enum {
	GROUP_OLDEST = SUM_COLUMNS,	/* and 1: TS_UNKNOWN is 0 */
	GROUP_LATER,		/* that the newest is than that */
	GROUP_KEY,
};

struct model {
	const struct selection *select;
	struct record_sink sink;	/* readers hand their records to this */
	/* If set, called for each record that the expression holds for; no groups are made. */
	void (*visit)(void *arg, const struct record *rec, const struct sum *sum);
	void *visit_arg;

	struct stacks stacks;
	struct strings words;	/* names of caches, tasks and cgroups, gfp flags */
	struct strings numbers;

	struct packed groups;
	u32 key_words;
	struct index group_index;

	struct sum total;	/* of all groups */
	bool sampled;		/* something in them, in any dump */
	struct sum filtered;	/* of the records that the expression does not hold for */
	struct sum undecided;	/* of those of which it is not known */
	unsigned int unknown_fields;	/* a bit for each field that some of these lack */
	struct sources sources;
	u64 newest;	/* time stamp, of all records */
};

void model_init(struct model *m, const struct selection *select);

struct group model_group(const struct model *m, u32 i);

static inline u64 model_oldest(const struct model *m, u32 i)
{
	return packed_get(&m->groups, i, GROUP_OLDEST) - 1;
}

static inline u64 model_newest(const struct model *m, u32 i)
{
	return model_oldest(m, i) + packed_get(&m->groups, i, GROUP_LATER);
}

/* A sum with the number of its groups and the span of their times. */
struct tally {
	u64 groups;
	struct sum sum;
	bool is_any;		/* something was added */
	u64 oldest;		/* time stamps; TS_UNKNOWN if a part has none */
	u64 newest;
};

#define TALLY_NONE ((struct tally){ .oldest = TS_UNKNOWN, .newest = TS_UNKNOWN })

void tally_add(struct tally *to, const struct sum *sum, u64 groups, u64 oldest, u64 newest);

/* How long before now, or the newest of all records, that was; TS_UNKNOWN stays so. */
u64 model_age(const struct model *m, u64 ts);

/* The chain that the group has in common, if it has. */
const struct chain *model_chain(const struct model *m, const struct group *g);

/* One frame of a chain. */
struct text model_frame(const struct model *m, const struct chain *chain, u32 i);
/* Did the input tell? Other formats than that of records tell less. */
bool model_field_is_known(const struct model *m, const struct group *g, enum owner_field field);
/* The value of a field that is a number. */
s64 model_number(const struct model *m, const struct group *g, enum owner_field field);
/* The value of any other field but the stack. */
struct text model_name(const struct model *m, const struct group *g, enum owner_field field);
/* The handle of the chain, if it is part of the key; HANDLE_UNKNOWN: not told. */
u64 model_handle(const struct model *m, const struct group *g);

void model_free(struct model *m);

#endif
