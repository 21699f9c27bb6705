/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callers of allocators: at depth 1 the return address of an allocator is the whole chain,
 * unless that is in another allocator. Each CPU remembers the chains of the last callers,
 * so that a capture at depth 1 neither walks the stack nor the call tree.
 */
#ifndef _MM_OWNER_CALLER_H
#define _MM_OWNER_CALLER_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_refs.h>
#include <linux/types.h>

#define OWNER_CALLER_BITS	8

/**
 * struct owner_cached_caller - a return address whose chain this CPU remembers
 * @ip: the return address
 * @ref: offset in bytes of the chain's ref in the CPU cache. Its tag is owner_caller_tag() of
 *	@ip as long as it is of that chain, which consists of @ip.
 */
struct owner_cached_caller {
	unsigned long ip;
	u32 ref;
};

/*
 * A hash of the return address chooses a set of two slots, so that two callers with one hash do
 * not evict each other. A new caller takes the first slot of its set, and the caller in that slot
 * moves to the second. The CPU cache must be acquired to read or write a slot.
 */
DECLARE_PER_CPU(struct owner_cached_caller[1 << OWNER_CALLER_BITS], owner_cached_callers);

/* The index of the first slot of a caller's set. */
static __always_inline unsigned int owner_caller_slot(unsigned long ip)
{
	return 2 * hash_32(ip, OWNER_CALLER_BITS - 1);
}

/* The tag of references to the chain of a caller. Tags of the call tree are even. */
static __always_inline u32 owner_caller_tag(unsigned long ip)
{
	return 2 * (u32)ip + 1;
}

/*
 * Find this CPU's references to the chain that consists of @ip. @top_up: if only one is left, take
 * a batch from the depot. Return: NULL if none can be taken.
 */
static __always_inline struct stack_depot_ref *
owner_find_caller_ref(struct stack_depot_cpu_cache *cpu, unsigned long ip, bool top_up)
{
	unsigned int slot = owner_caller_slot(ip);
	struct stack_depot_ref *ref;

	if (unlikely(__this_cpu_read(owner_cached_callers[slot].ip) != ip)) {
		unsigned long hidden = ip;

		/* Hash again: the compiler would need one more instruction to keep the slot. */
		OPTIMIZER_HIDE_VAR(hidden);
		slot = owner_caller_slot(hidden) + 1;
		if (__this_cpu_read(owner_cached_callers[slot].ip) != ip)
			return NULL;
	}
	ref = (void *)cpu + __this_cpu_read(owner_cached_callers[slot].ref);
	/* The compiler cannot know that this is not NULL: leave out tests for that. */
	if (!ref)
		__builtin_unreachable();
	if (unlikely(ref->tag != owner_caller_tag(ip)))
		return NULL;
	return stack_depot_usable_ref(ref, top_up);
}

void owner_cache_caller(unsigned long ip, depot_stack_handle_t handle);

#endif /* _MM_OWNER_CALLER_H */
