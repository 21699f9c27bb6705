// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of captures while the depot has no room: chains are shortened, the depot is asked
 * for room only once in a tick, and chains are whole again as soon as there is room.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "../evict.h"
#include "capture_kunit.h"
#include "refs_kunit.h"

/* Depth of the captured chains. */
#define DEPTH		32

/* The flags of chains, which decide the size class of a record. */
#define CHAIN_FLAGS	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW)

/* Stacks that use up the depot. */
struct fillers {
	depot_stack_handle_t *handles;
	unsigned int used;
	unsigned int max;
};

static struct fillers *alloc_fillers(struct kunit *test)
{
	struct fillers *fillers = kunit_kzalloc(test, sizeof(*fillers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fillers);
	/* The shortest stacks could take all pools. */
	fillers->max = (READ_ONCE(pools_num) + 16) * stack_depot_records_per_pool(0);
	fillers->handles = kvcalloc(fillers->max, sizeof(*fillers->handles), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fillers->handles);
	return fillers;
}

static void put_fillers(struct fillers *fillers)
{
	while (fillers->used)
		stack_depot_put(fillers->handles[--fillers->used]);
}

/* Wait until freed memory can be reused, and until no CPU remembers a refusal. */
static void wait_for_room(void)
{
	unsigned long state = get_state_synchronize_rcu();

	do {
		synchronize_rcu();
	} while (!poll_state_synchronize_rcu(state));
	msleep(150);
}

/* Save stacks of @depth frames until the depot refuses one. */
static void fill_until_refused(struct fillers *fillers, unsigned int depth)
{
	unsigned long frames[DEPTH];
	depot_stack_handle_t handle;
	unsigned int i;

	for (i = 0; i < depth; i++)
		frames[i] = (unsigned long)_text + i;
	while (fillers->used < fillers->max) {
		frames[0] = (unsigned long)_text + fillers->used;
		handle = stack_depot_save_flags(frames, depth, 0, CHAIN_FLAGS);
		if (!handle)
			return;
		fillers->handles[fillers->used++] = handle;
	}
}

/*
 * Save stacks of @depth frames until the depot has no room for them. Memory that was freed before
 * can be reused after a grace period: wait for that, and fill it as well.
 */
static void fill_class(struct fillers *fillers, unsigned int depth)
{
	fill_until_refused(fillers, depth);
	wait_for_room();
	fill_until_refused(fillers, depth);
	wait_for_room();
}

/* Records of a size class that are kept free, each beside one that is in use. */
#define SPARE_RECORDS	32

/* Keep room for stacks of @depth frames which no other size class can use. */
static void keep_room(struct fillers *fillers, unsigned int depth)
{
	depot_stack_handle_t taken_records[SPARE_RECORDS];
	unsigned long frames[DEPTH];
	unsigned int i;

	for (i = 0; i < depth; i++)
		frames[i] = (unsigned long)_text + i;
	for (i = 0; i < SPARE_RECORDS; i++) {
		/* None of these is a stack of fill_until_refused(). */
		frames[0] = (unsigned long)_text + SZ_16M + 2 * i;
		taken_records[i] = stack_depot_save_flags(frames, depth, GFP_KERNEL,
							  CHAIN_FLAGS |
							  STACK_DEPOT_FLAG_CAN_ALLOC);
		frames[0]++;
		fillers->handles[fillers->used++] =
			stack_depot_save_flags(frames, depth, GFP_KERNEL,
					       CHAIN_FLAGS | STACK_DEPOT_FLAG_CAN_ALLOC);
	}
	for (i = 0; i < SPARE_RECORDS; i++)
		stack_depot_put(taken_records[i]);
}

/* A captured chain, and the frames of the stack from which it was captured with @flags. */
struct capture_result {
	depot_flags_t flags;
	depot_stack_handle_t handle;
	enum stack_depot_captured captured;
	unsigned long frames[DEPTH];
	unsigned int count;
};

/* Capture the chain @times times in a row, and put all but the last reference. */
static noinline void capture_times(struct capture_result *result, unsigned int times, gfp_t gfp)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;

	result->handle = 0;
	while (times--) {
		stack_depot_put(result->handle);
		result->handle = stack_depot_capture(DEPTH, result->flags, gfp, caller,
						     &result->captured);
	}
	result->count = stack_depot_get_frames(result->frames, DEPTH, 0, caller);
}

static noinline void capture_below_frames(struct capture_result *result, unsigned int times,
					  gfp_t gfp, unsigned int frames)
{
	if (frames)
		capture_below_frames(result, times, gfp, frames - 1);
	else
		capture_times(result, times, gfp);
	barrier();
}

static void capture_long_chain(struct capture_result *result, unsigned int times, gfp_t gfp)
{
	capture_below_frames(result, times, gfp, DEPTH);
}

