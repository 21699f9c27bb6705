// SPDX-License-Identifier: GPL-2.0
/*
 * User stacks whose chain is known, and code whose place is known.
 *
 * A known stack has the addresses of a user stack, the owner_maps_id of its mm, and the
 * handle of the chain, with a reference. owner_maps_id of an mm names its executable
 * mappings: it is set to 0 when one is added, and gets a new number, which no mm ever had,
 * when a stack is resolved next. A known stack with an old number is never found again.
 *
 * The number does not change when a mapping is removed: if a stack still has an address in the
 * mapping, the call was made while it existed.
 *
 * A known range is the addresses of a mapping with their place, under the same number. It
 * gives the chains of stacks that are new, but have all of their code in known ranges.
 *
 * Lookups take no lock. A writer makes the sequence of an element odd while it changes it, and
 * leaves the table as it is if another one is writing.
 */

#include <linux/hash.h>
#include <linux/mm.h>
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

#define RANGE_SETS_BITS		8
#define RANGE_PLACES		4

struct known_range {
	u32 sequence;
	unsigned long maps_id;
	struct owner_user_range range;
};

/* Sets of RANGE_PLACES */
static struct known_range known_ranges[RANGE_PLACES << RANGE_SETS_BITS];

/* A raw lock that writers only try to take: an allocation may happen in any context. */
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
	table = kvcalloc(CACHE_PLACES << CACHE_SETS_BITS, sizeof(*table), GFP_KERNEL);
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
 * owner_user_cache_find() - find the chain of a user stack of the current mm
 * @raw: the user stack
 *
 * Return: the handle of the chain with a reference, 0 if it is not known.
 */
depot_stack_handle_t owner_user_cache_find(const struct owner_user_raw *raw)
{
	unsigned long maps_id = READ_ONCE(current->mm->owner_maps_id);
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
 * @maps_id: owner_maps_id of its mm when the stack was resolved, under the mmap lock
 * @chain: handle of the chain, with a reference of the caller
 */
void owner_user_cache_add(const struct owner_user_raw *raw, unsigned long maps_id,
			  depot_stack_handle_t chain)
{
	struct known_stack *known = known_stacks;
	depot_stack_handle_t old;

	if (!known || !stack_depot_get(chain))
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

/* --- Known ranges --------------------------------------------------------------- */

/* Find the first place of the set of an address. */
static struct known_range *find_range_set(unsigned long maps_id, unsigned long address)
{
	u64 hash = (maps_id ^ (u64)(address >> OWNER_USER_PART_SHIFT) << 32) * GOLDEN_RATIO_64;

	return known_ranges + (hash >> (64 - RANGE_SETS_BITS)) * RANGE_PLACES;
}

/* Read a place. False if it does not have the address, or a writer changes it. */
static bool read_range(const struct known_range *known, struct owner_user_range *range,
		       unsigned long maps_id, unsigned long address)
{
	u32 sequence;

	/* Pairs with write_range(). */
	sequence = smp_load_acquire(&known->sequence);
	/* data_race(): the sequence is compared again. */
	if (sequence % 2 || !data_race(known->maps_id == maps_id &&
				       owner_user_range_has(&known->range, address)))
		return false;
	/* data_race(): as above. */
	*range = data_race(known->range);
	/* Pairs with write_range(). */
	smp_rmb();
	return READ_ONCE(known->sequence) == sequence;
}

/**
 * owner_user_cache_find_range() - find the place of code
 * @range: filled with the addresses of the mapping
 * @maps_id: owner_maps_id of the current mm
 * @address: an address in the mapping
 *
 * Return: false if it is not known. @range is undefined then.
 */
bool owner_user_cache_find_range(struct owner_user_range *range, unsigned long maps_id,
				 unsigned long address)
{
	const struct known_range *set = find_range_set(maps_id, address);
	unsigned int i;

	if (!maps_id)
		return false;
	for (i = 0; i < RANGE_PLACES; i++)
		if (read_range(set + i, range, maps_id, address))
			return true;
	return false;
}

static void write_range(struct known_range *known, const struct owner_user_range *range,
			unsigned long maps_id)
{
	WRITE_ONCE(known->sequence, known->sequence + 1);
	/* Pairs with read_range(). */
	smp_wmb();
	known->maps_id = maps_id;
	known->range = *range;
	/* Pairs with read_range(). */
	smp_store_release(&known->sequence, known->sequence + 1);
}

/**
 * owner_user_cache_add_range() - remember the place of code
 * @range: the addresses of the mapping
 * @maps_id: owner_maps_id of its mm when it was resolved, under the mmap lock
 * @address: an address in the mapping
 */
void owner_user_cache_add_range(const struct owner_user_range *range, unsigned long maps_id,
				unsigned long address)
{
	struct known_range *set = find_range_set(maps_id, address);
	static unsigned int last_place;
	struct owner_user_range found;

	if (owner_user_cache_find_range(&found, maps_id, address) ||
	    !raw_spin_trylock(&cache_lock))
		return;
	last_place = (last_place + 1) % RANGE_PLACES;
	write_range(set + last_place, range, maps_id);
	raw_spin_unlock(&cache_lock);
}
