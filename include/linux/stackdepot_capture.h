/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: from the running stack to the handle of its call chain, in any context.
 *
 * A capture replaces stack_trace_save() followed by stack_depot_save_flags(). Chains are
 * cut to a depth, and are evictable, refcounted records with counters. In steady state a
 * capture walks the call tree (stackdepot_tree.h) to a node, takes the node's handle, and
 * a reference that its CPU keeps (stackdepot_refs.h). It calls no function then.
 *
 * A chain ends with the function that entered the kernel, the interrupt or the softirq.
 */
#ifndef _LINUX_STACKDEPOT_CAPTURE_H
#define _LINUX_STACKDEPOT_CAPTURE_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_refs.h>
#include <linux/stackdepot_tree.h>
#include <linux/types.h>

/* Leave out leading allocators, see stack_depot_capture_skip(). */
#define STACK_DEPOT_FLAG_SKIP		((depot_flags_t)0x8000)
/* Allocate nothing, and return 0 rather than the handle of a shorter chain. */
#define STACK_DEPOT_FLAG_WHOLE		((depot_flags_t)0x4000)

/**
 * struct stack_depot_capture_counts - statistics of captures
 * @learned: return addresses for which a node was made
 * @unknown: captures of a chain that was not in the call tree
 * @no_ref: captures of a chain that was in the call tree, without a reference to take
 * @slow: chains that the kernel's unwinder had to walk
 * @verified: chains that were compared with those of the kernel's unwinder
 * @different: compared chains that were not equal
 */
struct stack_depot_capture_counts {
	unsigned long learned;
	unsigned long unknown;
	unsigned long no_ref;
	unsigned long slow;
	unsigned long verified;
	unsigned long different;
};

/* How much of the chain a handle stands for. */
enum stack_depot_captured {
	STACK_DEPOT_CAPTURED_ALL,
	STACK_DEPOT_CAPTURED_SHORTER,	/* the depot has no room for more frames */
	STACK_DEPOT_CAPTURED_NONE,	/* the depot has no room: the overflow chain */
};

int stack_depot_capture_init(void);
void stack_depot_capture_skip(bool (*is_allocator)(unsigned long ip));
depot_stack_handle_t stack_depot_capture(unsigned int depth, depot_flags_t flags, gfp_t gfp,
					 struct stack_depot_caller caller,
					 enum stack_depot_captured *captured);
u32 stack_depot_find_tag(unsigned int depth, struct stack_depot_caller caller,
			 depot_stack_handle_t *hint);
bool stack_depot_ends_chain(unsigned long ip);
unsigned int stack_depot_get_frames(unsigned long *frames, unsigned int depth,
				    depot_flags_t flags, struct stack_depot_caller caller);
void stack_depot_verify(depot_stack_handle_t handle, unsigned int depth, depot_flags_t flags,
			struct stack_depot_caller caller);
void stack_depot_read_capture_counts(struct stack_depot_capture_counts *counts);

/* Compare each chain with that of the kernel's unwinder. */
DECLARE_STATIC_KEY_FALSE(stack_depot_verify_key);

static __always_inline bool stack_depot_verifies(void)
{
	return static_branch_unlikely(&stack_depot_verify_key);
}

#ifdef CONFIG_STACKDEPOT_CALL_TREE
static_assert(sizeof(struct stack_depot_node) == STACK_DEPOT_TAG_UNIT);

/* When a capture of this CPU last reordered nodes of the call tree: jiffies. */
DECLARE_PER_CPU(unsigned long, stack_depot_reordered_at);

/* Captures outside of the fast path reorder nodes, the first one of a CPU in each tick. */
static __always_inline bool stack_depot_reorder_is_due(void)
{
	return jiffies - this_cpu_read(stack_depot_reordered_at);
}
#else
static inline bool stack_depot_reorder_is_due(void)
{
	return false;
}
#endif

/**
 * stack_depot_find_running() - find this CPU's references to the running stack's chain
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @depth: number of frames at most
 * @skip: leave out leading allocators, as STACK_DEPOT_FLAG_SKIP
 * @caller: STACK_DEPOT_CALLER, where the chain starts
 *
 * Calls a function only if a tracer has replaced a return address, or if this CPU has evicted the
 * references. These functions are cold, so the caller saves few registers.
 *
 * Return: the ref, from which at least one reference can be taken; NULL if the chain is
 * not recognized, if this CPU keeps no reference to it, or if stack_depot_capture() has to
 * reorder nodes.
 */
static __always_inline struct stack_depot_ref *
stack_depot_find_running(struct stack_depot_cpu_cache *cpu, unsigned int depth, bool skip,
			 struct stack_depot_caller caller)
{
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	const struct stack_depot_tree *tree = READ_ONCE(stack_depot_tree);
	const struct stack_depot_node *node;
	depot_stack_handle_t handle;
	struct stack_depot_ref *ref;

	if (unlikely(!tree))
		return NULL;
	node = stack_depot_recognize(tree, depth, skip, caller, false);
	if (unlikely(!node || stack_depot_reorder_is_due()))
		return NULL;
	handle = READ_ONCE(node->handle);
	ref = stack_depot_find_ref(cpu, handle);
	if (unlikely(!ref))
		ref = stack_depot_restore_ref(cpu, handle);
	if (likely(ref && ref->tag == stack_depot_node_tag(tree, node) &&
		   stack_depot_can_take_ref(ref)))
		return ref;
#endif
	return NULL;
}

#endif /* _LINUX_STACKDEPOT_CAPTURE_H */
