// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: reuse of slots and pools, and stale handles.
 */

#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "evict_kunit.h"

/*
 * Save words that look like the handle and the count of a record with handle
 * @handle, so that a lookup by a stale handle that reads them would succeed.
 */
static depot_stack_handle_t save_fake_record(struct evictable_depot *depot, unsigned int nr,
					     u32 id, depot_stack_handle_t handle)
{
	struct {
		union handle_parts handle;
		refcount_t count;
	} bait = { .handle.handle = handle, .count = REFCOUNT_INIT(1) };
	unsigned long entries[MAX_FRAMES];

	static_assert(sizeof(bait) == 8);
	for (unsigned int i = 0; i < nr; i++)
		memcpy(&entries[i], (char *)&bait + i * sizeof(long) % sizeof(bait),
		       sizeof(long));
	entries[0] = id;
	return stack_depot_test_save(depot, entries, nr, GFP_KERNEL, GET_ALLOC);
}

/*
 * A stale handle never leads to another stack: neither after its slot was reused
 * by the same class, nor after its pool was carved again for another class.
 */
void stack_depot_test_stale_handle(struct kunit *test)
{
	/* More records than fit into the pools. */
	const unsigned int max_all = 2 * POOL_BYTES / sizeof(struct list_head);
	/* At most two pools, so that each slot is reused soon. */
	struct evictable_depot *depot = create_test_depot(test, 2 * POOL_BYTES + POOL_BYTES / 2);
	unsigned int deep = min(24, MAX_FRAMES), hits = 0, cuts = 0;
	depot_stack_handle_t old, handle;
	depot_stack_handle_t *all;
	unsigned long waits = 0;
	u32 id = 1;

	all = kunit_kcalloc(test, max_all, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_LE(test, depot->max_pools, 2);
	old = save_stack(depot, 8, 0, GET_ALLOC);
	KUNIT_ASSERT_NE(test, old, 0);
	stack_depot_put(old);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(old));

	/* The generation wraps at the 32nd reuse. */
	while (hits < 31) {
		handle = save_stack_or_wait(depot, 8, id, &waits);
		KUNIT_ASSERT_NE(test, handle, 0);
		if (is_same_slot(handle, old)) {
			hits++;
			KUNIT_ASSERT_NE(test, handle, old);
			KUNIT_ASSERT_FALSE(test, stack_depot_get(old));
			KUNIT_ASSERT_TRUE(test, stack_depot_handle_is_stale(old));
			/* Readers without a reference cause no warning. */
			KUNIT_ASSERT_EQ(test, stack_depot_copy(old, NULL, 0), 0);
		}
		KUNIT_ASSERT_FALSE(test, stack_depot_handle_is_stale(handle));
		/* The record that was saved is intact. */
		KUNIT_ASSERT_TRUE(test, handle_has_stack(handle, 8, id));
		stack_depot_put(handle);
		KUNIT_ASSERT_EQ(test, stack_depot_test_in_use(depot), 0);
		id++;
	}

	/*
	 * Carve the pools for other classes in between, so that the stale handle
	 * points into the frames of another record.
	 */
	for (int round = 0; round < 8; round++) {
		unsigned int nr = round & 1 ? 8 : deep, n = 0;
		unsigned long recut = depot->pools_recut;
		bool got = false;

		/* Skip the first record: it starts at the same offset in all classes. */
		old = save_stack_or_wait(depot, 8, id++, &waits);
		handle = save_stack_or_wait(depot, 8, id++, &waits);
		KUNIT_ASSERT_NE(test, handle, 0);
		stack_depot_put(old);
		stack_depot_put(handle);
		old = handle;

		/* Fill the instance with stacks of one depth. */
		while (n < max_all) {
			for (int tries = 0; tries < 4; tries++) {
				all[n] = save_fake_record(depot, nr, id, old);
				if (all[n])
					break;
				wait_for_grace_period();
			}
			if (!all[n])
				break;
			got |= stack_depot_get(old);
			id++;
			n++;
		}
		KUNIT_EXPECT_FALSE(test, got);
		KUNIT_EXPECT_TRUE(test, stack_depot_handle_is_stale(old));
		KUNIT_EXPECT_EQ(test, n, depot->max_pools *
				stack_depot_records_per_pool(stack_depot_size_class(nr, 0)));
		while (n--) {
			KUNIT_EXPECT_TRUE(test, stack_depot_get(all[n]));
			stack_depot_put_many(all[n], 2);
		}
		cuts += depot->pools_recut - recut;
		KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	}
	KUNIT_EXPECT_GT(test, cuts, 0);
	kunit_info(test, "slot reused 31 times, pools cut again %u times, %lu waits\n",
		   cuts, waits);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * A slot is not reused within an RCU read-side critical section that read its
 * handle: neither for a stack of the same class, nor by carving the pool again
 * for another class.
 */
void stack_depot_test_reader(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 2 * POOL_BYTES + POOL_BYTES / 2);
	unsigned int room = depot->max_pools *
			    stack_depot_records_per_pool(stack_depot_size_class(8, 0));
	unsigned int deep = min(24, MAX_FRAMES), got = 0, saved = 0;
	unsigned long waits = 0;
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (u32 id = 0; id < room; id++) {
		all[id] = save_stack(depot, 8, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}

	rcu_read_lock();
	for (u32 id = 0; id < room; id++)
		stack_depot_put(all[id]);
	for (u32 id = room; id < room + 100; id++) {
		saved += !!save_stack(depot, 8, id, GET);
		saved += !!save_stack(depot, deep, id, GET);
	}
	for (u32 id = 0; id < room; id++)
		got += stack_depot_get(all[id]);
	rcu_read_unlock();

	KUNIT_EXPECT_EQ(test, saved, 0);
	KUNIT_EXPECT_EQ(test, got, 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_GRACE), 200);

	handle = save_stack_or_wait(depot, deep, room, &waits);
	KUNIT_EXPECT_NE(test, handle, 0);
	stack_depot_put(handle);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * A refusal because freed memory waits for a grace period starts a grace period:
 * the memory becomes usable although no task waits for RCU.
 */
void stack_depot_test_kick(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 2 * POOL_BYTES + POOL_BYTES / 2);
	unsigned int room = depot->max_pools *
			    stack_depot_records_per_pool(stack_depot_size_class(8, 0));
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	for (u32 round = 0; round < 3; round++) {
		unsigned long until = jiffies + 10 * HZ;
		long before = read_refusals(depot, DEPOT_REFUSED_GRACE);

		for (u32 id = 0; id < room; id++) {
			do {
				all[id] = save_stack(depot, 8, id, GET_ALLOC);
				if (!all[id])
					schedule_timeout_uninterruptible(1);
			} while (!all[id] && time_before(jiffies, until));
			KUNIT_ASSERT_NE(test, all[id], 0);
		}

		rcu_read_lock();
		for (u32 id = 0; id < room; id++)
			stack_depot_put(all[id]);
		handle = save_stack(depot, 8, room, GET_ALLOC);
		rcu_read_unlock();
		KUNIT_EXPECT_EQ(test, handle, 0);
		KUNIT_EXPECT_GT(test, read_refusals(depot, DEPOT_REFUSED_GRACE), before);
	}

	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}
