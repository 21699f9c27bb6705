// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of walks over the running stack: a walk finds the frames that the kernel's unwinder
 * finds, in each context, at each depth, and when tracers have replaced return addresses.
 */

#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stackdepot_capture.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "capture_kunit.h"

#define FRAMES		128

/*
 * Results of compare_walks(), which also runs in interrupts: calls; chains that differ, of
 * STACK_DEPOT_CAPTURE_MAX for each call, the first of them in ours[] and theirs[]; the longest
 * chain; and how many chains the kernel's unwinder had walked before the test.
 */
static struct {
	unsigned int calls;
	unsigned int different;
	unsigned int longest;
	unsigned long ours[STACK_DEPOT_CAPTURE_MAX], theirs[FRAMES];
	unsigned int our_count, their_count;
	unsigned long slow;
} result;

/* Return the number of frames up to the entry of an interrupt or a softirq. */
static unsigned int cut_at_interrupt(unsigned long *frames, unsigned int count)
{
	unsigned long size, offset;
	unsigned int i;
	char *module, name[KSYM_NAME_LEN];

	for (i = 0; i < count; i++) {
		const char *function = kallsyms_lookup(frames[i], &size, &offset, &module, name);

		if (function && !strcmp(function, "handle_softirqs")) {
			count = i + 1;
			break;
		}
	}
	/* An interrupt of that softirq ends the chain earlier. */
	return filter_irq_stacks(frames, count);
}

/*
 * Walk the caller's chain with stack_depot_get_frames() and with stack_trace_save(), and
 * compare. Cut off the frames that only stack_trace_save() finds: its own frames, this
 * function, and frames beyond an interrupt.
 */
static noinline void compare_walks(void)
{
	static unsigned long ours[STACK_DEPOT_CAPTURE_MAX], theirs[FRAMES];
	unsigned int count, their_count, first = 0, depth;
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;

	their_count = cut_at_interrupt(theirs, stack_trace_save(theirs, FRAMES, 0));
	/* Skip to the first return address in compare_walks() itself. */
	while (first < their_count && theirs[first] - (unsigned long)compare_walks > 1024)
		first++;
	first++;
	result.calls++;
	for (depth = 1; depth <= STACK_DEPOT_CAPTURE_MAX; depth++) {
		unsigned int expected = min(their_count - first, depth);

		count = stack_depot_get_frames(ours, depth, STACK_DEPOT_FLAG_SKIP, caller);
		if (first < their_count && count == expected &&
		    !memcmp(ours, theirs + first, count * sizeof(*ours))) {
			result.longest = max(result.longest, count);
			continue;
		}
		if (result.different++)
			continue;
		result.our_count = count;
		result.their_count = expected;
		memcpy(result.ours, ours, count * sizeof(*ours));
		memcpy(result.theirs, theirs + first, expected * sizeof(*theirs));
	}
}

static void reset_comparison(void)
{
	struct stack_depot_capture_counts counts;

	stack_depot_read_capture_counts(&counts);
	memset(&result, 0, sizeof(result));
	result.slow = counts.slow;
}

static void expect_equal_chains(struct kunit *test, unsigned int calls)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, result.calls, calls);
	KUNIT_EXPECT_EQ(test, result.different, 0);
	if (!result.different)
		return;
	for (i = 0; i < max(result.our_count, result.their_count); i++)
		kunit_info(test, "%pS, should be %pS\n",
			   (void *)(i < result.our_count ? result.ours[i] : 0),
			   (void *)(i < result.their_count ? result.theirs[i] : 0));
}

/* Check that all chains were equal, and that no walk fell back to the kernel's unwinder. */
static void expect_fast_walks(struct kunit *test, unsigned int calls)
{
	struct stack_depot_capture_counts counts;

	expect_equal_chains(test, calls);
	stack_depot_read_capture_counts(&counts);
	KUNIT_EXPECT_EQ(test, counts.slow, result.slow);
}

/* Build a call chain of @frames frames; the bits of @kinds choose the kind of each frame. */
static void call_through_frames(unsigned int kinds, unsigned int frames);

static noinline void call_through_ordinary_frame(unsigned int kinds, unsigned int frames)
{
	call_through_frames(kinds, frames);
	barrier();
}

