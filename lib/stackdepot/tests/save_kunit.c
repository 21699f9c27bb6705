// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: saving, looking up and fetching stacks.
 */

#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/random.h>
#include <linux/sort.h>
#include <linux/stacktrace.h>
#include <asm/sections.h>

#include "evict_kunit.h"

/*
 * A stack saved twice is one record. Its references are counted exactly, and the
 * last put frees it.
 */
void stack_depot_test_counts(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t a, b;

	a = save_stack(depot, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, a, 0);
	b = save_stack(depot, 8, 1, GET);
	KUNIT_EXPECT_EQ(test, a, b);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 1);
	KUNIT_EXPECT_TRUE(test, handle_has_stack(a, 8, 1));

	KUNIT_EXPECT_TRUE(test, stack_depot_get(a));
	KUNIT_EXPECT_TRUE(test, stack_depot_get_many(a, 1000));
	stack_depot_put_many(a, 1001);
	stack_depot_put(a);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 1);
	stack_depot_put(a);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(a));
	KUNIT_EXPECT_FALSE(test, stack_depot_get_many(a, 2));
	KUNIT_EXPECT_EQ(test, depot->allocs, 1);
	KUNIT_EXPECT_EQ(test, depot->evictions, 1);

	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/* A stack deeper than the depot stores is truncated, and found when saved again. */
void stack_depot_test_too_deep(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned long entries[MAX_FRAMES + 8];
	depot_stack_handle_t a, b;

	fill_stack(entries, MAX_FRAMES + 8, 1);
	a = stack_depot_test_save(depot, entries, MAX_FRAMES + 8, GFP_KERNEL, GET_ALLOC);
	KUNIT_ASSERT_NE(test, a, 0);
	b = stack_depot_test_save(depot, entries, MAX_FRAMES + 8, GFP_KERNEL, GET_ALLOC);
	KUNIT_EXPECT_EQ(test, a, b);
	KUNIT_EXPECT_TRUE(test, handle_has_stack(a, MAX_FRAMES, 1));
	stack_depot_put_many(a, 2);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * A lookup without a reference finds the record that was saved with the same flags,
 * changes no count, and finds nothing after the last put.
 */
void stack_depot_test_find_stack(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t plain, counted, found, in_nmi_found;
	unsigned long entries[MAX_FRAMES + 8];

	fill_stack(entries, MAX_FRAMES + 8, 1);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, 8, 0), 0);
	plain = save_stack(depot, 8, 1, GET_ALLOC);
	counted = save_stack(depot, MAX_FRAMES, 1, COUNT_ALLOC);
	KUNIT_ASSERT_NE(test, plain, 0);
	KUNIT_ASSERT_NE(test, counted, 0);

	rcu_read_lock_sched();
	found = stack_depot_test_find(depot, entries, 8, 0);
	__preempt_count_add(NMI_OFFSET);
	in_nmi_found = stack_depot_test_find(depot, entries, 8, 0);
	__preempt_count_sub(NMI_OFFSET);
	rcu_read_unlock_sched();
	KUNIT_EXPECT_EQ(test, found, plain);
	KUNIT_EXPECT_EQ(test, in_nmi_found, plain);
	KUNIT_EXPECT_EQ(test, read_refcount(plain), 1);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, 8, STACK_DEPOT_FLAG_COUNT), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, MAX_FRAMES + 8,
						    STACK_DEPOT_FLAG_COUNT), counted);

	/* The record stays in its bucket until irq_work frees it; its count is zero. */
	local_irq_disable();
	__preempt_count_add(NMI_OFFSET);
	stack_depot_put(plain);
	__preempt_count_sub(NMI_OFFSET);
	found = stack_depot_test_find(depot, entries, 8, 0);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, found, 0);

	stack_depot_put(counted);
	irq_work_sync(&depot->work);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, MAX_FRAMES,
						    STACK_DEPOT_FLAG_COUNT), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * A copy has the words that were saved, at most as many as asked for, for each
 * kind of record, and reports the full number of words. Frames are also read one by one.
 */
