// SPDX-License-Identifier: GPL-2.0
/*
 * The code of a program whose place in user chains is known.
 *
 * A struct owner_user_maps stands for the executable mappings of an mm, and has the places of the
 * mappings that were resolved last. An mm gets one when a user stack is resolved. After fork(), the
 * mm of the child shares it with that of its parent. An mm drops it when an executable mapping is
 * added: therefore an address has the same place in all mms that share it.
 *
 * When files are dropped, other files can get their places: all maps that were made before are
 * replaced. See binaries.c.
 *
 * A mapping that is removed changes nothing: if a stack still has an address in it, the call was
 * made while it existed.
 *
 * mm->owner_maps is set with the mmap lock held, and cleared with that lock held for writing. The
 * task itself reads it under RCU. Lookups take no lock: a writer makes the sequence of a range odd
 * while it changes the range.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>
#include <linux/spinlock.h>

#include "user.h"

#define KNOWN_RANGES	30U

struct known_range {
	u32 sequence;
	struct owner_user_range range;
};

/**
 * struct owner_user_maps - the executable mappings of one mm, or of parents and children
 * @references: number of mms that have it, and of tasks that resolve a stack
 * @written: how many ranges were written; they take the places of @known in turn
 * @epoch: the epoch in which it was allocated: in later ones, its places may be other files'
 * @id: a number that no others have: the key of user stacks that are known
 * @rcu: frees it
 * @known: addresses whose place is known
 */
struct owner_user_maps {
	refcount_t references;
	u32 written;
	unsigned long epoch;
	unsigned long id;
	struct rcu_head rcu;
	struct known_range known[KNOWN_RANGES];
};

static_assert(sizeof(struct owner_user_maps) <= SZ_1K);

/**
 * owner_user_alloc_maps() - allocate what stands for the executable mappings of an mm
 *
 * May sleep.
 *
 * Return: the maps with a reference, NULL without memory.
 */
struct owner_user_maps *owner_user_alloc_maps(void)
{
	struct owner_user_maps *maps = kmalloc(sizeof(*maps), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	static atomic_long_t last_id;

	if (!maps)
		return NULL;
	refcount_set(&maps->references, 1);
	maps->written = 0;
	maps->epoch = owner_binaries_epoch();
	maps->id = atomic_long_inc_return(&last_id);
	return maps;
}

/* May the places of @maps be used? They may not if files were dropped since. */
static bool maps_are_usable(const struct owner_user_maps *maps)
{
	return maps && maps->epoch == owner_binaries_epoch();
}

/* Put a reference to @maps, which may be NULL. */
void owner_user_put_maps(struct owner_user_maps *maps)
{
	if (maps && refcount_dec_and_test(&maps->references))
		kfree_rcu(maps, rcu);
}

/**
 * owner_user_get_maps() - get the maps of an mm
 * @mm: the mm, whose mmap lock is held
 * @made: maps that @mm gets if it has no usable ones, or NULL. The caller still has its reference.
 *
 * Return: the maps with a reference, NULL if there are none.
 */
struct owner_user_maps *owner_user_get_maps(struct mm_struct *mm, struct owner_user_maps *made)
{
	struct owner_user_maps *maps, *old;

