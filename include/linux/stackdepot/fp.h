/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks that follow frame pointers: each function has saved its caller's frame pointer below
 * its return address. Included by <linux/stackdepot/walk.h>.
 */
#ifndef _LINUX_STACKDEPOT_FP_H
#define _LINUX_STACKDEPOT_FP_H

#ifndef _LINUX_STACKDEPOT_WALK_H
#error "Include <linux/stackdepot_capture.h> instead"
#endif

/*
 * Does the chain end with this frame, because its callers were interrupted and did not call? The
 * sections of interrupt and softirq entries are neighbours, but on x86.
 */
static __always_inline bool stack_depot_is_interrupt_entry(unsigned long ip)
{
	unsigned long start = (unsigned long)__irqentry_text_start;
	unsigned long softirq = (unsigned long)__softirqentry_text_start;

	if (!IS_ENABLED(CONFIG_X86) || IS_ENABLED(CONFIG_UML))
		return ip - start < (unsigned long)__softirqentry_text_end - start;
	return ip - start < (unsigned long)__irqentry_text_end - start ||
	       ip - softirq < (unsigned long)__softirqentry_text_end - softirq;
}

/* Is @bp aligned, and are the two words there in the stack? */
static __always_inline bool stack_depot_is_frame_in(unsigned long bp, unsigned long stack)
{
	/* One compare: the rotation makes odd pointers large. */
	return ror64(bp - stack, 3) <= (THREAD_SIZE - 2 * sizeof(long)) >> 3;
}

/* How a chain goes on above a frame whose saved frame pointer leaves the stack. */
enum stack_depot_move {
	STACK_DEPOT_MOVED,		/* from the stack for interrupts to the task's stack */
	STACK_DEPOT_MOVE_ENDS,		/* the frame was the last one */
	STACK_DEPOT_MOVE_FAILS,		/* x86: to the registers of an interrupted function */
};

static __always_inline enum stack_depot_move stack_depot_leave_stack(unsigned long bp,
								     unsigned long *stack)
{
	unsigned long task_stack = (unsigned long)task_stack_page(current);

	/* x86 marks a pointer to registers. A task's first ones are those of user space. */
	if (IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_UML) && bp % 2)
		return bp - 1 == (unsigned long)task_pt_regs(current) ? STACK_DEPOT_MOVE_ENDS :
									STACK_DEPOT_MOVE_FAILS;
	/* User-mode Linux: a signal's handler is not called by the function that it interrupts. */
	if (IS_ENABLED(CONFIG_UML) || *stack == task_stack ||
	    !stack_depot_is_frame_in(bp, task_stack))
		return STACK_DEPOT_MOVE_ENDS;
	*stack = task_stack;
	return STACK_DEPOT_MOVED;
}

/**
 * stack_depot_hash_running() - hash the running stack's chain
 * @depth: number of frames at most
 * @skip: number of frames at its start that the chain leaves out, or STACK_DEPOT_SKIP_ALLOCATORS
 * @caller: where the chain starts
 *
 * A damaged stack cannot make the walk leave the stack, and @depth ends it.
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the hash; 0 if only the kernel's unwinder can walk this stack.
 */
static __no_sanitize_address __always_inline u64
stack_depot_hash_running(unsigned int depth, unsigned int skip,
			 struct stack_depot_caller caller)
{
	unsigned long frame = caller.slot - sizeof(long), bp, ip;
	unsigned long stack = stack_depot_find_stack(caller.slot);
	bool leave_out = skip == STACK_DEPOT_SKIP_ALLOCATORS;
	u64 hash = 0;

	if (unlikely(!stack))
		return 0;
	for (; !leave_out && skip; skip--) {
		frame = stack_depot_read_stack(frame);
		if (unlikely(!stack_depot_is_frame_in(frame, stack)))
			return 0;
	}
	for (;; frame = bp) {
		bp = stack_depot_read_stack(frame);
		ip = stack_depot_strip_ip(stack_depot_read_stack(frame + sizeof(long)));
		/* The frame above the last one has no return address. */
		if (unlikely(!ip))
			return hash;
		if (leave_out)
			leave_out = stack_depot_is_allocator(ip);
		if (leave_out) {
			/* Frame pointers of a damaged stack can lead in a circle of allocators. */
			if (unlikely(bp <= frame))
				return 0;
		} else {
			hash = stack_depot_mix_frame(hash, ip);
			if (!--depth || unlikely(stack_depot_is_interrupt_entry(ip)))
				return hash;
		}
		if (likely(stack_depot_is_frame_in(bp, stack)))
			continue;
		switch (stack_depot_leave_stack(bp, &stack)) {
		case STACK_DEPOT_MOVED:
			break;
		case STACK_DEPOT_MOVE_ENDS:
			return hash;
		case STACK_DEPOT_MOVE_FAILS:
			return 0;
		}
	}
}

#endif /* _LINUX_STACKDEPOT_FP_H */
