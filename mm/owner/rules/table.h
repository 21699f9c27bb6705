/* SPDX-License-Identifier: GPL-2.0 */
/* The table of rules: control/change.c builds and publishes it, rules.c reads it under RCU. */
#ifndef _MM_OWNER_RULES_TABLE_H
#define _MM_OWNER_RULES_TABLE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "../lang/lang.h"
#include "rules.h"
#include "symbol_ranges.h"

#define OWNER_RULES_MAX	64
/*
 * Comparisons of func and module in all rules. Each takes a search of all symbols when it
 * is written, some 20 ms, and of a module's symbols when one is loaded.
 */
#define OWNER_CHAIN_COMPARISONS_MAX	64

/**
 * struct owner_rule_cpu - what a CPU keeps of a rule
 * @hits: allocations that evaluated the rules, and for which this one decided a setting
 * @cgroup: the cgroup of the task for which the rule was evaluated last: owner_cgroup_of_task()
 * @known: a bit for each comparison with this cgroup that was evaluated, by its index
 * @holds: a bit for each of them that holds
 *
 * Tasks write the last three with preemption disabled; in interrupts there is no cgroup.
 */
struct owner_rule_cpu {
	unsigned long hits;
	u64 cgroup;
	u32 known;
	u32 holds;
};

static_assert(OWNER_COMPARISONS_MAX <= 32);

/* One rule. It moves from table to table, with its hits, until it is removed. */
struct owner_rule_entry {
	struct owner_choice choice;		/* settings that it does not name are 0 */
	struct owner_rule_cpu __percpu *cpu;
	struct owner_sentence *sentence;	/* NULL: owner_default_rule */
	bool published;				/* free it only after a grace period */
	/*
	 * Addresses that the comparisons of func and module match, by the index of the
	 * comparison. NULL if there was no memory for them when a module was loaded or
	 * unloaded: names are compared then.
	 * Written under table_mutex of control/change.c.
	 */
	struct owner_symbol_ranges __rcu *ranges[];
};

/**
 * struct owner_merged_settings - settings from the rules that match, the last rule first
 * @wanted: bit mask of enum owner_setting: settings that matter for the kind
 * @decided: bit mask of enum owner_setting: settings of these that a rule has named
 * @per_allocation: a rule matches by fields that differ between allocations
 * @track: if a rule has named it
 * @choice: @depth, @rate, @free and @user, if a rule has named them, else 0
 */
struct owner_merged_settings {
	unsigned char wanted;
	unsigned char decided;
	bool per_allocation;
	bool track;
	struct owner_choice choice;
};

struct owner_rule_table {
	unsigned int count;			/* number of the last rule */
	/* Of all allocations of pages and of per-CPU areas. */
	struct owner_merged_settings by_kind[OWNER_KINDS];
	unsigned int fields_used;		/* bit mask of enum owner_field, all rules */
	/* By rule: how many comparisons of func and module precede its own. */
	unsigned char first_chain_bit[OWNER_RULES_MAX + 1];
	struct owner_rule_entry *entries[OWNER_RULES_MAX + 1];	/* [0]: owner_default_rule */
};

/**
 * struct owner_rule_use - where a rule counts, as owner/control shows it
 * @decides: caches for all whose objects it decides a setting
 * @evaluates: caches that evaluate it for each allocation
 * @kinds: bit mask of enum owner_kind: pages, per-CPU areas for all of which it decides
 * @can_match: there is a cache, or a kind of memory, that its condition does not exclude
 * @is_reached: it can decide a setting
 * @is_off: it could, if no other rule had track=off
 */
struct owner_rule_use {
	unsigned int decides;
	unsigned int evaluates;
	unsigned char kinds;
	bool can_match;
	bool is_reached;
	bool is_off;
};

#define OWNER_FIELDS_OF_CHAIN	(BIT(OWNER_FIELD_FUNC) | BIT(OWNER_FIELD_MODULE))

/* Does evaluating the comparison require the call chain? */
static inline bool owner_comparison_needs_chain(const struct owner_comparison *c)
{
	return BIT(c->field) & OWNER_FIELDS_OF_CHAIN;
}

/* Fields that can differ between two allocations from a cache. */
#define OWNER_FIELDS_PER_ALLOCATION	(~(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_HELD) | \
					   BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_KIND)))

/* Counts the allocations that no rule matches. Their choice is owner_default_choice. */
extern struct owner_rule_entry owner_default_rule;

int owner_rules_alloc_chain_buffers(void);
int owner_rules_find_use(const struct owner_rule_table *table, unsigned int kinds,
			 struct owner_rule_use *uses);
void owner_rules_store_cache_rule(struct kmem_cache *s);
void owner_rules_merge_for_kind(const struct owner_rule_table *table, enum owner_kind kind,
				struct owner_merged_settings *merged);

#endif /* _MM_OWNER_RULES_TABLE_H */
