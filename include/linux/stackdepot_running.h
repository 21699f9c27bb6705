/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Save the running stack: stack_trace_save() and stack_depot_save_flags() in one call.
 */
#ifndef _LINUX_STACKDEPOT_RUNNING_H
#define _LINUX_STACKDEPOT_RUNNING_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/types.h>

struct seq_file;

/* Frames of a running stack that are saved at most. */
#define STACK_DEPOT_RUNNING_MAX		64

depot_stack_handle_t __stack_depot_save_running(unsigned int depth, unsigned int skip, gfp_t gfp,
						depot_flags_t flags);

/**
 * stack_depot_save_running() - save the running stack
 * @depth: number of frames to save, at most STACK_DEPOT_RUNNING_MAX
 * @skip: number of frames to leave out; the first one is the function that calls this
 * @gfp: as for stack_depot_save_flags()
 * @flags: as for stack_depot_save_flags(). If STACK_DEPOT_FLAG_GET is set, @skip must be 0,
 *	stack_depot_copy() reads the stack, and stack_depot_put_running() drops the reference.
 *
 * Takes as many instructions as a look at each frame, if the stack was saved before and the call
 * tree has it. The stack ends with the function that entered the interrupt or the softirq.
 *
 * A function that calls this always passes the same @skip and @flags.
 *
 * Context: any.
 *
 * Return: a handle; 0 if the depot has no room.
 */
static __always_inline depot_stack_handle_t
stack_depot_save_running(unsigned int depth, unsigned int skip, gfp_t gfp, depot_flags_t flags)
{
	depot_stack_handle_t handle;

#ifdef CONFIG_STACKDEPOT_CALL_TREE
	handle = __stack_depot_save_running(depth, skip, gfp, flags);
#else
	unsigned long frames[STACK_DEPOT_RUNNING_MAX];
	unsigned int count = stack_trace_save(frames, depth, skip);

	handle = stack_depot_save_flags(frames, count, gfp, flags);
#endif
	/* No tail call: the caller's frame is the stack's first one. */
	barrier();
	return handle;
}

#ifdef CONFIG_STACKDEPOT_CALL_TREE
DECLARE_PER_CPU(unsigned long, stack_depot_walked_saves);

void stack_depot_put_running(depot_stack_handle_t handle);
void stack_depot_show_running(struct seq_file *seq);
#else
static inline void stack_depot_put_running(depot_stack_handle_t handle)
{
	stack_depot_put(handle);
}

static inline void stack_depot_show_running(struct seq_file *seq)
{
}
#endif

#endif /* _LINUX_STACKDEPOT_RUNNING_H */
