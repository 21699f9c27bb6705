// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the call tree: a chain that was captured once is recognized in each context,
 * forgotten nodes are not found, and captures are right while the tree is full.
 */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/mempool.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "stackdepot_capture_kunit.h"
#include "stackdepot_unwind.h"

#define DEPTHS		STACK_DEPOT_CAPTURE_MAX

/* The depth at which chains are captured that are not the subject of the test. */
#define DEPTH		16

/* A depth at which nothing else in the kernel captures. */
#define OWN_DEPTH	13

/* Results of recognize_at_all_depths(), which also runs in interrupts. */
static struct {
	unsigned int calls;
	/* Captures that failed or kept fewer frames than there are. */
	unsigned int failed;
	/* Captured chains that are not the first frames of the walked chain. */
	unsigned int different;
	/* Chains for which recognition found no node, or one that has another handle. */
	unsigned int unrecognized;
	unsigned int wrong_handle;
	/* Nodes of first frames that were not found. */
	unsigned int wrong_ancestor;
	unsigned long frames[DEPTHS];
	unsigned int count;
} recognition;

/* Find the node of the running chain, with preemption disabled. */
static __always_inline struct stack_depot_node *
find_running_node(unsigned int depth, bool skip, struct stack_depot_caller caller)
{
	return stack_depot_recognize(READ_ONCE(stack_depot_tree), depth, skip, caller, false);
}

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

/* Does the tree have a node of the running chain's first frames? */
static bool finds_ancestor(unsigned int depth, bool skip, struct stack_depot_caller caller,
			   unsigned int frames)
{
	const struct stack_depot_node *node;

	node = stack_depot_find_ancestor(READ_ONCE(stack_depot_tree), depth, skip, caller, frames);
	return node && node->frames == frames &&
	       node->ip == stack_depot_encode_ip(recognition.frames[frames - 1]);
}

/* Capture the chain at one depth, and find its node, and that of half of its frames. */
static __always_inline void recognize_at_depth(unsigned int depth, depot_flags_t flags,
					       struct stack_depot_caller caller)
{
	unsigned int half = min(depth, recognition.count) / 2;
	enum stack_depot_captured captured = STACK_DEPOT_CAPTURED_NONE;
	struct stack_depot_node *node;
	depot_stack_handle_t handle;

	handle = stack_depot_capture(depth, flags, GFP_ATOMIC, caller, &captured);
	if (!handle || captured != STACK_DEPOT_CAPTURED_ALL)
		recognition.failed++;
	if (!handle)
		return;
	if (!handle_has_frames(handle, recognition.frames, min(depth, recognition.count)))
		recognition.different++;
	preempt_disable();
	node = find_running_node(depth, flags & STACK_DEPOT_FLAG_SKIP, caller);
	if (!node)
		recognition.unrecognized++;
	else if (node->handle != handle)
		recognition.wrong_handle++;
	else if (half && !finds_ancestor(depth, flags & STACK_DEPOT_FLAG_SKIP, caller, half))
		recognition.wrong_ancestor++;
	preempt_enable();
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
	KUNIT_EXPECT_EQ(test, recognition.unrecognized, 0);
	KUNIT_EXPECT_EQ(test, recognition.wrong_handle, 0);
	KUNIT_EXPECT_EQ(test, recognition.wrong_ancestor, 0);
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

/* A chain that is longer than the maximum depth, so that each depth has a node of its own. */
static void test_recognition_of_long_chain(struct kunit *test)
{
	memset(&recognition, 0, sizeof(recognition));
	recognize_below_frames(DEPTHS);
	KUNIT_EXPECT_EQ(test, recognition.count, DEPTHS);
	expect_recognition(test, 1);
}

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
	KUNIT_EXPECT_EQ(test, recognition.frames[recognition.count - 1] -
			kallsyms_lookup_name("handle_softirqs") < SZ_4K, true);
	KUNIT_EXPECT_TRUE(test, stack_depot_ends_chain(recognition.frames[recognition.count - 1]));
}

/* --- Forgetting ----------------------------------------------------------------- */

