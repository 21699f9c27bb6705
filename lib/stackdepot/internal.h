/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces between the files of the stack depot. README lists the files, and explains the words.
 *
 * evict.h declares what the files on evictable records share, except for the header of a pool.
 */

#ifndef _LIB_STACKDEPOT_INTERNAL_H
#define _LIB_STACKDEPOT_INTERNAL_H

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot/locks.h>
#include <linux/types.h>

struct evictable_depot;
struct seq_file;

/* DEPOT_POOL_SIZE is a long; sizes are computed as size_t. */
#define POOL_BYTES	((size_t)DEPOT_POOL_SIZE)

/* Records start at multiples of this many bytes (a unit) within a pool. */
#define DEPOT_UNIT		32
#define DEPOT_UNITS		(POOL_BYTES / DEPOT_UNIT)

/* Header of an evictable pool. Protected by depot->lock, except for lookups. */
struct evictable_pool {
	unsigned long tag;
	/* stack_depot_evictable, or an instance made by a KUnit test. */
	struct evictable_depot *depot;
	/* In depot_class.partial or evictable_depot.idle; unlinked if full. */
	struct list_head list;
	/* Freed records, in the order in which they were freed. */
	struct list_head free;
	/* RCU cookie, taken when the pool became idle. */
	unsigned long rcu_state;
	u32 index;
	u32 class;
	/* Records in use. */
	u32 nr_used;
	/* Records carved so far: in use or freed. */
	u32 nr_carved;
	/*
	 * One byte per unit. A lookup by handle checks it before it touches the
	 * record: UNIT_CARVED says that a record starts here, and the generation
	 * must be the handle's.
	 */
	u8 unit[DEPOT_UNITS];
};

/*
 * Pools by index (handle.pool_index_plus_1 - 1), and their number. These two symbols have no
 * prefix because debuggers look them up by these names.
 */
extern void **stack_pools;
extern int pools_num;
/* Largest number of pools; the length of stack_pools. */
extern unsigned int stack_depot_max_pools;
/* Protects stack_pools, pools_num, the spare pool and the persistent records. */
extern raw_spinlock_t stack_depot_pool_lock;

/*
 * Take stack_depot_pool_lock or the lock of an instance. A function that is called with the
 * lock held, or while this waits for it, can be traced, and its trace event can save a stack.
 */
static __always_inline void stack_depot_lock(raw_spinlock_t *lock, unsigned long *flags)
	__acquires(lock)
{
	local_irq_save(*flags);
	__this_cpu_inc(stack_depot_locks);
	raw_spin_lock(lock);
}

/*
 * Take the lock if it is free and this CPU holds none. On UP, raw_spin_trylock() alone succeeds
 * in an NMI.
 */
static __always_inline bool stack_depot_trylock(raw_spinlock_t *lock, unsigned long *flags)
{
	if (this_cpu_read(stack_depot_locks) % STACK_DEPOT_FORBIDDEN)
		return false;
	local_irq_save(*flags);
	__this_cpu_inc(stack_depot_locks);
	if (raw_spin_trylock(lock))
		return true;
	__this_cpu_dec(stack_depot_locks);
	local_irq_restore(*flags);
	return false;
}

static __always_inline void stack_depot_unlock(raw_spinlock_t *lock, unsigned long flags)
	__releases(lock)
{
	raw_spin_unlock(lock);
	__this_cpu_dec(stack_depot_locks);
	local_irq_restore(flags);
}

/**
 * stack_depot_max_buckets() - Limit a hash table to its share of the bound
 * @bucket_bytes: size of one bucket
 *
 * Return: the largest number of buckets, a power of two; ULONG_MAX without a
 * bound in bytes.
 */
unsigned long stack_depot_max_buckets(size_t bucket_bytes);

/**
 * stack_depot_charge() - Count the memory of a table against the bound
 * @bytes: size of the table
 *
 * Context: Initialization, before the pools are set up.
 */
void stack_depot_charge(size_t bytes);

/**
 * stack_depot_reserve_table() - Keep a table's share of the bound
 * @bucket_bytes: size of one bucket
 *
 * Context: Initialization, before the pools are set up.
 */
void stack_depot_reserve_table(size_t bucket_bytes);

/**
 * stack_depot_charge_reserved_table() - Count the memory of the table with a reserved share
 * @bytes: size of the table
 */
void stack_depot_charge_reserved_table(size_t bytes);

int stack_depot_pools_early_init(void);
int stack_depot_pools_init(void);

/**
 * stack_depot_prealloc_pool() - Allocate memory for one pool, if it may be needed
 * @gfp: allocation flags of the caller that saves a stack
 *
 * Context: No lock of the depot is held.
 * Return: the memory, or NULL.
 */
void *stack_depot_prealloc_pool(gfp_t gfp);

/**
 * stack_depot_has_spare_pool() - Check for a pool that the next user can take
 *
 * Context: Any. Without stack_depot_pool_lock the answer is a hint.
 * Return: true if there is a spare pool.
 */
bool stack_depot_has_spare_pool(void);

#if IS_ENABLED(CONFIG_KUNIT)
/* Free the spare pool. Return false if there was none. */
bool stack_depot_test_free_spare_pool(void);
#endif

