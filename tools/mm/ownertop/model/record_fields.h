/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a record, field by field, as the language asks for it. */
#ifndef OWNERTOP_FACTS_H
#define OWNERTOP_FACTS_H

#include "input/record.h"
#include "model/stacks.h"

struct field_value {
	enum {
		FIELD_UNKNOWN,	/* the input does not tell */
		FIELD_ABSENT,	/* there is none */
		FIELD_KNOWN,
	} state;
	u64 number;
	struct text word;
};

/* Of any field but those that an allocation has many of. @now: to tell ages. */
struct field_value record_field_value(const struct record *rec, enum owner_field field, u64 now);

struct model;

/*
 * Does the expression hold, and is it a source that is asked for? OWNER_VERDICT_UNDECIDED:
 * on fields that the input does not tell, whose bits are in @unknown_fields.
 */
enum owner_verdict record_judge(struct model *m, const struct record *rec,
			     const struct parsed_chain *owner, unsigned int *unknown_fields);

#endif
