// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks whose chain is known.
 *
 * A known stack has the addresses of a user stack, the number of its mm's maps, and the handle of
 * the chain, with a reference. No others ever get that number, so that a stack of mappings that
 * are gone is not found again. See maps.c.
 *
 * Lookups take no lock. A writer makes the sequence of an element odd while it changes it, and
 * leaves the table as it is if another one is writing.
 */

#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>

#include "user.h"

/* Two frequent stacks of one set do not displace each other. */
#define CACHE_SETS_BITS	9
#define CACHE_PLACES	2

struct known_stack {
	u32 sequence;
	depot_stack_handle_t chain;
	unsigned long maps_id;
	struct owner_user_raw raw;
};

/* Sets of CACHE_PLACES */
static struct known_stack *known_stacks;

/*
 * A raw lock that allocations only try to take: they may happen in any context. Only the task that
 * clears the table waits for it.
 */
static DEFINE_RAW_SPINLOCK(cache_lock);

/**
 * owner_user_cache_init() - allocate the table
 *
 * Idempotent. May sleep. Serialized by the caller.
 *
 * Return: 0 or -ENOMEM.
 */
int owner_user_cache_init(void)
{
	struct known_stack *table;

	if (known_stacks)
		return 0;
	table = kvcalloc(CACHE_PLACES << CACHE_SETS_BITS, sizeof(*table),
			 GFP_KERNEL | __GFP_NOWARN);
	if (!table)
		return -ENOMEM;
	/* Pairs with owner_user_cache_find(). */
	smp_store_release(&known_stacks, table);
	return 0;
}

/* Find the first place of the set of a stack. */
static unsigned int hash_stack(const struct owner_user_raw *raw, unsigned long maps_id)
{
	u64 hash = maps_id;
	unsigned int i;

	for (i = 0; i < raw->count; i++)
		hash = (hash ^ raw->frame[i]) * GOLDEN_RATIO_64;
	return (hash >> (64 - CACHE_SETS_BITS)) * CACHE_PLACES;
}

static bool stacks_are_equal(const struct owner_user_raw *a, const struct owner_user_raw *b)
{
	unsigned int i;

	if (a->count != b->count || a->reason != b->reason || a->begins != b->begins)
		return false;
	for (i = 0; i < b->count; i++)
		if (a->frame[i] != b->frame[i])
			return false;
	return true;
}

/* Get the chain at a place. Return: 0 if it has another stack, or a writer changes it. */
static depot_stack_handle_t get_chain(struct known_stack *known, const struct owner_user_raw *raw,
				      unsigned long maps_id)
{
	depot_stack_handle_t chain;
	u32 sequence;

	/* Pairs with write_place(). */
	sequence = smp_load_acquire(&known->sequence);
	/* data_race(): the sequence is compared again. */
	if (sequence % 2 || !data_race(known->maps_id == maps_id &&
				       stacks_are_equal(raw, &known->raw)))
		return 0;
	chain = READ_ONCE(known->chain);
	/* Pairs with write_place(). */
	smp_rmb();
	return READ_ONCE(known->sequence) == sequence && stack_depot_get(chain) ? chain : 0;
}

/**
 * owner_user_cache_find() - find the chain of a user stack
 * @raw: the user stack
 * @maps_id: number of its mm's maps, or 0
 *
 * Return: the handle of the chain with a reference, 0 if it is not known.
 */
depot_stack_handle_t owner_user_cache_find(const struct owner_user_raw *raw, unsigned long maps_id)
{
	/* Pairs with owner_user_cache_init(). */
	struct known_stack *known = smp_load_acquire(&known_stacks);
	depot_stack_handle_t chain = 0;
	unsigned int i;

	if (!known || !maps_id)
		return 0;
	known += hash_stack(raw, maps_id);
	/* The writer drops its reference only after it has changed the known stack. */
	rcu_read_lock_sched();
	for (i = 0; i < CACHE_PLACES && !chain; i++)
		chain = get_chain(known + i, raw, maps_id);
	rcu_read_unlock_sched();
	return chain;
}

/* Write a place, with cache_lock held. Return: the chain that was there. */
static depot_stack_handle_t write_place(struct known_stack *known,
					const struct owner_user_raw *raw, unsigned long maps_id,
					depot_stack_handle_t chain)
{
	depot_stack_handle_t old = known->chain;

	WRITE_ONCE(known->sequence, known->sequence + 1);
	/* Pairs with get_chain(). */
	smp_wmb();
	known->chain = chain;
	known->maps_id = maps_id;
	known->raw = *raw;
	/* Pairs with get_chain(). */
	smp_store_release(&known->sequence, known->sequence + 1);
	return old;
}

/**
 * owner_user_cache_add() - remember the chain of a user stack
 * @raw: the user stack
 * @maps_id: number of the maps by which the stack was resolved
 * @chain: handle of the chain, with a reference of the caller
 */
void owner_user_cache_add(const struct owner_user_raw *raw, unsigned long maps_id,
			  depot_stack_handle_t chain)
{
	struct known_stack *known = known_stacks;
	depot_stack_handle_t old;

	if (!known || !maps_id || !stack_depot_get(chain))
		return;
	known += hash_stack(raw, maps_id);
	if (!raw_spin_trylock(&cache_lock)) {
		stack_depot_put(chain);
		return;
	}
	old = known->chain;
	/* The stack that was added last is first in its set. */
	if (known->maps_id != maps_id || !stacks_are_equal(raw, &known->raw))
		old = write_place(known + 1, &known->raw, known->maps_id, known->chain);
	write_place(known, raw, maps_id, chain);
	raw_spin_unlock(&cache_lock);
	stack_depot_put(old);
}

/**
 * owner_user_cache_clear() - forget all user stacks
 *
 * May sleep.
 */
void owner_user_cache_clear(void)
{
	static const struct owner_user_raw none;
	depot_stack_handle_t old;
	unsigned int i;

	for (i = 0; known_stacks && i < CACHE_PLACES << CACHE_SETS_BITS; i++) {
		raw_spin_lock(&cache_lock);
		old = write_place(&known_stacks[i], &none, 0, 0);
		raw_spin_unlock(&cache_lock);
		stack_depot_put(old);
		cond_resched();
	}
}