/* The running chain's node, and whether a capture returned the chain as it was walked. */
struct captured_node {
	struct stack_depot_node *node;
	depot_stack_handle_t handle;
	bool good;
};

static __always_inline struct captured_node capture_node(struct stack_depot_caller caller)
{
	enum stack_depot_captured captured;
	struct captured_node result;
	unsigned long frames[DEPTH];
	unsigned int count;

	result.handle = stack_depot_capture(DEPTH, 0, GFP_KERNEL, caller, &captured);
	count = stack_depot_get_frames(frames, DEPTH, 0, caller);
	result.good = result.handle && captured == STACK_DEPOT_CAPTURED_ALL &&
		      handle_has_frames(result.handle, frames, count);
	preempt_disable();
	result.node = find_running_node(DEPTH, false, caller);
	preempt_enable();
	return result;
}

static noinline struct captured_node capture_from_hook(void)
{
	return capture_node(STACK_DEPOT_CALLER);
}

/* Return the running chain's node without a capture, which would add it. */
static noinline struct stack_depot_node *recognize_from_hook(bool capture,
							     struct captured_node *captured)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	struct stack_depot_node *node;

	preempt_disable();
	node = find_running_node(DEPTH, false, caller);
	preempt_enable();
	if (capture)
		*captured = capture_node(caller);
	return node;
}

/* Each round calls the hook from one place, so that all rounds have one chain. */
static noinline void forget_between_captures(struct kunit *test, unsigned int rounds)
{
	unsigned long start = (unsigned long)forget_between_captures, size, offset;
	struct stack_depot_node *found[3] = {};
	struct captured_node captured[3] = {};
	unsigned int i = 0;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, &offset));
	/* GCC copies the call if it knows i, or behind a branch. Each copy has another chain. */
	OPTIMIZER_HIDE_VAR(i);
	for (; i < rounds; i++) {
		stack_depot_forget_nodes(start, i == 1 ? size : 0);
		found[i] = recognize_from_hook(true, &captured[i]);
	}
	KUNIT_EXPECT_TRUE(test, captured[0].good);
	KUNIT_ASSERT_NOT_NULL(test, captured[0].node);
	/* Round 1: the node is forgotten. */
	KUNIT_EXPECT_NULL(test, found[1]);
	KUNIT_EXPECT_TRUE(test, captured[1].good);
	KUNIT_EXPECT_EQ(test, captured[1].handle, captured[0].handle);
	KUNIT_EXPECT_PTR_NE(test, captured[1].node, captured[0].node);
	/* Round 2: the capture of round 1 has added a node. */
	KUNIT_EXPECT_PTR_EQ(test, found[2], captured[1].node);
	for (i = 0; i < rounds; i++)
		stack_depot_put(captured[i].handle);
}

static void test_forget_nodes(struct kunit *test)
{
	unsigned int rounds = 3;

	OPTIMIZER_HIDE_VAR(rounds);
	forget_between_captures(test, rounds);
}

/*
 * Forget one of two made-up nodes, which no chain reaches: a parent and its child. Return: false if
 * the tree was replaced meanwhile.
 */
