/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The start of the chain that a hook of an allocator captures: the caller of the allocator's
 * function, if that function has a frame pointer.
 */
#ifndef _LINUX_STACKDEPOT_HOOK_H
#define _LINUX_STACKDEPOT_HOOK_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/stackdepot_tree.h>
#include <linux/types.h>

#ifdef CONFIG_STACKDEPOT_UNWIND_ORC

/*
 * GCC aligns the stack in most of SLUB's functions that allocate, and gives them a frame pointer.
 * Some of them, such as __kmalloc_noprof(), also store the old SP in the frame: the return address
 * above their frame pointer is a copy.
 *
 * The lower half of an element is a return address in a function, the upper half the distance
 * in bytes from its frame address down to that SP, STACK_DEPOT_IP_ABOVE_BP if the return address
 * is no copy, or 0 if the function has no frame pointer. An address is in the element of its
 * hash, or in the first one behind that was 0. Nothing is removed. The last element stays 0.
 */
#define STACK_DEPOT_FRAMED_BITS	10
#define STACK_DEPOT_IP_ABOVE_BP	U32_MAX
extern u64 stack_depot_framed[];

struct stack_depot_caller stack_depot_learn_framed(struct stack_depot_caller caller);

/**
 * stack_depot_skip_framed() - go on to the caller of a function that has a frame pointer
 * @caller: STACK_DEPOT_CALLER
 *
 * Otherwise all chains through this function would share one node, whose children are all
 * callers of the allocator. BP needs no check: the function that calls this has just saved it.
 * Context: any.
 *
 * Return: the caller's caller; @caller itself if it has no frame pointer.
 */
static __no_sanitize_address __always_inline struct stack_depot_caller
stack_depot_skip_framed(struct stack_depot_caller caller)
{
	u32 ip = stack_depot_read_stack_half(caller.slot);
	u64 *known = &stack_depot_framed[hash_32(ip, STACK_DEPOT_FRAMED_BITS)];
	u64 element = READ_ONCE(*known);

	while (unlikely((u32)element != ip)) {
		if (unlikely(!element))
			return stack_depot_learn_framed(caller);
		element = READ_ONCE(*++known);
	}
	element >>= 32;
	if (unlikely(!element))
		return caller;
	caller.bp_slot = stack_depot_read_stack(caller.bp_slot);
	if (likely(element == STACK_DEPOT_IP_ABOVE_BP))
		caller.slot = caller.bp_slot + sizeof(long);
	else
		caller.slot = stack_depot_read_stack(caller.bp_slot - element) - sizeof(long);
	return caller;
}

#else /* CONFIG_STACKDEPOT_UNWIND_ORC */

static __always_inline struct stack_depot_caller
stack_depot_skip_framed(struct stack_depot_caller caller)
{
	return caller;
}

#endif /* CONFIG_STACKDEPOT_UNWIND_ORC */

#endif /* _LINUX_STACKDEPOT_HOOK_H */
