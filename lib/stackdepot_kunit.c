// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot's evictable side.
 *
 * Where a bound or exact counts matter, a test has an instance of its own, so
 * that other users of the depot do not disturb it. Stacks are made up: stack
 * number N has addresses that are computed from N, so that whoever fetches a
 * stack can tell whether it is the right one.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <asm/sections.h>

#include "stackdepot_internal.h"

#define MAX_FRAMES	CONFIG_STACKDEPOT_MAX_FRAMES
#define GET		STACK_DEPOT_FLAG_GET
#define GET_ALLOC	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_CAN_ALLOC)
#define COUNT_ALLOC	(GET_ALLOC | STACK_DEPOT_FLAG_COUNT)

static unsigned int stress_seconds = 2;
module_param(stress_seconds, uint, 0444);
MODULE_PARM_DESC(stress_seconds, "Seconds to save, get and put on four CPUs");

static unsigned int million = 1000000;
module_param(million, uint, 0444);
MODULE_PARM_DESC(million, "How many distinct stacks to save within 2 MiB");

/* Frames of stack @id; different ids give different stacks. */
static void make_stack(unsigned long *entries, unsigned int nr, u32 id)
{
	for (unsigned int i = 0; i < nr; i++)
		entries[i] = 0x60000000UL + (hash_32(id + i * 0x9e37U, 22) << 3);
	entries[0] = 0x70000000UL + id;
}

static bool is_stack(depot_stack_handle_t handle, unsigned int nr, u32 id)
{
	unsigned long want[MAX_FRAMES], *entries;

	make_stack(want, nr, id);
	return stack_depot_fetch(handle, &entries) == nr &&
	       !memcmp(entries, want, nr * sizeof(*want));
}

static struct stack_record *record_of(depot_stack_handle_t handle)
{
	unsigned long *entries;

	stack_depot_fetch(handle, &entries);
	return container_of((void *)entries, struct stack_record, entries);
}

/* The count of references to the stack of @handle. */
static unsigned int count_of(depot_stack_handle_t handle)
{
	return refcount_read(&record_of(handle)->count);
}

static depot_stack_handle_t save(struct depot_evict *ev, unsigned int nr, u32 id,
				 depot_flags_t flags)
{
	unsigned long entries[MAX_FRAMES];

	make_stack(entries, nr, id);
	return depot_evict_save_to(ev, entries, nr, GFP_KERNEL, flags);
}

/*
 * Wait until all that was freed so far is ready. During boot grace periods are
 * expedited, and one that overlaps another may not count for who only polls.
 */
static void wait_grace(void)
{
	unsigned long state = get_state_synchronize_rcu();

	do {
		synchronize_rcu();
	} while (!poll_state_synchronize_rcu(state));
}

/* Save; where freed memory waits for a grace period, wait with it. */
static depot_stack_handle_t save_wait(struct depot_evict *ev, unsigned int nr,
				      u32 id, unsigned long *waits)
{
	for (int tries = 0; tries < 4; tries++) {
		depot_stack_handle_t handle = save(ev, nr, id, GET_ALLOC);

		if (handle)
			return handle;
		wait_grace();
		++*waits;
	}
	return 0;
}

/* The class of a stack of @nr frames that has counters. */
static unsigned int counted_class(unsigned int nr)
{
	return depot_evict_class(nr + STACK_DEPOT_COUNTERS);
}

/* Do the counters of @handle say this? */
static bool counters_are(depot_stack_handle_t handle, long a, long b, long c)
{
	long counters[STACK_DEPOT_COUNTERS];

	return stack_depot_counters(handle, counters) && counters[0] == a &&
	       counters[1] == b && counters[2] == c && counters[3] == a - b;
}

static void count(depot_stack_handle_t handle, long a, long b, long c)
{
	stack_depot_count(handle, (const long[]){ a, b, c, a - b });
}

static long refused(struct depot_evict *ev, enum depot_refusal why)
{
	return atomic_long_read(&ev->refused[why]);
}

static struct depot_evict *create(struct kunit *test, size_t bytes)
{
	struct depot_evict *ev = depot_evict_create(bytes);

	if (!ev)
		kunit_skip(test, "no memory, or none left within the depot's bound");
	return ev;
}

/*
 * Words that look like the handle and count of a record saved under @handle,
 * were a lookup by a stale handle to take them for one.
 */
static depot_stack_handle_t save_bait(struct depot_evict *ev, unsigned int nr,
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
	return depot_evict_save_to(ev, entries, nr, GFP_KERNEL, GET_ALLOC);
}

/* Same place in memory, whatever the generation. */
static bool same_slot(depot_stack_handle_t a, depot_stack_handle_t b)
{
	union handle_parts x = { .handle = a }, y = { .handle = b };

	return x.pool_index_plus_1 == y.pool_index_plus_1 && x.offset == y.offset;
}

/*
 * Save and put: a stack saved twice is one record; it is counted exactly, and
 * gone with the last reference.
 */
static void depot_counts(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	depot_stack_handle_t a, b;

	a = save(ev, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, a, 0);
	b = save(ev, 8, 1, GET);
	KUNIT_EXPECT_EQ(test, a, b);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 1);
	KUNIT_EXPECT_TRUE(test, is_stack(a, 8, 1));

	KUNIT_EXPECT_TRUE(test, stack_depot_get(a));
	KUNIT_EXPECT_TRUE(test, stack_depot_get_many(a, 1000));
	stack_depot_put_many(a, 1001);
	stack_depot_put(a);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 1);
	stack_depot_put(a);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(a));
	KUNIT_EXPECT_FALSE(test, stack_depot_get_many(a, 2));
	KUNIT_EXPECT_EQ(test, ev->allocs, 1);
	KUNIT_EXPECT_EQ(test, ev->evictions, 1);

	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/* A stack deeper than the depot stores is cut short, and still found again. */
