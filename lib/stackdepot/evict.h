/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evictable records of the stack depot: stacks saved with STACK_DEPOT_FLAG_GET.
 * A record has a reference count and is freed when the count drops to zero.
 *
 * Evictable records have their own hash table and pools, so that a lookup for
 * one kind of record never returns the other kind. Both kinds use struct
 * stack_record, the same handles and stack_pools.
 *
 * Frames. A record saved with STACK_DEPOT_FLAG_COUNT has its counters first, then its
 * frames. On 64-bit machines the frames are 32-bit offsets from DEPOT_FRAME_BASE if all
 * of them are within 4 GiB from there, as the kernel and its modules are: the record
 * has HASH_PACKED set. stack_depot_copy() and stack_depot_frame() decode them. Other
 * records have words only, to which stack_depot_fetch() returns a pointer.
 *
 * Memory. A record belongs to the smallest size class that holds it. A pool is carved
 * into records of one class. A pool without records in use can be carved again
 * for another class, so that a change in the mix of depths strands no memory. A
 * class keeps at most one empty pool. Further empty pools are idle: they belong
 * to no class, and any class that runs out of records can take them. At the
 * bound, persistent records can take them too.
 *
 * Links. A record saved by stack_depot_save_linked() has words, the last of which can be
 * a link: the handle of another record of the same instance, to which the record holds
 * a reference. Freeing the record drops the reference, and frees the other record if
 * it was the last.
 *
 * Lifetime. Lookups take no lock, and can reach a freed record until a grace
 * period has passed. A freed record is reused, and an emptied pool carved again,
 * only after that. The depot is called from the allocators and from RCU, so it
 * can neither wait for a grace period nor use call_rcu(). It polls RCU cookies
 * instead. If it refuses a stack because freed memory still waits, it starts a
 * grace period from irq_work, so that memory becomes usable on an idle system.
 *
 * Handles. A slot is the place of a record in a pool. Each slot has a generation,
 * stored in the extra bits of the handle. The generation changes whenever the
 * slot is reused, also after its pool was carved again. Generation and grace
 * period together give stack_depot_get() these guarantees:
 *
 *  - A slot is not reused within an RCU read-side critical section that read the
 *    handle from its holder before the holder dropped its reference. Either
 *    stack_depot_get() succeeds for the stack that was seen, or it fails.
 *  - A handle kept for longer is refused if its slot was reused since, up to 31
 *    times: the generation has STACK_DEPOT_EXTRA_BITS bits. Two uses of a slot
 *    are at least one grace period apart. 32-bit handles allow no stronger
 *    guarantee, because the number of stacks over time is unlimited.
 */

#ifndef _LIB_STACKDEPOT_EVICT_H
#define _LIB_STACKDEPOT_EVICT_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/types.h>
#include <asm/sections.h>

#include "internal.h"

/* Number of size classes; the largest stack decides how many are used. */
#define DEPOT_NR_CLASSES	13

/* Bytes of the largest class: frames and counters of the deepest stack. */
#define DEPOT_RECORD_MAX	2112
static_assert(offsetof(struct stack_record, entries) + sizeof(long) *
	      (CONFIG_STACKDEPOT_MAX_FRAMES + STACK_DEPOT_COUNTERS) <= DEPOT_RECORD_MAX);

/* Each byte of evictable_pool.unit holds the generation of a slot, and a flag. */
#define UNIT_GENERATION		((1U << STACK_DEPOT_EXTRA_BITS) - 1)
/* A record starts at this unit. */
#define UNIT_CARVED		0x80U
static_assert(!(UNIT_GENERATION & UNIT_CARVED));

/*
 * The first word of an evictable pool. A persistent pool starts with a record,
 * whose first word is a list pointer and never odd. A persistent pool that used
 * to be evictable starts with zero.
 */
#define EVICTABLE_POOL_TAG	0x0e51c7edUL

/*
 * Bits of a record's hash that say what the record is. A lookup for one kind of record
 * does not find another kind. No bucket index uses these bits.
 */
#define HASH_COUNTED		BIT(31)	/* has counters */
#define HASH_DATA		BIT(30)	/* STACK_DEPOT_FLAG_DATA */
#define HASH_PACKED		BIT(29)	/* frames are offsets from DEPOT_FRAME_BASE */
#define HASH_LINKED		BIT(28)	/* the last word can be a link */
#define HASH_KIND		(HASH_COUNTED | HASH_DATA | HASH_PACKED | HASH_LINKED)

/*
 * Start of the 4 GiB in which frames can be packed. On x86_64 these are the addresses
 * whose upper half is all ones, so that a packed frame is the lower half. Other kernels
 * may be anywhere, and modules are near.
 */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define DEPOT_FRAME_BASE	0xffffffff00000000UL