/* Is the handle that of the overflow chain? */
static bool is_overflow_chain(depot_stack_handle_t handle)
{
	return stack_depot_copy(handle, NULL, 0) == 1 &&
	       is_ip_in(stack_depot_frame(handle, 0) + 1,
			(void *)kallsyms_lookup_name("stack_depot_no_room"));
}

/* Return how many of the walked frames the captured chain has, 0 if it is another chain. */
static unsigned int count_equal_frames(const struct capture_result *result)
{
	unsigned int i, count = stack_depot_copy(result->handle, NULL, 0);

	for (i = 0; i < count; i++)
		if (i == result->count || stack_depot_frame(result->handle, i) != result->frames[i])
			return 0;
	return count;
}

/* Check that the handle stands for as much as the capture said. */
static void expect_truth(struct kunit *test, const struct capture_result *result)
{
	KUNIT_ASSERT_NE(test, result->handle, 0);
	KUNIT_EXPECT_EQ(test, result->count, DEPTH);
	switch (result->captured) {
	case STACK_DEPOT_CAPTURED_ALL:
		KUNIT_EXPECT_EQ(test, count_equal_frames(result), DEPTH);
		break;
	case STACK_DEPOT_CAPTURED_SHORTER:
		KUNIT_EXPECT_EQ(test, count_equal_frames(result), 1);
		break;
	case STACK_DEPOT_CAPTURED_NONE:
		KUNIT_EXPECT_TRUE(test, is_overflow_chain(result->handle));
		break;
	}
}

/* Return how many saves the depot has refused on this CPU. */
static unsigned long count_refusals_on_cpu(void)
{
	const struct depot_refusal_counts *refused = this_cpu_ptr(stack_depot_evictable.refused);
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < DEPOT_NR_REFUSALS; i++)
		sum += refused->count[i];
	return sum;
}

/* Drop all references to the long chain: the depot evicts it. */
static void evict_long_chain(struct capture_result *result)
{
	stack_depot_put(result->handle);
	result->handle = 0;
	stack_depot_cpu_caches_flush();
}

#define REPEATED	100

/* Saves that one capture may try in vain, for the whole chain and for its first frame. */
#define REFUSALS_MAX	16

/* A chain whose first frames are those of the long one. */
static noinline void capture_similar_chain(struct capture_result *result)
{
	capture_below_frames(result, 1, 0, DEPTH - 4);
	barrier();
}

/* Capture two chains that the depot refuses, by turns; as an interrupt does; and as a whole. */
static void expect_equal_results(struct kunit *test, struct capture_result *result)
{
	struct capture_result *similar = kunit_kzalloc(test, sizeof(*similar), GFP_KERNEL);
	enum stack_depot_captured captured, in_interrupt;
	struct stack_depot_cpu_cache *cpu;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, similar);
	local_irq_save(flags);
	for (i = 0; i < REPEATED; i++) {
		stack_depot_put(similar->handle);
		capture_similar_chain(similar);
		capture_long_chain(result, 1, 0);
		stack_depot_put(result->handle);
	}
	captured = result->captured;
	/* Capture as an interrupt does if the interrupted task uses the CPU cache. */
	cpu = stack_depot_cpu_acquire();
	capture_long_chain(result, 1, 0);
	in_interrupt = result->captured;
	stack_depot_put(result->handle);
	if (cpu)
		stack_depot_cpu_release(cpu);
	result->flags = STACK_DEPOT_FLAG_WHOLE;
	capture_long_chain(result, 1, 0);
	local_irq_restore(flags);

	/* A capture that wants the whole chain gets no other. */
	KUNIT_EXPECT_EQ(test, result->handle, 0);
	stack_depot_put(result->handle);
	result->handle = 0;
	result->flags = 0;
	result->captured = captured;
	KUNIT_EXPECT_EQ(test, in_interrupt, captured);
	KUNIT_EXPECT_EQ(test, similar->captured, captured);
	expect_truth(test, similar);
	stack_depot_put(similar->handle);
}

/*
 * Capture a chain that the depot refuses, many times in a row. Only one capture in a tick
 * asks the depot for room.
 */
static void expect_one_refusal(struct kunit *test, struct capture_result *result)
{
	unsigned long flags, before, repeated, began, ticks;

	wait_for_room();
	local_irq_save(flags);
	began = jiffies;
	capture_long_chain(result, 1, 0);
	stack_depot_put(result->handle);
	before = count_refusals_on_cpu();
	capture_long_chain(result, REPEATED, 0);
	repeated = count_refusals_on_cpu() - before;
	ticks = jiffies - began;
	local_irq_restore(flags);

	KUNIT_EXPECT_NE(test, result->captured, STACK_DEPOT_CAPTURED_ALL);
	expect_truth(test, result);
	KUNIT_EXPECT_LE(test, repeated, ticks * REFUSALS_MAX);
	stack_depot_put(result->handle);
	expect_equal_results(test, result);
	evict_long_chain(result);
}