static bool check_forgotten_key(struct kunit *test)
{
	const struct stack_depot_node template = { .kind = STACK_DEPOT_NODE_END, .frames = 1 };
	/* No function is called from the first bytes of the kernel's text. */
	unsigned long ip = (unsigned long)_text + 1;
	struct stack_depot_node *root, *parent, *child, *again;
	struct stack_depot_tree *tree;

	rcu_read_lock();
	tree = READ_ONCE(stack_depot_tree);
	root = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(DEPTH, 0));
	parent = stack_depot_add_node(tree, root, ip, &template);
	child = parent ? stack_depot_add_node(tree, parent, ip + 1, &template) : NULL;
	if (child) {
		again = stack_depot_find_child(tree, parent, stack_depot_encode_ip(ip + 1));
		KUNIT_EXPECT_PTR_EQ(test, again, child);
		/* Adding the node again finds it. */
		again = stack_depot_add_node(tree, parent, ip + 1, &template);
		KUNIT_EXPECT_PTR_EQ(test, again, child);
	}
	rcu_read_unlock();
	KUNIT_EXPECT_NOT_NULL(test, child);
	if (!child)
		return true;

	/* A return address is behind the call, so the range has ip + 1 and not ip. */
	stack_depot_forget_nodes(ip, 1);
	rcu_read_lock();
	if (READ_ONCE(stack_depot_tree) != tree) {
		rcu_read_unlock();
		return false;
	}
	KUNIT_EXPECT_EQ(test, child->ip, STACK_DEPOT_IP_NONE);
	KUNIT_EXPECT_NE(test, parent->ip, STACK_DEPOT_IP_NONE);
	again = stack_depot_find_child(tree, parent, stack_depot_encode_ip(ip + 1));
	KUNIT_EXPECT_NULL(test, again);
	again = stack_depot_find_child(tree, parent, STACK_DEPOT_IP_NONE);
	KUNIT_EXPECT_NULL(test, again);
	again = stack_depot_add_node(tree, parent, ip + 1, &template);
	KUNIT_EXPECT_NOT_NULL(test, again);
	KUNIT_EXPECT_PTR_NE(test, again, child);
	KUNIT_EXPECT_PTR_EQ(test, again, stack_depot_find_child(tree, parent,
								stack_depot_encode_ip(ip + 1)));
	rcu_read_unlock();
	stack_depot_forget_nodes(ip - 1, 2);
	return true;
}

/* The chains of other tests may have filled the tree, so that a new one is due. */
static void test_forgotten_key(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, check_forgotten_key(test) || check_forgotten_key(test) ||
			  check_forgotten_key(test));
}

/* --- A full tree ----------------------------------------------------------------- */

/* Add children of a made-up node until the tree is full, or until @bytes of it are used. */
static void fill_tree(struct stack_depot_tree *tree, u32 bytes)
{
	const struct stack_depot_node template = { .kind = STACK_DEPOT_NODE_END, .frames = 1 };
	struct stack_depot_node *root = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(DEPTH, 0));
	unsigned long ip = (unsigned long)_text + 1;
	struct stack_depot_node *parent;

	parent = stack_depot_add_node(tree, root, ip, &template);
	while (parent && atomic_read(&tree->used) < bytes)
		parent = stack_depot_add_node(tree, parent, ++ip, &template) ? parent : NULL;
}

static noinline struct captured_node capture_in_full_tree(unsigned int frames)
{
	struct captured_node captured;

	captured = frames ? capture_in_full_tree(frames - 1) : capture_from_hook();
	barrier();
	return captured;
}

/* The chain is new in each test, because the chain has the test's own frame. */
static noinline struct captured_node capture_new_chain(void)
{
	struct captured_node captured = capture_from_hook();

	barrier();
	return captured;
}

static void wait_for_replacement(struct kunit *test, const struct stack_depot_tree *tree)
{
	unsigned long deadline = jiffies + 15 * HZ;

	while (READ_ONCE(stack_depot_tree) == tree && time_before(jiffies, deadline))
		msleep(20);
	KUNIT_EXPECT_PTR_NE(test, READ_ONCE(stack_depot_tree), tree);
}

/* A tree is replaced before it is full: there is always room for a chain that is new. */
static void test_nearly_full_tree(struct kunit *test)
{
	struct captured_node captured;
	struct stack_depot_tree *tree;

	rcu_read_lock();
	tree = READ_ONCE(stack_depot_tree);
	fill_tree(tree, tree->bytes - tree->bytes / 16);
	rcu_read_unlock();
	captured = capture_new_chain();
	KUNIT_EXPECT_TRUE(test, captured.good);
	KUNIT_EXPECT_NOT_NULL(test, captured.node);
	stack_depot_put(captured.handle);
	wait_for_replacement(test, tree);
}

/*
 * A chain that has no node is captured although the tree is full, and has no node
 * afterwards. A new tree replaces the full one, and learns.
 */
