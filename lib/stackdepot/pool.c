// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the stack depot, and its bound.
 *
 * Records are stored in pools of DEPOT_POOL_SIZE bytes. stack_pools maps the pool
 * index of a handle to the pool. A pool holds either persistent records
 * (../stackdepot.c) or evictable ones (evict.c). At the bound, an idle
 * evictable pool can become a persistent one.
 *
 * Pools are never freed: a stale handle must lead to readable memory, and must not match a
 * record that is stored later.
 *
 * Two boot parameters bound the memory; the smaller bound applies:
 *
 *	stack_depot_max_pools=N		number of pools
 *	stack_depot_max=BYTES		bytes of pools, hash tables and stack_pools
 *
 * Reaching the bound is counted, and printed once; it is no reason to warn.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/align.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/memblock.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "internal.h"

/* The pool index plus one must fit into its bits of the handle. */
#define DEPOT_POOLS_LIMIT	((1U << DEPOT_POOL_INDEX_BITS) - 1)
#define DEPOT_POOLS_DEFAULT	MIN(8192U, DEPOT_POOLS_LIMIT)
#define DEPOT_POOLS_MIN		1024U

/* A smaller depot has no room for one pool of each common size class: 256 KiB. */
#define DEPOT_BYTES_MIN		(16 * POOL_BYTES)
static_assert(DEPOT_BYTES_MIN == SZ_256K || POOL_BYTES == PAGE_SIZE);
/* Each hash table may use 1/16 of the bound. */
#define DEPOT_TABLE_SHARE	16
/* One pool in this many is kept for persistent records, which cannot be evicted. */
#define DEPOT_RESERVE_SHARE	8

/* Not beside the lock below, which many CPUs take at the bound. */
void **stack_pools __read_mostly;
int pools_num __read_mostly;
unsigned int stack_depot_max_pools __read_mostly = DEPOT_POOLS_DEFAULT;
DEFINE_RAW_SPINLOCK(stack_depot_pool_lock);
DEFINE_PER_CPU(unsigned int, stack_depot_locks);
EXPORT_PER_CPU_SYMBOL_GPL(stack_depot_locks);

/* Spare pool, not in stack_pools yet. Protected by stack_depot_pool_lock. */
static void *spare_pool;
/* Value of stack_depot_max=, 0 if not given. Set at boot. */
static unsigned long max_bytes;
/* Bytes of hash tables and stack_pools. */
static size_t table_bytes;
/* Bytes of the bound that are kept for a table that may be allocated later. */
static size_t reserved_bytes;
/* Pools in stack_pools that hold evictable records. Protected by stack_depot_pool_lock. */
static unsigned int evictable_pools;
/* Failed attempts to add a pool at the bound. Protected by stack_depot_pool_lock. */
static unsigned long bound_reached;

static int __init parse_max_pools(char *str)
{
	unsigned int pools;
	int ret;

	/* The parameter has no value. */
	if (!str)
		return -EINVAL;

	ret = kstrtouint(str, 0, &pools);
	if (ret)
		return ret;

	if (pools < DEPOT_POOLS_MIN || pools > DEPOT_POOLS_LIMIT) {
		pr_err("stack_depot_max_pools=%u is outside %u to %u, using %u\n",
		       pools, DEPOT_POOLS_MIN, DEPOT_POOLS_LIMIT,
		       DEPOT_POOLS_DEFAULT);
		pools = DEPOT_POOLS_DEFAULT;
	}

	stack_depot_max_pools = pools;
	return 0;
}
early_param("stack_depot_max_pools", parse_max_pools);

static int __init parse_max_bytes(char *str)
{
	unsigned long long bytes;
	char *end;

	if (!str)
		return -EINVAL;

	bytes = memparse(str, &end);
	if (end == str || *end || !bytes)
		return -EINVAL;

	if (bytes < DEPOT_BYTES_MIN) {
		pr_err("stack_depot_max=%s is too small, using %zu\n", str,
		       DEPOT_BYTES_MIN);
		bytes = DEPOT_BYTES_MIN;
	}

	max_bytes = min_t(unsigned long long, bytes, ULONG_MAX);
	return 0;
}
early_param("stack_depot_max", parse_max_bytes);

unsigned long stack_depot_max_buckets(size_t bucket_bytes)
{
	if (!max_bytes)
		return ULONG_MAX;

	return rounddown_pow_of_two(max_bytes / DEPOT_TABLE_SHARE / bucket_bytes);
}

void stack_depot_charge(size_t bytes)
{
	table_bytes += bytes;
}

void stack_depot_reserve_table(size_t bucket_bytes)
{
	if (max_bytes)
		reserved_bytes = stack_depot_max_buckets(bucket_bytes) * bucket_bytes;
}

void stack_depot_charge_reserved_table(size_t bytes)
{
	reserved_bytes = 0;
	table_bytes += bytes;
}

/* Convert the bound in bytes to pools. Return the size of stack_pools. */
static size_t depot_compute_max_pools(void)
{
	size_t array;

	if (max_bytes) {
		unsigned long pools;

		pools = (max_bytes - min(max_bytes, table_bytes + reserved_bytes)) /
			(POOL_BYTES + sizeof(*stack_pools));
		stack_depot_max_pools = clamp(pools, 1UL, (unsigned long)stack_depot_max_pools);
	}

	array = array_size(stack_depot_max_pools, sizeof(*stack_pools));
	stack_depot_charge(array);
	return array;
}

