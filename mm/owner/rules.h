/* SPDX-License-Identifier: GPL-2.0 */
/* Which allocations are captured, how deep, how often. */
#ifndef _MM_OWNER_RULES_H
#define _MM_OWNER_RULES_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#include "lang.h"

struct kmem_cache;
struct seq_file;

/* What the last sentence that matches says; see struct owner_sentence. */
struct owner_rule {
	unsigned int depth;
	bool track;
	unsigned long __percpu *hits;
	struct owner_sentence *sentence;	/* NULL: the rule for all the rest */
	bool published;				/* readers may know it */
};

const struct owner_rule *owner_rule_for(struct kmem_cache *s, gfp_t flags, size_t size, int nid);
const struct owner_rule *owner_rule_for_kind(enum owner_kind kind, gfp_t flags, size_t size,
					     int nid);

void owner_rules_otherwise(bool track);
int owner_rules_write(const char *text, size_t length, char *said, size_t size);
int owner_rules_show(struct seq_file *m);

#endif /* _MM_OWNER_RULES_H */
