// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the running stack with all checks: this is the slow path of captures. See
 * <linux/stackdepot/walk.h>.
 *
 * Function graph tracing and kretprobes write their own address over return addresses on
 * the stack. Ask them for the real one, and go on with that.
 *
 * Any context may walk. A chain with a frame that only the kernel's unwinder knows is left to it.
 */

#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/stackdepot_capture.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#ifdef CONFIG_STACKDEPOT_WALK_ORC
#include <asm/unwind.h>
#endif

#include "internal.h"

/* Counted by each CPU for itself, in slow paths. */
DEFINE_PER_CPU(struct stack_depot_capture_counts, stack_depot_capture_counts);

/* --- Ends and starts of chains ------------------------------------------------------ */

/**
 * stack_depot_ends_chain() - test for the last frame of an interrupt's chain
 * @ip: return address
 *
 * Return: true if the frame's callers were interrupted, and did not call.
 */
bool stack_depot_ends_chain(unsigned long ip)
{
	unsigned long ips[] = { ip, ip };

	/* KMSAN does not see that this file writes to the stack, and checks who reads it. */
	kmsan_unpoison_memory(ips, sizeof(ips));
	return filter_irq_stacks(ips, ARRAY_SIZE(ips)) == 1;
}

static bool (*allocator_test)(unsigned long ip) __read_mostly;

/**
 * stack_depot_capture_skip() - say which leading frames STACK_DEPOT_FLAG_SKIP leaves out
 * @is_allocator: returns true if a return address is in a function that allocates for its
 *	caller. It is called in any context, and always has one answer for an address.
 */
void stack_depot_capture_skip(bool (*is_allocator)(unsigned long ip))
{
	WRITE_ONCE(allocator_test, is_allocator);
}

/* Does a chain leave out this function at its start? */
bool stack_depot_is_allocator(unsigned long ip)
{
	bool (*test)(unsigned long ip) = READ_ONCE(allocator_test);

	return test && test(ip);
}

#ifdef CONFIG_STACKDEPOT_WALK

/* --- Return addresses that a tracer has replaced ---------------------------------- */

/**
 * stack_depot_recover_ip() - read a return address, also if a tracer has replaced it
 * @slot: address of the return address
 *
 * Return: the real return address; 0 if the tracer does not know it.
 */
unsigned long stack_depot_recover_ip(unsigned long slot)
{
	unsigned long ip = stack_depot_strip_ip(stack_depot_read_stack(slot));
	/*
	 * On arm64, tracers find a frame by the frame pointer of the function that returns
	 * there, elsewhere by the slot.
	 */
	unsigned long frame __maybe_unused = IS_ENABLED(CONFIG_ARM64) ?
		stack_depot_read_stack(slot - sizeof(long)) : slot;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler) {
		int index = 0;

		kmsan_unpoison_memory(&index, sizeof(index));
		ip = ftrace_graph_ret_addr(current, &index, ip, (unsigned long *)frame);
		if (ip == (unsigned long)return_to_handler)
			return 0;
	}
#endif
#ifdef CONFIG_RETHOOK
	if (is_rethook_trampoline(ip)) {
		struct llist_node *first = NULL;

		kmsan_unpoison_memory(&first, sizeof(first));
		ip = rethook_find_ret_addr(current, frame, &first);
	}
#elif defined(CONFIG_KRETPROBES)
	if (is_kretprobe_trampoline(ip)) {
		struct llist_node *first = NULL;

		kmsan_unpoison_memory(&first, sizeof(first));
		ip = kretprobe_find_ret_addr(current, (void *)frame, &first);
	}
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	/* Both have replaced it, function graph tracing first. */
	if (ip == (unsigned long)return_to_handler)
		return 0;
#endif
	return ip;
}

/* --- Walking ---------------------------------------------------------------------- */

#ifdef CONFIG_STACKDEPOT_WALK_FP

/* With ORC, arch/x86/kernel/stackdepot_orc.c has it, and documents it. */
unsigned int stack_depot_walk_steps(unsigned long *frames, unsigned int depth, bool skip,
				    struct stack_depot_caller caller)
{
	unsigned long frame = caller.slot - sizeof(long), bp, ip;
	unsigned long stack = stack_depot_find_stack(caller.slot);
	unsigned int count = 0;

