/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of a record, and whether a query's expression holds for them. */
#ifndef OWNERTOP_RECORD_FIELDS_H
#define OWNERTOP_RECORD_FIELDS_H

#include "input/record.h"
#include "model/stacks.h"
#include "model/user_chains.h"

struct field_value {
	enum {
		FIELD_UNKNOWN,	/* the input does not tell the value */
		FIELD_ABSENT,	/* the object has no such field */
		FIELD_KNOWN,
	} state;
	u64 number;
	struct text_slice word;
};

/* Returns the names of the gfp flags, with "|" between them. */
struct text_slice record_get_gfp(const struct record *rec);

/*
 * Returns the value of @field of a record. Functions and modules are fields of the call chain:
 * see struct parsed_chain. @now: the time that ages are counted from.
 */
struct field_value record_field_value(const struct record *rec, enum owner_field field, u64 now);

/*
 * Evaluate the expression and the sources of the query @s, which uses a field, for a record. If the
 * result is OWNER_VERDICT_UNDECIDED, it depends on the fields whose bits are set in
 * @unknown_fields. Words of the record are interned in @words.
 */
enum owner_verdict record_evaluate(const struct record *rec, const struct parsed_chain *chain,
				   const struct parsed_user_chain *user,
				   const struct owner_sentence *s, struct strings *words, u64 now,
				   unsigned int *unknown_fields);

#endif
