// SPDX-License-Identifier: GPL-2.0
/*
 * Intern chains and tasks, and degrade chains if the depot is full.
 *
 * Chains and tasks are in the evictable part of the stack depot. A task is interned as
 * three words, in the same way as a chain is interned as its return addresses.
 */

#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/stackdepot.h>

#include "capture.h"

/* Reserve memory for the depot: called while the boot line is parsed. */
void __init owner_capture_early_init(void)
{
	stack_depot_request_early_init();
}

/**
 * owner_capture_late_init() - allocate the tables that make captures cheap
 *
 * Also initializes the depot, if the boot line did not ask for it. May sleep. Idempotent.
 *
 * Return: 0, or -ENOMEM if there is no memory for the depot.
 */
int owner_capture_late_init(void)
{
	int error = stack_depot_init();

	if (error)
		return error;
	owner_unwind_init();
	owner_cpu_caches_init();
	/* Look the allocators up by name now, not during the first capture. */
	owner_is_allocator(0);
	return 0;
}

/* --- Chains -------------------------------------------------------------------- */

/* Handle of the overflow chain. Interned with the first chain, while there is room. */
static depot_stack_handle_t overflow_chain;

/* The overflow chain has one frame: users see the name of this function. */
static noinline unsigned long slab_owner_no_room(void)
{
	return _THIS_IP_;
}

/* Intern the overflow chain, unless that was done. @flags: of the tracked allocation. */
static void intern_overflow_chain(gfp_t flags)
{
	unsigned long frame = slab_owner_no_room();
	depot_stack_handle_t handle;

	if (likely(READ_ONCE(overflow_chain)))
		return;
	handle = stack_depot_save_flags(&frame, 1, flags | __GFP_NOWARN,
					STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
					STACK_DEPOT_FLAG_COUNT);
	if (cmpxchg(&overflow_chain, 0, handle))
		stack_depot_put(handle);
}

/*
 * Walk the stack and intern the chain, without an allocation. Return: a handle with a
 * reference, or 0 if neither the CPU cache nor the depot has the chain or room for it.
 */
static depot_stack_handle_t walk_and_save(unsigned long ip, unsigned int depth,
					  struct owner_caller caller, bool keep_allocators)
{
	struct owner_unwind_buffer *buffer = owner_unwind_buffer_get();
	depot_stack_handle_t handle = 0;
	struct owner_cpu_cache *cpu;
	unsigned int count;

	if (!buffer)
		return 0;
	count = owner_unwind_chain(buffer, depth, caller, keep_allocators);
	cpu = count ? owner_cpu_cache_acquire() : NULL;
	if (cpu) {
		struct cached_ref *ref = owner_cpu_get_ref_by_words(cpu, buffer->frames, count);

		if (ref) {
			handle = ref->handle;
			owner_cpu_store_chain(cpu, handle, ip, depth, caller, &buffer->recipe);
		}
		owner_cpu_cache_release(cpu);
	}
	if (!handle) {
		/* RAW: the walk has cut the chain at the interrupt's entry already. */
		handle = stack_depot_save_flags(buffer->frames, count, 0, STACK_DEPOT_FLAG_GET |
						STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW);
		if (handle)
			owner_cpu_store_words(handle, buffer->frames, count);
	}
	owner_unwind_buffer_put();
	return handle;
}

/* Attempts to give memory to the depot: another CPU can use it up in between. */
#define REFILLS		4

/**
 * owner_chain_save() - intern the running chain, and recognize it next time if possible
 * @ip: return address of the allocator. Chains with different @ip differ.
 * @depth: number of frames to keep
 * @caller: OWNER_CALLER, where the chain starts
 * @keep_allocators: keep the allocators at the chain's start
 * @flags: flags of the allocation that is tracked
 *
 * The frames are in a per-CPU buffer while they are interned, so nothing is allocated
 * then. If the depot has no room, give it memory afterwards and walk the stack again.
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_chain_save(unsigned long ip, unsigned int depth,
					       struct owner_caller caller, bool keep_allocators,
					       gfp_t flags)
{
	depot_stack_handle_t handle;
	unsigned int i;

	intern_overflow_chain(flags);
	handle = walk_and_save(ip, depth, caller, keep_allocators);
	/* @flags also forbid the refill to sleep where the tracked allocation must not. */
	for (i = 0; !handle && i < REFILLS && stack_depot_refill(flags | __GFP_NOWARN); i++)
		handle = walk_and_save(ip, depth, caller, keep_allocators);
	if (!handle)
		owner_cpu_flush_ratelimited();
	return handle;
}

/**
 * owner_chain_verify() - compare a recognized chain with the kernel's unwinder
 * @stack: handle of the chain, with a reference
 * @depth: number of frames that were asked for
 * @caller: OWNER_CALLER, where the chain starts
 * @keep_allocators: whether allocators were kept at the chain's start
 *
 * Called for every chain if owner.verify=1.
 */
void owner_chain_verify(depot_stack_handle_t stack, unsigned int depth,
			struct owner_caller caller, bool keep_allocators)
{
	unsigned long entries[CONFIG_STACKDEPOT_MAX_FRAMES];
	unsigned int count = stack_depot_copy(stack, entries, ARRAY_SIZE(entries));

	owner_unwind_compare(entries, count, depth, caller, keep_allocators);
}

/**
 * owner_chain_save_fallback() - intern less of the running chain: the depot has no room for it
 * @depth: number of frames that were asked for
 * @caller: OWNER_CALLER, where the chain starts
 *
 * Use the longest prefix of the chain that the depot has, or has room for since others
 * were evicted. If there is none, use the overflow chain: the record still has size, task
 * and time. Both are counted as losses.
 *
 * Return: a handle with a reference, or 0 if the overflow chain is missing, too.
 */
depot_stack_handle_t owner_chain_save_fallback(unsigned int depth, struct owner_caller caller)
{
	struct owner_unwind_buffer *buffer = owner_unwind_buffer_get();
	depot_stack_handle_t handle = 0;
	unsigned int count;

	if (buffer) {
		count = owner_unwind_chain(buffer, depth, caller, false);
		while (!handle && count-- > 1)
			handle = stack_depot_save_flags(buffer->frames, count, 0,
							STACK_DEPOT_FLAG_GET |
							STACK_DEPOT_FLAG_COUNT);
		owner_unwind_buffer_put();
	}
	if (handle) {
		owner_count_loss(OWNER_LOST_FRAMES);
		return handle;
	}
	handle = READ_ONCE(overflow_chain);
	if (!stack_depot_get(handle))
		return 0;
	owner_count_loss(OWNER_LOST_CHAIN);
	return handle;
}

/* --- Tasks --------------------------------------------------------------------- */

/**
 * owner_task_save() - intern the current task
 * @flags: flags of the allocation that is tracked
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_task_save(gfp_t flags)
{
	unsigned long words[] = {
		owner_task_word(0), owner_task_word(1), owner_task_word(2),
	};
	depot_stack_handle_t handle;
	struct owner_cpu_cache *cpu;

	handle = owner_handle_save(words, ARRAY_SIZE(words), flags, STACK_DEPOT_FLAG_DATA);
	cpu = owner_cpu_cache_acquire();
	if (cpu) {
		*owner_cpu_task_hint(cpu) = owner_cpu_ref_index(handle);
		owner_cpu_cache_release(cpu);
	}
	return handle;
}
