// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of stack_depot_save_running(): it saves the frames that stack_trace_save() returns, in
 * each context, and recognizes a chain that it has saved before.
 */

#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/stackdepot_capture.h>
#include <linux/stackdepot_running.h>
#include <linux/stacktrace.h>

#include "../internal.h"
#include "capture_kunit.h"

#define DEPTH		12
#define SKIP		2

/* User-mode Linux's stack_trace_save() returns frames of its own first, and skips them. */
#define OWN_FRAMES	(IS_ENABLED(CONFIG_UML) ? 4 : 0)

/* Results of save_twice(), which also runs in interrupts. */
static struct {
	unsigned int calls;
	/* The chain was not recognized when it was saved again, or got another handle. */
	unsigned int unknown;
	unsigned int other_handle;
	depot_stack_handle_t handle;
	unsigned long frames[DEPTH + OWN_FRAMES];
	unsigned int count;
} saved;

/* How often this CPU has saved a chain that it did not recognize. Interrupts are off. */
static unsigned long count_unknown(void)
{
	const struct stack_depot_capture_counts *counts = this_cpu_ptr(&stack_depot_capture_counts);

	return this_cpu_read(stack_depot_walked_saves) + counts->walked;
}

/* Save the same chain twice. The second time it must be recognized. */
static noinline void save_twice(unsigned int skip, depot_flags_t flags)
{
	unsigned long before = 0, flags_of_irq;
	unsigned int i, rounds = 2;
	depot_stack_handle_t again;

	/* Do not unroll the loop: the chains of two calls are not equal. */
	OPTIMIZER_HIDE_VAR(rounds);
	local_irq_save(flags_of_irq);
	for (i = 0; i < rounds; i++) {
		before = count_unknown();
		again = stack_depot_save_running(DEPTH, skip, GFP_ATOMIC, flags);
		if (i && again != saved.handle)
			saved.other_handle++;
		saved.handle = again;
		if (flags & STACK_DEPOT_FLAG_GET && !i)
			stack_depot_put_running(again);
	}
	if (count_unknown() != before)
		saved.unknown++;
	saved.count = stack_trace_save(saved.frames, ARRAY_SIZE(saved.frames), skip);
	local_irq_restore(flags_of_irq);
	saved.calls++;
}

static noinline void save_with_skip(void)
{
	save_twice(SKIP, STACK_DEPOT_FLAG_CAN_ALLOC);
	barrier();
}

static noinline void save_evictable(void)
{
	save_twice(0, STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET);
	barrier();
}

/* @first: index of the first frame to compare: calls from two places differ in frame 0. */
static void expect_saved(struct kunit *test, unsigned int first)
{
	unsigned int i, own = 0, count = stack_depot_copy(saved.handle, NULL, 0);
	unsigned long last = stack_depot_frame(saved.handle, count - 1);

	KUNIT_EXPECT_EQ(test, saved.calls, 1);
	KUNIT_EXPECT_EQ(test, saved.unknown, 0);
	KUNIT_EXPECT_EQ(test, saved.other_handle, 0);
	KUNIT_ASSERT_GT(test, count, first);
	while (own < OWN_FRAMES &&
	       saved.frames[own + first] != stack_depot_frame(saved.handle, first))
		own++;
	KUNIT_ASSERT_LE(test, count, saved.count - own);
	for (i = first; i < count; i++)
		KUNIT_EXPECT_EQ(test, stack_depot_frame(saved.handle, i), saved.frames[own + i]);
	/* The kernel's unwinder goes on to the function that a softirq has interrupted. */
	if (count < saved.count - own && count < DEPTH)
		KUNIT_EXPECT_TRUE(test, stack_depot_ends_chain(last));
}

KUNIT_ARRAY_PARAM_DESC(context, capture_contexts, name);

static void test_frames(struct kunit *test)
{
	const struct capture_context *context = test->param_value;

	memset(&saved, 0, sizeof(saved));
	context->run(save_with_skip);
	expect_saved(test, 0);
}

static void test_evictable(struct kunit *test)
{
	const struct capture_context *context = test->param_value;

	memset(&saved, 0, sizeof(saved));
	context->run(save_evictable);
	expect_saved(test, 1);
	KUNIT_EXPECT_TRUE(test, is_ip_in(stack_depot_frame(saved.handle, 0), save_twice));
	stack_depot_put_running(saved.handle);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(saved.handle));
}

/* A chain that is shorter than what is left out has no handle. */
static void test_nothing_left(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, stack_depot_save_running(DEPTH, STACK_DEPOT_RUNNING_MAX, GFP_KERNEL,
						       STACK_DEPOT_FLAG_CAN_ALLOC), 0);
}

static struct kunit_case running_cases[] = {
	KUNIT_CASE_PARAM(test_frames, context_gen_params),
	KUNIT_CASE_PARAM(test_evictable, context_gen_params),
	KUNIT_CASE(test_nothing_left),
	{}
};

static int init_running_suite(struct kunit_suite *suite)
{
	return stack_depot_capture_init();
}

static struct kunit_suite running_suite = {
	.name = "stackdepot_running",
	.suite_init = init_running_suite,
	.test_cases = running_cases,
};

kunit_test_suite(running_suite);
