/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: from the running stack to the handle of its call chain, in any context.
 *
 * A capture replaces stack_trace_save() followed by stack_depot_save_flags(). Chains are
 * cut to a depth, and are evictable, refcounted records with counters. In steady state a
 * capture walks the stack and hashes the chain (stackdepot/walk.h), finds the reference that its
 * CPU keeps by the hash (stackdepot/refs.h), and takes it. It calls no function then.
 *
 * The frames are compared with the record's when a CPU makes its reference. Afterwards only two
 * live chains of one CPU with the same hash of 64 bits, whose key is random, could be taken for
 * one another.
 *
 * A chain ends with the function that entered the kernel, the interrupt or the softirq.
 *
 * Users include this file, which includes the other two. lib/stackdepot/README lists all files.
 */
#ifndef _LINUX_STACKDEPOT_CAPTURE_H
#define _LINUX_STACKDEPOT_CAPTURE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot/refs.h>
#include <linux/stackdepot/walk.h>
#include <linux/types.h>

/* Leave out leading allocators, see stack_depot_capture_skip(). */
#define STACK_DEPOT_FLAG_SKIP		((depot_flags_t)0x8000)
/* Allocate nothing, and return 0 rather than the handle of a shorter chain. */
#define STACK_DEPOT_FLAG_WHOLE		((depot_flags_t)0x4000)

/**
 * struct stack_depot_capture_counts - statistics of captures
 * @learned: steps that the table of steps did not have, and that the ORC tables had
 * @walked: captures that walked the stack with all checks
 * @slow: chains that the kernel's unwinder had to walk
 * @verified: chains that were compared with those of the kernel's unwinder
 * @different: compared chains that were not equal
 */
struct stack_depot_capture_counts {
	unsigned long learned;
	unsigned long walked;
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
void stack_depot_request_refill(void);
void stack_depot_capture_skip(bool (*is_allocator)(unsigned long ip));
depot_stack_handle_t stack_depot_capture(unsigned int depth, depot_flags_t flags, gfp_t gfp,
					 struct stack_depot_caller caller,
					 enum stack_depot_captured *captured);
struct stack_depot_ref *stack_depot_find_running_again(struct stack_depot_cpu_cache *cpu,
						       unsigned int depth, depot_flags_t flags,
						       struct stack_depot_caller caller);
bool stack_depot_ends_chain(unsigned long ip);
unsigned long stack_depot_recover_ip(unsigned long slot);
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

DECLARE_PER_CPU(struct stack_depot_capture_counts, stack_depot_capture_counts);

/**
 * stack_depot_find_running() - find this CPU's references to the running stack's chain
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @depth: number of frames at most
 * @skip: number of frames at its start that the chain leaves out, or STACK_DEPOT_SKIP_ALLOCATORS
 * @caller: STACK_DEPOT_CALLER, where the chain starts
 *
 * Calls no function unless a step is missing, so the caller saves few registers.
 *
 * Return: the ref, from which at least one reference can be taken; NULL if this CPU keeps
 * no reference to the chain.
 */
static __always_inline struct stack_depot_ref *
stack_depot_find_running(struct stack_depot_cpu_cache *cpu, unsigned int depth,
			 unsigned int skip, struct stack_depot_caller caller)
{
	u64 hash = stack_depot_hash_running(depth, skip, caller);
	struct stack_depot_ref *ref = stack_depot_find_hashed_ref(cpu, hash);

	return likely(ref && stack_depot_can_get_ref(ref)) ? ref : NULL;
}

#endif /* _LINUX_STACKDEPOT_CAPTURE_H */