#elif defined(CONFIG_64BIT)
#define DEPOT_FRAME_BASE	((unsigned long)_text - SZ_2G)
#else
#define DEPOT_FRAME_BASE	0UL
#endif

/* For stack_depot_save_linked() only: not in STACK_DEPOT_FLAGS_MASK. */
#define DEPOT_FLAG_LINKED	((depot_flags_t)0x2000)

/* Records saved with STACK_DEPOT_FLAG_DATA may use one part in this many of the bound. */
#define DEPOT_DATA_SHARE	4

/* Offset of the first record. */
#define EVICTABLE_POOL_DATA	ALIGN(sizeof(struct evictable_pool), DEPOT_UNIT)

/* Why an evictable stack was not saved. */
enum depot_refusal {
	DEPOT_REFUSED_NMI,	/* the lock is not free, and this CPU may not wait for it */
	DEPOT_REFUSED_BOUND,	/* all memory within the bound is in use */
	DEPOT_REFUSED_GRACE,	/* free memory waits for a grace period to end */
	DEPOT_REFUSED_NOMEM,	/* no page, or the caller may not allocate */
	DEPOT_REFUSED_NOINIT,	/* called before stack_depot_init() */
	DEPOT_REFUSED_DATA,	/* STACK_DEPOT_FLAG_DATA, and its share is in use */
	DEPOT_NR_REFUSALS,
	DEPOT_NOT_REFUSED = DEPOT_NR_REFUSALS,
};

/* Records of one size. Protected by evictable_depot.lock. */
struct depot_class {
	/* Pools that have freed records or room to carve more. */
	struct list_head partial;
	/* The pool without records in use that the class keeps, or NULL. */
	struct evictable_pool *empty;
	unsigned int pools;
	unsigned long in_use;
	/* Records that are carved and not in use. */
	unsigned long nr_free;
};

/*
 * The last allocation of a class, if it failed and the next one would fail too; see
 * stack_depot_refuse_early(). Written under evictable_depot.lock, read without it.
 */
struct depot_class_refusal {
	/* DEPOT_NOT_REFUSED if the next allocation may succeed. */
	enum depot_refusal why;
	/* Try again in the next tick, because this attempt was no proof. */
	bool retry;
	/* RCU cookie taken before the allocation. */
	unsigned long rcu_state;
	/* Value of jiffies when the allocation failed. */
	unsigned long tick;
};

/* Refusals on one CPU. */
struct depot_refusal_counts {
	unsigned long count[DEPOT_NR_REFUSALS];
};

/*
 * All evictable records. The kernel has one instance, stack_depot_evictable.
 * KUnit tests create others to have a bound of their own. A pool points to its
 * instance, so a handle leads to it.
 */
struct evictable_depot {
	/* Read by every lookup, and not written once there is a table. */
	struct hlist_head *table;
	struct depot_refusal_counts __percpu *refused;
	u32 mask;
	/* Set while a caller allocates @table. */
	bool allocating_table;

	/* Read by every refusal. On cache lines that the owner of @lock seldom writes. */
	struct depot_class_refusal refusal[DEPOT_NR_CLASSES] ____cacheline_aligned_in_smp;
	/* Records whose last reference was dropped in NMI, still to be freed. */
	struct llist_head deferred_frees;

	/*
	 * Protects @refusal and all fields below. Nests outside stack_depot_pool_lock;
	 * inside of it, only trylock is allowed.
	 */
	raw_spinlock_t lock ____cacheline_aligned_in_smp;
	struct depot_class class[DEPOT_NR_CLASSES];
	/* Pools of no class, in the order in which they became idle, and their number. */
	struct list_head idle;
	unsigned int nr_idle;
	unsigned int pools;
	unsigned int max_pools;
	/* Bytes of records saved with STACK_DEPOT_FLAG_DATA. Also read without the lock. */
	size_t data_bytes;
	/* Statistics. */
	unsigned long allocs;
	unsigned long evictions;
	unsigned long slots_reused;
	unsigned long pools_recut;
	/* Saves that took the lock. */
	unsigned long locked_saves;

	/* Frees @deferred_frees, and starts a grace period. */
	struct irq_work work;
	struct rcu_head rcu;
	/* @rcu is queued, and its callback will run after a grace period. */
	bool gp_pending;
	/* The callback of @rcu must queue it once more. */
	bool gp_again;
};

extern struct evictable_depot stack_depot_evictable;

/* evict_pool.c */
void stack_depot_init_classes(struct evictable_depot *depot);
unsigned int stack_depot_size_class(unsigned int nr_entries, u32 hash);
size_t stack_depot_record_bytes(unsigned int class);
unsigned int stack_depot_records_per_pool(unsigned int class);
bool stack_depot_is_full(struct evictable_depot *depot);
bool stack_depot_refuse_early(struct evictable_depot *depot, unsigned int class, u32 hash,
			      bool may_wait);