static void depot_too_deep(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	unsigned long entries[MAX_FRAMES + 8];
	depot_stack_handle_t a, b;

	make_stack(entries, MAX_FRAMES + 8, 1);
	a = depot_evict_save_to(ev, entries, MAX_FRAMES + 8, GFP_KERNEL, GET_ALLOC);
	KUNIT_ASSERT_NE(test, a, 0);
	b = depot_evict_save_to(ev, entries, MAX_FRAMES + 8, GFP_KERNEL, GET_ALLOC);
	KUNIT_EXPECT_EQ(test, a, b);
	KUNIT_EXPECT_TRUE(test, is_stack(a, MAX_FRAMES, 1));
	stack_depot_put_many(a, 2);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * The same words saved with and without counters are two records, in either
 * order of saving, and each is found again as its own kind.
 */
static void depot_counted_apart(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	long counters[STACK_DEPOT_COUNTERS] = { 1, 2, 3, 4 };
	unsigned long entries[8];
	depot_stack_handle_t keep;

	for (u32 id = 0; id < 200; id++) {
		bool first = id & 1;
		depot_stack_handle_t a = save(ev, 8, id, first ? COUNT_ALLOC : GET_ALLOC);
		depot_stack_handle_t b = save(ev, 8, id, first ? GET_ALLOC : COUNT_ALLOC);
		depot_stack_handle_t counted = first ? a : b, plain = first ? b : a;

		KUNIT_ASSERT_NE(test, a, 0);
		KUNIT_ASSERT_NE(test, b, 0);
		KUNIT_ASSERT_FALSE(test, same_slot(a, b));
		KUNIT_EXPECT_TRUE(test, is_stack(a, 8, id));
		KUNIT_EXPECT_TRUE(test, is_stack(b, 8, id));
		KUNIT_EXPECT_EQ(test, save(ev, 8, id, COUNT_ALLOC), counted);
		KUNIT_EXPECT_EQ(test, save(ev, 8, id, GET_ALLOC), plain);

		KUNIT_EXPECT_TRUE(test, counters_are(counted, 0, 0, 0));
		count(counted, 1, -64, LONG_MAX);
		KUNIT_EXPECT_TRUE(test, counters_are(counted, 1, -64, LONG_MAX));
		KUNIT_EXPECT_FALSE(test, stack_depot_counters(plain, counters));
		KUNIT_EXPECT_TRUE(test, is_stack(counted, 8, id));
		stack_depot_put_many(plain, 2);
		KUNIT_EXPECT_TRUE(test, counters_are(counted, 1, -64, LONG_MAX));
		stack_depot_put_many(counted, 2);
	}

	make_stack(entries, 8, 1002);
	keep = stack_depot_save(entries, 8, GFP_KERNEL);
	KUNIT_ASSERT_NE(test, keep, 0);
	KUNIT_EXPECT_FALSE(test, stack_depot_counters(keep, counters));
	KUNIT_EXPECT_FALSE(test, stack_depot_counters(0, counters));
	KUNIT_EXPECT_TRUE(test, counters[0] == 1 && counters[1] == 2 && counters[2] == 3);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * Counters begin at zero, also where another record had its counters or, in
 * a pool cut for another class, its frames.
 */
static void depot_counted_zero(struct kunit *test)
{
	struct depot_evict *ev = create(test, POOL_BYTES + SZ_8K);
	unsigned int room = depot_evict_pool_records(depot_evict_class(1));
	unsigned long waits = 0;
	depot_stack_handle_t *all;
	u32 id = 0;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, ev->max_pools, 1);

	for (unsigned int round = 0; round < 6; round++) {
		bool counted = round % 3 != 2;
		unsigned int nr = counted ? 1 : MAX_FRAMES;
		unsigned int class = counted ? counted_class(nr) : depot_evict_class(nr);
		unsigned int n = 0, bad = 0;

		/* The first must wait for a pool of another class. */
		for (int tries = 0; tries < 4 && n < room; tries++) {
			wait_grace();
			while (n < room) {
				all[n] = save(ev, nr, id, counted ? COUNT_ALLOC : GET_ALLOC);
				if (!all[n])
					break;
				n++;
				id++;
			}
		}
		KUNIT_EXPECT_EQ(test, n, depot_evict_pool_records(class));
		while (counted && bad < n && counters_are(all[bad], 0, 0, 0))
			count(all[bad++], id, id, id);
		KUNIT_EXPECT_EQ(test, bad, counted ? n : 0);
		while (n--)
			stack_depot_put(all[n]);
	}
	KUNIT_EXPECT_GT(test, ev->reused, 0);
	KUNIT_EXPECT_GT(test, ev->recut, 0);
	all[0] = save_wait(ev, 1, id, &waits);
	KUNIT_EXPECT_NE(test, all[0], 0);
	stack_depot_put(all[0]);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * The deepest stacks have counters, too, and neither touch the other, nor the
 * next record; counted, they are cut where others are.
 */
static void depot_counted_deepest(struct kunit *test)
{
	struct depot_evict *ev = create(test, POOL_BYTES + SZ_8K);
	unsigned int room = depot_evict_pool_records(counted_class(MAX_FRAMES));
	unsigned long entries[MAX_FRAMES + 8];
	depot_stack_handle_t *all;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, ev->max_pools, 1);

	for (u32 id = 0; id < room; id++) {
		make_stack(entries, MAX_FRAMES + 8, id);
		all[id] = depot_evict_save_to(ev, entries, MAX_FRAMES + 8, GFP_KERNEL,
					      COUNT_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
		count(all[id], -1, ~id, LONG_MIN + id);
	}
	for (u32 id = 0; id < room; id++) {
		KUNIT_EXPECT_TRUE(test, is_stack(all[id], MAX_FRAMES, id));
		KUNIT_EXPECT_TRUE(test, counters_are(all[id], -1, ~id, LONG_MIN + id));
		KUNIT_EXPECT_EQ(test, count_of(all[id]), 1);
		KUNIT_EXPECT_EQ(test, save(ev, MAX_FRAMES, id, COUNT_ALLOC), all[id]);
		stack_depot_put_many(all[id], 2);
	}
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/* What has counters takes its room within the same bound. */
static void depot_counted_bound(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	unsigned int room = ev->max_pools * depot_evict_pool_records(counted_class(8));
	depot_stack_handle_t *all;
	unsigned int n;

	all = kunit_kcalloc(test, room + 1, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n <= room; n++) {
		all[n] = save(ev, 8, n, COUNT_ALLOC);
		if (!all[n])
			break;
	}
	KUNIT_ASSERT_EQ(test, n, room);
	KUNIT_EXPECT_LE(test, depot_evict_bytes(ev), SZ_256K);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_BOUND), 1);

	stack_depot_put(all[0]);
	wait_grace();
	all[0] = save(ev, 8, room, COUNT_ALLOC);
	KUNIT_EXPECT_TRUE(test, counters_are(all[0], 0, 0, 0));
	while (n--)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * The same stack saved by both kinds of users gives two records, in either
 * order of saving, and none of them moves the other's count.
 */
static void depot_kinds_apart(struct kunit *test)
{
	unsigned long entries[8];

	for (int order = 0; order < 2; order++) {
		depot_stack_handle_t keep, evict;

		make_stack(entries, 8, 1000 + order);
		if (order == 0)
			keep = stack_depot_save(entries, 8, GFP_KERNEL);
		evict = stack_depot_save_flags(entries, 8, GFP_KERNEL, GET_ALLOC);
		if (order == 1)
			keep = stack_depot_save(entries, 8, GFP_KERNEL);

		KUNIT_ASSERT_NE(test, keep, 0);
		KUNIT_ASSERT_NE(test, evict, 0);
		KUNIT_EXPECT_FALSE(test, same_slot(keep, evict));
		KUNIT_EXPECT_TRUE(test, is_stack(keep, 8, 1000 + order));
		KUNIT_EXPECT_TRUE(test, is_stack(evict, 8, 1000 + order));
		KUNIT_EXPECT_EQ(test, stack_depot_save(entries, 8, GFP_KERNEL), keep);
		KUNIT_EXPECT_EQ(test, count_of(keep), (unsigned int)REFCOUNT_SATURATED);
		KUNIT_EXPECT_EQ(test, count_of(evict), 1);
		/* What stays for ever has no references to take. */
		KUNIT_EXPECT_FALSE(test, stack_depot_get(keep));
		stack_depot_put(evict);
		KUNIT_EXPECT_FALSE(test, stack_depot_get(evict));
		KUNIT_EXPECT_TRUE(test, is_stack(keep, 8, 1000 + order));
	}
}

/* Any words can be stored; without the flag they are a stack and end at an IRQ. */
static void depot_raw(struct kunit *test)
{
	unsigned long words[] = { 0, 1, ~0UL, 0x1234, 0 }, *entries;
	depot_stack_handle_t raw;

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
	stack_depot_put(raw);
}

/*
 * An old handle never yields another stack: neither after its slot was reused
 * by the same class, nor after its pool was cut again for another class.
 */
static void depot_stale_handle(struct kunit *test)
{
	/* More than fit. */
	const unsigned int max_all = 2 * POOL_BYTES / sizeof(struct list_head);
	/* Two pools at most, so that the slot comes around soon. */
	struct depot_evict *ev = create(test, 2 * POOL_BYTES + SZ_8K);
	unsigned int deep = min(24, MAX_FRAMES), hits = 0, cuts = 0;
	depot_stack_handle_t old, handle;
	depot_stack_handle_t *all;
	unsigned long waits = 0;
	u32 id = 1;

	all = kunit_kcalloc(test, max_all, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_LE(test, ev->max_pools, 2);
	old = save(ev, 8, 0, GET_ALLOC);
	KUNIT_ASSERT_NE(test, old, 0);
	stack_depot_put(old);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(old));

	/* The generation comes round at the 32nd reuse. */
	while (hits < 31) {
		handle = save_wait(ev, 8, id, &waits);
		KUNIT_ASSERT_NE(test, handle, 0);
		if (same_slot(handle, old)) {
			hits++;
			KUNIT_ASSERT_NE(test, handle, old);
			KUNIT_ASSERT_FALSE(test, stack_depot_get(old));
			KUNIT_ASSERT_TRUE(test, depot_evict_stale(old));
		}
		KUNIT_ASSERT_FALSE(test, depot_evict_stale(handle));
		/* Others have the slot's neighbours, and none is disturbed. */
		KUNIT_ASSERT_TRUE(test, is_stack(handle, 8, id));
		stack_depot_put(handle);
		KUNIT_ASSERT_EQ(test, depot_evict_in_use(ev), 0);
		id++;
	}

	/*
	 * Now with other classes between, so that the old handle points to
	 * where a record of another class has its frames.
	 */
	for (int round = 0; round < 8; round++) {
		unsigned int nr = round & 1 ? 8 : deep, n = 0;
		unsigned long recut = ev->recut;
		bool got = false;

		/* Not the first record: all classes have one there. */
		old = save_wait(ev, 8, id++, &waits);
		handle = save_wait(ev, 8, id++, &waits);
		KUNIT_ASSERT_NE(test, handle, 0);
		stack_depot_put(old);
		stack_depot_put(handle);
		old = handle;

		/* Fill the instance with one depth. */
		while (n < max_all) {
			for (int tries = 0; tries < 4; tries++) {
				all[n] = save_bait(ev, nr, id, old);
				if (all[n])
					break;
				wait_grace();
			}
			if (!all[n])
				break;
			got |= stack_depot_get(old);
			id++;
			n++;
		}
		KUNIT_EXPECT_FALSE(test, got);
		KUNIT_EXPECT_TRUE(test, depot_evict_stale(old));
		KUNIT_EXPECT_EQ(test, n, ev->max_pools *
				depot_evict_pool_records(depot_evict_class(nr)));
		while (n--) {
			KUNIT_EXPECT_TRUE(test, stack_depot_get(all[n]));
			stack_depot_put_many(all[n], 2);
		}
		cuts += ev->recut - recut;
		KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	}
	KUNIT_EXPECT_GT(test, cuts, 0);
	kunit_info(test, "slot reused 31 times, pools cut again %u times, %lu waits\n",
		   cuts, waits);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * Whoever prints a stack that is put and reused under his hands may see a wrong
 * one, but is never led out of the pool.
 */
static void depot_fetch_bounds(struct kunit *test)
{
	struct depot_evict *ev = create(test, POOL_BYTES + SZ_8K);
	unsigned int room = depot_evict_pool_records(depot_evict_class(1));
	depot_stack_handle_t *all;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_EQ(test, ev->max_pools, 1);

	/* To the last record, which ends with the pool. */
	for (u32 id = 0; id < room; id++) {
		struct stack_record *rec;
		unsigned long *entries;
		unsigned int nr;

		all[id] = save(ev, 1, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);

		rec = record_of(all[id]);
		rec->size = 0x60000008;
		nr = stack_depot_fetch(all[id], &entries);
		rec->size = 1;

		KUNIT_EXPECT_GT(test, nr, 0);
		KUNIT_EXPECT_LE(test, nr, MAX_FRAMES);
		KUNIT_EXPECT_LE(test, ((unsigned long)entries & (POOL_BYTES - 1)) +
				nr * sizeof(*entries), POOL_BYTES);
		KUNIT_EXPECT_TRUE(test, is_stack(all[id], 1, id));
	}
	for (u32 id = 0; id < room; id++)
		stack_depot_put(all[id]);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * What a reader of live memory relies on: in the read-side critical section in
 * which it saw a handle, the memory gets no other stack, whoever wants it:
 * neither one of the same depth, nor one that would have a pool cut again.
 */
static void depot_reader(struct kunit *test)
{
	struct depot_evict *ev = create(test, 2 * POOL_BYTES + SZ_8K);
	unsigned int room = ev->max_pools *
			    depot_evict_pool_records(depot_evict_class(8));
	unsigned int deep = min(24, MAX_FRAMES), got = 0, saved = 0;
	unsigned long waits = 0;
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (u32 id = 0; id < room; id++) {
		all[id] = save(ev, 8, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}

	rcu_read_lock();
	for (u32 id = 0; id < room; id++)
		stack_depot_put(all[id]);
	for (u32 id = room; id < room + 100; id++) {
		saved += !!save(ev, 8, id, GET);
		saved += !!save(ev, deep, id, GET);
	}
	for (u32 id = 0; id < room; id++)
		got += stack_depot_get(all[id]);
	rcu_read_unlock();

	KUNIT_EXPECT_EQ(test, saved, 0);
	KUNIT_EXPECT_EQ(test, got, 0);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_GRACE), 200);

	handle = save_wait(ev, deep, room, &waits);
	KUNIT_EXPECT_NE(test, handle, 0);
	stack_depot_put(handle);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * A refusal for want of a grace period has one begin: there is room again
 * though nobody waits for RCU.
 */
static void depot_kick(struct kunit *test)
{
	struct depot_evict *ev = create(test, 2 * POOL_BYTES + SZ_8K);
	unsigned int room = ev->max_pools *
			    depot_evict_pool_records(depot_evict_class(8));
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	for (u32 round = 0; round < 3; round++) {
		unsigned long until = jiffies + 10 * HZ;
		long before = refused(ev, DEPOT_REFUSED_GRACE);

		for (u32 id = 0; id < room; id++) {
			do {
				all[id] = save(ev, 8, id, GET_ALLOC);
				if (!all[id])
					schedule_timeout_uninterruptible(1);
			} while (!all[id] && time_before(jiffies, until));
			KUNIT_ASSERT_NE(test, all[id], 0);
		}

		rcu_read_lock();
		for (u32 id = 0; id < room; id++)
			stack_depot_put(all[id]);
		handle = save(ev, 8, room, GET_ALLOC);
		rcu_read_unlock();
		KUNIT_EXPECT_EQ(test, handle, 0);
		KUNIT_EXPECT_GT(test, refused(ev, DEPOT_REFUSED_GRACE), before);
	}

	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

struct hashed {
	u32 hash;
	u32 id;
};

static int by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/*
 * Stacks of equal hash and depth are still two. Some are bound to be among as
 * many as this, if the hash is good; if it is bad, very many are.
 */
static void depot_collision(struct kunit *test)
{
	const unsigned int nr = 300000;
	struct depot_evict *ev = create(test, SZ_256K);
	struct hashed *all = kvcalloc(nr, sizeof(*all), GFP_KERNEL);
	unsigned long entries[4];
	unsigned int pairs = 0;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (u32 id = 0; id < nr; id++) {
		make_stack(entries, 4, id);
		all[id].hash = depot_evict_hash(entries, 4);
		all[id].id = id;
	}
	sort(all, nr, sizeof(*all), by_hash, NULL);

	for (unsigned int i = 1; i < nr; i++) {
		depot_stack_handle_t a, b;

		if (all[i - 1].hash != all[i].hash || pairs++ >= 100)
			continue;
		a = save(ev, 4, all[i - 1].id, GET_ALLOC);
		b = save(ev, 4, all[i].id, GET_ALLOC);
		KUNIT_EXPECT_TRUE(test, is_stack(a, 4, all[i - 1].id));
		KUNIT_EXPECT_TRUE(test, is_stack(b, 4, all[i].id));
		stack_depot_put(a);
		stack_depot_put(b);
	}
	/* 21 would be expected of a random function of 31 bits. */
	KUNIT_EXPECT_GT(test, pairs, 0);
	KUNIT_EXPECT_LT(test, pairs, 50);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * At the bound a stack is refused and counted, and nothing else happens; with
 * one put and a grace period there is room again.
 */
static void depot_bound(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	unsigned int room, n;
	depot_stack_handle_t *all;
	unsigned long waits = 0;

	room = ev->max_pools * depot_evict_pool_records(depot_evict_class(8));
	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	for (n = 0; n < room; n++) {
		all[n] = save(ev, 8, n, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[n], 0);
	}
	KUNIT_EXPECT_LE(test, depot_evict_bytes(ev), SZ_256K);
	KUNIT_EXPECT_EQ(test, save(ev, 8, room, GET_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, save(ev, 1, room, GET_ALLOC), 0);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_BOUND), 2);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_GRACE), 0);
	/* Each is counted, also when it is known beforehand. */
	for (n = 0; n < 1000; n++)
		save(ev, 8, room + n, GET_ALLOC);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_BOUND), 1002);
	KUNIT_EXPECT_EQ(test, ev->class[depot_evict_class(8)].full,
			DEPOT_REFUSED_BOUND);
	/* What is there can still be saved, which takes no memory. */
	KUNIT_EXPECT_EQ(test, save(ev, 8, 7, GET_ALLOC), all[7]);
	stack_depot_put(all[7]);

	stack_depot_put(all[0]);
	all[0] = save_wait(ev, 8, room, &waits);
	KUNIT_EXPECT_NE(test, all[0], 0);

	for (n = 0; n < room; n++)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * At the bound a class finds room in whichever of its pools has some, though
 * others, asked before, have only records that wait for a grace period.
 */
static void depot_fifth_pool(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	unsigned int per_pool = depot_evict_pool_records(depot_evict_class(8));
	unsigned int room = ev->max_pools * per_pool;
	depot_stack_handle_t *all, handle;

	all = kunit_kcalloc(test, room, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	KUNIT_ASSERT_GT(test, ev->max_pools, 8);

	for (u32 id = 0; id < room; id++) {
		all[id] = save(ev, 8, id, GET_ALLOC);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}
	/* One has room again, after the many that shall have none to give. */
	stack_depot_put(all[room - 1]);
	wait_grace();

	rcu_read_lock();
	for (u32 id = 0; id < room - per_pool; id += per_pool)
		stack_depot_put(all[id]);
	list_rotate_left(&ev->class[depot_evict_class(8)].partial);
	handle = save(ev, 8, room, GET_ALLOC);
	rcu_read_unlock();

	KUNIT_EXPECT_NE(test, handle, 0);
	KUNIT_EXPECT_TRUE(test, same_slot(handle, all[room - 1]));
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_GRACE), 0);

	all[room - 1] = handle;
	for (u32 id = 0; id < room; id++) {
		if (id % per_pool || id >= room - per_pool)
			stack_depot_put(all[id]);
	}
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * At the bound persistent stacks go where evictable ones have been, and no
 * handle leads to one of those there any more.
 */
static void depot_give(struct kunit *test)
{
	/* More than one pool of them. */
	const unsigned int nr = POOL_BYTES / (8 * sizeof(unsigned long));
	struct depot_evict *ev = create(test, SZ_256K);
	unsigned int bad = 0, pools = 0, got = 0;
	union handle_parts parts = { };
	depot_stack_handle_t *all;
	unsigned long waits = 0;

	all = kunit_kcalloc(test, nr, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);

	/* Leave idle pools to the depot. */
	for (u32 id = 0; id < nr; id++) {
		all[id] = save_wait(ev, 8, id, &waits);
		KUNIT_ASSERT_NE(test, all[id], 0);
	}
	for (u32 id = 0; id < nr; id++)
		stack_depot_put(all[id]);
	KUNIT_ASSERT_TRUE(test, depot_evict_destroy(ev));
	wait_grace();

	depot_evict_at_bound(true);
	for (u32 id = 0; id < nr; id++) {
		unsigned long entries[8];

		make_stack(entries, 8, 2000 + id);
		all[id] = stack_depot_save(entries, 8, GFP_KERNEL);
	}
	depot_evict_at_bound(false);

	for (u32 id = 0; id < nr; id++) {
		union handle_parts now = { .handle = all[id] };

		if (!all[id] || !is_stack(all[id], 8, 2000 + id)) {
			bad++;
			continue;
		}
		if (id && now.pool_index_plus_1 != parts.pool_index_plus_1)
			pools++;
		parts = now;
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_ASSERT_GT(test, pools, 0);

	/* Every handle that there may ever have been in the last such pool. */
	for (u32 offset = 0; offset < BIT(DEPOT_OFFSET_BITS); offset++) {
		for (u32 extra = 0; extra < BIT(STACK_DEPOT_EXTRA_BITS); extra++) {
			parts.offset = offset;
			parts.extra = extra;
			got += stack_depot_get(parts.handle);
		}
	}
	KUNIT_EXPECT_EQ(test, got, 0);
}

/* Fill all memory with stacks of one depth, and take them out again. */
static void fill_all(struct kunit *test, struct depot_evict *ev, unsigned int nr,
		     u32 id)
{
	unsigned int room = ev->max_pools *
			    depot_evict_pool_records(depot_evict_class(nr));
	depot_stack_handle_t *all = kvcalloc(room, sizeof(*all), GFP_KERNEL);
	unsigned long waits = 0;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n < room; n++) {
		all[n] = save_wait(ev, nr, id + n, &waits);
		if (!all[n])
			break;
	}
	KUNIT_EXPECT_EQ(test, n, room);
	while (n--)
		stack_depot_put(all[n]);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	kvfree(all);
}

/* Depth of stack @id: shallow first, then deep, then mixed. */
static unsigned int mixed_depth(u32 id)
{
	u32 r = hash_32(id, 16);

	if (id < million / 3)
		return 1 + r % min(12, MAX_FRAMES);
	if (id < million / 3 * 2)
		return MAX_FRAMES - r % min(32, MAX_FRAMES);
	return 1 + r % MAX_FRAMES;
}

/*
 * A million distinct stacks of mixed depth pass through 2 MiB, some 2000 of
 * them at any time, each right when it goes. Then nothing is in use, and all
 * memory can be filled to the last record with any depth.
 */
static void depot_million(struct kunit *test)
{
	const unsigned int live = 2000;
	struct depot_evict *ev = create(test, SZ_2M);
	depot_stack_handle_t *ring;
	unsigned long waits = 0, bad = 0;
	u32 id;

	ring = kvcalloc(live, sizeof(*ring), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);

	for (id = 0; id < million + live; id++) {
		depot_stack_handle_t *slot = &ring[id % live];

		if (*slot) {
			bad += !is_stack(*slot, mixed_depth(id - live), id - live);
			stack_depot_put(*slot);
			*slot = 0;
		}
		if (id < million) {
			*slot = save_wait(ev, mixed_depth(id), id, &waits);
			if (!*slot)
				break;
		}
		if (!(id % 256))
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, id, million + live);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_EQ(test, ev->allocs, million);
	KUNIT_EXPECT_EQ(test, ev->evictions, million);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_LE(test, depot_evict_bytes(ev), SZ_2M);
	kunit_info(test, "%u stacks through %zu bytes, %lu slots reused, %lu pools cut again, %lu waits\n",
		   million, depot_evict_bytes(ev), ev->reused, ev->recut, waits);

	fill_all(test, ev, min(4, MAX_FRAMES), million);
	fill_all(test, ev, MAX_FRAMES, million);
	fill_all(test, ev, min(8, MAX_FRAMES), million);
	KUNIT_EXPECT_LE(test, depot_evict_bytes(ev), SZ_2M);

	kvfree(ring);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/* What one of 10,000 stacks of @depth takes, in bytes. */
static size_t bytes_each(struct kunit *test, unsigned int depth, depot_flags_t flags)
{
	const unsigned int nr = 10000;
	unsigned int class = flags & STACK_DEPOT_FLAG_COUNT ? counted_class(depth) :
							      depot_evict_class(depth);
	struct depot_evict *ev = create(test, SZ_4M);
	depot_stack_handle_t *all = kvcalloc(nr, sizeof(*all), GFP_KERNEL);
	unsigned int n;
	size_t bytes;

	KUNIT_ASSERT_NOT_NULL(test, all);
	for (n = 0; n < nr; n++) {
		all[n] = save(ev, depth, n, flags);
		KUNIT_ASSERT_NE(test, all[n], 0);
	}
	bytes = ev->class[class].pools * POOL_BYTES / nr;

	for (n = 0; n < nr; n++)
		stack_depot_put(all[n]);
	kvfree(all);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
	return bytes;
}

/* What stacks take, and would with records of one size. */
static void depot_memory(struct kunit *test)
{
	size_t record = ALIGN(sizeof(struct stack_record), 1 << DEPOT_STACK_ALIGN);
	size_t plain = bytes_each(test, min(8, MAX_FRAMES), GET_ALLOC);
	size_t counted = bytes_each(test, min(8, MAX_FRAMES), COUNT_ALLOC);
	size_t deep = bytes_each(test, min(16, MAX_FRAMES), COUNT_ALLOC);

	kunit_info(test, "a stack of 8 frames: %zu bytes once, %zu now, %zu with counters; of 16 with counters: %zu\n",
		   POOL_BYTES / (POOL_BYTES / record), plain, counted, deep);
	KUNIT_EXPECT_LE(test, plain, 99);
	KUNIT_EXPECT_LE(test, counted, 134);
	KUNIT_EXPECT_LE(test, deep, 200);
}

/*
 * In NMI a stack is refused and counted; dropping the last reference there does
 * not take the lock, and the record is freed soon after. Counters need no lock.
 */
static void depot_nmi(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	depot_stack_handle_t handle, in_nmi_handle, counted;
	unsigned long flags, in_use;
	long counters[STACK_DEPOT_COUNTERS];
	bool got;

	handle = save(ev, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);
	counted = save(ev, 8, 1, COUNT_ALLOC);
	KUNIT_ASSERT_NE(test, counted, 0);

	/* As if an NMI had come while this CPU held the lock. */
	raw_spin_lock_irqsave(&ev->lock, flags);
	__preempt_count_add(NMI_OFFSET);
	in_nmi_handle = save(ev, 8, 2, GET);
	stack_depot_put(handle);
	count(counted, 1, 2, 3);
	got = stack_depot_counters(counted, counters);
	in_use = ev->class[depot_evict_class(8)].in_use;
	__preempt_count_sub(NMI_OFFSET);
	raw_spin_unlock_irqrestore(&ev->lock, flags);

	KUNIT_EXPECT_EQ(test, in_nmi_handle, 0);
	KUNIT_EXPECT_EQ(test, refused(ev, DEPOT_REFUSED_NMI), 1);
	KUNIT_EXPECT_EQ(test, in_use, 1);
	KUNIT_EXPECT_TRUE(test, got && counters[2] == 3);
	KUNIT_EXPECT_TRUE(test, counters_are(counted, 1, 2, 3));
	stack_depot_put(counted);
	irq_work_sync(&ev->work);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

struct hardirq_case {
	struct irq_work work;
	struct depot_evict *ev;
	int failed;
};

/* What an allocation and a free do, with memory at hand or not. */
static int use_depot(struct depot_evict *ev, depot_flags_t flags, gfp_t gfp)
{
	unsigned long entries[8];
	int failed = 0;

	for (u32 id = 0; id < 300; id++) {
		depot_stack_handle_t handle;

		make_stack(entries, 8, id);
		handle = depot_evict_save_to(ev, entries, 8, gfp, flags);
		failed += !handle || !stack_depot_get(handle);
		stack_depot_put_many(handle, 2);
	}
	return failed;
}

static void hardirq_work(struct irq_work *work)
{
	struct hardirq_case *c = container_of(work, struct hardirq_case, work);

	c->failed = use_depot(c->ev, GET_ALLOC, GFP_ATOMIC);
}

/* Softirq, hardirq, and under a raw spinlock; lockdep and others look on. */
static void depot_contexts(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_2M);
	static DEFINE_RAW_SPINLOCK(lock);
	struct hardirq_case c = { .ev = ev, .failed = -1 };
	depot_stack_handle_t handle;
	unsigned long flags;
	int failed;

	local_bh_disable();
	failed = use_depot(ev, GET_ALLOC, GFP_ATOMIC);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, failed, 0);

	/* A thread with PREEMPT_RT, where hardirqs may not allocate. */
	init_irq_work(&c.work, hardirq_work);
	irq_work_queue(&c.work);
	irq_work_sync(&c.work);
	KUNIT_EXPECT_EQ(test, c.failed, 0);

	/* No page can be asked for: take what there is, and be refused then. */
	raw_spin_lock_irqsave(&lock, flags);
	handle = save(ev, 8, 1000, GET);
	failed = handle && !stack_depot_get(handle);
	if (handle)
		stack_depot_put_many(handle, 2);
	raw_spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_EQ(test, failed, 0);

	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/* === Four CPUs ============================================================ */

#define STRESS_THREADS	4
#define STRESS_SLOTS	512

struct stress {
	struct depot_evict *ev;
	/* Where holders keep their handles: slot N holds stack N or none. */
	depot_stack_handle_t slot[STRESS_SLOTS];
};

struct stress_thread {
	struct stress *s;
	struct task_struct *task;
	struct rnd_state rnd;
	unsigned long saves, refusals, gets, gone, bad;
};

static unsigned int stress_depth(u32 id)
{
	return 1 + hash_32(id, 16) % MAX_FRAMES;
}

static void stress_one(struct stress_thread *t)
{
	u32 r = prandom_u32_state(&t->rnd), id = r % STRESS_SLOTS;
	depot_stack_handle_t *slot = &t->s->slot[id], handle;
	unsigned int nr = stress_depth(id);
	unsigned int n = 1 + ((r >> 24) & 7);
	bool got = false;

	switch ((r >> 16) & 7) {
	case 0 ... 2:	/* An allocation takes the place of what was there. */
		handle = save(t->s->ev, nr, id, GET_ALLOC);
		t->saves += !!handle;
		t->refusals += !handle;
		stack_depot_put(xchg(slot, handle));
		break;
	case 3 ... 4:	/* A free. */
		stack_depot_put(xchg(slot, 0));
		break;
	default:	/* A reader of what may be freed any time. */
		rcu_read_lock();
		handle = READ_ONCE(*slot);
		/* Leave time for the holder to go. */
		for (unsigned int i = 0; i < r >> 26; i++)
			cpu_relax();
		if (handle) {
			got = stack_depot_get_many(handle, n);
			t->gets += got;
			t->gone += !got;
		}
		rcu_read_unlock();
		if (got) {
			t->bad += !is_stack(handle, nr, id);
			stack_depot_put_many(handle, n);
		}
	}
}

/* Thread number @nr, on a CPU that is online, each in its turn; to be woken up. */
static struct task_struct *make_thread(struct kunit *test, int (*run)(void *data),
				       void *data, unsigned int nr)
{
	unsigned int cpu = cpumask_nth(nr % num_online_cpus(), cpu_online_mask);
	struct task_struct *task = kthread_create(run, data, "stackdepot/%d", nr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpu);
	return task;
}

static int stress_thread(void *arg)
{
	struct stress_thread *t = arg;

	while (!kthread_should_stop()) {
		for (int i = 0; i < 64; i++)
			stress_one(t);
		cond_resched();
	}
	return 0;
}

/*
 * Four CPUs save, get and put the same stacks at random, with too little memory
 * for all: no reader ever gets another stack than the slot's, and at the end
 * the counts are exact.
 */
static void depot_stress(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_256K);
	struct stress_thread *threads, sum = { };
	unsigned int held = 0;
	unsigned long wrong = 0;
	struct stress *s;

	s = kvzalloc(sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	threads = kunit_kcalloc(test, STRESS_THREADS, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	s->ev = ev;

	for (int i = 0; i < STRESS_THREADS; i++) {
		struct stress_thread *t = &threads[i];

		t->s = s;
		prandom_seed_state(&t->rnd, i + 1);
		t->task = make_thread(test, stress_thread, t, i);
	}
	for (int i = 0; i < STRESS_THREADS; i++)
		wake_up_process(threads[i].task);
	msleep(stress_seconds * 1000);
	/* A slow machine takes longer to come to what this is about. */
	for (int i = 0; i < 60 && !READ_ONCE(ev->reused); i++)
		msleep(1000);
	for (int i = 0; i < STRESS_THREADS; i++) {
		struct stress_thread *t = &threads[i];

		kthread_stop(t->task);
		sum.saves += t->saves;
		sum.refusals += t->refusals;
		sum.gets += t->gets;
		sum.gone += t->gone;
		sum.bad += t->bad;
	}

	/* What is held now has one reference each, and nothing else is in use. */
	for (u32 id = 0; id < STRESS_SLOTS; id++) {
		if (!s->slot[id])
			continue;
		held++;
		wrong += count_of(s->slot[id]) != 1;
		wrong += !is_stack(s->slot[id], stress_depth(id), id);
	}
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), held);
	for (u32 id = 0; id < STRESS_SLOTS; id++)
		stack_depot_put(s->slot[id]);

	kunit_info(test, "%u s on %u CPUs: %lu saves, %lu refused, %lu gets, %lu gone, %lu evictions, %lu slots reused, %lu pools cut again\n",
		   stress_seconds, min(num_online_cpus(), STRESS_THREADS),
		   sum.saves, sum.refusals, sum.gets, sum.gone, ev->evictions,
		   ev->reused, ev->recut);
	KUNIT_EXPECT_EQ(test, sum.bad, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 0);
	KUNIT_EXPECT_EQ(test, ev->allocs, ev->evictions);
	KUNIT_EXPECT_GT(test, sum.gets, 0);
	KUNIT_EXPECT_GT(test, ev->reused, 0);
	KUNIT_EXPECT_LE(test, depot_evict_bytes(ev), SZ_256K);
	kvfree(s);
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/* === Counters on four CPUs ================================================ */

/* Stacks that stay and are counted, and the ids of those that come and go. */
#define PLANTED		300
#define PLANTED_DEPTHS	min(MAX_FRAMES, 64)
#define PASSING		512

struct counting_thread {
	struct depot_evict *ev;
	const depot_stack_handle_t *planted;
	struct task_struct *task;
	u32 nr;
	unsigned long rounds, bad;
};

/* The depth of planted stack @id. */
static unsigned int planted_depth(u32 id)
{
	return 1 + id % PLANTED_DEPTHS;
}

/* Count the planted stacks, and let others of both kinds come and go. */
static int counting_thread(void *arg)
{
	struct counting_thread *t = arg;
	depot_stack_handle_t *ring;
	u32 id = 0;

	ring = kvcalloc(PASSING, sizeof(*ring), GFP_KERNEL);
	while (!kthread_should_stop()) {
		for (u32 i = 0; i < PLANTED; i++)
			count(t->planted[i], 1, i, -(long)t->nr);
		t->rounds++;
		for (u32 i = 0; ring && i < PLANTED; i++, id++) {
			depot_stack_handle_t *slot = &ring[hash_32(id, 9)];
			u32 other = PLANTED + t->nr * BIT(20) + id % BIT(20);

			stack_depot_put(*slot);
			*slot = save(t->ev, planted_depth(other), other,
				     other & 1 ? COUNT_ALLOC : GET_ALLOC);
			if (*slot && other & 1)
				t->bad += !counters_are(*slot, 0, 0, 0);
			if (*slot)
				t->bad += !is_stack(*slot, planted_depth(other), other);
			if (*slot && other & 1)
				count(*slot, -1, -1, -1);
		}
		cond_resched();
	}
	for (u32 i = 0; ring && i < PASSING; i++)
		stack_depot_put(ring[i]);
	kvfree(ring);
	return 0;
}

static void counting_start(struct kunit *test, struct counting_thread *threads,
			   struct depot_evict *ev, const depot_stack_handle_t *planted)
{
	for (int i = 0; i < STRESS_THREADS; i++) {
		struct counting_thread *t = &threads[i];

		t->ev = ev;
		t->planted = planted;
		t->nr = i + 1;
		t->task = make_thread(test, counting_thread, t, i);
	}
	for (int i = 0; i < STRESS_THREADS; i++)
		wake_up_process(threads[i].task);
}

/*
 * Walk through all that is counted. Returns how many were met of what is not
 * planted in this test; @met says how often each that is planted was.
 */
static unsigned long walk_counted(struct kunit *test,
				  const depot_stack_handle_t *planted, u8 *met)
{
	unsigned long others = 0, bad = 0;
	depot_stack_handle_t handle;
	u64 place = 0, before = 0;

	memset(met, 0, PLANTED);
	while (!bad && (handle = stack_depot_next_counted(&place))) {
		long counters[STACK_DEPOT_COUNTERS];
		unsigned long *entries, id;

		bad += place <= before || !stack_depot_counters(handle, counters);
		before = place;
		stack_depot_fetch(handle, &entries);
		id = entries[0] - 0x70000000UL;
		if (id < PLANTED) {
			met[id]++;
			bad += planted[id] != handle;
			bad += !is_stack(handle, planted_depth(id), id);
		} else {
			others++;
		}
		stack_depot_put(handle);
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	/* The end is the end. */
	KUNIT_EXPECT_GE(test, place, before);
	return others;
}

static unsigned int met_once(const u8 *met)
{
	unsigned int once = 0;

	for (u32 id = 0; id < PLANTED; id++)
		once += met[id] == 1;
	return once;
}

/*
 * A walk meets each counted stack once, whatever stands between: stacks without
 * counters, others with, and what has been freed. So it does while others come
 * and go on four CPUs, which count what stays; and no addition is lost.
 */
static void depot_next_counted(struct kunit *test)
{
	struct depot_evict *ev = create(test, SZ_512K);
	struct counting_thread *threads;
	depot_stack_handle_t *planted, *between;
	unsigned long others, rounds = 0, by_thread = 0, bad = 0, met_others = 0;
	unsigned int walks = 0, missed = 0, wrong = 0;
	unsigned long until;
	u8 *met;

	planted = kunit_kcalloc(test, PLANTED, sizeof(*planted), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, planted);
	between = kunit_kcalloc(test, PLANTED, sizeof(*between), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, between);
	met = kunit_kzalloc(test, PLANTED, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, met);
	threads = kunit_kcalloc(test, STRESS_THREADS, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	others = walk_counted(test, planted, met);
	KUNIT_EXPECT_EQ(test, met_once(met), 0);

	/* What is freed is of the planted ids, and must not be met. */
	for (u32 id = 0; id < PLANTED; id++) {
		depot_stack_handle_t gone = save(ev, planted_depth(id + 1), id,
						 COUNT_ALLOC);

		between[id] = save(ev, planted_depth(id), id, GET_ALLOC);
		planted[id] = save(ev, planted_depth(id), id, COUNT_ALLOC);
		KUNIT_ASSERT_NE(test, gone, 0);
		KUNIT_ASSERT_NE(test, planted[id], 0);
		KUNIT_ASSERT_NE(test, between[id], 0);
		KUNIT_ASSERT_FALSE(test, planted[id] == between[id]);
		stack_depot_put(gone);
	}
	KUNIT_EXPECT_EQ(test, walk_counted(test, planted, met), others);
	KUNIT_EXPECT_EQ(test, met_once(met), PLANTED);

	counting_start(test, threads, ev, planted);
	until = jiffies + stress_seconds * HZ;
	while (time_before(jiffies, until)) {
		met_others += walk_counted(test, planted, met);
		missed += PLANTED - met_once(met);
		walks++;
		schedule_timeout_uninterruptible(1);
	}
	for (int i = 0; i < STRESS_THREADS; i++) {
		kthread_stop(threads[i].task);
		rounds += threads[i].rounds;
		by_thread += threads[i].rounds * threads[i].nr;
		bad += threads[i].bad;
	}

	for (u32 id = 0; id < PLANTED; id++) {
		wrong += !counters_are(planted[id], rounds, rounds * id, -by_thread);
		wrong += count_of(planted[id]) != 1;
		wrong += !is_stack(planted[id], planted_depth(id), id);
	}
	kunit_info(test, "%u walks, %lu others met; each of %u stacks counted %lu times, %lu stacks came and %lu slots were reused\n",
		   walks, met_others, PLANTED, rounds, ev->allocs, ev->reused);
	KUNIT_EXPECT_EQ(test, missed, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, rounds, 0);
	KUNIT_EXPECT_GT(test, met_others, 0);
	KUNIT_EXPECT_EQ(test, depot_evict_in_use(ev), 2 * PLANTED);

	for (u32 id = 0; id < PLANTED; id++) {
		stack_depot_put(planted[id]);
		stack_depot_put(between[id]);
	}
	KUNIT_EXPECT_TRUE(test, depot_evict_destroy(ev));
}

/*
 * Prints what the hot operations cost, in cycles; under a simulator that counts
 * instructions as cycles, in instructions.
 */
static void depot_cost(struct kunit *test)
{
	static const unsigned int depths[] = { 1, 4, 8, 16 };
	const unsigned int loops = 1000;

	for (unsigned int d = 0; d < ARRAY_SIZE(depths); d++) {
		unsigned int nr = min(depths[d], MAX_FRAMES);
		unsigned long entries[16];
		depot_stack_handle_t handle, keep;
		cycles_t start, t[4];

		make_stack(entries, nr, 5000 + d);
		keep = stack_depot_save(entries, nr, GFP_KERNEL);
		handle = stack_depot_save_flags(entries, nr, GFP_KERNEL, GET_ALLOC);
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_ASSERT_NE(test, keep, 0);

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_save_flags(entries, nr, GFP_KERNEL,
					       STACK_DEPOT_FLAG_CAN_ALLOC);
		t[0] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_save_flags(entries, nr, GFP_KERNEL, GET_ALLOC);
		t[1] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_put(handle);
		t[2] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			(void)stack_depot_get(handle);
		t[3] = get_cycles() - start;

		stack_depot_put_many(handle, loops + 1);
		kunit_info(test, "depth %u: persistent hit %llu, evictable hit %llu, put %llu, get %llu\n",
			   nr, (u64)t[0] / loops, (u64)t[1] / loops,
			   (u64)t[2] / loops, (u64)t[3] / loops);
	}
}

static struct kunit_case depot_cases[] = {
	KUNIT_CASE(depot_counts),
	KUNIT_CASE(depot_too_deep),
	KUNIT_CASE(depot_counted_apart),
	KUNIT_CASE(depot_counted_zero),
	KUNIT_CASE(depot_counted_deepest),
	KUNIT_CASE(depot_counted_bound),
	KUNIT_CASE(depot_kinds_apart),
	KUNIT_CASE(depot_raw),
	KUNIT_CASE(depot_stale_handle),
	KUNIT_CASE(depot_fetch_bounds),
	KUNIT_CASE(depot_reader),
	KUNIT_CASE(depot_kick),
	KUNIT_CASE_SLOW(depot_collision),
	KUNIT_CASE(depot_bound),
	KUNIT_CASE(depot_fifth_pool),
	KUNIT_CASE(depot_give),
	KUNIT_CASE_SLOW(depot_million),
	KUNIT_CASE(depot_memory),
	KUNIT_CASE(depot_nmi),
	KUNIT_CASE(depot_contexts),
	KUNIT_CASE_SLOW(depot_stress),
	KUNIT_CASE_SLOW(depot_next_counted),
	KUNIT_CASE(depot_cost),
	{ }
};

static int depot_suite_init(struct kunit_suite *suite)
{
	return stack_depot_init();
}

static struct kunit_suite depot_suite = {
	.name = "stackdepot",
	.suite_init = depot_suite_init,
	.test_cases = depot_cases,
};

kunit_test_suite(depot_suite);

MODULE_DESCRIPTION("KUnit tests of the stack depot");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_LICENSE("GPL");
