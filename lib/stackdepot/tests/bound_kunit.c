// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: behaviour at the bound, and memory per stack.
 */

#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "evict_kunit.h"

/*
 * At the bound a stack is refused and counted, without other effects. After one
 * put and a grace period a stack can be saved again.
 */
void stack_depot_test_bound(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned int room, n;
	depot_stack_handle_t *all;
	unsigned long waits = 0;

	room = depot->max_pools * stack_depot_records_per_pool(stack_depot_size_class(8, 0));
	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	for (n = 0; n < room; n++) {
		all[n] = save_stack(depot, 8, n, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[n], 0);
	}
	KUNIT_EXPECT_LE(test, stack_depot_test_bytes(depot), SMALL_DEPOT);
	KUNIT_EXPECT_EQ(test, save_stack(depot, 8, room, GET_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, save_stack(depot, 1, room, GET_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_BOUND), 2);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_GRACE), 0);
	/* Refusals before taking the lock are counted too. */
	for (n = 0; n < 1000; n++)
		save_stack(depot, 8, room + n, GET_ALLOC);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_BOUND), 1002);
	KUNIT_EXPECT_EQ(test, depot->refusal[stack_depot_size_class(8, 0)].why,
			DEPOT_REFUSED_BOUND);
	/* Saving a stack that is stored needs no memory, and succeeds. */
	KUNIT_EXPECT_EQ(test, save_stack(depot, 8, 7, GET_ALLOC), all[7]);
	stack_depot_put(all[7]);

	stack_depot_put(all[0]);
	all[0] = save_stack_or_wait(depot, 8, room, &waits);
	KUNIT_EXPECT_NE(test, all[0], 0);

	for (n = 0; n < room; n++)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Save @nr new stacks, all of which must be refused, and return how many of them took
 * the lock. The caller does not let a grace period end.
 */
static unsigned long count_locked_refusals(struct kunit *test, struct evictable_depot *depot,
					   u32 id, unsigned int nr, enum depot_refusal why)
{
	unsigned long locked = depot->locked_saves, before = read_refusals(depot, why);
	unsigned int saved = 0;

	for (unsigned int n = 0; n < nr; n++)
		saved += !!save_stack(depot, 8, id + n, GET_ALLOC);
	KUNIT_EXPECT_EQ(test, saved, 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, why) - before, nr);
	return depot->locked_saves - locked;
}

/*
 * Refusals are remembered also for a class of more pools than one search covers: while
 * nothing is freed, at most one save in a tick takes the lock, whether all records are
 * in use or some wait for a grace period.
 */