/* Save a stack of one frame: its record is too small for the long chain. */
static depot_stack_handle_t save_short_stack(void)
{
	unsigned long word = (unsigned long)_text;

	return stack_depot_save_flags(&word, 1, GFP_KERNEL,
				      STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA |
				      STACK_DEPOT_FLAG_CAN_ALLOC);
}

/* Refused captures after which this CPU has flushed all references. */
#define FLUSH_ATTEMPTS	200

static void wait_for_tick(void)
{
	unsigned long began = jiffies;

	while (READ_ONCE(jiffies) == began)
		cpu_relax();
}

/*
 * Do refused captures flush the CPU cache? Give the only reference to @handle to this CPU, and
 * capture a chain that the depot refuses. Each one flushes a part of the references, the first one
 * in a tick.
 */
static bool is_flushed_by_refusals(struct capture_result *result, depot_stack_handle_t handle)
{
	unsigned int attempts = 0;
	bool kept;

	wait_for_room();
	/* Keep the timer from flushing, and stay on this CPU. */
	local_bh_disable();
	put_handle(handle);
	do {
		wait_for_tick();
		capture_long_chain(result, 1, 0);
		stack_depot_put(result->handle);
		result->handle = 0;
		kept = stack_depot_get(handle);
		/* The depot has one reference, and this CPU the other one. */
		if (kept)
			stack_depot_put(handle);
	} while (kept && ++attempts < FLUSH_ATTEMPTS);
	local_bh_enable();
	return !kept;
}

static void test_full_depot(struct kunit *test)
{
	struct fillers *fillers = alloc_fillers(test);
	struct capture_result *result = kunit_kzalloc(test, sizeof(*result), GFP_KERNEL);
	enum stack_depot_captured shorter, none;
	depot_stack_handle_t handle = save_short_stack();
	unsigned int depth;
	bool flushed, full;

	KUNIT_ASSERT_NOT_NULL(test, result);
	KUNIT_ASSERT_NE(test, handle, 0);
	/* The chain is captured as a whole while there is room. */
	capture_long_chain(result, 1, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, result->captured, STACK_DEPOT_CAPTURED_ALL);
	expect_truth(test, result);
	evict_long_chain(result);
	wait_for_room();

	keep_room(fillers, 1);
	stack_depot_test_set_bound(true);
	/* No room for all frames, but for one. */
	fill_class(fillers, DEPTH);
	flushed = is_flushed_by_refusals(result, handle);
	full = stack_depot_is_full(&stack_depot_evictable);
	expect_one_refusal(test, result);
	shorter = result->captured;
	/* No room for any number of frames. */
	for (depth = DEPTH; depth; depth /= 2)
		fill_class(fillers, depth);
	expect_one_refusal(test, result);
	none = result->captured;
	put_fillers(fillers);
	stack_depot_test_set_bound(false);
	KUNIT_EXPECT_TRUE(test, full);
	KUNIT_EXPECT_TRUE(test, flushed);
	KUNIT_EXPECT_EQ(test, shorter, STACK_DEPOT_CAPTURED_SHORTER);
	KUNIT_EXPECT_EQ(test, none, STACK_DEPOT_CAPTURED_NONE);

	wait_for_room();
	capture_long_chain(result, 1, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, result->captured, STACK_DEPOT_CAPTURED_ALL);
	expect_truth(test, result);
	evict_long_chain(result);
	kvfree(fillers->handles);
}

/* A depot that only waits for pages is not full: a CPU keeps its references. */
static void test_no_page(struct kunit *test)
{
	struct fillers *fillers = alloc_fillers(test);
	depot_stack_handle_t handle = save_short_stack();
	unsigned long refused;
	bool kept, full;

	KUNIT_ASSERT_NE(test, handle, 0);
	wait_for_room();
	refused = stack_depot_count_refusals(&stack_depot_evictable, DEPOT_REFUSED_NOMEM);
	fill_until_refused(fillers, DEPTH);
	refused = stack_depot_count_refusals(&stack_depot_evictable, DEPOT_REFUSED_NOMEM) - refused;
	/* Keep the timer from flushing, and stay on this CPU. */
	local_bh_disable();
	put_handle(handle);
	full = stack_depot_is_full(&stack_depot_evictable);
	stack_depot_flush_if_full();
	kept = stack_depot_get(handle);
	local_bh_enable();
	if (kept)
		stack_depot_put(handle);
	put_fillers(fillers);
	kvfree(fillers->handles);
	KUNIT_EXPECT_GT(test, refused, 0);
	KUNIT_EXPECT_FALSE(test, full);
	KUNIT_EXPECT_TRUE(test, kept);
}

static struct kunit_case full_cases[] = {
	KUNIT_CASE_SLOW(test_full_depot),
	KUNIT_CASE_SLOW(test_no_page),
	{}
};

static int init_full_suite(struct kunit_suite *suite)
{
	return stack_depot_capture_init();
}

static struct kunit_suite full_suite = {
	.name = "stackdepot_capture_full",
	.suite_init = init_full_suite,
	.test_cases = full_cases,
};

kunit_test_suite(full_suite);