static void test_full_tree(struct kunit *test)
{
	struct captured_node captured;
	struct stack_depot_tree *tree;
	unsigned int i;

	/* Another CPU may replace the tree at any time: keep it in place with RCU, and retry. */
	for (i = 0; i < 10; i++) {
		rcu_read_lock();
		tree = READ_ONCE(stack_depot_tree);
		fill_tree(tree, tree->bytes);
		rcu_read_unlock();
		captured = capture_in_full_tree(i);
		KUNIT_EXPECT_TRUE(test, captured.good);
		stack_depot_put(captured.handle);
		if (READ_ONCE(stack_depot_tree) == tree)
			break;
	}
	if (i < 10)
		KUNIT_EXPECT_NULL(test, captured.node);

	wait_for_replacement(test, tree);
	captured = capture_new_chain();
	KUNIT_EXPECT_TRUE(test, captured.good);
	KUNIT_EXPECT_NOT_NULL(test, captured.node);
	stack_depot_put(captured.handle);
}

/* --- The order of children -------------------------------------------------------- */

/* Capture, as the first capture of this CPU in a tick or as a later one. */
static noinline depot_stack_handle_t capture_in_tick(bool first)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	enum stack_depot_captured captured;
	depot_stack_handle_t handle;

	preempt_disable();
	__this_cpu_write(stack_depot_reordered_at, jiffies - first);
	handle = stack_depot_capture(OWN_DEPTH, 0, GFP_NOWAIT, caller, &captured);
	preempt_enable();
	return handle;
}

static noinline depot_stack_handle_t capture_on_left(bool first)
{
	depot_stack_handle_t handle = capture_in_tick(first);

	barrier();
	return handle;
}

/* GCC makes one function of two that are equal: this one takes the opposite. */
static noinline depot_stack_handle_t capture_on_right(bool later)
{
	depot_stack_handle_t handle = capture_in_tick(!later);

	barrier();
	return handle;
}

/* Find the node of a chain's first frame, and drop the chain. */
static struct stack_depot_node *find_first_node(const struct stack_depot_tree *tree,
						depot_stack_handle_t handle)
{
	struct stack_depot_node *root =
		stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(OWN_DEPTH, false));
	unsigned long ip = stack_depot_frame(handle, 0);

	stack_depot_put(handle);
	return stack_depot_find_child(tree, root, stack_depot_encode_ip(ip));
}

/* The first capture in a tick makes its chain the first that walks try, a later one does not. */
static void test_order(struct kunit *test)
{
	const struct stack_depot_tree *tree;
	struct stack_depot_node *root, *left, *right;
	unsigned long began;

	rcu_read_lock();
	tree = READ_ONCE(stack_depot_tree);
	root = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(OWN_DEPTH, false));
	/* The first capture of a chain adds its nodes. */
	find_first_node(tree, capture_on_left(false));
	find_first_node(tree, capture_on_right(true));
	left = find_first_node(tree, capture_on_left(true));
	do {
		began = jiffies;
		right = find_first_node(tree, capture_on_right(false));
		left = find_first_node(tree, capture_on_left(false));
	} while (jiffies - began);
	KUNIT_EXPECT_NOT_NULL(test, left);
	KUNIT_EXPECT_PTR_EQ(test, root->child, right);
	KUNIT_EXPECT_EQ(test, right->sibling, stack_depot_node_offset(tree, left));
	left = find_first_node(tree, capture_on_left(true));
	KUNIT_EXPECT_PTR_EQ(test, root->child, left);
	KUNIT_EXPECT_EQ(test, left->sibling, stack_depot_node_offset(tree, right));
	rcu_read_unlock();
}

/* --- Stale handles ---------------------------------------------------------------- */

/* Try the fast path, then capture. @other: written to the node first, as a handle that is wrong. */
static noinline depot_stack_handle_t capture_with_handle(depot_stack_handle_t other, bool *fast)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	struct stack_depot_cpu_cache *cpu;
	enum stack_depot_captured captured;
	struct stack_depot_node *node;
	unsigned long began;

	preempt_disable();
	node = find_running_node(DEPTH, false, caller);
	if (node && other)
		WRITE_ONCE(node->handle, other);
	preempt_enable();
	cpu = stack_depot_cpu_acquire();
	/* The first capture in a tick is not on the fast path. */
	do {
		began = jiffies;
		if (cpu)
			__this_cpu_write(stack_depot_reordered_at, began);
		*fast = cpu && stack_depot_find_running(cpu, DEPTH, false, caller);
	} while (jiffies - began);
	if (cpu)
		stack_depot_cpu_release(cpu);
	return stack_depot_capture(DEPTH, 0, GFP_KERNEL, caller, &captured);
}

