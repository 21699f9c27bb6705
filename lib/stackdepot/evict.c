// SPDX-License-Identifier: GPL-2.0
/*
 * Evictable records of the stack depot: initialization, lookup by hash, and
 * saving. evict_pool.c evicts them. See evict.h.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/hardirq.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/log2.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/swap.h>

#include "evict.h"

/*
 * One bucket per 32 KB of memory, between 1K and 1M buckets: 1/4096 of memory
 * and at most 8 MiB. Most users of the depot never save evictable stacks, so the
 * table is allocated at boot only if a user asks for it, otherwise when the first
 * evictable stack is saved by a caller that may sleep.
 */
#define TABLE_SCALE	15
#define TABLE_MIN	BIT(10)
#define TABLE_MAX	BIT(20)

/* The boot line asks for evictable stacks, or KASAN's tag modes will save some. */
static bool early_table __initdata = IS_ENABLED(CONFIG_KASAN_SW_TAGS) ||
				     IS_ENABLED(CONFIG_KASAN_HW_TAGS);
/* The pools are set up, so the table can be. Written once. */
static bool can_have_table;

u64 stack_depot_hash_key __read_mostly = GOLDEN_RATIO_64;

/* No stack trace has been hashed yet. */
static void depot_choose_hash_key(void)
{
	stack_depot_hash_key = get_random_u64() | 1;
}

void __init stack_depot_request_early_evictable(void)
{
	early_table = true;
	stack_depot_request_early_init();
}

/* alloc_large_system_hash() panics if it cannot allocate the table. */
void __init stack_depot_evict_early_init(void)
{
	unsigned long limit = stack_depot_max_buckets(sizeof(struct hlist_head));
	struct evictable_depot *depot = &stack_depot_evictable;

	depot_choose_hash_key();
	stack_depot_init_classes(depot);
	WRITE_ONCE(can_have_table, true);
	if (!early_table) {
		stack_depot_reserve_table(sizeof(struct hlist_head));
		return;
	}
	depot->table = alloc_large_system_hash("stackdepot evictable",
					       sizeof(struct hlist_head), 0, TABLE_SCALE,
					       HASH_EARLY | HASH_ZERO, NULL, &depot->mask,
					       min(TABLE_MIN, limit), min(TABLE_MAX, limit));
	stack_depot_charge((depot->mask + 1UL) * sizeof(struct hlist_head));
}

int stack_depot_evict_init(void)
{
	depot_choose_hash_key();
	stack_depot_init_classes(&stack_depot_evictable);
	/* Charge all tables before the rest of the bound is given to the pools. */
	stack_depot_reserve_table(sizeof(struct hlist_head));
	if (stack_depot_pools_init())
		return -ENOMEM;

	/* Pairs with depot_alloc_table(). */
	smp_store_release(&can_have_table, true);
	return 0;
}

static unsigned long depot_count_buckets(void)
{
	unsigned long entries = (nr_free_buffer_pages() << PAGE_SHIFT) >> TABLE_SCALE;

	entries = clamp(entries, TABLE_MIN, TABLE_MAX);
	return min(roundup_pow_of_two(entries),
		   stack_depot_max_buckets(sizeof(struct hlist_head)));
}

/*
 * Allocate the table of @depot, for a caller that may sleep. Return NULL without memory,
 * or if another caller is allocating it. That caller may be this task: allocators save
 * stacks.
 */
static noinline struct hlist_head *depot_alloc_table(struct evictable_depot *depot)
{
	unsigned long entries = depot->mask ? depot->mask + 1UL : depot_count_buckets();
	struct hlist_head *table;

	/* Pairs with stack_depot_evict_init(). */
	if (!smp_load_acquire(&can_have_table) || xchg(&depot->allocating_table, true))
		return NULL;

	table = READ_ONCE(depot->table);
	if (!table) {
		table = kvcalloc(entries, sizeof(*table), GFP_KERNEL | __GFP_NOWARN);
		depot->mask = entries - 1;
		if (table && depot == &stack_depot_evictable)
			stack_depot_charge_reserved_table(entries * sizeof(*table));
		/* Publish the table after the mask. Pairs with depot_save_evictable(). */
		smp_store_release(&depot->table, table);
	}
	/* Pairs with the xchg() above, so that the next caller sees the table. */
	smp_store_release(&depot->allocating_table, false);
	return table;
}

