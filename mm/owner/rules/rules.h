/* SPDX-License-Identifier: GPL-2.0 */
/* Which allocations are captured, how deep, how often. */
#ifndef _MM_OWNER_RULES_H
#define _MM_OWNER_RULES_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#include "../lang/lang.h"
#include "../owner.h"

struct kmem_cache;
struct seq_file;

/* What becomes of an allocation. */
struct owner_choice {
	unsigned char depth;	/* frames to keep, 0 if it is to have no owner */
	unsigned char rate;	/* the number of the rate at which it is sampled */
	bool free;		/* keep who frees it, if it is a slab object */
};

/* A rule, as far as allocations see it. */
struct owner_rule {
	struct owner_choice choice;
	unsigned char plain_depth;	/* what the choice is, if it is only that; else 0 */
	unsigned long __percpu *hits;
};

static inline void owner_rule_set_choice(struct owner_rule *rule, struct owner_choice choice)
{
	rule->choice = choice;
	rule->plain_depth = choice.rate || choice.free ? 0 : choice.depth;
}

/* Kept by a cache whose allocations have to be looked at one by one. */
#define OWNER_RULE_PER_ALLOCATION	((const struct owner_rule *)1)

/* Of what a cache keeps: is it a rule? */
static inline bool owner_rule_is_resolved(const struct owner_rule *rule)
{
	return rule > OWNER_RULE_PER_ALLOCATION;
}

struct owner_choice owner_choose_object(struct kmem_cache *s, gfp_t flags, size_t size, int nid,
					struct owner_caller caller);
struct owner_choice owner_choose_percpu(gfp_t flags, size_t size, struct owner_caller caller);
unsigned int owner_choose_pages(gfp_t flags, unsigned int order, int nid,
				struct owner_caller caller, unsigned int otherwise);

bool owner_gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
		       unsigned long flags);

void owner_rules_set_default(bool track, bool free);
int owner_rules_write(const char *text, size_t length, char *said, size_t size);
int owner_rules_show(struct seq_file *m);

#endif /* _MM_OWNER_RULES_H */