	if (!stack)
		return 0;
	for (;; frame = bp) {
		bp = stack_depot_read_stack(frame);
		/* The frame above the last one has no return address. */
		if (!stack_depot_strip_ip(stack_depot_read_stack(frame + sizeof(long))))
			return count;
		ip = stack_depot_recover_ip(frame + sizeof(long));
		if (!ip)
			return 0;
		skip = skip && stack_depot_is_allocator(ip);
		if (!skip) {
			frames[count++] = ip;
			if (count == depth || stack_depot_is_interrupt_entry(ip))
				return count;
		}
		if (stack_depot_is_frame_in(bp, stack)) {
			if (bp > frame)
				continue;
			/* A damaged stack. */
			return 0;
		}
		switch (stack_depot_leave_stack(bp, &stack)) {
		case STACK_DEPOT_MOVED:
			break;
		case STACK_DEPOT_MOVE_ENDS:
			/* Above the real last frame, a damaged stack has anything. */
			return __kernel_text_address(ip) ? count : 0;
		case STACK_DEPOT_MOVE_FAILS:
			return 0;
		}
	}
}

#endif

/**
 * stack_depot_walk_frames() - walk the running stack
 * @frames: filled with return addresses
 * @depth: number of frames to get, from 1 to STACK_DEPOT_CAPTURE_MAX
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the number of frames.
 */
unsigned int stack_depot_walk_frames(unsigned long *frames, unsigned int depth, bool skip,
				     struct stack_depot_caller caller)
{
	unsigned int count = stack_depot_walk_steps(frames, depth, skip, caller);

	if (likely(count))
		return count;
	this_cpu_inc(stack_depot_capture_counts.slow);
	return stack_depot_walk_with_unwinder(frames, depth, skip, caller);
}

#else /* CONFIG_STACKDEPOT_WALK */

unsigned int stack_depot_walk_frames(unsigned long *frames, unsigned int depth, bool skip,
				     struct stack_depot_caller caller)
{
	return stack_depot_walk_with_unwinder(frames, depth, skip, caller);
}

#endif /* CONFIG_STACKDEPOT_WALK */

/* --- The kernel's unwinder --------------------------------------------------------- */

#ifdef CONFIG_STACKDEPOT_WALK_ORC

/*
 * The return address of the unwinder's current frame; at a chain's start, skip allocators
 * first. Return: 0 at the end of the stack.
 */
static unsigned long unwinder_ip(struct unwind_state *state, bool skip_allocators)
{
	for (; !unwind_done(state); unwind_next_frame(state)) {
		unsigned long ip = unwind_get_return_address(state);

		if (!skip_allocators || !stack_depot_is_allocator(ip))
			return ip;
	}
	return 0;
}

/* Documented in internal.h. */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller)
{
	struct unwind_state state;
	unsigned int count = 0;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.slot);
	while (count < depth && (ip = unwinder_ip(&state, !count && skip)) != 0) {
		frames[count++] = ip;
		if (stack_depot_ends_chain(ip))
			break;
		unwind_next_frame(&state);
	}
	return count;
}

#else /* CONFIG_STACKDEPOT_WALK_ORC */

/* Maximum number of frames that stack_trace_save() returns before the chain's first one. */
#define FRAMES_BEFORE	16

/* A walk that is longer than a chain, for one user at a time on each CPU. */
struct long_walk {
	bool used;
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX + FRAMES_BEFORE];
};

static DEFINE_PER_CPU(struct long_walk, long_walks);

static unsigned long first_ip(struct stack_depot_caller caller)
{
#ifdef CONFIG_STACKDEPOT_WALK
	return stack_depot_recover_ip(caller.slot);
#else
	return caller.ip;
#endif
}