/* Call through a frame of variable size: only BP tells where the caller's frame is. */
static noinline void call_through_varying_frame(unsigned int kinds, unsigned int frames)
{
	char *space = __builtin_alloca(16 * (1 + kinds % 7));

	barrier_data(space);
	call_through_frames(kinds, frames);
	barrier_data(space);
}

/*
 * Call through a frame that realigns the stack. As its size varies, too, GCC stores the old SP in
 * it.
 */
static noinline void call_through_realigned_frame(unsigned int kinds, unsigned int frames)
{
	char *more = __builtin_alloca(16 * (1 + kinds % 7));
	char space[64] __aligned(64);

	barrier_data(space);
	barrier_data(more);
	call_through_frames(kinds, frames);
	barrier_data(space);
	barrier_data(more);
}

/* Call through a frame whose variables use all registers, also BP. */
static noinline void call_through_crowded_frame(unsigned int kinds, unsigned int frames)
{
	unsigned long a = kinds, b = frames, c = a + b, d = a ^ b, e = a * 3, f = b * 5;

	OPTIMIZER_HIDE_VAR(c);
	OPTIMIZER_HIDE_VAR(d);
	OPTIMIZER_HIDE_VAR(e);
	OPTIMIZER_HIDE_VAR(f);
	call_through_frames(kinds, frames);
	OPTIMIZER_HIDE_VAR(a);
	OPTIMIZER_HIDE_VAR(b);
	OPTIMIZER_HIDE_VAR(c);
	OPTIMIZER_HIDE_VAR(d);
	OPTIMIZER_HIDE_VAR(e);
	OPTIMIZER_HIDE_VAR(f);
}

static noinline void call_through_frames(unsigned int kinds, unsigned int frames)
{
	if (!frames)
		compare_walks();
	else if (kinds % 4 == 0)
		call_through_ordinary_frame(kinds / 4, frames - 1);
	else if (kinds % 4 == 1)
		call_through_varying_frame(kinds / 4, frames - 1);
	else if (kinds % 4 == 2)
		call_through_realigned_frame(kinds / 4, frames - 1);
	else
		call_through_crowded_frame(kinds / 4, frames - 1);
	barrier();
}

static void test_kinds_of_frames(struct kunit *test)
{
	unsigned int kinds;

	reset_comparison();
	for (kinds = 0; kinds < 4 * 4 * 4 * 4; kinds++)
		call_through_frames(kinds, 4);
	expect_fast_walks(test, 4 * 4 * 4 * 4);
}

static void compare_from_constructor(void *object)
{
	compare_walks();
}

/* Walk a chain through the allocator, whose frames GCC realigns. */
static void test_allocator_frames(struct kunit *test)
{
	struct kmem_cache *cache;
	void *object;

	reset_comparison();
	cache = kmem_cache_create("capture_kunit", 512, 0, SLAB_NO_MERGE, compare_from_constructor);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, object);
	KUNIT_EXPECT_GT(test, result.calls, 0);
	expect_fast_walks(test, result.calls);
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

static noinline void recurse_and_compare(unsigned int frames)
{
	if (frames)
		recurse_and_compare(frames - 1);
	else
		compare_walks();
	barrier();
}

static void test_recursion(struct kunit *test)
{
	unsigned int i;

	reset_comparison();
	for (i = 0; i < 64; i++)
		recurse_and_compare(i);
	expect_fast_walks(test, 64);
	KUNIT_EXPECT_EQ(test, result.longest, STACK_DEPOT_CAPTURE_MAX);
}

KUNIT_ARRAY_PARAM_DESC(context, capture_contexts, name);

static void test_context(struct kunit *test)
{
	const struct capture_context *context = test->param_value;

	reset_comparison();
	context->run(compare_walks);
	expect_fast_walks(test, 1);
	KUNIT_EXPECT_GT(test, result.longest, 2);
}

static void compare_from_ipi(void *unused)
{
	compare_walks();
}

static void test_ipi(struct kunit *test)
{
	int cpu = cpumask_any_but(cpu_online_mask, get_cpu());

	if (cpu >= nr_cpu_ids) {
		put_cpu();
		kunit_skip(test, "needs two CPUs");
	}
	reset_comparison();
	smp_call_function_single(cpu, compare_from_ipi, NULL, true);
	put_cpu();
	expect_fast_walks(test, 1);
}

