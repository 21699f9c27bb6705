// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: stacks with counters.
 */

#include <linux/gfp.h>
#include <linux/limits.h>
#include <linux/sizes.h>

#include "evict_kunit.h"

/*
 * A stack saved with and without counters is stored as two records, in either
 * order of saving, and each lookup finds the record of its kind.
 */
void stack_depot_test_counted_apart(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	long counters[STACK_DEPOT_COUNTERS] = { 1, 2, 3, 4 };
	unsigned long entries[8];
	depot_stack_handle_t keep;

	for (u32 id = 0; id < 200; id++) {
		bool first = id & 1;
		depot_stack_handle_t a = save_stack(depot, 8, id, first ? COUNT_ALLOC : GET_ALLOC);
		depot_stack_handle_t b = save_stack(depot, 8, id, first ? GET_ALLOC : COUNT_ALLOC);
		depot_stack_handle_t counted = first ? a : b, plain = first ? b : a;

		KUNIT_ASSERT_NE(test, a, 0);
		KUNIT_ASSERT_NE(test, b, 0);
		KUNIT_ASSERT_FALSE(test, is_same_slot(a, b));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(a, 8, id));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(b, 8, id));
		KUNIT_EXPECT_EQ(test, save_stack(depot, 8, id, COUNT_ALLOC), counted);
		KUNIT_EXPECT_EQ(test, save_stack(depot, 8, id, GET_ALLOC), plain);

		KUNIT_EXPECT_TRUE(test, handle_has_counters(counted, 0, 0, 0));
		add_to_counters(counted, 1, -64, LONG_MAX);
		KUNIT_EXPECT_TRUE(test, handle_has_counters(counted, 1, -64, LONG_MAX));
		KUNIT_EXPECT_FALSE(test, stack_depot_counters(plain, counters));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(counted, 8, id));
		stack_depot_put_many(plain, 2);
		KUNIT_EXPECT_TRUE(test, handle_has_counters(counted, 1, -64, LONG_MAX));
		stack_depot_put_many(counted, 2);
	}

	fill_stack(entries, 8, 1002);
	keep = stack_depot_save(entries, 8, GFP_KERNEL);
	KUNIT_ASSERT_NE(test, keep, 0);
	KUNIT_EXPECT_FALSE(test, stack_depot_counters(keep, counters));
	KUNIT_EXPECT_FALSE(test, stack_depot_counters(0, counters));
	KUNIT_EXPECT_TRUE(test, counters[0] == 1 && counters[1] == 2 && counters[2] == 3);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Counters are zero at first, also in memory that held the counters of another
 * record or, in a pool carved for another class, its frames.
 */
void stack_depot_test_counted_zero(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, POOL_BYTES + POOL_BYTES / 2);
	unsigned int room = stack_depot_records_per_pool(stack_depot_size_class(1, 0));
	unsigned long waits = 0;
	depot_stack_handle_t *all;
	u32 id = 0;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, depot->max_pools, 1);

	for (unsigned int round = 0; round < 6; round++) {
		bool counted = round % 3 != 2;
		unsigned int nr = counted ? 1 : MAX_FRAMES;
		unsigned int class =
			counted ? get_counted_size_class(nr) : stack_depot_size_class(nr, 0);
		depot_flags_t flags = counted ? COUNT_ALLOC : GET_ALLOC;
		unsigned int n = 0, bad = 0;

		/* The first save waits until the pool of the other class is free. */
		for (int tries = 0; tries < 4 && n < room; tries++) {
			wait_for_grace_period();
			while (n < room) {
				all[n] = save_stack(depot, nr, id, flags);
				if (!all[n])
					break;
				n++;
				id++;
			}
		}
		KUNIT_EXPECT_EQ(test, n, stack_depot_records_per_pool(class));
		while (counted && bad < n && handle_has_counters(all[bad], 0, 0, 0))
			add_to_counters(all[bad++], id, id, id);
		KUNIT_EXPECT_EQ(test, bad, counted ? n : 0);
		while (n--)
			stack_depot_put(all[n]);
	}
	KUNIT_EXPECT_GT(test, depot->slots_reused, 0);
	KUNIT_EXPECT_GT(test, depot->pools_recut, 0);
	all[0] = save_stack_or_wait(depot, 1, id, &waits);
	KUNIT_EXPECT_NE(test, all[0], 0);
	stack_depot_put(all[0]);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Frames and counters of the deepest stacks do not overlap each other or the
 * next record. Stacks with counters are truncated at the same depth as others.
 */
void stack_depot_test_counted_deepest(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, POOL_BYTES + POOL_BYTES / 2);
	unsigned int room = stack_depot_records_per_pool(get_counted_size_class(MAX_FRAMES));
	unsigned long entries[MAX_FRAMES + 8];
	depot_stack_handle_t *all;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, depot->max_pools, 1);

	for (u32 id = 0; id < room; id++) {
		fill_stack(entries, MAX_FRAMES + 8, id);
		all[id] = stack_depot_test_save(depot, entries, MAX_FRAMES + 8, GFP_KERNEL,
						COUNT_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
		add_to_counters(all[id], -1, ~id, LONG_MIN + id);
	}
	for (u32 id = 0; id < room; id++) {
		KUNIT_EXPECT_TRUE(test, handle_has_stack(all[id], MAX_FRAMES, id));
		KUNIT_EXPECT_TRUE(test, handle_has_counters(all[id], -1, ~id, LONG_MIN + id));
		KUNIT_EXPECT_EQ(test, read_refcount(all[id]), 1);
		KUNIT_EXPECT_EQ(test, save_stack(depot, MAX_FRAMES, id, COUNT_ALLOC), all[id]);
		stack_depot_put_many(all[id], 2);
	}
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/* Records with counters are charged to the same bound. */
void stack_depot_test_counted_bound(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned int room =
		depot->max_pools * stack_depot_records_per_pool(get_counted_size_class(8));
	depot_stack_handle_t *all;
	unsigned int n;

	all = kunit_kcalloc(test, room + 1, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n <= room; n++) {
		all[n] = save_stack(depot, 8, n, COUNT_ALLOC);
		if (!all[n])
			break;
	}
	KUNIT_ASSERT_EQ(test, n, room);
	KUNIT_EXPECT_LE(test, stack_depot_test_bytes(depot), SMALL_DEPOT);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_BOUND), 1);

	stack_depot_put(all[0]);
	wait_for_grace_period();
	all[0] = save_stack(depot, 8, room, COUNT_ALLOC);
	KUNIT_EXPECT_TRUE(test, handle_has_counters(all[0], 0, 0, 0));
	while (n--)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}
