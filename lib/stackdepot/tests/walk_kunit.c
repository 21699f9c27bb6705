// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the fast walk: it finds the hash of the frames that the walk with all checks finds, in
 * each context and at each depth; captures are found by it; and it stays in the stack.
 */

#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mempool.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "../internal.h"
#include "capture_kunit.h"

#define DEPTHS		STACK_DEPOT_CAPTURE_MAX

/* The depth at which chains are captured that are not the subject of the test. */
#define DEPTH		16

/* Results of recognize_at_all_depths(), which also runs in interrupts. */
static struct {
	unsigned int calls;
	/* Captures that failed or kept fewer frames than there are. */
	unsigned int failed;
	/* Captured chains that are not the first frames of the walked chain. */
	unsigned int different;
	/* Fast walks with another hash, and chains that this CPU does not find by their hash. */
	unsigned int wrong_hash;
	unsigned int unknown;
	unsigned long frames[DEPTHS];
	unsigned int count;
} recognition;

static noinline bool handle_has_frames(depot_stack_handle_t handle, const unsigned long *frames,
				       unsigned int count)
{
	unsigned int i;

	if (stack_depot_copy(handle, NULL, 0) != count)
		return false;
	for (i = 0; i < count; i++)
		if (stack_depot_frame(handle, i) != frames[i])
			return false;
	return true;
}

static noinline u64 hash_chain(unsigned int depth, unsigned int skip,
			       struct stack_depot_caller caller)
{
	u64 hash;

	preempt_disable();
	hash = stack_depot_hash_running(depth, skip, caller);
	preempt_enable();
	return hash;
}

/* Return the handle that this CPU finds by the hash, 0 if it keeps no reference. */
static depot_stack_handle_t find_handle_by_hash(u64 hash)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref = cpu ? stack_depot_find_hashed_ref(cpu, hash) : NULL;
	depot_stack_handle_t handle = ref ? ref->handle : 0;

	if (cpu)
		stack_depot_cpu_release(cpu);
	return handle;
}

/* Capture the chain at one depth, and find it by the hash of the fast walk. */
static __always_inline void recognize_at_depth(unsigned int depth, depot_flags_t flags,
					       struct stack_depot_caller caller)
{
	unsigned int skip = flags & STACK_DEPOT_FLAG_SKIP ? STACK_DEPOT_SKIP_ALLOCATORS : 0;
	unsigned int count = min(depth, recognition.count);
	enum stack_depot_captured captured = STACK_DEPOT_CAPTURED_NONE;
	depot_stack_handle_t handle;
	u64 hash;

	/* No other capture of this CPU comes in between, nor does its timer flush. */
	migrate_disable();
	handle = stack_depot_capture(depth, flags, GFP_ATOMIC, caller, &captured);
	hash = hash_chain(depth, skip, caller);
	if (hash != stack_depot_hash_frames(recognition.frames, count))
		recognition.wrong_hash++;
	/* A flush can come in between, but not for each of the depths. */
	if (handle && find_handle_by_hash(hash) != handle)
		recognition.unknown++;
	migrate_enable();
	if (!handle || captured != STACK_DEPOT_CAPTURED_ALL)
		recognition.failed++;
	if (!handle)
		return;
	if (!handle_has_frames(handle, recognition.frames, count))
		recognition.different++;
	stack_depot_put(handle);
}

static __always_inline void recognize_with_flags(depot_flags_t flags,
						 struct stack_depot_caller caller)
{
	unsigned int depth;

	recognition.calls++;
	recognition.count = stack_depot_get_frames(recognition.frames, DEPTHS, flags, caller);
	for (depth = 1; depth <= DEPTHS; depth++)
		recognize_at_depth(depth, flags, caller);
}

static noinline void recognize_at_all_depths(void)
{
	recognize_with_flags(0, STACK_DEPOT_CALLER);
}

static void expect_recognition(struct kunit *test, unsigned int calls)
{
	KUNIT_EXPECT_EQ(test, recognition.calls, calls);
	KUNIT_EXPECT_EQ(test, recognition.failed, 0);
	KUNIT_EXPECT_EQ(test, recognition.different, 0);
	KUNIT_EXPECT_EQ(test, recognition.wrong_hash, 0);
	KUNIT_EXPECT_LE(test, recognition.unknown, 1);
}

KUNIT_ARRAY_PARAM_DESC(context, capture_contexts, name);

static void test_recognition(struct kunit *test)
{
	const struct capture_context *context = test->param_value;

	memset(&recognition, 0, sizeof(recognition));
	context->run(recognize_at_all_depths);
	KUNIT_EXPECT_GT(test, recognition.count, 2);
	expect_recognition(test, 1);
}

