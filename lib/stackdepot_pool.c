// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the stack depot, and the one bound on it.
 *
 * All records live in pools of DEPOT_POOL_SIZE bytes, reached by index through
 * stack_pools. A pool belongs to the side that took it (persistent records in
 * stackdepot.c, evictable ones in stackdepot_evict.c), but at the bound idle
 * ones of the latter may go over to the former. No pool is ever given back to
 * the page allocator: a stale handle must always find readable memory.
 *
 * Two boot parameters bound the memory, and the smaller bound holds:
 *
 *	stack_depot_max_pools=N		the number of pools
 *	stack_depot_max=BYTES		pools, hash tables and the array of pools
 *
 * Reaching the bound is nothing to warn about. It is counted, and said once.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <linux/align.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/memblock.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "stackdepot_internal.h"

/* What a handle can address: index plus one must fit in its bits. */
#define DEPOT_POOLS_LIMIT	((1U << DEPOT_POOL_INDEX_BITS) - 1)
#define DEPOT_POOLS_DEFAULT	MIN(8192U, DEPOT_POOLS_LIMIT)
#define DEPOT_POOLS_MIN		1024U

/* Below this a depot has no room for one pool of each common depth. */
#define DEPOT_BYTES_MIN		SZ_256K
/* A hash table may take this part of the bound. */
#define DEPOT_TABLE_PART	16

void **stack_pools;
int pools_num;
unsigned int stack_max_pools = DEPOT_POOLS_DEFAULT;
DEFINE_RAW_SPINLOCK(depot_pool_lock);

/* Memory of a pool that is not in stack_pools yet; guarded by depot_pool_lock. */
static void *new_pool;
/* stack_depot_max=, or 0. Set at boot. */
static unsigned long max_bytes;
/* Bytes of tables and arrays. Set at initialization. */
static size_t table_bytes;
/* How often a pool was wanted at the bound; guarded by depot_pool_lock. */
static unsigned long bound_reached;

static int __init parse_max_pools(char *str)
{
	unsigned int pools;
	int ret;

	/* Given without a value. */
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

	stack_max_pools = pools;
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
		pr_err("stack_depot_max=%s is too small, using %u\n", str,
		       DEPOT_BYTES_MIN);
		bytes = DEPOT_BYTES_MIN;
	}

	max_bytes = min_t(unsigned long long, bytes, ULONG_MAX);
	return 0;
}
early_param("stack_depot_max", parse_max_bytes);

unsigned long depot_table_limit(size_t bucket)
{
	if (!max_bytes)
		return ULONG_MAX;

	return rounddown_pow_of_two(max_bytes / DEPOT_TABLE_PART / bucket);
}

void depot_charge(size_t bytes)
{
	table_bytes += bytes;
}

/* Turn the bound in bytes into one in pools, and give the array's size. */
static size_t depot_size_pools(void)
{
	size_t array;

	if (max_bytes) {
		unsigned long pools;

		pools = (max_bytes - min(max_bytes, table_bytes)) /
			(POOL_BYTES + sizeof(*stack_pools));
		stack_max_pools = clamp(pools, 1UL, (unsigned long)stack_max_pools);
	}

	array = array_size(stack_max_pools, sizeof(*stack_pools));
	depot_charge(array);
	return array;
}

int __init depot_pools_early_init(void)
{
	stack_pools = memblock_alloc(depot_size_pools(), SMP_CACHE_BYTES);
	return stack_pools ? 0 : -ENOMEM;
}

int depot_pools_init(void)
{
	stack_pools = kvzalloc(depot_size_pools(), GFP_KERNEL);
	return stack_pools ? 0 : -ENOMEM;
}

void *depot_prealloc_pool(gfp_t gfp)
{
	struct page *page;

	/*
	 * A spare is there already, or would have no place. Racy, but under
	 * the lock nothing beyond the bound is kept.
	 */
	if (READ_ONCE(new_pool) || READ_ONCE(pools_num) >= stack_max_pools)
		return NULL;

	page = alloc_pages(gfp_nested_mask(gfp), DEPOT_POOL_ORDER);
	return page ? page_address(page) : NULL;
}

void depot_free_prealloc(void *prealloc)
{
	if (prealloc)
		free_pages((unsigned long)prealloc, DEPOT_POOL_ORDER);
}

bool stack_depot_refill(gfp_t gfp)
{
	void *pool = depot_prealloc_pool(gfp);
	bool had = pool;
	unsigned long flags;

	if (pool) {
		raw_spin_lock_irqsave(&depot_pool_lock, flags);
		depot_keep_pool(&pool);
		raw_spin_unlock_irqrestore(&depot_pool_lock, flags);
		depot_free_prealloc(pool);
	}
	return had || READ_ONCE(new_pool);
}

int depot_take_pool(void **prealloc)
{
	int index = pools_num;
	void *pool;

	lockdep_assert_held(&depot_pool_lock);

	if ((unsigned int)index >= stack_max_pools) {
		bound_reached++;
		pr_notice_once("bound of %u pools (%zu bytes in all) reached, new stacks may be refused\n",
			       stack_max_pools, table_bytes +
			       stack_max_pools * POOL_BYTES);
		return -ENOSPC;
	}

	if (new_pool) {
		pool = new_pool;
		WRITE_ONCE(new_pool, NULL);
	} else {
		pool = *prealloc;
		*prealloc = NULL;
	}
	if (!pool)
		return -ENOMEM;

	/*
	 * The first word tells the sides apart, see stackdepot_evict.c: until
	 * the owner has written there, the pool must not look evictable.
	 */
	*(unsigned long *)pool = 0;
	stack_pools[index] = pool;
	/* Pairs with the acquire of those who look up a handle. */
	smp_store_release(&pools_num, index + 1);
	ASSERT_EXCLUSIVE_WRITER(pools_num);

	return index;
}

void depot_keep_pool(void **prealloc)
{
	lockdep_assert_held(&depot_pool_lock);

	if (new_pool || pools_num >= stack_max_pools)
		return;

	WRITE_ONCE(new_pool, *prealloc);
	*prealloc = NULL;
}

/* The figures are approximate while others save, so data races are fine. */
void depot_pools_show(struct seq_file *seq)
{
	/* A racy sum, see above. */
	const size_t pools = data_race(pools_num + !!new_pool);
	const size_t all = stack_max_pools * POOL_BYTES + table_bytes;

	seq_printf(seq, "pools_max: %u\n", stack_max_pools);
	seq_printf(seq, "bytes: %zu\n", table_bytes + pools * POOL_BYTES);
	seq_printf(seq, "bytes_max: %lu\n", max_bytes ?: (unsigned long)all);
	/* Racy, see above. */
	seq_printf(seq, "bound_reached: %lu\n", data_race(bound_reached));
}
