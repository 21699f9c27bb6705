/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Save the running stack: stack_trace_save() and stack_depot_save_flags() in one call.
 */
#ifndef _LINUX_STACKDEPOT_RUNNING_H
#define _LINUX_STACKDEPOT_RUNNING_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/types.h>

/* Frames of a running stack that are saved at most. */
#define STACK_DEPOT_RUNNING_MAX		64

depot_stack_handle_t __stack_depot_save_running(unsigned int depth, unsigned int skip, gfp_t gfp,
						depot_flags_t flags);

#ifdef CONFIG_STACKDEPOT

/**
 * stack_depot_save_running() - save the running stack
 * @depth: number of frames to save, a constant of at most STACK_DEPOT_RUNNING_MAX
 * @skip: number of frames to leave out; the first one is the function that calls this
 * @gfp: as for stack_depot_save_flags()
 * @flags: as for stack_depot_save_flags(). STACK_DEPOT_FLAG_GET needs
 *	STACK_DEPOT_FLAG_CAN_ALLOC and a @skip of 0. Then stack_depot_copy() reads the stack, and
 *	stack_depot_put_running() drops the reference. At the depot's bound, the handle can
 *	stand for the first frame of the stack only.
 *
 * If the CPU cache knows the stack, no frame is stored or compared. The stack ends with
 * the function that entered the interrupt or the softirq.
 *
 * Context: any.
 *
 * Return: a handle; 0 if the depot has no room.
 */
static __always_inline depot_stack_handle_t
stack_depot_save_running(unsigned int depth, unsigned int skip, gfp_t gfp, depot_flags_t flags)
{
	depot_stack_handle_t handle;

	BUILD_BUG_ON(!__builtin_constant_p(depth) || depth > STACK_DEPOT_RUNNING_MAX);
#ifdef CONFIG_STACKDEPOT_WALK
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

#endif /* CONFIG_STACKDEPOT */

#ifdef CONFIG_STACKDEPOT_WALK
void stack_depot_put_running(depot_stack_handle_t handle);
#else
static inline void stack_depot_put_running(depot_stack_handle_t handle)
{
	stack_depot_put(handle);
}
#endif

#endif /* _LINUX_STACKDEPOT_RUNNING_H */
