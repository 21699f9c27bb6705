/* SPDX-License-Identifier: GPL-2.0 */
/* How an allocation is tracked: the choice of a rule, and the choice that a cache keeps. */
#ifndef _MM_OWNER_CHOICE_H
#define _MM_OWNER_CHOICE_H

#include <linux/types.h>

struct kmem_cache;

/* How the choice for objects of a cache is made. */
enum owner_cache_choice {
	OWNER_CACHE_UNKNOWN,		/* find out */
	OWNER_CACHE_PER_ALLOCATION,	/* evaluate the rules for each allocation */
	OWNER_CACHE_STORED,		/* the cache has it; it needs the slow path */
	OWNER_CACHE_FAST,		/* the cache has it: each object gets an owner */
};

/**
 * struct owner_choice - how one allocation is tracked
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

/* Set by the boot line, before the first slab and before kmalloc's caches are created. */
extern bool slab_owner_is_wanted;
/* For allocations that no rule matches. Set by the boot line. */
extern struct owner_choice owner_default_choice;

/*
 * Are frees recorded? True while a rule, or the default, has free=on. control/change.c waits for
 * RCU after each change: in an RCU read-side critical section, the value is good to its end.
 */
extern bool owner_frees_recorded;

void owner_set_default_choice(bool track, bool free);
void owner_mark_cache_keeps_freed(struct kmem_cache *s);
void owner_store_cache_choice(struct kmem_cache *s, struct owner_choice choice);
void owner_store_cache_per_allocation(struct kmem_cache *s);

#endif /* _MM_OWNER_CHOICE_H */
