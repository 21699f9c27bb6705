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

#include <linux/percpu-defs.h>
#include <linux/stackdepot_capture.h>
#include <linux/types.h>

/* stackdepot_unwind.c */
DECLARE_PER_CPU(struct stack_depot_capture_counts, stack_depot_capture_counts);

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

/* stackdepot_unwind.c */
unsigned long stack_depot_recover_ip(unsigned long slot);
const struct stack_depot_node *
stack_depot_find_ancestor(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
			  struct stack_depot_caller caller, unsigned int frames);

/* stackdepot_unwind_orc.c or stackdepot_unwind_fp.c */

/**
 * stack_depot_learn_layout() - find out how to get from a return address to its caller's
 * @node: two zeroed neighbours: the node, and the one that has its children. Their kind, step
 *	and back are filled in.
 * @parent: its parent
 * @ip: its return address
 * @interrupted: @ip is the address at which a function was interrupted
 *
 * Preemption is off unless @ip is in the kernel image.
 *
 * Return: false if the tree has no kind for it.
 */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip,
			      bool interrupted);

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