struct stack_record *stack_depot_alloc_record(struct evictable_depot *depot,
					      unsigned int class, u32 hash, void **prealloc);
unsigned long stack_depot_count_refusals(struct evictable_depot *depot, enum depot_refusal why);
void stack_depot_free_deferred(struct evictable_depot *depot);
void stack_depot_release_record(struct evictable_depot *depot, struct stack_record *rec);

/* handle.c */
struct stack_record *stack_depot_put_unfreed(depot_stack_handle_t handle);

static inline void depot_count_refusal(struct evictable_depot *depot, enum depot_refusal why)
{
	this_cpu_inc(depot->refused->count[why]);
}

/* The pool of evictable record @rec. */
static inline struct evictable_pool *depot_find_pool(struct stack_record *rec)
{
	return stack_pools[rec->handle.pool_index_plus_1 - 1];
}

/* The counters of @rec, which must have HASH_COUNTED set. */
static inline atomic_long_t *depot_find_counters(struct stack_record *rec)
{
	return (atomic_long_t *)rec->entries;
}

/* The byte that describes the slot of @rec, a record of @pool. */
static inline u8 *depot_find_unit(struct evictable_pool *pool, struct stack_record *rec)
{
	return &pool->unit[((void *)rec - (void *)pool) / DEPOT_UNIT];
}

/* The link of @rec, 0 if it has none. A word with upper bits set is no link. */
static inline depot_stack_handle_t depot_read_link(struct stack_record *rec)
{
	u64 word = rec->hash & HASH_LINKED ? READ_ONCE(rec->entries[rec->size - 1]) : 0;

	return word > U32_MAX ? 0 : word;
}

/* Size of a frame in a record with @hash. */
static inline size_t depot_frame_size(u32 hash)
{
	return hash & HASH_PACKED ? sizeof(u32) : sizeof(unsigned long);
}

/* The frames of @rec with @hash: u32 if HASH_PACKED is set, otherwise unsigned long. */
static inline void *depot_find_frames(struct stack_record *rec, u32 hash)
{
	return rec->entries + (hash & HASH_COUNTED ? STACK_DEPOT_COUNTERS : 0);
}

static __always_inline u32 depot_pack_frame(unsigned long frame)
{
	return frame - DEPOT_FRAME_BASE;
}

static inline unsigned long depot_unpack_frame(u32 packed)
{
	return DEPOT_FRAME_BASE + packed;
}

/* Compare two frames at a time: there is one branch for both. */
static __always_inline bool depot_compare_packed(const unsigned long *entries,
						 unsigned int nr_entries, const u32 *packed)
{
	const unsigned long *pairs_end = entries + (nr_entries & ~1U);

	for (; entries != pairs_end; entries += 2, packed += 2) {
		if ((entries[0] ^ depot_unpack_frame(packed[0])) |
		    (entries[1] ^ depot_unpack_frame(packed[1])))
			return false;
	}
	return !(nr_entries & 1) || *entries == depot_unpack_frame(*packed);
}

/*
 * Compare @entries with the frames of a record with @hash. memcmp() may be instrumented, and
 * instrumentation may save stacks.
 */
static __always_inline bool depot_compare_frames(const unsigned long *entries,
						 unsigned int nr_entries, const void *frames,
						 u32 hash)
{
	const unsigned long *words = frames;

	if (hash & HASH_PACKED)
		return depot_compare_packed(entries, nr_entries, frames);

	for (unsigned int i = 0; i < nr_entries; i++)
		if (entries[i] != words[i])
			return false;
	return true;
}

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)
struct evictable_depot *stack_depot_test_create(size_t bytes);
bool stack_depot_test_destroy(struct evictable_depot *depot);
depot_stack_handle_t stack_depot_test_save(struct evictable_depot *depot, unsigned long *entries,
					   unsigned int nr_entries, gfp_t gfp,
					   depot_flags_t flags);
depot_stack_handle_t stack_depot_test_find(struct evictable_depot *depot,
					   const unsigned long *entries,
					   unsigned int nr_entries, depot_flags_t flags);
u32 stack_depot_test_hash(const unsigned long *entries, unsigned int nr_entries,
			  depot_flags_t flags);
struct stack_record *stack_depot_test_record(depot_stack_handle_t handle);
unsigned long stack_depot_test_in_use(struct evictable_depot *depot);
size_t stack_depot_test_bytes(struct evictable_depot *depot);
bool stack_depot_test_reserve_has(struct evictable_depot *depot, unsigned int more_pools);
void stack_depot_test_lower_bound(unsigned int more_pools);
void stack_depot_test_set_bound(bool on);
#endif

#endif /* _LIB_STACKDEPOT_EVICT_H */