void stack_depot_test_full_large(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 8 * SMALL_DEPOT);
	unsigned int per_pool = stack_depot_records_per_pool(stack_depot_size_class(8, 0));
	unsigned int room = depot->max_pools * per_pool;
	depot_stack_handle_t *all = kvcalloc(room, sizeof(*all), GFP_KERNEL);
	unsigned long locked, start, ticks, waits = 0;

	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_GT(test, depot->max_pools, 80);
	for (u32 id = 0; id < room; id++) {
		all[id] = save_stack(depot, 8, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}
	locked = count_locked_refusals(test, depot, room, 1000, DEPOT_REFUSED_BOUND);
	KUNIT_EXPECT_LE(test, locked, 1);

	/* The first attempt starts a grace period, and the start permits one more attempt. */
	rcu_read_lock();
	for (u32 id = 0; id < room; id += per_pool)
		stack_depot_put(all[id]);
	start = jiffies;
	locked = count_locked_refusals(test, depot, room, 1000, DEPOT_REFUSED_GRACE);
	ticks = jiffies - start;
	rcu_read_unlock();
	KUNIT_EXPECT_LE(test, locked, 2 + ticks);

	wait_for_grace_period();
	for (u32 id = 0; id < room; id += per_pool) {
		all[id] = save_stack_or_wait(depot, 8, room + id, &waits);
		KUNIT_EXPECT_NE(test, all[id], 0);
	}
	for (u32 id = 0; id < room; id++)
		stack_depot_put(all[id]);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Records of data fill a quarter of the bound. Further ones are refused without the
 * lock, until one is put; stacks of the same class still find room.
 */
void stack_depot_test_data_share(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned int class = stack_depot_size_class(3, 0);
	size_t share = depot->max_pools * POOL_BYTES / 4;
	unsigned int room = share / stack_depot_record_bytes(class), n;
	unsigned long locked;
	depot_stack_handle_t *all, chain;

	all = kunit_kcalloc(test, room + 1, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n <= room; n++) {
		all[n] = save_stack(depot, 3, n, DATA_ALLOC);
		if (!all[n])
			break;
		KUNIT_EXPECT_TRUE(test, handle_has_stack(all[n], 3, n));
	}
	KUNIT_ASSERT_EQ(test, n, room);
	KUNIT_EXPECT_LE(test, depot->data_bytes, share);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_DATA), 1);

	locked = depot->locked_saves;
	for (n = 0; n < 1000; n++)
		KUNIT_EXPECT_EQ(test, save_stack(depot, 3, room + n, DATA_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_DATA), 1001);
	KUNIT_EXPECT_EQ(test, depot->locked_saves, locked);
	KUNIT_EXPECT_EQ(test, save_stack(depot, 3, 7, DATA_ALLOC), all[7]);
	stack_depot_put(all[7]);

	/* The words of record 0 as a stack are another record, which has room. */
	chain = save_stack(depot, 3, 0, GET_ALLOC);
	KUNIT_ASSERT_NE(test, chain, 0);
	KUNIT_EXPECT_FALSE(test, is_same_slot(chain, all[0]));
	stack_depot_put(chain);

	stack_depot_put(all[0]);
	all[0] = save_stack(depot, 3, room, DATA_ALLOC);
	KUNIT_EXPECT_NE(test, all[0], 0);
	for (n = 0; n < room; n++)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_EQ(test, depot->data_bytes, 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * At the bound the search goes on to the pool with a usable record, although the
 * pools before it have only records that wait for a grace period.
 */
void stack_depot_test_fifth_pool(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned int per_pool = stack_depot_records_per_pool(stack_depot_size_class(8, 0));
	unsigned int room = depot->max_pools * per_pool;
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_GT(test, depot->max_pools, 8);

	for (u32 id = 0; id < room; id++) {
		all[id] = save_stack(depot, 8, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}
	/*
	 * Free a record of the last pool, and wait until it can be reused. The records
	 * that are freed next are in pools that are searched before, and cannot be reused yet.
	 */
	stack_depot_put(all[room - 1]);
	wait_for_grace_period();

	rcu_read_lock();
	for (u32 id = 0; id < room - per_pool; id += per_pool)
		stack_depot_put(all[id]);
	list_rotate_left(&depot->class[stack_depot_size_class(8, 0)].partial);
	handle = save_stack(depot, 8, room, GET_ALLOC);
	rcu_read_unlock();

	KUNIT_EXPECT_NE(test, handle, 0);
	KUNIT_EXPECT_TRUE(test, is_same_slot(handle, all[room - 1]));
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_GRACE), 0);

	all[room - 1] = handle;
	for (u32 id = 0; id < room; id++) {
		if (id % per_pool || id >= room - per_pool)
			stack_depot_put(all[id]);
	}
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * At the bound, persistent records take idle evictable pools, and no handle of
 * an evictable record leads into them any more.
 */
void stack_depot_test_give(struct kunit *test)
{
	/* More stacks than fit into one pool. */
	const unsigned int nr = POOL_BYTES / (8 * sizeof(unsigned long));
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned int bad = 0, pools = 0, got = 0;
	union handle_parts parts = { };
	depot_stack_handle_t *all;
	unsigned long waits = 0;

	all = kunit_kcalloc(test, nr, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	/* Leave idle pools to the real depot. */
	for (u32 id = 0; id < nr; id++) {
		all[id] = save_stack_or_wait(depot, 8, id, &waits);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}
	for (u32 id = 0; id < nr; id++)
		stack_depot_put(all[id]);
	KUNIT_ASSERT_TRUE(test, stack_depot_test_destroy(depot));
	wait_for_grace_period();

	stack_depot_test_set_bound(true);
	for (u32 id = 0; id < nr; id++) {
		unsigned long entries[8];

		fill_stack(entries, 8, 2000 + id);
		all[id] = stack_depot_save(entries, 8, GFP_KERNEL);
	}
	stack_depot_test_set_bound(false);

	for (u32 id = 0; id < nr; id++) {
		union handle_parts now = { .handle = all[id] };

		if (!all[id] || !handle_has_stack(all[id], 8, 2000 + id)) {
			bad++;
			continue;
		}
		if (id && now.pool_index_plus_1 != parts.pool_index_plus_1)
			pools++;
		parts = now;
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_ASSERT_GT(test, pools, 0);

	/* Try every possible handle of the last pool. */
	for (u32 offset = 0; offset < BIT(DEPOT_OFFSET_BITS); offset++) {
		for (u32 extra = 0; extra < BIT(STACK_DEPOT_EXTRA_BITS); extra++) {
			parts.offset = offset;
			parts.extra = extra;
			got += stack_depot_get(parts.handle);
		}
	}
	KUNIT_EXPECT_EQ(test, got, 0);
}

/*
 * Evictable records leave a reserve: near the bound they get no further pool, while
 * persistent records do.
 */
void stack_depot_test_reserve(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 1024 * POOL_BYTES);
	const unsigned int nr = 4 * POOL_BYTES / (8 * sizeof(unsigned long));
	unsigned int room = 1024 * stack_depot_records_per_pool(stack_depot_size_class(64, 0));
	unsigned int n, kept = 0, pools = depot->pools;
	depot_stack_handle_t *all;

	if (!stack_depot_test_reserve_has(depot, 8)) {
		KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
		kunit_skip(test, "persistent records have more than the reserve");
	}
	all = kvcalloc(room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	stack_depot_test_lower_bound(8);
	for (n = 0; n < room; n++) {
		all[n] = save_stack(depot, min(64, MAX_FRAMES), n, GET_ALLOC);
		if (!all[n])
			break;
	}
	for (unsigned int i = 0; i < nr; i++) {
		unsigned long entries[8];

		fill_stack(entries, 8, 500000 + i);
		kept += !!stack_depot_save(entries, 8, GFP_KERNEL);
	}
	stack_depot_test_set_bound(false);

	KUNIT_EXPECT_LE(test, depot->pools, pools);
	KUNIT_EXPECT_GT(test, read_refusals(depot, DEPOT_REFUSED_BOUND), 0);
	KUNIT_EXPECT_EQ(test, kept, nr);
	while (n--)
		stack_depot_put(all[n]);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

static unsigned int million = 1000000;
module_param(million, uint, 0444);
MODULE_PARM_DESC(million, "How many distinct stacks to save within eight small depots");

/* Fill all memory with stacks of one depth, then put them. */
static void fill_depot_then_put(struct kunit *test, struct evictable_depot *depot, unsigned int nr,
				u32 id)
{
	unsigned int room = depot->max_pools *
			    stack_depot_records_per_pool(stack_depot_size_class(nr, 0));
	depot_stack_handle_t *all = kvcalloc(room, sizeof(*all), GFP_KERNEL);
	unsigned long waits = 0;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n < room; n++) {
		all[n] = save_stack_or_wait(depot, nr, id + n, &waits);
		if (!all[n])
			break;
	}
	KUNIT_EXPECT_EQ(test, n, room);
	while (n--)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	kvfree(all);
}

/* Depth of stack @id: the first third is shallow, the second deep, the rest mixed. */
static unsigned int choose_stack_depth(u32 id)
{
	u32 r = hash_32(id, 16);

	if (id < million / 3)
		return 1 + r % min(12, MAX_FRAMES);
	if (id < million / 3 * 2)
		return MAX_FRAMES - r % min(32, MAX_FRAMES);
	return 1 + r % MAX_FRAMES;
}

/*
 * A million distinct stacks of mixed depth are saved and put within 2 MiB, 2,000 of
 * them at a time, and each is intact when it is put. Afterwards no record is in
 * use, and the whole memory can be filled with stacks of any one depth.
 */
void stack_depot_test_million(struct kunit *test)
{
	const unsigned int live = 2000;
	struct evictable_depot *depot = create_test_depot(test, 8 * SMALL_DEPOT);
	depot_stack_handle_t *ring;
	unsigned long waits = 0, bad = 0;
	u32 id;

	ring = kvcalloc(live, sizeof(*ring), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);

	for (id = 0; id < million + live; id++) {
		depot_stack_handle_t *slot = &ring[id % live];

		if (*slot) {
			bad += !handle_has_stack(*slot, choose_stack_depth(id - live), id - live);
			stack_depot_put(*slot);
			*slot = 0;
		}
		if (id < million) {
			*slot = save_stack_or_wait(depot, choose_stack_depth(id), id, &waits);
			if (!*slot)
				break;
		}
		if (!(id % 256))
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, id, million + live);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_EQ(test, depot->allocs, million);
	KUNIT_EXPECT_EQ(test, depot->evictions, million);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_LE(test, stack_depot_test_bytes(depot), 8 * SMALL_DEPOT);
	kunit_info(test, "%u stacks through %zu bytes, %lu slots reused, %lu pools cut again, %lu waits\n",
		   million, stack_depot_test_bytes(depot), depot->slots_reused,
		   depot->pools_recut, waits);

	fill_depot_then_put(test, depot, min(4, MAX_FRAMES), million);
	fill_depot_then_put(test, depot, MAX_FRAMES, million);
	fill_depot_then_put(test, depot, min(8, MAX_FRAMES), million);
	KUNIT_EXPECT_LE(test, stack_depot_test_bytes(depot), 8 * SMALL_DEPOT);

	kvfree(ring);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/* Bytes per stack, measured with 10,000 or more stacks of depth @depth in pools that are full. */
static size_t measure_bytes_per_stack(struct kunit *test, unsigned int depth, depot_flags_t flags)
{
	unsigned int class = flags & STACK_DEPOT_FLAG_COUNT ? get_counted_size_class(depth) :
							      stack_depot_size_class(depth, 0);
	unsigned int nr = roundup(10000, stack_depot_records_per_pool(class));
	struct evictable_depot *depot = create_test_depot(test, 32 * SMALL_DEPOT);
	depot_stack_handle_t *all = kvcalloc(nr, sizeof(*all), GFP_KERNEL);
	unsigned int n;
	size_t bytes;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n < nr; n++) {
		all[n] = save_stack(depot, depth, n, flags);
		KUNIT_ASSERT_NE(test, all[n], 0);
	}
	bytes = depot->class[class].pools * POOL_BYTES / nr;

	for (n = 0; n < nr; n++)
		stack_depot_put(all[n]);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
	return bytes;
}

/* Print and limit the memory per stack, and what one size of records would cost. */
void stack_depot_test_memory(struct kunit *test)
{
	/* Frames, and the bytes that a stack may take: plain, and with counters. */
	static const struct {
		unsigned int frames;
		size_t plain, counted;
	} limits[] = {
		{ 1, 67, 100 }, { 8, 100, 100 }, { 16, 168, 134 }, { 20, 201, 168 },
		{ 32, 304, 201 }, { 64, 566, 336 },
	};
	size_t record = ALIGN(sizeof(struct stack_record), 1 << DEPOT_STACK_ALIGN);

	for (unsigned int i = 0; i < ARRAY_SIZE(limits); i++) {
		unsigned int frames = limits[i].frames;
		size_t plain, counted;

		if (frames > MAX_FRAMES)
			break;
		plain = measure_bytes_per_stack(test, frames, GET_ALLOC);
		counted = measure_bytes_per_stack(test, frames, COUNT_ALLOC);
		kunit_info(test, "a stack of %u frames: %zu bytes, %zu with counters; %zu if all had one size\n",
			   frames, plain, counted, POOL_BYTES / (POOL_BYTES / record));
		KUNIT_EXPECT_LE(test, plain, limits[i].plain);
		KUNIT_EXPECT_LE(test, counted, limits[i].counted);
	}
	/* A chain of 64 frames takes this with counters, if one frame cannot be packed. */
	KUNIT_EXPECT_LE(test, stack_depot_record_bytes(stack_depot_size_class(64, HASH_COUNTED)),
			576);
}
