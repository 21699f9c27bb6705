/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules decide which allocations get an owner, how many frames of the call chain
 * are kept and how often to sample.
 *
 *	rules.c		find the rule of an allocation; caches keep theirs
 *	change.c	replace the table of rules; print it; owner= on the boot line
 *	symbol_ranges.c	addresses of the functions and modules that a rule names
 *	file.c		owner/control
 *	table.h		the table, shared by rules.c and change.c
 *
 * change.c calls rules.c, and both call symbol_ranges.c. The allocators' hooks
 * call rules.c only.
 */
#ifndef _MM_OWNER_RULES_H
#define _MM_OWNER_RULES_H

#include <linux/compiler.h>
#include <linux/gfp_types.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "../lang/lang.h"
#include "../owner.h"

struct kmem_cache;
struct owner_rule_table;
struct seq_file;

/* The result of the rules for one allocation. */
struct owner_choice {
	unsigned char depth;	/* frames to keep; 0: the allocation gets no owner */
	unsigned char rate;	/* sampling rate, see owner_register_rate() */
	bool free;		/* slab objects: also record which task and chain frees it */
	bool user;		/* also record the user chain */
};

/* The part of a rule that the fast path of an allocation reads. */
struct owner_rule {
	struct owner_choice choice;
	unsigned char fast_depth;	/* choice.depth; 0 with a rate, which needs the slow path */
	unsigned long __percpu *hits;	/* allocations that this rule decided */
};

static inline void owner_rule_set_choice(struct owner_rule *rule, struct owner_choice choice)
{
	rule->choice = choice;
	rule->fast_depth = choice.rate ? 0 : choice.depth;
}

/*
 * kmem_cache.owner_rule is NULL until the rule of the cache is resolved, or this
 * value if the rules must be evaluated for each allocation from the cache.
 */
#define OWNER_RULE_PER_ALLOCATION	((const struct owner_rule *)1)

/* Does one rule decide all allocations from the cache? @rule: kmem_cache.owner_rule. */
static inline bool owner_rule_is_resolved(const struct owner_rule *rule)
{
	return rule > OWNER_RULE_PER_ALLOCATION;
}

struct owner_choice owner_choose_object_tracking(struct kmem_cache *s, gfp_t flags, size_t size,
						 int nid, struct stack_depot_caller caller);
struct owner_choice owner_choose_percpu_tracking(gfp_t flags, size_t size,
						 struct stack_depot_caller caller);

#ifdef CONFIG_SLAB_OWNER
unsigned int owner_evaluate_pages_depth(gfp_t flags, unsigned int order, int nid,
					struct stack_depot_caller caller,
					unsigned int default_depth);

/* NULL while there are no rules. Written under table_mutex of change.c. */
extern struct owner_rule_table __rcu *owner_rules_table;
DECLARE_PER_CPU(unsigned long, owner_default_rule_hits);

/* Choose the depth for an allocation of pages: see owner_evaluate_pages_depth(). */
static __always_inline unsigned int
owner_choose_pages_depth(gfp_t flags, unsigned int order, int nid,
			 struct stack_depot_caller caller, unsigned int default_depth)
{
	if (rcu_access_pointer(owner_rules_table))
		return owner_evaluate_pages_depth(flags, order, nid, caller, default_depth);
	this_cpu_inc(owner_default_rule_hits);
	return default_depth;
}
#else
static inline unsigned int owner_choose_pages_depth(gfp_t flags, unsigned int order, int nid,
						    struct stack_depot_caller caller,
						    unsigned int default_depth)
{
	return default_depth;
}
#endif

bool owner_gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
		       unsigned long flags);

/*
 * Are frees recorded? True while a rule, or the default, has free=on. Change.c waits for RCU
 * after each change: in an RCU read-side critical section, the value is good to its end.
 */
extern bool owner_frees_recorded;

void owner_rules_set_default(bool track, bool free);
int owner_rules_write(const char *text, size_t length, char *error_text, size_t size);
int owner_rules_show(struct seq_file *m);

#endif /* _MM_OWNER_RULES_H */