void stack_depot_test_copy(struct kunit *test)
{
	const depot_flags_t kinds[] = { STACK_DEPOT_FLAG_CAN_ALLOC, GET_ALLOC, COUNT_ALLOC };
	unsigned long entries[8], want[8], found[8];

	KUNIT_EXPECT_EQ(test, stack_depot_copy(0, found, 8), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_frame(0, 0), 0);
	fill_stack(want, 8, 3000);
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		depot_stack_handle_t handle;

		memcpy(entries, want, sizeof(want));
		handle = stack_depot_save_flags(entries, 8, GFP_KERNEL, kinds[i]);
		KUNIT_ASSERT_NE(test, handle, 0);

		for (unsigned int max = 0; max <= 8; max++) {
			memset(found, 0, sizeof(found));
			KUNIT_EXPECT_EQ(test, stack_depot_copy(handle, found, max), 8);
			KUNIT_EXPECT_MEMEQ(test, found, want, max * sizeof(*want));
			KUNIT_EXPECT_TRUE(test, max == 8 || !found[max]);
		}
		for (unsigned int n = 0; n <= 8; n++)
			KUNIT_EXPECT_EQ(test, stack_depot_frame(handle, n), n < 8 ? want[n] : 0);
		if (kinds[i] & GET)
			stack_depot_put(handle);
	}
}

/* The table is allocated when the first stack is saved by a caller that may sleep. */
void stack_depot_test_late_table(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t handle;
	unsigned long entries[8];

	fill_stack(entries, 8, 1);
	kvfree(depot->table);
	depot->table = NULL;
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_save(depot, entries, 8, GFP_KERNEL, GET), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_save(depot, entries, 8, GFP_NOWAIT, GET_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_NOINIT), 2);
	KUNIT_EXPECT_NULL(test, depot->table);

	handle = stack_depot_test_save(depot, entries, 8, GFP_KERNEL, GET_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_find(depot, entries, 8, 0), handle);
	KUNIT_EXPECT_EQ(test, stack_depot_test_save(depot, entries, 8, GFP_NOWAIT, GET), handle);
	stack_depot_put_many(handle, 2);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * A stack saved as persistent and as evictable is stored as two records, in
 * either order of saving, and neither affects the reference count of the other.
 */
void stack_depot_test_kinds_apart(struct kunit *test)
{
	unsigned long entries[8];

	for (int order = 0; order < 2; order++) {
		depot_stack_handle_t keep, evict;

		fill_stack(entries, 8, 1000 + order);
		if (order == 0)
			keep = stack_depot_save(entries, 8, GFP_KERNEL);
		evict = stack_depot_save_flags(entries, 8, GFP_KERNEL, GET_ALLOC);
		if (order == 1)
			keep = stack_depot_save(entries, 8, GFP_KERNEL);

		KUNIT_ASSERT_NE(test, keep, 0);
		KUNIT_ASSERT_NE(test, evict, 0);
		KUNIT_EXPECT_FALSE(test, is_same_slot(keep, evict));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(keep, 8, 1000 + order));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(evict, 8, 1000 + order));
		KUNIT_EXPECT_EQ(test, stack_depot_save(entries, 8, GFP_KERNEL), keep);
		KUNIT_EXPECT_EQ(test, read_refcount(keep), (unsigned int)REFCOUNT_SATURATED);
		KUNIT_EXPECT_EQ(test, read_refcount(evict), 1);
		/* No reference can be taken to a persistent record. */
		KUNIT_EXPECT_FALSE(test, stack_depot_get(keep));
		stack_depot_put(evict);
		KUNIT_EXPECT_FALSE(test, stack_depot_get(evict));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(keep, 8, 1000 + order));
	}
}

/*
 * A stack ends at its interrupt entry, except with STACK_DEPOT_FLAG_RAW. Data is any
 * words. Flags that need STACK_DEPOT_FLAG_GET save nothing without it.
 */
void stack_depot_test_raw(struct kunit *test)
{
	unsigned long words[] = { 0, 1, ~0UL, 0x1234, 0 }, *entries;
	depot_stack_handle_t raw, data;

#ifndef MODULE
	unsigned long irq = (unsigned long)__irqentry_text_start;
	depot_stack_handle_t stack;

	if (irq < (unsigned long)__irqentry_text_end) {
		words[2] = irq;
		stack = stack_depot_save_flags(words, 5, GFP_KERNEL, GET_ALLOC);
		KUNIT_EXPECT_EQ(test, stack_depot_fetch(stack, &entries), 3);
		stack_depot_put(stack);
	}
#endif
	raw = stack_depot_save_flags(words, 5, GFP_KERNEL,
				     GET_ALLOC | STACK_DEPOT_FLAG_RAW);
	KUNIT_ASSERT_EQ(test, stack_depot_fetch(raw, &entries), 5);
	KUNIT_EXPECT_MEMEQ(test, entries, words, sizeof(words));
	data = stack_depot_save_flags(words, 5, GFP_KERNEL, DATA_ALLOC);
	KUNIT_ASSERT_EQ(test, stack_depot_fetch(data, &entries), 5);
	KUNIT_EXPECT_MEMEQ(test, entries, words, sizeof(words));
	KUNIT_EXPECT_FALSE(test, is_same_slot(raw, data));
	stack_depot_put(raw);
	stack_depot_put(data);

	KUNIT_EXPECT_EQ(test, stack_depot_save_flags(words, 5, GFP_KERNEL, DATA_ALLOC & ~GET), 0);
	KUNIT_EXPECT_EQ(test, stack_depot_save_flags(words, 5, GFP_KERNEL, COUNT_ALLOC & ~GET), 0);
}