static noinline void recognize_below_frames(unsigned int frames)
{
	if (frames)
		recognize_below_frames(frames - 1);
	else
		recognize_at_all_depths();
	barrier();
}

/* A chain that is longer than the maximum depth, so that each depth has a hash of its own. */
static void test_recognition_of_long_chain(struct kunit *test)
{
	memset(&recognition, 0, sizeof(recognition));
	recognize_below_frames(DEPTHS);
	KUNIT_EXPECT_EQ(test, recognition.count, DEPTHS);
	expect_recognition(test, 1);
}

/* --- Return addresses that a tracer has replaced ---------------------------------- */

#if defined(CONFIG_STACKDEPOT_WALK_ORC) && defined(CONFIG_KRETPROBES)

static void hash_running_chain(u64 hashes[2], struct stack_depot_caller caller)
{
	unsigned long frames[DEPTH];
	unsigned int count = stack_depot_get_frames(frames, DEPTH, 0, caller);

	hashes[0] = hash_chain(DEPTH, 0, caller);
	hashes[1] = stack_depot_hash_frames(frames, count);
}

static noinline void hash_below_frames(u64 hashes[2], unsigned int frames)
{
	if (frames)
		hash_below_frames(hashes, frames - 1);
	else
		hash_running_chain(hashes, STACK_DEPOT_CALLER);
	barrier();
}

/* The fast walk finds the real return addresses, also that of the first frame. */
static void test_traced_chain(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.symbol_name = "hash_below_frames",
		.maxactive = 64,
	};
	u64 plain[2], traced[2];

	hash_below_frames(plain, 3);
	KUNIT_EXPECT_EQ(test, plain[0], plain[1]);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	hash_below_frames(traced, 3);
	unregister_kretprobe(&probe);
	KUNIT_EXPECT_NE(test, traced[0], 0);
	KUNIT_EXPECT_EQ(test, traced[0], traced[1]);
	/* Only the call site in this function is another one. */
	KUNIT_EXPECT_NE(test, traced[0], plain[0]);
}

#endif

/* --- Leading allocators ---------------------------------------------------------- */

static depot_flags_t allocator_flags;

/* An allocator that mempool_alloc() calls. */
static noinline void *alloc_for_mempool(gfp_t gfp, void *unused)
{
	recognize_with_flags(allocator_flags, STACK_DEPOT_CALLER);
	return kmalloc(16, gfp);
}

static void free_for_mempool(void *object, void *unused)
{
	kfree(object);
}

static noinline void alloc_from_mempool(mempool_t *pool, depot_flags_t flags)
{
	allocator_flags = flags;
	memset(&recognition, 0, sizeof(recognition));
	mempool_free(mempool_alloc(pool, GFP_KERNEL), pool);
}

/*
 * mempool_alloc() is an allocator: STACK_DEPOT_FLAG_SKIP leaves it out, and a capture
 * without this flag keeps it. Both chains are recognized.
 */
