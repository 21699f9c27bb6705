/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over the running stack, and what teaches the call tree.
 *
 * stackdepot_unwind.c		walks: through the tree, or by the kernel's unwinder
 * stackdepot_unwind_orc.c	x86_64: ORC tables say where a caller's frame is
 * stackdepot_unwind_fp.c	frame pointers lead to a caller's frame
 */
#ifndef _LIB_STACKDEPOT_UNWIND_H
#define _LIB_STACKDEPOT_UNWIND_H

#include <linux/stackdepot_capture.h>
#include <linux/types.h>

#ifdef CONFIG_STACKDEPOT_UNWIND_ORC
#include <asm/unwind.h>
#endif

/* stackdepot_unwind.c */
bool stack_depot_ends_chain(unsigned long ip);

/**
 * struct stack_depot_walk - result of a walk
 * @tree: the tree when the walk began
 * @node: the chain's node, NULL if a frame of the chain may not stay in the tree
 * @count: number of frames
 */
struct stack_depot_walk {
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	struct stack_depot_tree *tree;
	struct stack_depot_node *node;
#endif
	unsigned int count;
};

struct stack_depot_walk stack_depot_walk_running(unsigned long *frames, unsigned int depth,
						 bool skip, struct stack_depot_caller caller);

/* stackdepot_capture.c */
bool stack_depot_is_allocator(unsigned long ip);

#ifdef CONFIG_STACKDEPOT_CALL_TREE

/* State of one walk: the frames of a tracer are found one after another. */
struct stack_depot_recovery {
#ifdef CONFIG_STACKDEPOT_UNWIND_ORC
	struct unwind_state state;
#else
	int graph_index;
	struct llist_node *kretprobe;
#endif
};

/* stackdepot_unwind_orc.c or stackdepot_unwind_fp.c */

/**
 * stack_depot_is_trampoline() - test for the address that tracers write over return addresses
 * @ip: return address that was read from a stack
 *
 * Return: true if stack_depot_recover_ip() has the real one.
 */
bool stack_depot_is_trampoline(unsigned long ip);

/**
 * stack_depot_recover_ip() - find the return address that a tracer has replaced
 * @recovery: zeroed at the start of the walk
 * @ip: address of a trampoline
 * @slot: address from which @ip was read
 *
 * Return: the real return address; @ip or 0 if it is not found.
 */
unsigned long stack_depot_recover_ip(struct stack_depot_recovery *recovery, unsigned long ip,
				     unsigned long slot);

/**
 * stack_depot_learn_layout() - find out how to get from a return address to its caller's
 * @node: its kind, step, back, words and saved are set
 * @parent: its parent
 * @ip: its return address
 *
 * Preemption is off.
 *
 * Return: false if the tree has no kind for it.
 */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip);

#endif /* CONFIG_STACKDEPOT_CALL_TREE */

/**
 * stack_depot_walk_with_unwinder() - walk by the kernel's unwinder
 * @frames: filled with return addresses
 * @depth: number of frames to get
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Return: the number of frames.
 */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller);

#endif /* _LIB_STACKDEPOT_UNWIND_H */