/*
 * A reader without a reference may fetch a record while it is reused, and get a
 * wrong stack, but never entries outside of the pool.
 */
void stack_depot_test_fetch_bounds(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, POOL_BYTES + POOL_BYTES / 2);
	unsigned int room = stack_depot_records_per_pool(stack_depot_size_class(1, 0));
	depot_stack_handle_t *all;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, depot->max_pools, 1);

	/* Test all records of the pool: the last one ends with the pool. */
	for (u32 id = 0; id < room; id++) {
		struct stack_record *rec;
		unsigned long *entries;
		unsigned int nr;

		all[id] = save_stack(depot, 1, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);

		rec = stack_depot_test_record(all[id]);
		rec->size = 0x60000008;
		nr = stack_depot_fetch(all[id], &entries);
		KUNIT_EXPECT_EQ(test, stack_depot_copy(all[id], NULL, 0), nr);
		rec->size = 1;

		KUNIT_EXPECT_GT(test, nr, 0);
		KUNIT_EXPECT_LE(test, nr, MAX_FRAMES);
		KUNIT_EXPECT_LE(test, ((unsigned long)entries & (POOL_BYTES - 1)) +
				nr * sizeof(*entries), POOL_BYTES);
		KUNIT_EXPECT_TRUE(test, handle_has_stack(all[id], 1, id));
	}
	for (u32 id = 0; id < room; id++)
		stack_depot_put(all[id]);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/* Save @entries with counters, and return true if exactly they are read back. */
static bool __maybe_unused is_stored_intact(struct evictable_depot *depot, unsigned long *entries,
					    unsigned int nr, bool packed)
{
	depot_stack_handle_t handle = stack_depot_test_save(depot, entries, nr, GFP_KERNEL,
							    COUNT_ALLOC);
	depot_stack_handle_t again = stack_depot_test_save(depot, entries, nr, GFP_KERNEL,
							   COUNT_ALLOC);
	unsigned long found[MAX_FRAMES];
	bool intact;

	if (!handle || again != handle)
		return false;
	intact = !!(stack_depot_test_record(handle)->hash & HASH_PACKED) == packed &&
		 stack_depot_copy(handle, found, nr) == nr &&
		 !memcmp(found, entries, nr * sizeof(*entries)) &&
		 stack_depot_frame(handle, nr - 1) == entries[nr - 1];
	add_to_counters(handle, -1, ~0L, 1);
	intact &= handle_has_counters(handle, -1, ~0L, 1) &&
		  stack_depot_frame(handle, 0) == entries[0];
	stack_depot_put_many(handle, 2);
	return intact;
}

/*
 * A stack with counters is packed if all of its frames are in the kernel's 4 GiB. One
 * frame outside of them, at any place, and the stack is stored as words. Data and stacks
 * without counters are never packed.
 */