static void test_leading_allocators(struct kunit *test)
{
	mempool_t *pool = mempool_create(1, alloc_for_mempool, free_for_mempool, NULL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	alloc_from_mempool(pool, 0);
	expect_recognition(test, 1);
	KUNIT_EXPECT_TRUE(test, is_ip_in(recognition.frames[0], mempool_alloc_noprof));
	KUNIT_EXPECT_TRUE(test, is_ip_in(recognition.frames[1], alloc_from_mempool));

	alloc_from_mempool(pool, STACK_DEPOT_FLAG_SKIP);
	expect_recognition(test, 1);
	KUNIT_EXPECT_TRUE(test, is_ip_in(recognition.frames[0], alloc_from_mempool));
	mempool_destroy(pool);
}

/* --- The end of a softirq's chain ------------------------------------------------- */

static bool in_softirq_entry(unsigned long ip)
{
	return ip >= (unsigned long)__softirqentry_text_start &&
	       ip < (unsigned long)__softirqentry_text_end;
}

/* A softirq's chain ends with the function that runs softirqs, not with who was interrupted. */
static void test_softirq_chain_ends(struct kunit *test)
{
	unsigned int i;

	memset(&recognition, 0, sizeof(recognition));
	run_in_timer(recognize_at_all_depths);
	expect_recognition(test, 1);
	KUNIT_ASSERT_GT(test, recognition.count, 1);
	for (i = 0; i < recognition.count; i++)
		KUNIT_EXPECT_FALSE(test, is_ip_in(recognition.frames[i],
						  spin_until_context_has_run));
	/* handle_softirqs(), which has another name if the compiler has removed an argument. */
	KUNIT_EXPECT_TRUE(test, in_softirq_entry(recognition.frames[recognition.count - 1]));
	KUNIT_EXPECT_TRUE(test, stack_depot_ends_chain(recognition.frames[recognition.count - 1]));
}

/* --- Damaged stacks --------------------------------------------------------------- */

#define WORDS		8

/* Where a walk begins: on this task's stack, in words that a test has made up. */
static struct stack_depot_caller make_caller(unsigned long *words)
{
	return (struct stack_depot_caller){
		.slot = (unsigned long)&words[1],
#ifdef CONFIG_STACKDEPOT_WALK_ORC
		.bp_slot = (unsigned long)words,
#endif
	};
}

static u64 hash_words(unsigned long *words, unsigned int depth)
{
	return hash_chain(depth, 0, make_caller(words));
}

#ifdef CONFIG_STACKDEPOT_WALK_FP

/* Frame pointers that lead nowhere end a chain, and those that lead in a circle do not loop. */
static void test_damaged_frame_pointers(struct kunit *test)
{
	unsigned long ips[3] = { (unsigned long)_text + 1, (unsigned long)_text + 2,
				 (unsigned long)_text + 3 };
	unsigned long words[WORDS] = { 0, ips[0], 0, ips[1], 0, ips[2] };

	words[0] = (unsigned long)&words[2];
	words[2] = (unsigned long)&words[4];
	KUNIT_EXPECT_EQ(test, hash_words(words, DEPTH), stack_depot_hash_frames(ips, 3));
	/* Into another page, below the stack, at its last word, to no word. */
	words[4] = (unsigned long)test;
	KUNIT_EXPECT_EQ(test, hash_words(words, DEPTH), stack_depot_hash_frames(ips, 3));
	words[4] = (unsigned long)task_stack_page(current) - sizeof(long);
	KUNIT_EXPECT_EQ(test, hash_words(words, DEPTH), stack_depot_hash_frames(ips, 3));
	words[4] = (unsigned long)task_stack_page(current) + THREAD_SIZE - sizeof(long);
	KUNIT_EXPECT_EQ(test, hash_words(words, DEPTH), stack_depot_hash_frames(ips, 3));
	words[4] = -1UL << 8;
	KUNIT_EXPECT_EQ(test, hash_words(words, DEPTH), stack_depot_hash_frames(ips, 3));
	/* To itself: the depth ends the walk. */
	words[0] = (unsigned long)words;
	ips[1] = ips[0];
	ips[2] = ips[0];
	KUNIT_EXPECT_EQ(test, hash_words(words, 3), stack_depot_hash_frames(ips, 3));
}

#else

/* Learn a made-up step for a return address, and forget it again. Return: the hash of a walk. */
static u64 hash_with_step(unsigned long *words, u64 kind, u64 distance)
{
	u64 *place = &stack_depot_steps[stack_depot_step_line(words[1])], old = READ_ONCE(*place);
	u64 hash;

	WRITE_ONCE(*place, (u32)words[1] | (kind ? 0 : STACK_DEPOT_STEP_LEADS_UP) |
		   kind << STACK_DEPOT_STEP_KIND_SHIFT |
		   distance * sizeof(long) << STACK_DEPOT_STEP_DISTANCE_SHIFT);
	hash = hash_words(words, 3);
	WRITE_ONCE(*place, old);
	return hash;
}

/* Steps that lead out of the stack make a walk fail, and do not make it read there. */
static void test_damaged_steps(struct kunit *test)
{
	unsigned long words[WORDS] = { 0, (unsigned long)_text + 1 };
	unsigned long end = (unsigned long)task_stack_page(current) + THREAD_SIZE;
	unsigned long ips[3] = { words[1], words[1], words[1] };

	/* The address has no step. */
	KUNIT_EXPECT_EQ(test, hash_words(words, 3), 0);
	KUNIT_EXPECT_EQ(test, hash_words(words, 1), stack_depot_hash_frames(words + 1, 1));
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_END, 0),
			stack_depot_hash_frames(words + 1, 1));
	words[3] = words[1];
	words[5] = words[1];
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_UP, 2),
			stack_depot_hash_frames(ips, 3));
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_UP,
					     (end - (unsigned long)words) / sizeof(long)), 0);
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_UP, U16_MAX / sizeof(long)),
			0);
	/* A saved BP that points nowhere: into another page, and to the end of the stack. */
	words[0] = (unsigned long)test;
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_BP, 0), 0);
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_REALIGNED, 1), 0);
	words[0] = end - sizeof(long);
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_BP, 0), 0);
	/* The SP that is stored there points nowhere. */
	words[0] = (unsigned long)&words[WORDS - 1];
	words[WORDS - 2] = (unsigned long)test;
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_REALIGNED, 1), 0);
	words[2] = (unsigned long)test;
	KUNIT_EXPECT_EQ(test, hash_with_step(words, STACK_DEPOT_STEP_SWITCH, 1), 0);
}