/* Documented in internal.h. */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller)
{
	struct long_walk *walk = this_cpu_ptr(&long_walks);
	unsigned int count, first, kept = 0;

	/* An interrupt of another walk gets no chain. */
	if (walk->used)
		return 0;
	walk->used = true;
	barrier();
	count = stack_trace_save(walk->frames, depth + FRAMES_BEFORE, 0);
	for (first = 0; first < min(count, FRAMES_BEFORE); first++)
		if (walk->frames[first] == first_ip(caller))
			break;
	/* The caller's return address is not known: keep our own frames as well. */
	if (first == min(count, FRAMES_BEFORE))
		first = 0;
	while (skip && first < count && stack_depot_is_allocator(walk->frames[first]))
		first++;
	while (first < count && kept < depth) {
		frames[kept++] = walk->frames[first];
		if (stack_depot_ends_chain(walk->frames[first++]))
			break;
	}
	barrier();
	walk->used = false;
	return kept;
}

#endif /* CONFIG_STACKDEPOT_WALK_ORC */

/* --- Verifying ----------------------------------------------------------------------- */

/* Enabled by owner.verify=1. */
DEFINE_STATIC_KEY_FALSE(stack_depot_verify_key);

/* Chains to compare with: one at a time on each CPU. */
struct compared_chain {
	bool used;
	unsigned long captured[STACK_DEPOT_CAPTURE_MAX];
	unsigned long unwound[STACK_DEPOT_CAPTURE_MAX];
};

static DEFINE_PER_CPU(struct compared_chain, compared_chains);

/* Does the fast walk lead this CPU to another chain than @handle? It may lead to none. */
static bool finds_other_chain(depot_stack_handle_t handle, unsigned int depth, depot_flags_t flags,
			      struct stack_depot_caller caller)
{
	unsigned int skip = flags & STACK_DEPOT_FLAG_SKIP ? STACK_DEPOT_SKIP_ALLOCATORS : 0;
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref;

	if (!cpu)
		return false;
	ref = stack_depot_find_hashed_ref(cpu, stack_depot_hash_running(depth, skip, caller));
	stack_depot_cpu_release(cpu);
	return ref && ref->handle != handle;
}

/**
 * stack_depot_verify() - compare a captured chain with that of the kernel's unwinder
 * @handle: the chain's handle, with a reference
 * @depth: number of frames that were asked for
 * @flags: as for the capture
 * @caller: as for the capture
 *
 * Counts chains that differ, and those for which the fast walk would find another one.
 */
noinline void stack_depot_verify(depot_stack_handle_t handle, unsigned int depth,
				 depot_flags_t flags, struct stack_depot_caller caller)
{
	unsigned int captured, unwound;
	struct compared_chain *chain;

	preempt_disable();
	chain = this_cpu_ptr(&compared_chains);
	if (!chain->used) {
		chain->used = true;
		barrier();
		captured = stack_depot_copy(handle, chain->captured, STACK_DEPOT_CAPTURE_MAX);
		unwound = stack_depot_walk_with_unwinder(chain->unwound, depth,
							 flags & STACK_DEPOT_FLAG_SKIP, caller);
		this_cpu_inc(stack_depot_capture_counts.verified);
		if (captured != unwound ||
		    memcmp(chain->captured, chain->unwound, captured * sizeof(long)) ||
		    finds_other_chain(handle, depth, flags, caller))
			this_cpu_inc(stack_depot_capture_counts.different);
		barrier();
		chain->used = false;
	}
	preempt_enable();
}

/* Read the statistics of all CPUs. */
void stack_depot_read_capture_counts(struct stack_depot_capture_counts *counts)
{
	const struct stack_depot_capture_counts *more;
	unsigned int cpu;

	*counts = (struct stack_depot_capture_counts){};
	for_each_possible_cpu(cpu) {
		more = per_cpu_ptr(&stack_depot_capture_counts, cpu);
		counts->learned += READ_ONCE(more->learned);
		counts->walked += READ_ONCE(more->walked);
		counts->slow += READ_ONCE(more->slow);
		counts->verified += READ_ONCE(more->verified);
		counts->different += READ_ONCE(more->different);
	}
	kmsan_unpoison_memory(counts, sizeof(*counts));
}