void stack_depot_test_packed(struct kunit *test)
{
#ifdef CONFIG_64BIT
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	const unsigned long far[] = {
		DEPOT_FRAME_BASE - 1, DEPOT_FRAME_BASE + SZ_4G, 0x0000700000000000UL,
		DEPOT_FRAME_BASE ^ BIT(63), DEPOT_FRAME_BASE ^ BIT(32),
	};
	unsigned long entries[9];
	depot_stack_handle_t handle;

	for (unsigned int nr = 1; nr <= 9; nr++) {
		fill_stack(entries, nr, 1);
		KUNIT_EXPECT_TRUE(test, is_stored_intact(depot, entries, nr, true));
		entries[nr - 1] = DEPOT_FRAME_BASE;
		KUNIT_EXPECT_TRUE(test, is_stored_intact(depot, entries, nr, true));
		entries[nr / 2] = DEPOT_FRAME_BASE + U32_MAX;
		KUNIT_EXPECT_TRUE(test, is_stored_intact(depot, entries, nr, true));

		for (unsigned int i = 0; i < nr; i++) {
			for (unsigned int f = 0; f < ARRAY_SIZE(far); f++) {
				fill_stack(entries, nr, 1);
				entries[i] = far[f];
				KUNIT_EXPECT_TRUE_MSG(test,
						      is_stored_intact(depot, entries, nr, false),
						      "frame %u of %u is %lx", i, nr, far[f]);
			}
		}
	}

	/* fill_stack() returns frames that could be packed. */
	handle = save_stack(depot, 8, 1, DATA_ALLOC);
	KUNIT_EXPECT_FALSE(test, stack_depot_test_record(handle)->hash & HASH_PACKED);
	stack_depot_put(handle);
	handle = save_stack(depot, 8, 1, GET_ALLOC);
	KUNIT_EXPECT_FALSE(test, stack_depot_test_record(handle)->hash & HASH_PACKED);
	stack_depot_put(handle);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
#else
	kunit_skip(test, "words have 32 bits");
#endif
}

/* A stack is printed alike whether it is packed or not, also into too small a buffer. */
void stack_depot_test_print(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t plain = save_stack(depot, 8, 1, GET_ALLOC);
	depot_stack_handle_t counted = save_stack(depot, 8, 1, COUNT_ALLOC);
	char *want = kunit_kzalloc(test, SZ_1K, GFP_KERNEL);
	char *found = kunit_kzalloc(test, SZ_1K, GFP_KERNEL);
	unsigned long entries[8];
	int length;

	KUNIT_ASSERT_NE(test, plain, 0);
	KUNIT_ASSERT_NE(test, counted, 0);
	KUNIT_ASSERT_TRUE(test, want && found);
	fill_stack(entries, 8, 1);
	for (unsigned int size = 0; size < SZ_1K; size += 31) {
		length = stack_trace_snprint(want, size, entries, 8, 2);
		KUNIT_EXPECT_EQ(test, stack_depot_snprint(plain, found, size, 2), length);
		KUNIT_EXPECT_STREQ(test, found, want);
		memset(found, 0, SZ_1K);
		KUNIT_EXPECT_EQ(test, stack_depot_snprint(counted, found, size, 2), length);
		KUNIT_EXPECT_STREQ(test, found, want);
	}
	stack_depot_put(plain);
	stack_depot_put(counted);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

struct hashed_stack {
	u32 hash;
	u32 id;
};

static int compare_hashes(const void *a, const void *b)
{
	const struct hashed_stack *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/*
 * Two stacks of equal hash and depth are two records. A good hash gives some collisions among this
 * many random stacks, a bad one gives very many.
 */
static void save_colliding_stacks(struct kunit *test, depot_flags_t flags)
{
	const unsigned int nr = 150000;
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	struct hashed_stack *all = kvcalloc(nr, sizeof(*all), GFP_KERNEL);
	unsigned long entries[4];
	unsigned int pairs = 0;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (unsigned int i = 0; i < nr; i++) {
		all[i].id = get_random_u32();
		fill_stack(entries, 4, all[i].id);
		all[i].hash = stack_depot_test_hash(entries, 4, flags);
	}
	sort(all, nr, sizeof(*all), compare_hashes, NULL);

	for (unsigned int i = 1; i < nr; i++) {
		depot_stack_handle_t a, b;

		if (all[i - 1].hash != all[i].hash || all[i - 1].id == all[i].id ||
		    pairs++ >= 100)
			continue;
		a = save_stack(depot, 4, all[i - 1].id, flags);
		b = save_stack(depot, 4, all[i].id, flags);
		KUNIT_EXPECT_TRUE(test, handle_has_stack(a, 4, all[i - 1].id));
		KUNIT_EXPECT_TRUE(test, handle_has_stack(b, 4, all[i].id));
		stack_depot_put(a);
		stack_depot_put(b);
	}
	/* A random function of 28 bits gives 42 collisions on average, with a deviation of 7. */
	BUILD_BUG_ON(GENMASK(31, 28) != HASH_KIND);
	KUNIT_EXPECT_GT(test, pairs, 0);
	KUNIT_EXPECT_LT(test, pairs, 42 + 6 * 7);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

void stack_depot_test_collision(struct kunit *test)
{
	save_colliding_stacks(test, GET_ALLOC);
	save_colliding_stacks(test, COUNT_ALLOC);
}