	/* Other tasks may hold the mmap lock for reading, too, and replace the maps meanwhile. */
	rcu_read_lock();
	maps = rcu_dereference(mm->owner_maps);
	if (made && !maps_are_usable(maps)) {
		old = unrcu_pointer(cmpxchg(&mm->owner_maps, RCU_INITIALIZER(maps),
					    RCU_INITIALIZER(made)));
		if (old == maps) {
			refcount_inc(&made->references);
			owner_user_put_maps(old);
			maps = made;
		} else {
			maps = old;
		}
	}
	if (maps && !refcount_inc_not_zero(&maps->references))
		maps = NULL;
	rcu_read_unlock();
	return maps;
}

/**
 * owner_user_maps_id() - number of maps
 * @maps: the maps, or NULL
 *
 * Return: a number that no others have; 0 for NULL.
 */
unsigned long owner_user_maps_id(const struct owner_user_maps *maps)
{
	return maps ? maps->id : 0;
}

/* Return the number of the current mm's maps, 0 if it has no usable ones. */
unsigned long owner_user_current_maps_id(void)
{
	const struct owner_user_maps *maps;
	unsigned long id;

	rcu_read_lock();
	maps = rcu_dereference(current->mm->owner_maps);
	id = maps_are_usable(maps) ? maps->id : 0;
	rcu_read_unlock();
	return id;
}

/* --- Places --------------------------------------------------------------------- */

/* Read a range. False if it does not have the address, or a writer changes it. */
static bool read_range(const struct known_range *known, struct owner_user_range *range,
		       unsigned long address)
{
	u32 sequence;

	/* Pairs with write_range(). */
	sequence = smp_load_acquire(&known->sequence);
	/* data_race(): the sequence is compared again. */
	if (sequence % 2 || !data_race(owner_user_range_has(&known->range, address)))
		return false;
	/* data_race(): as above. */
	*range = data_race(known->range);
	/* Pairs with write_range(). */
	smp_rmb();
	return READ_ONCE(known->sequence) == sequence;
}

/* Find the place of an address. Return: false if it is not known. */
static bool find_range(const struct owner_user_maps *maps, struct owner_user_range *range,
		       unsigned long address)
{
	/* Pairs with owner_user_add_range(). */
	unsigned int i, count = min(smp_load_acquire(&maps->written), KNOWN_RANGES);

	for (i = 0; i < count; i++)
		if (read_range(&maps->known[i], range, address))
			return true;
	return false;
}

/**
 * owner_user_find_places() - find the places of a user stack of the current mm
 * @raw: the user stack
 * @words: filled with a word of a user chain for each address
 * @maps_id: set to the number of the mm's maps, 0 if it has none
 *
 * Return: false if the place of an address is not known.
 */
bool owner_user_find_places(const struct owner_user_raw *raw,
			    unsigned long words[OWNER_USER_WORDS], unsigned long *maps_id)
{
	struct owner_user_range range = {};
	const struct owner_user_maps *maps;
	unsigned int i;

	rcu_read_lock();
	maps = rcu_dereference(current->mm->owner_maps);
	if (!maps_are_usable(maps))
		maps = NULL;
	*maps_id = owner_user_maps_id(maps);
	for (i = 0; maps && i < raw->count; i++) {
		if (!owner_user_range_has(&range, raw->frame[i]) &&
		    !find_range(maps, &range, raw->frame[i]))
			break;
		words[i] = owner_user_range_word(&range, raw->frame[i]);
	}
	rcu_read_unlock();
	return maps && i == raw->count;
}

static void write_range(struct known_range *known, const struct owner_user_range *range)
{
	WRITE_ONCE(known->sequence, known->sequence + 1);
	/* Pairs with read_range(). */
	smp_wmb();
	known->range = *range;
	/* Pairs with read_range(). */
	smp_store_release(&known->sequence, known->sequence + 1);
}

/**
 * owner_user_add_range() - let maps know the place of a mapping
 * @maps: the maps that the mm had when the mapping was located, under the mmap lock; or NULL
 * @range: the addresses of the mapping
 *
 * Context: a task.
 */
void owner_user_add_range(struct owner_user_maps *maps, const struct owner_user_range *range)
{
	static DEFINE_SPINLOCK(lock);
	struct owner_user_range found;
	struct known_range *known;

	if (!maps)
		return;
	spin_lock(&lock);
	if (!find_range(maps, &found, range->start)) {
		known = &maps->known[maps->written % KNOWN_RANGES];
		if (maps->written < KNOWN_RANGES)
			known->sequence = 0;
		write_range(known, range);
		/* Pairs with find_range(). */
		smp_store_release(&maps->written, maps->written + 1);
	}
	spin_unlock(&lock);
}

/* --- Hooks ---------------------------------------------------------------------- */

/**
 * owner_user_fork_maps() - let a new mm share the maps of its parent
 * @mm: the mm of the child, which nobody uses yet
 * @oldmm: the mm of the parent, whose mmap lock is held for writing
 */
void owner_user_fork_maps(struct mm_struct *mm, struct mm_struct *oldmm)
{
	rcu_assign_pointer(mm->owner_maps, owner_user_get_maps(oldmm, NULL));
}

/**
 * owner_user_drop_maps() - let an mm have no maps
 * @mm: an mm whose mmap lock is held for writing, or that nobody uses any more
 */
void owner_user_drop_maps(struct mm_struct *mm)
{
	owner_user_put_maps(rcu_replace_pointer(mm->owner_maps, NULL, true));
}