/* --- Forgetting ----------------------------------------------------------------- */

/* Return the hash of the fast walk before the frames are captured, and after. */
static noinline void hash_around_capture(u64 hashes[2])
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	unsigned long frames[DEPTH];

	hashes[0] = hash_chain(DEPTH, 0, caller);
	stack_depot_get_frames(frames, DEPTH, 0, caller);
	hashes[1] = hash_chain(DEPTH, 0, caller);
}

/* Each round calls from one place, so that all rounds have one chain. */
static noinline void forget_between_walks(struct kunit *test, unsigned int rounds)
{
	unsigned long start = (unsigned long)forget_between_walks, size, offset;
	u64 hashes[3][2] = {};
	unsigned int i = 0;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, &offset));
	OPTIMIZER_HIDE_VAR(i);
	for (; i < rounds; i++) {
		if (i == 1)
			stack_depot_forget_steps(start, size);
		hash_around_capture(hashes[i]);
	}
	KUNIT_EXPECT_NE(test, hashes[0][1], 0);
	/* Round 1: the step is forgotten, and the walk with all checks learns it again. */
	KUNIT_EXPECT_EQ(test, hashes[1][0], 0);
	KUNIT_EXPECT_EQ(test, hashes[1][1], hashes[0][1]);
	KUNIT_EXPECT_EQ(test, hashes[2][0], hashes[0][1]);
}

static void test_forget_steps(struct kunit *test)
{
	unsigned int rounds = 3;

	OPTIMIZER_HIDE_VAR(rounds);
	forget_between_walks(test, rounds);
}

#endif

/* --- Evicted chains ----------------------------------------------------------------- */

/* Capture the caller's chain. @found: set to the handle that its hash had before, or 0. */
static noinline depot_stack_handle_t capture_and_find(depot_stack_handle_t *found)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	enum stack_depot_captured captured;
	u64 hash;

	preempt_disable();
	hash = stack_depot_hash_running(DEPTH, 0, caller);
	*found = find_handle_by_hash(hash);
	preempt_enable();
	return stack_depot_capture(DEPTH, 0, GFP_KERNEL, caller, &captured);
}

/* A CPU that has flushed its references does not find the chain, whose record is freed. */
static noinline void check_evicted_chain(struct kunit *test, unsigned int rounds)
{
	depot_stack_handle_t handle = 0, found;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		if (i == 2) {
			stack_depot_cpu_caches_flush();
			KUNIT_EXPECT_FALSE(test, stack_depot_get(handle));
		}
		migrate_disable();
		handle = capture_and_find(&found);
		migrate_enable();
		KUNIT_ASSERT_NE(test, handle, 0);
		/* Rounds 1 and 3 find the chain of the round before, unless a timer flushed it. */
		if (i % 2 == 0)
			KUNIT_EXPECT_EQ(test, found, 0);
		else if (found)
			KUNIT_EXPECT_EQ(test, found, handle);
		stack_depot_put(handle);
	}
}

static void test_evicted_chain(struct kunit *test)
{
	unsigned int rounds = 4;

	OPTIMIZER_HIDE_VAR(rounds);
	stack_depot_cpu_caches_flush();
	check_evicted_chain(test, rounds);
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE_PARAM(test_recognition, context_gen_params),
	KUNIT_CASE(test_recognition_of_long_chain),
	KUNIT_CASE(test_leading_allocators),
	KUNIT_CASE(test_softirq_chain_ends),
#ifdef CONFIG_STACKDEPOT_WALK_FP
	KUNIT_CASE(test_damaged_frame_pointers),
#else
	KUNIT_CASE(test_damaged_steps),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_traced_chain),
#endif
	KUNIT_CASE(test_forget_steps),
#endif
	KUNIT_CASE(test_evicted_chain),
	{}
};

static bool is_test_allocator(unsigned long ip)
{
	return is_ip_in(ip, mempool_alloc_noprof);
}

static int init_walk_suite(struct kunit_suite *suite)
{
	/* If nobody has said which functions are allocators, name one. */
	if (!stack_depot_is_allocator((unsigned long)mempool_alloc_noprof + 1))
		stack_depot_capture_skip(is_test_allocator);
	return stack_depot_capture_init();
}

static struct kunit_suite walk_suite = {
	.name = "stackdepot_walk",
	.suite_init = init_walk_suite,
	.test_cases = walk_cases,
};

kunit_test_suite(walk_suite);