/**
 * stack_depot_count_pools() - Count the pools in stack_pools
 *
 * Vacant indexes do not count.
 *
 * Context: Any. Without stack_depot_pool_lock the number is approximate.
 * Return: the number of pools.
 */
unsigned int stack_depot_count_pools(void);

/**
 * stack_depot_add_pool() - Add the spare pool or *@prealloc to stack_pools
 * @prealloc: preallocated memory or NULL; set to NULL if it is used
 * @evictable: the pool is for evictable records, which leave a reserve to others
 *
 * The pool starts with a zeroed struct evictable_pool. The caller can overwrite it.
 *
 * Context: stack_depot_pool_lock is held.
 * Return: the index of the pool; -ENOSPC at the bound; -ENOMEM without memory.
 */
int stack_depot_add_pool(void **prealloc, bool evictable);

/**
 * stack_depot_count_evictable_pools() - Change the number of pools of evictable records
 * @more: number of pools that became evictable, negative if they are no longer
 *
 * Context: stack_depot_pool_lock is held.
 */
void stack_depot_count_evictable_pools(int more);

/**
 * stack_depot_keep_prealloc() - Keep *@prealloc as the spare pool
 * @prealloc: preallocated memory or NULL; set to NULL if it is kept
 *
 * Only one spare pool is kept, and none at the bound.
 *
 * Context: stack_depot_pool_lock is held.
 */
void stack_depot_keep_prealloc(void **prealloc);

/**
 * stack_depot_free_prealloc() - Free preallocated memory that was not used
 * @prealloc: preallocated memory or NULL
 *
 * Context: No lock of the depot is held.
 */
void stack_depot_free_prealloc(void *prealloc);

void stack_depot_show_pools(struct seq_file *seq);

void stack_depot_evict_early_init(void);

/**
 * stack_depot_evict_init() - Set up the pools, and allow evictable records
 *
 * The hash table of evictable records is allocated when it is needed.
 *
 * Return: 0 or -ENOMEM.
 */
int stack_depot_evict_init(void);

/**
 * stack_depot_save_evictable() - Look up or store a stack, and take a reference
 * @entries: return addresses, or any words
 * @nr_entries: number of @entries
 * @gfp: allocation flags, used if @flags has STACK_DEPOT_FLAG_CAN_ALLOC
 * @flags: flags as for stack_depot_save_flags(), including STACK_DEPOT_FLAG_GET
 *
 * Return: a handle; 0 if the stack cannot be stored, and the refusal is counted.
 */
depot_stack_handle_t stack_depot_save_evictable(unsigned long *entries,
						unsigned int nr_entries, gfp_t gfp,
						depot_flags_t flags);

/**
 * stack_depot_handle_is_stale() - Check for a handle of an evicted record
 * @handle: handle whose pool index is below pools_num
 *
 * A handle of a persistent record is never stale: its extra bits may have any value.
 *
 * Return: true if @handle leads into an evictable pool but not to a record of
 * its generation.
 */
bool stack_depot_handle_is_stale(depot_stack_handle_t handle);

/**
 * stack_depot_has_counters() - Check for a record that has counters
 * @handle: any handle
 *
 * Return: true if stack_depot_fetch() must not read the record of @handle.
 */
bool stack_depot_has_counters(depot_stack_handle_t handle);

/* Start of the addresses that packed frames are offsets of. Read by debuggers. */
extern const unsigned long stack_depot_frame_base;

/**
 * stack_depot_take_idle_pool() - Take an unused evictable pool for persistent records
 * @start: set to the offset at which the caller may store records
 *
 * The pool never returns to the evictable records.
 *
 * Context: stack_depot_pool_lock is held.
 * Return: the index of the pool, or -ENOSPC.
 */
int stack_depot_take_idle_pool(size_t *start);

/* --- Walks: walk.c ----------------------------------------------------------------- */

struct stack_depot_caller;

unsigned int stack_depot_walk_frames(unsigned long *frames, unsigned int depth, bool skip,
				     struct stack_depot_caller caller);

/**
 * stack_depot_walk_with_unwinder() - walk by the kernel's unwinder
 * @frames: filled with return addresses
 * @depth: number of frames to get
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Return: the number of frames.
 */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller);

/* --- The CPU cache: refs.c --------------------------------------------------------- */

struct stack_depot_cpu_cache;
struct stack_depot_ref;

void stack_depot_cpu_caches_init(void);
bool stack_depot_flush_if_full(void);
void stack_depot_index_ref(struct stack_depot_cpu_cache *cpu, struct stack_depot_ref *ref,
			   u64 hash);

/* --- Statistics: stats.c, running.c ------------------------------------------------ */

void stack_depot_show_evictable(struct seq_file *seq);
void stack_depot_show_classes(struct seq_file *seq);

#ifdef CONFIG_STACKDEPOT_WALK
DECLARE_PER_CPU(unsigned long, stack_depot_walked_saves);

void stack_depot_show_running(struct seq_file *seq);
#else
static inline void stack_depot_show_running(struct seq_file *seq)
{
}
#endif

#endif /* _LIB_STACKDEPOT_INTERNAL_H */