int stack_depot_init_evictable(void)
{
	int ret = stack_depot_init();

	if (ret || READ_ONCE(stack_depot_evictable.table))
		return ret;
	depot_alloc_table(&stack_depot_evictable);
	/* Another task may be allocating the table. Pairs with depot_alloc_table(). */
	while (smp_load_acquire(&stack_depot_evictable.allocating_table))
		schedule_timeout_uninterruptible(1);
	return READ_ONCE(stack_depot_evictable.table) ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_GPL(stack_depot_init_evictable);

/* Can all frames be packed? */
static __always_inline bool depot_can_pack(const unsigned long *entries, unsigned int nr_entries)
{
	unsigned long far = 0;

	if (!IS_ENABLED(CONFIG_64BIT))
		return false;
	for (unsigned int i = 0; i < nr_entries; i++)
		far |= entries[i] - DEPOT_FRAME_BASE;
	return !((u64)far >> 32);
}

/*
 * Hash @nr_entries words that were saved with @flags, and say in the hash what kind of
 * record they are. Only stacks with counters are packed: other users of evictable stacks
 * call stack_depot_fetch().
 */
static __always_inline u32 depot_hash_record(const unsigned long *entries,
					     unsigned int nr_entries, depot_flags_t flags)
{
	u32 hash = stack_depot_hash_frames(entries, nr_entries) >> 32, kind = 0;

	if (flags & STACK_DEPOT_FLAG_COUNT)
		kind |= HASH_COUNTED;
	if (flags & STACK_DEPOT_FLAG_DATA)
		kind |= HASH_DATA;
	if (flags & DEPOT_FLAG_LINKED)
		kind |= HASH_LINKED;
	if (kind == HASH_COUNTED && depot_can_pack(entries, nr_entries))
		kind |= HASH_PACKED;
	return (hash & ~HASH_KIND) | kind;
}

/*
 * Find a record of @entries in @bucket that has a reference. With @get, take another
 * reference to it; otherwise the caller is in an RCU-sched read-side critical section.
 */
static __always_inline struct stack_record *
depot_find_record(struct hlist_head *bucket, const unsigned long *entries,
		  unsigned int nr_entries, u32 hash, bool get)
{
	struct stack_record *rec;

	/*
	 * Use the notrace variants: tracing and RCU itself may save stacks.
	 */
	rcu_read_lock_sched_notrace();
	hlist_for_each_entry_rcu_notrace(rec, bucket, hash_node) {
		if (rec->hash != hash || rec->size != nr_entries)
			continue;
		/*
		 * The record may be freed concurrently, which overwrites its
		 * first entries. The count is zero then, so no reference can be
		 * taken below.
		 */
		if (data_race(!depot_compare_frames(entries, nr_entries,
						    depot_find_frames(rec, hash), hash)))
			continue;
		if (get ? refcount_inc_not_zero_acquire(&rec->count) : refcount_read(&rec->count))
			break;
	}
	rcu_read_unlock_sched_notrace();

	return rec;
}

/* Fill new record @rec, whose slot gets its next generation, and publish it. */
static void depot_fill_record(struct evictable_depot *depot, struct stack_record *rec,
			      const unsigned long *entries, unsigned int nr_entries, u32 hash)
{
	unsigned long *words = depot_find_frames(rec, hash);
	u32 *packed = depot_find_frames(rec, hash);
	struct evictable_pool *pool = depot_find_pool(rec);
	u8 *unit = depot_find_unit(pool, rec);
	u8 generation = (*unit + 1) & UNIT_GENERATION;

	WRITE_ONCE(*unit, UNIT_CARVED | generation);
	rec->handle.extra = generation;
	WRITE_ONCE(rec->hash, hash);
	rec->size = nr_entries;
	for (unsigned int i = 0; i < nr_entries; i++) {
		if (hash & HASH_PACKED)
			packed[i] = depot_pack_frame(entries[i]);
		else
			words[i] = entries[i];
	}
	for (unsigned int i = 0; hash & HASH_COUNTED && i < STACK_DEPOT_COUNTERS; i++)
		atomic_long_set(&depot_find_counters(rec)[i], 0);
	/* The caller has a reference, too. */
	stack_depot_get(depot_read_link(rec));
	kmsan_unpoison_memory(rec, stack_depot_record_bytes(pool->class));
	/*
	 * Order the stores above before a nonzero count is visible. Pairs with
	 * the acquire in stack_depot_get_many(), and with stack_depot_peek().
	 */
	refcount_set_release(&rec->count, 1);
	hlist_add_head_rcu(&rec->hash_node, &depot->table[hash & depot->mask]);
	depot->class[pool->class].in_use++;
	depot->allocs++;
	if (hash & HASH_DATA)
		WRITE_ONCE(depot->data_bytes,
			   depot->data_bytes + stack_depot_record_bytes(pool->class));
}

/*
 * Slow path of saving: look up again under the lock, then store a new record. In NMI, and where
 * the lock must not be waited for, the stack is refused if the lock is not free.
 */
static noinline depot_stack_handle_t
depot_store_record(struct evictable_depot *depot, unsigned long *entries,
		   unsigned int nr_entries, u32 hash, gfp_t gfp, depot_flags_t flags)
{
	unsigned int class = stack_depot_size_class(nr_entries, hash);
	bool may_lock = stack_depot_may_lock();
	bool can_alloc = flags & STACK_DEPOT_FLAG_CAN_ALLOC && may_lock;
	depot_stack_handle_t handle = 0;
	struct stack_record *rec;
	void *prealloc = NULL;
	unsigned long irqflags;

	if (stack_depot_refuse_early(depot, class, hash,
				     can_alloc && gfpflags_allow_blocking(gfp)))
		return 0;

	/* Pages cannot be allocated under the raw spinlock. */
	if (can_alloc && READ_ONCE(depot->pools) < depot->max_pools)
		prealloc = stack_depot_prealloc_pool(gfp);

	if (likely(may_lock)) {
		stack_depot_lock(&depot->lock, &irqflags);
	} else if (!stack_depot_trylock(&depot->lock, &irqflags)) {
		depot_count_refusal(depot, DEPOT_REFUSED_NMI);
		return 0;
	}
	printk_deferred_enter();

	depot->locked_saves++;
	stack_depot_free_deferred(depot);
	rec = depot_find_record(&depot->table[hash & depot->mask], entries, nr_entries, hash,
				true);
	if (!rec) {
		rec = stack_depot_alloc_record(depot, class, hash, &prealloc);
		if (rec)
			depot_fill_record(depot, rec, entries, nr_entries, hash);
	}
	if (rec)
		handle = rec->handle.handle;

	printk_deferred_exit();
	stack_depot_unlock(&depot->lock, irqflags);

	if (prealloc) {
		stack_depot_lock(&stack_depot_pool_lock, &irqflags);
		stack_depot_keep_prealloc(&prealloc);
		stack_depot_unlock(&stack_depot_pool_lock, irqflags);
		stack_depot_free_prealloc(prealloc);
	}
	return handle;
}

/* Memory can be waited for only after boot has started the scheduler. */
static bool depot_may_alloc_table(gfp_t gfp, depot_flags_t flags)
{
	return flags & STACK_DEPOT_FLAG_CAN_ALLOC && (gfp & GFP_KERNEL) == GFP_KERNEL &&
	       system_state >= SYSTEM_SCHEDULING;
}

static __always_inline depot_stack_handle_t
depot_save_evictable(struct evictable_depot *depot, unsigned long *entries,
		     unsigned int nr_entries, gfp_t gfp, depot_flags_t flags)
{
	/* Pairs with depot_alloc_table(). */
	struct hlist_head *table = smp_load_acquire(&depot->table);
	struct stack_record *rec;
	u32 hash;

	if (unlikely(!table) && depot_may_alloc_table(gfp, flags))
		table = depot_alloc_table(depot);
	if (unlikely(!table)) {
		depot_count_refusal(depot, DEPOT_REFUSED_NOINIT);
		return 0;
	}

	/* Truncate before hashing, so that later lookups hash the same words. */
	nr_entries = min_t(unsigned int, nr_entries, CONFIG_STACKDEPOT_MAX_FRAMES);
	hash = depot_hash_record(entries, nr_entries, flags);
	rec = depot_find_record(&table[hash & depot->mask], entries, nr_entries, hash, true);
	if (likely(rec))
		return rec->handle.handle;

	return depot_store_record(depot, entries, nr_entries, hash, gfp, flags);
}

depot_stack_handle_t stack_depot_save_evictable(unsigned long *entries,
						unsigned int nr_entries, gfp_t gfp,
						depot_flags_t flags)
{
	return depot_save_evictable(&stack_depot_evictable, entries, nr_entries, gfp, flags);
}

depot_stack_handle_t stack_depot_save_linked(unsigned long *words, unsigned int nr, gfp_t gfp,
					     depot_flags_t flags)
{
	/* A freed record has an RCU cookie in place of its third word, but keeps its link. */
	if (WARN_ON_ONCE(offsetof(struct stack_record, entries[nr]) <=
			 offsetofend(struct stack_record, rcu_state)))
		return 0;
	return depot_save_evictable(&stack_depot_evictable, words, nr, gfp,
				    flags | STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA |
				    DEPOT_FLAG_LINKED);
}

static depot_stack_handle_t depot_find_handle(struct evictable_depot *depot,
					      const unsigned long *entries,
					      unsigned int nr_entries, depot_flags_t flags)
{
	/* Pairs with depot_alloc_table(). */
	struct hlist_head *table = smp_load_acquire(&depot->table);
	struct stack_record *rec;
	u32 hash;

	if (unlikely(!table))
		return 0;

	nr_entries = min_t(unsigned int, nr_entries, CONFIG_STACKDEPOT_MAX_FRAMES);
	hash = depot_hash_record(entries, nr_entries, flags);
	rec = depot_find_record(&table[hash & depot->mask], entries, nr_entries, hash, false);
	return rec ? rec->handle.handle : 0;
}

depot_stack_handle_t stack_depot_find(const unsigned long *entries, unsigned int nr_entries,
				      depot_flags_t flags)
{
	if (!(flags & (STACK_DEPOT_FLAG_RAW | STACK_DEPOT_FLAG_DATA)))
		nr_entries = filter_irq_stacks((unsigned long *)entries, nr_entries);

	return depot_find_handle(&stack_depot_evictable, entries, nr_entries, flags);
}
EXPORT_SYMBOL_GPL(stack_depot_find);

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)
/* Save a stack in an instance that stack_depot_test_create() returned. */
depot_stack_handle_t stack_depot_test_save(struct evictable_depot *depot, unsigned long *entries,
					   unsigned int nr_entries, gfp_t gfp,
					   depot_flags_t flags)
{
	return depot_save_evictable(depot, entries, nr_entries, gfp, flags);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_save);

/* Look up a stack in an instance, as stack_depot_find() does. */
depot_stack_handle_t stack_depot_test_find(struct evictable_depot *depot,
					   const unsigned long *entries,
					   unsigned int nr_entries, depot_flags_t flags)
{
	return depot_find_handle(depot, entries, nr_entries, flags);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_find);

u32 stack_depot_test_hash(const unsigned long *entries, unsigned int nr_entries,
			  depot_flags_t flags)
{
	return depot_hash_record(entries, nr_entries, flags);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_hash);
#endif
