/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a record, field by field, as the language asks for it. */
#ifndef OWNERTOP_FACTS_H
#define OWNERTOP_FACTS_H

#include "input/record.h"
#include "model/stacks.h"

struct fact {
	enum {
		FACT_UNKNOWN,	/* the input does not tell */
		FACT_ABSENT,	/* there is none */
		FACT_KNOWN,
	} state;
	u64 number;
	struct text word;
};

/* Of any field but those that an allocation has many of. @now: to tell ages. */
struct fact fact_of(const struct record *rec, enum owner_field field, u64 now);

struct model;

/*
 * Does the expression hold, and is it a source that is asked for? OWNER_VERDICT_UNDECIDED:
 * on fields that the input does not tell, whose bits are in @untold.
 */
enum owner_verdict facts_judge(struct model *m, const struct record *rec,
			     const struct owner *owner, unsigned int *untold);

#endif