static noinline depot_stack_handle_t capture_first_chain(depot_stack_handle_t other, bool *fast)
{
	depot_stack_handle_t handle = capture_with_handle(other, fast);

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture_second_chain(depot_stack_handle_t other, bool *fast)
{
	depot_stack_handle_t handle = capture_with_handle(other, fast);

	barrier();
	return handle;
}

/* Does the chain have a frame in this function? */
static bool has_frame_in(depot_stack_handle_t handle, const void *function)
{
	unsigned int i, count = stack_depot_copy(handle, NULL, 0);

	for (i = 0; i < count; i++)
		if (is_ip_in(stack_depot_frame(handle, i), function))
			return true;
	return false;
}

/*
 * A node's handle may be another chain's by now. Neither the fast path nor a capture
 * takes a reference to that chain.
 */
static noinline void check_stale_handle(struct kunit *test, unsigned int rounds)
{
	depot_stack_handle_t first = 0, second, other;
	bool fast = false, second_fast;
	unsigned int i;

	second = capture_second_chain(0, &second_fast);
	KUNIT_ASSERT_TRUE(test, has_frame_in(second, capture_second_chain));
	for (i = 0; i < rounds; i++) {
		/* Round 1: the other chain is live, and this CPU keeps references to it. */
		other = i == 1 ? second : 0;
		if (i == 2) {
			/* Round 2: nobody keeps references to this chain. */
			stack_depot_cpu_caches_flush();
			KUNIT_EXPECT_FALSE(test, stack_depot_get(first));
		}
		first = capture_first_chain(other, &fast);
		KUNIT_ASSERT_NE(test, first, 0);
		KUNIT_EXPECT_TRUE(test, has_frame_in(first, capture_first_chain));
		KUNIT_EXPECT_FALSE(test, has_frame_in(first, capture_second_chain));
		/* Round 3: the capture of round 2 has mended the node. */
		KUNIT_EXPECT_EQ(test, fast, i == 3);
		stack_depot_put(first);
	}
	stack_depot_put(second);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(first));
	KUNIT_EXPECT_FALSE(test, stack_depot_get(second));
}

static void test_stale_handle(struct kunit *test)
{
	unsigned int rounds = 4;

	OPTIMIZER_HIDE_VAR(rounds);
	check_stale_handle(test, rounds);
}

static struct kunit_case tree_cases[] = {
	KUNIT_CASE_PARAM(test_recognition, context_gen_params),
	KUNIT_CASE(test_recognition_of_long_chain),
	KUNIT_CASE(test_leading_allocators),
	KUNIT_CASE(test_softirq_chain_ends),
	KUNIT_CASE(test_forget_nodes),
	KUNIT_CASE(test_forgotten_key),
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_stale_handle),
	KUNIT_CASE_SLOW(test_nearly_full_tree),
	KUNIT_CASE_SLOW(test_full_tree),
	{}
};

static bool is_test_allocator(unsigned long ip)
{
	return is_ip_in(ip, mempool_alloc_noprof);
}

static int init_tree_suite(struct kunit_suite *suite)
{
	int error = stack_depot_capture_init();

	if (error)
		return error;
	/* If nobody has said which functions are allocators, name one. */
	if (!stack_depot_is_allocator((unsigned long)mempool_alloc_noprof + 1))
		stack_depot_capture_skip(is_test_allocator);
	return READ_ONCE(stack_depot_tree) ? 0 : -ENOMEM;
}

static struct kunit_suite tree_suite = {
	.name = "stackdepot_tree",
	.suite_init = init_tree_suite,
	.test_cases = tree_cases,
};

kunit_test_suite(tree_suite);
