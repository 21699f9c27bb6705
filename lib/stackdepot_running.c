// SPDX-License-Identifier: GPL-2.0
/*
 * Save the running stack for KASAN, SLUB's user tracking and kmemleak. See
 * stack_depot_save_running() in include/linux/stackdepot_running.h.
 *
 * A chain that was saved before is recognized in the call tree, whose node has its handle.
 * The depot keeps a stack that was saved without STACK_DEPOT_FLAG_GET forever, so the handle
 * needs no reference. Each user has functions of its own from which it saves stacks, so the
 * nodes of its chains have no handles of another user.
 */

#include <linux/irq_work.h>
#include <linux/kmsan.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/stackdepot_capture.h>
#include <linux/stackdepot_running.h>
#include <linux/workqueue.h>

#include "stackdepot_unwind.h"

/* --- Tables ------------------------------------------------------------------------- */

/* Set when a stack is saved that can be evicted: the CPU caches keep its references. */
static bool evictable_requested;

static void init_tables(struct work_struct *work)
{
	stack_depot_tree_init(true);
	if (READ_ONCE(evictable_requested))
		stack_depot_capture_init();
}

static DECLARE_WORK(init_work, init_tables);

static void schedule_init(struct irq_work *work)
{
	schedule_work(&init_work);
}

/* A stack can be saved under any lock, also under the workqueue's. */
static DEFINE_IRQ_WORK(init_request, schedule_init);

/*
 * Allocate the tables soon. Users save stacks long before that is possible, and a user that the
 * configuration has may never be enabled.
 */
static void request_tables(bool *requested)
{
	if (READ_ONCE(*requested) || system_state < SYSTEM_SCHEDULING)
		return;
	WRITE_ONCE(*requested, true);
	irq_work_queue(&init_request);
}

/* --- Saving ------------------------------------------------------------------------- */

/* The node of the running chain; NULL if the tree does not have it. Preemption is off. */
static __always_inline struct stack_depot_node *
find_running_node(unsigned int depth, struct stack_depot_caller caller, bool reorder)
{
	const struct stack_depot_tree *tree = READ_ONCE(stack_depot_tree);

	return tree ? stack_depot_recognize(tree, depth, false, caller, reorder) : NULL;
}

/* When this CPU last reordered nodes of the chains that are saved here: jiffies. */
static DEFINE_PER_CPU(unsigned long, reordered_at);

/* The first save of a CPU in each tick reorders nodes, see stack_depot_prefer_child(). */
static __always_inline bool reorder_is_due(void)
{
	unsigned long now = jiffies;

	if (likely(now - this_cpu_read(reordered_at) == 0))
		return false;
	this_cpu_write(reordered_at, now);
	return true;
}

/* Stacks that a CPU walked: the call tree did not have them, or their node had no handle. */
DEFINE_PER_CPU(unsigned long, stack_depot_walked_saves);

void stack_depot_show_running(struct seq_file *seq)
{
	unsigned long walked = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		walked += READ_ONCE(*per_cpu_ptr(&stack_depot_walked_saves, cpu));
	seq_printf(seq, "walked_saves: %lu\n", walked);
}

/*
 * Walk the running stack, and save all but the first frames. @known: set if the call tree has
 * them. Return: a handle, or 0.
 */
static noinline depot_stack_handle_t walk_and_save(unsigned int depth, unsigned int skip,
						   gfp_t gfp, depot_flags_t flags,
						   struct stack_depot_caller caller, bool *known)
{
	static bool tree_requested;
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX];
	struct stack_depot_walk walk;

	request_tables(&tree_requested);
	this_cpu_inc(stack_depot_walked_saves);
	rcu_read_lock_sched_notrace();
	walk = stack_depot_walk_running(frames, depth, false, caller);
	rcu_read_unlock_sched_notrace();
	*known = walk.node;
	/* This has interrupted a walk: leave out this function and the one that called it. */
	if (unlikely(!walk.count))
		walk.count = stack_trace_save(frames, depth, 2);
	kmsan_unpoison_memory(frames, walk.count * sizeof(*frames));
	if (walk.count <= skip)
		return 0;
	return stack_depot_save_flags(frames + skip, walk.count - skip, gfp, flags);
}

/* Give the running chain's node its handle. */
static noinline void store_handle(unsigned int depth, struct stack_depot_caller caller,
				  depot_stack_handle_t handle)
{
	struct stack_depot_node *node;

	rcu_read_lock_sched_notrace();
	node = find_running_node(depth, caller, false);
	if (node)
		WRITE_ONCE(node->handle, handle);
	rcu_read_unlock_sched_notrace();
}

static __always_inline depot_stack_handle_t find_handle(unsigned int depth,
							struct stack_depot_caller caller)
{
	const struct stack_depot_node *node;
	depot_stack_handle_t handle;

	rcu_read_lock_sched_notrace();
	node = find_running_node(depth, caller, reorder_is_due());
	handle = node ? READ_ONCE(node->handle) : 0;
	rcu_read_unlock_sched_notrace();
	return handle;
}

/* Capture a stack that can be evicted. Return: a handle with a reference, or 0. */
static __always_inline depot_stack_handle_t
save_evictable(unsigned int depth, gfp_t gfp, struct stack_depot_caller caller)
{
	enum stack_depot_captured captured;
	depot_stack_handle_t handle;

	if (unlikely(!READ_ONCE(evictable_requested)))
		request_tables(&evictable_requested);
	handle = stack_depot_capture(depth, 0, gfp, caller, &captured);
	/* Callers accept a handle of 0, which says as much as the overflow chain. */
	if (unlikely(handle && captured == STACK_DEPOT_CAPTURED_NONE)) {
		stack_depot_put_running(handle);
		handle = 0;
	}
	return handle;
}

static __always_inline depot_stack_handle_t
save_forever(unsigned int depth, unsigned int skip, gfp_t gfp, depot_flags_t flags,
	     struct stack_depot_caller caller)
{
	depot_stack_handle_t handle = find_handle(depth, caller);
	bool known;

	if (likely(handle))
		return handle;
	handle = walk_and_save(depth, skip, gfp, flags, caller, &known);
	if (handle && known)
		store_handle(depth, caller, handle);
	return handle;
}

/* The chain starts with the function that called this one. */
noinline depot_stack_handle_t __stack_depot_save_running(unsigned int depth, unsigned int skip,
							 gfp_t gfp, depot_flags_t flags)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	depot_stack_handle_t handle;

	if (flags & STACK_DEPOT_FLAG_GET)
		handle = save_evictable(depth, gfp, caller);
	else
		handle = save_forever(min(depth + skip, STACK_DEPOT_CAPTURE_MAX), skip, gfp, flags,
				      caller);
	/* No tail call: @caller is a place in this function's frame. */
	barrier();
	return handle;
}

/**
 * stack_depot_put_running() - drop the reference of stack_depot_save_running()
 * @handle: a handle that was saved with STACK_DEPOT_FLAG_GET
 *
 * Context: any.
 */
void stack_depot_put_running(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (unlikely(!cpu)) {
		stack_depot_put(handle);
		return;
	}
	stack_depot_put_ref(cpu, handle);
	stack_depot_cpu_release(cpu);
}