int __init stack_depot_pools_early_init(void)
{
	stack_pools = memblock_alloc(depot_compute_max_pools(), SMP_CACHE_BYTES);
	return stack_pools ? 0 : -ENOMEM;
}

int stack_depot_pools_init(void)
{
	stack_pools = kvzalloc(depot_compute_max_pools(), GFP_KERNEL);
	return stack_pools ? 0 : -ENOMEM;
}

unsigned int stack_depot_count_pools(void)
{
	return READ_ONCE(pools_num);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_count_pools);

void *stack_depot_prealloc_pool(gfp_t gfp)
{
	struct page *page;

	/*
	 * Do not allocate if there is a spare pool, or none can be added. The
	 * check is racy; stack_depot_keep_prealloc() checks again under the lock.
	 */
	if (READ_ONCE(spare_pool) || stack_depot_count_pools() >= stack_depot_max_pools)
		return NULL;

	page = stack_depot_alloc_memory(gfp, DEPOT_POOL_ORDER);
	return page ? page_address(page) : NULL;
}

void stack_depot_free_prealloc(void *prealloc)
{
	if (prealloc)
		stack_depot_free_memory(prealloc, DEPOT_POOL_ORDER);
}

bool stack_depot_has_spare_pool(void)
{
	return READ_ONCE(spare_pool);
}

#if IS_ENABLED(CONFIG_KUNIT)
bool stack_depot_test_free_spare_pool(void)
{
	unsigned long flags;
	void *pool;

	stack_depot_lock(&stack_depot_pool_lock, &flags);
	pool = spare_pool;
	WRITE_ONCE(spare_pool, NULL);
	stack_depot_unlock(&stack_depot_pool_lock, flags);
	stack_depot_free_prealloc(pool);
	return pool;
}
#endif

bool stack_depot_refill(gfp_t gfp)
{
	void *pool = stack_depot_prealloc_pool(gfp);
	bool allocated = pool;
	unsigned long flags;

	if (pool) {
		stack_depot_lock(&stack_depot_pool_lock, &flags);
		stack_depot_keep_prealloc(&pool);
		stack_depot_unlock(&stack_depot_pool_lock, flags);
		stack_depot_free_prealloc(pool);
	}
	return allocated || stack_depot_has_spare_pool();
}

void stack_depot_count_evictable_pools(int more)
{
	lockdep_assert_held(&stack_depot_pool_lock);
	evictable_pools += more;
}

int stack_depot_add_pool(void **prealloc, bool evictable)
{
	unsigned int reserve = stack_depot_max_pools / DEPOT_RESERVE_SHARE;
	struct evictable_pool *pool;
	int index = pools_num;

	lockdep_assert_held(&stack_depot_pool_lock);

	if (stack_depot_count_pools() >= stack_depot_max_pools ||
	    (evictable && evictable_pools + reserve >= stack_depot_max_pools)) {
		bound_reached++;
		pr_notice_once("bound of %u pools (%zu bytes in all) reached, new stacks may be refused\n",
			       stack_depot_max_pools, table_bytes +
			       stack_depot_max_pools * POOL_BYTES);
		return -ENOSPC;
	}

	if (spare_pool) {
		pool = spare_pool;
		WRITE_ONCE(spare_pool, NULL);
	} else {
		pool = *prealloc;
		*prealloc = NULL;
	}
	if (!pool)
		return -ENOMEM;

	memset(pool, 0, sizeof(*pool));
	/* Instrumented functions follow the lists in the header. */
	kmsan_unpoison_memory(pool, sizeof(*pool));
	/*
	 * The first word tells evictable from persistent pools, see
	 * EVICTABLE_POOL_TAG. The pool must not look evictable until the caller
	 * has initialized it.
	 */
	pool->tag = 0;
	stack_pools[index] = pool;
	/* Publish stack_pools[index]. Pairs with depot_find_by_handle(). */
	smp_store_release(&pools_num, index + 1);
	ASSERT_EXCLUSIVE_WRITER(pools_num);
	if (evictable)
		stack_depot_count_evictable_pools(1);

	return index;
}

void stack_depot_keep_prealloc(void **prealloc)
{
	lockdep_assert_held(&stack_depot_pool_lock);

	if (spare_pool || stack_depot_count_pools() >= stack_depot_max_pools)
		return;

	WRITE_ONCE(spare_pool, *prealloc);
	*prealloc = NULL;
}

/* Statistics may be approximate while other CPUs save stacks: data races are fine. */
void stack_depot_show_pools(struct seq_file *seq)
{
	/* Approximate, see above. */
	const size_t pools = data_race(stack_depot_count_pools() + !!spare_pool);
	const size_t max = stack_depot_max_pools * POOL_BYTES + table_bytes;

	seq_printf(seq, "pools_max: %u\n", stack_depot_max_pools);
	seq_printf(seq, "bytes: %zu\n", table_bytes + pools * POOL_BYTES);
	seq_printf(seq, "bytes_max: %lu\n", max_bytes ?: (unsigned long)max);
	/* Approximate, see above. */
	seq_printf(seq, "bound_reached: %lu\n", data_race(bound_reached));
}
