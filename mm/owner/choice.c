// SPDX-License-Identifier: GPL-2.0
/* Whether objects can be tracked, the default choice, and the choices that caches keep. */

#include <linux/cache.h>
#include <linux/init.h>
#include <linux/slab_owner.h>

#include "../slab.h"
#include "cache.h"
#include "choice.h"
#include "owner.h"
#include "sample.h"

bool slab_owner_is_wanted __ro_after_init;
struct owner_choice owner_default_choice = { .depth = OWNER_DEPTH };
bool owner_frees_recorded;

/**
 * slab_owner_wanted() - tell whether slab objects can be tracked
 *
 * Called when kmalloc's caches are created. If objects can be tracked, kmalloc needs
 * separate caches for their records: if two kmalloc caches held each other's records,
 * freeing a slab would recurse from one to the other.
 *
 * Return: true if the boot line has slab_owner=on or slab_owner=ready.
 */
bool slab_owner_wanted(void)
{
	return slab_owner_is_wanted;
}

/**
 * owner_set_default_choice() - set the choice for allocations that no rule matches
 * @track: record their owners
 * @free: record who frees slab objects; also the default of free= in a rule
 */
void __init owner_set_default_choice(bool track, bool free)
{
	owner_default_choice.depth = track ? OWNER_DEPTH : 0;
	owner_default_choice.free = free;
	owner_frees_recorded = free;
}

/**
 * owner_mark_cache_keeps_freed() - set owner_keeps_freed, until no rule has free=on any more
 * @s: the cache
 *
 * The fast path does not sample this cache: each allocation must reach the hook, which erases the
 * record of the task that freed the previous object in this slot.
 */
void owner_mark_cache_keeps_freed(struct kmem_cache *s)
{
	if (!READ_ONCE(s->owner_keeps_freed))
		WRITE_ONCE(s->owner_keeps_freed, true);
}

static void write_cache_choice(struct kmem_cache *s, struct owner_choice choice, u64 rate)
{
	slab_owner_set_rate(s, rate);
	WRITE_ONCE(s->owner_choice, choice.word);
}

/**
 * owner_store_cache_choice() - keep the choice for all objects of a cache until the rules change
 * @s: the cache
 * @choice: the choice
 */
void owner_store_cache_choice(struct kmem_cache *s, struct owner_choice choice)
{
	u64 rate = OWNER_RATE_ALL;

	if (choice.free)
		owner_mark_cache_keeps_freed(s);
	if (!READ_ONCE(s->owner_keeps_freed))
		rate = choice.depth ? owner_rate_word(choice.rate) : OWNER_RATE_NEVER;
	choice.cache = choice.depth && !choice.rate ? OWNER_CACHE_FAST : OWNER_CACHE_STORED;
	write_cache_choice(s, choice, rate);
}

/**
 * owner_store_cache_per_allocation() - let each allocation of a cache evaluate the rules
 * @s: the cache
 */
void owner_store_cache_per_allocation(struct kmem_cache *s)
{
	write_cache_choice(s, (struct owner_choice){ .cache = OWNER_CACHE_PER_ALLOCATION },
			   OWNER_RATE_ALL);
}
