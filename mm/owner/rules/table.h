/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules as they stand: rules.c asks them, rules_change.c makes another table.
 */
#ifndef _MM_OWNER_RULES_TABLE_H
#define _MM_OWNER_RULES_TABLE_H

#include <linux/bits.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "../lang/lang.h"
#include "symbol_ranges.h"
#include "rules.h"

#define RULES_MAX	64

struct rule {
	struct owner_rule seen;			/* by allocations */
	struct owner_sentence *sentence;	/* NULL: the rule for all the rest */
	bool published;				/* readers may know it */
	/* For each comparison of func or module; NULL: functions are asked for their names. */
	struct owner_symbol_ranges __rcu *places[];
};

struct table {
	unsigned int count;			/* the last rule's number */
	unsigned char kinds[OWNER_SOURCES];	/* the answer where there is no cache */
	unsigned int fields_used;		/* a bit for each field that a rule compares */
	struct rule *rules[RULES_MAX + 1];	/* by number; 0 is the rule for the rest */
};

#define FIELDS_OF_CHAIN	(BIT(OWNER_FIELD_FUNC) | BIT(OWNER_FIELD_MODULE))

/* Does the comparison look at a call chain? */
static inline bool looks_at_chain(const struct owner_comparison *c)
{
	return BIT(c->field) & FIELDS_OF_CHAIN;
}

/* NULL while there are no rules. Changed by rules_change.c, under its mutex. */
extern struct table __rcu *owner_rules_table;
extern struct rule owner_default_rule;
/* Counts the tables there have been. */
extern unsigned long owner_rules_generation;

int owner_rules_prepare_chains(void);
unsigned int owner_rules_answer(const struct table *table, enum owner_source kind);

#endif /* _MM_OWNER_RULES_TABLE_H */
