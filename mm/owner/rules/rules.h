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

/* How the choice for objects of a cache is made. */
enum owner_cache_choice {
	OWNER_CACHE_UNKNOWN,		/* find out */
	OWNER_CACHE_PER_ALLOCATION,	/* evaluate the rules for each allocation */
	OWNER_CACHE_STORED,		/* the cache has it; it needs the slow path */
	OWNER_CACHE_FAST,		/* the cache has it: each object gets an owner */
};

/**
 * struct owner_choice - the result of the rules for one allocation
 * @depth: frames to keep; 0: the allocation gets no owner
 * @rate: sampling rate, see owner_register_rate()
 * @free: slab objects: also record which task and chain frees it
 * @user: also record the user chain
 * @cache: in kmem_cache.owner_choice: enum owner_cache_choice
 * @word: all of this, to be read and written at once
 */
struct owner_choice {
	union {
		struct {
			u8 depth;
			u8 rate;
			bool free:1;
			bool user:1;
			u8 cache;
		};
		u32 word;
	};
};

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

/* Choose the depth for an allocation of pages: see owner_evaluate_pages_depth(). */
static __always_inline unsigned int
owner_choose_pages_depth(gfp_t flags, unsigned int order, int nid,
			 struct stack_depot_caller caller, unsigned int default_depth)
{
	if (rcu_access_pointer(owner_rules_table))
		return owner_evaluate_pages_depth(flags, order, nid, caller, default_depth);
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