#ifdef CONFIG_KRETPROBES
static int ignore_probe_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return 0;
}

static int compare_on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	compare_walks();
	return 0;
}

/* A kretprobe replaces the return address by that of its trampoline. */
static void test_kretprobe(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.symbol_name = "recurse_and_compare",
		.handler = ignore_probe_entry,
		.maxactive = 64,
	};

	reset_comparison();
	recurse_and_compare(3);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	recurse_and_compare(3);
	unregister_kretprobe(&probe);
	expect_equal_chains(test, 2);
	KUNIT_EXPECT_GT(test, result.longest, 4);
}

/* Walk from a kretprobe's handler, which the trampoline calls. */
static void test_kretprobe_handler(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.symbol_name = "recurse_and_compare",
		.handler = compare_on_return,
		.maxactive = 64,
	};

	reset_comparison();
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	recurse_and_compare(0);
	unregister_kretprobe(&probe);
	expect_equal_chains(test, 2);
}

static int compare_on_entry(struct kprobe *kprobe, struct pt_regs *regs)
{
	compare_walks();
	return 0;
}

static void test_kprobe_handler(struct kunit *test)
{
	struct kprobe probe = {
		.symbol_name = "recurse_and_compare",
		.pre_handler = compare_on_entry,
	};

	reset_comparison();
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	recurse_and_compare(0);
	unregister_kprobe(&probe);
	expect_equal_chains(test, 2);
}
#endif /* CONFIG_KRETPROBES */

#ifdef CONFIG_STACKDEPOT_WALK_ORC
/* Maximum depth. get_cycles() counts instructions in a guest that runs with -icount. */
#define COST_DEPTH	16

static noinline void measure_unwind(struct kunit *test, unsigned int depth)
{
	unsigned long entries[COST_DEPTH + 1];
	u64 fast = U64_MAX, slow = U64_MAX, nothing = U64_MAX, began;
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	unsigned int i, count = 0;

	for (i = 0; i < 8; i++) {
		local_irq_disable();
		began = get_cycles();
		nothing = min(nothing, get_cycles() - began);
		began = get_cycles();
		count = stack_depot_get_frames(entries, depth, STACK_DEPOT_FLAG_SKIP, caller);
		fast = min(fast, get_cycles() - began);
		began = get_cycles();
		stack_trace_save(entries, depth + 1, 1);
		slow = min(slow, get_cycles() - began);
		local_irq_enable();
	}
	/* tools/testing/owner/bench/bench.py reads these lines. */
	kunit_info(test, "owner_bench: stack_depot_get_frames %u %llu %llu\n", depth,
		   fast - nothing, fast - nothing);
	kunit_info(test, "owner_bench: stack_trace_save %u %llu %llu\n", depth,
		   slow - nothing, slow - nothing);
	KUNIT_EXPECT_EQ(test, count, depth);
	KUNIT_EXPECT_LT(test, fast, slow);
}

static noinline void measure_below_frames(struct kunit *test, unsigned int frames)
{
	if (frames)
		measure_below_frames(test, frames - 1);
	else
		for (unsigned int depth = 1; depth <= COST_DEPTH; depth *= 2)
			measure_unwind(test, depth);
	barrier();
}

static void test_cost(struct kunit *test)
{
	measure_below_frames(test, COST_DEPTH);
}
#endif

static struct kunit_case capture_cases[] = {
	KUNIT_CASE_PARAM(test_context, context_gen_params),
	KUNIT_CASE(test_kinds_of_frames),
	KUNIT_CASE(test_allocator_frames),
	KUNIT_CASE(test_recursion),
	KUNIT_CASE(test_ipi),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_kretprobe),
	KUNIT_CASE(test_kretprobe_handler),
	KUNIT_CASE(test_kprobe_handler),
#endif
#ifdef CONFIG_STACKDEPOT_WALK_ORC
	KUNIT_CASE(test_cost),
#endif
	{}
};

static int init_capture_suite(struct kunit_suite *suite)
{
	return stack_depot_capture_init();
}

static struct kunit_suite capture_suite = {
	.name = "stackdepot_capture",
	.suite_init = init_capture_suite,
	.test_cases = capture_cases,
};

kunit_test_suite(capture_suite);
