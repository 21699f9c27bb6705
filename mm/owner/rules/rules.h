/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules decide which allocations get an owner, how many frames of the call chain
 * are kept and how often to sample.
 *
 *	rules.c			merge the rules of an allocation; caches keep the result
 *	symbol_ranges.c		addresses of the functions and modules that a rule names
 *	table.h			the table, shared by rules.c and control/change.c
 *	../choice.c		the default, and the choices that caches keep
 *	../control/change.c	replaces the table; owner= on the boot line
 *	../control/show.c	prints it, and what each rule does
 *	../control/file.c	owner/control
 */
#ifndef _MM_OWNER_RULES_H
#define _MM_OWNER_RULES_H

#include <linux/compiler.h>
#include <linux/gfp_types.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "../choice.h"
#include "../owner.h"

struct kmem_cache;
struct owner_comparison;
struct owner_rule_table;
struct owner_sentence;
struct seq_file;

#ifdef CONFIG_SLAB_OWNER_RULES

struct owner_choice owner_choose_object_tracking(struct kmem_cache *s, gfp_t flags, size_t size,
						 int nid, struct stack_depot_caller caller);
struct owner_choice owner_choose_percpu_tracking(gfp_t flags, size_t size,
						 struct stack_depot_caller caller);

unsigned int owner_evaluate_pages_depth(gfp_t flags, unsigned int order, int nid,
					struct stack_depot_caller caller,
					unsigned int default_depth);

/* NULL while there are no rules. Written under table_mutex of control/change.c. */
extern struct owner_rule_table __rcu *owner_rules_table;

/* Choose the depth for an allocation of pages: see owner_evaluate_pages_depth(). */
static __always_inline unsigned int
owner_choose_pages_depth(gfp_t flags, unsigned int order, int nid,
			 struct stack_depot_caller caller, unsigned int default_depth)
{
	if (rcu_access_pointer(owner_rules_table))
		return owner_evaluate_pages_depth(flags, order, nid, caller, default_depth);
	return default_depth;
}

bool owner_gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
		       unsigned long flags);
int owner_rules_write(const char *text, size_t length, char *error_text, size_t size);
int owner_rules_show(struct seq_file *m);

#else /* CONFIG_SLAB_OWNER_RULES */

static inline struct owner_choice
owner_choose_object_tracking(struct kmem_cache *s, gfp_t flags, size_t size, int nid,
			     struct stack_depot_caller caller)
{
	owner_store_cache_choice(s, owner_default_choice);
	return owner_default_choice;
}

static inline struct owner_choice
owner_choose_percpu_tracking(gfp_t flags, size_t size, struct stack_depot_caller caller)
{
	return owner_default_choice;
}

static inline unsigned int owner_choose_pages_depth(gfp_t flags, unsigned int order, int nid,
						    struct stack_depot_caller caller,
						    unsigned int default_depth)
{
	return default_depth;
}

#endif /* CONFIG_SLAB_OWNER_RULES */

#endif /* _MM_OWNER_RULES_H */
