/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: fill and drop records, and charge chains for what they hold.
 *
 * This is the interface of the engine (handles.*, stack.c, unwind*) to the rest of
 * mm/owner. The fast path is inline.
 */
#ifndef _MM_OWNER_CAPTURE_H
#define _MM_OWNER_CAPTURE_H

#include <linux/compiler.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include "../slab.h"
#include "handles.h"
#include "record.h"
#include "unwind.h"

void owner_capture_early_init(void);
int owner_capture_late_init(void);

depot_stack_handle_t owner_chain_save(unsigned long ip, unsigned int depth,
				      struct owner_caller caller, bool keep_allocators,
				      gfp_t flags);
depot_stack_handle_t owner_chain_save_fallback(unsigned int depth, struct owner_caller caller);
void owner_chain_verify(depot_stack_handle_t stack, unsigned int depth,
			struct owner_caller caller, bool keep_allocators);
depot_stack_handle_t owner_task_save(gfp_t flags);

/* --- What chains hold -------------------------------------------------------- */

/**
 * struct owner_charge - what one object adds to its chain's counters
 * @counted: false for objects that have no counters: per-CPU areas, and frees
 * @size: requested bytes
 * @cache: the object's cache, whose object size is the number of bytes it occupies
 */
struct owner_charge {
	bool counted;
	u32 size;
	const struct kmem_cache *cache;
};

#define OWNER_NO_CHARGE	((struct owner_charge){})

/* Add @n objects to counters; @n is 1 or -1. */
static __always_inline void owner_charge_counters(long *counters, long n,
						  struct owner_charge charge)
{
	if (!charge.counted)
		return;
	counters[OWNER_OBJECTS] += n;
	counters[OWNER_BYTES] += n * (long)charge.size;
	counters[OWNER_HELD] += n * (long)charge.cache->size;
}

void owner_charge_depot(depot_stack_handle_t stack, long n, struct owner_charge charge);

/* --- Records ----------------------------------------------------------------- */

/**
 * owner_record_fill() - capture who allocates or frees here, and when
 * @owner: filled with handles, which have references, and with the time. Its size and
 *	rate are left to the caller.
 * @flags: flags of the allocation
 * @depth: number of frames to keep, at most OWNER_DEPTH_MAX
 * @caller: OWNER_CALLER of the allocator's hook. Allocators at the chain's start are
 *	left out.
 * @ip: return address of the allocator. Chains with different @ip differ.
 * @charge: charged to the chain
 *
 * Return: false if the depot had no room for any chain: the loss is counted.
 */
static __always_inline bool owner_record_fill(struct owner_record *owner, gfp_t flags,
					      unsigned int depth, struct owner_caller caller,
					      unsigned long ip, struct owner_charge charge)
{
	depot_stack_handle_t stack = 0, task = 0;
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();
	struct cached_ref *ref = NULL;

	if (likely(cpu)) {
		/* At depth 1, @ip is the whole chain, unless it is in an allocator. */
		if (depth == 1)
			ref = owner_cpu_get_ref_by_words(cpu, &ip, 1);
		if (!ref)
			ref = owner_cpu_get_running_chain_ref(cpu, ip, depth, caller);
		if (likely(ref)) {
			stack = ref->handle;
			owner_charge_counters(ref->counters, 1, charge);
		}
		ref = owner_cpu_get_current_task_ref(cpu);
		if (likely(ref))
			task = ref->handle;
		owner_cpu_cache_release(cpu);
	}
	if (unlikely(!stack)) {
		stack = owner_chain_save(ip, depth, caller, false, flags) ?:
			owner_chain_save_fallback(depth, caller);
		if (!stack) {
			owner_count_loss(OWNER_LOST_STACK);
			stack_depot_put(task);
			return false;
		}
		owner_charge_depot(stack, 1, charge);
	} else if (owner_unwind_verifying()) {
		owner_chain_verify(stack, depth, caller, false);
	}
	if (unlikely(!task)) {
		task = owner_task_save(flags);
		if (!task)
			owner_count_loss(OWNER_LOST_TASK);
	}
	owner->stack = stack;
	owner->task = task;
	owner->time = owner_record_time_now();
	return true;
}

/**
 * owner_record_fill_fast() - capture who allocates here, from the CPU cache alone
 * @cpu: the CPU cache, between owner_cpu_cache_acquire() and owner_cpu_cache_release()
 * @depth: number of frames to keep
 * @caller: OWNER_CALLER of the allocator's hook
 * @ip: return address of the allocator
 * @charge: charged to the chain
 * @handle_pair: set to the handles of the chain and of the task, with references
 *
 * Calls no function, so its caller saves few registers.
 *
 * Return: false if the CPU cache lacks the chain or the task. Nothing was changed then.
 */
static __always_inline bool owner_record_fill_fast(struct owner_cpu_cache *cpu,
						   unsigned int depth,
						   struct owner_caller caller, unsigned long ip,
						   struct owner_charge charge, u64 *handle_pair)
{
	struct owner_record owner __uninitialized;
	depot_stack_handle_t handle;
	struct cached_ref *chain, *task;

	if (depth == 1) {
		chain = owner_cpu_find_ref_by_words(cpu, &ip, 1);
		if (unlikely(!owner_cpu_ref_has_words(chain, &ip, 1)))
			return false;
	} else {
		handle = owner_cpu_recognize_chain(cpu, ip, depth, caller);
		chain = owner_cpu_ref_by_handle(cpu, handle);
		if (unlikely(!handle || chain->handle != handle))
			return false;
	}
	task = owner_cpu_find_current_task_ref(cpu);
	if (unlikely(!owner_cpu_ref_has_task(task) || !owner_cpu_can_take_ref(chain) ||
		     !owner_cpu_can_take_ref(task)))
		return false;
	chain->references--;
	task->references--;
	owner_charge_counters(chain->counters, 1, charge);
	owner.stack = chain->handle;
	owner.task = task->handle;
	*handle_pair = owner.handle_pair;
	return true;
}

/**
 * owner_record_drop_fast() - drop the references that the CPU cache has room for
 * @handle_pair: handles that were taken out of a record; the task's can be 0
 * @charge: taken off the chain's counters if its reference is dropped
 *
 * Calls no function.
 *
 * Return: the handles that are left for owner_record_drop(), 0 if none are.
 */
static __always_inline u64 owner_record_drop_fast(u64 handle_pair, struct owner_charge charge)
{
	struct owner_record owner __uninitialized;
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();
	struct cached_ref *ref;

	owner.handle_pair = handle_pair;
	if (unlikely(!cpu))
		return handle_pair;
	ref = owner_cpu_ref_by_handle(cpu, owner.stack);
	if (likely(owner_cpu_can_put_ref(ref, owner.stack))) {
		ref->references++;
		owner_charge_counters(ref->counters, -1, charge);
		owner.stack = 0;
	}
	ref = owner_cpu_ref_by_handle(cpu, owner.task);
	if (likely(owner_cpu_can_put_ref(ref, owner.task))) {
		ref->references++;
		owner.task = 0;
	}
	owner_cpu_cache_release(cpu);
	return owner.handle_pair;
}

/**
 * owner_record_drop() - drop the references of a record
 * @handle_pair: handles that were taken out of a record; either can be 0
 * @charge: taken off the chain's counters
 */
static __always_inline void owner_record_drop(u64 handle_pair, struct owner_charge charge)
{
	struct owner_record owner __uninitialized;
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();
	struct cached_ref *ref;

	owner.handle_pair = handle_pair;
	if (unlikely(!cpu)) {
		if (owner.stack)
			owner_charge_depot(owner.stack, -1, charge);
		return owner_record_put_refs(&owner);
	}
	ref = owner_cpu_put_ref(cpu, owner.stack);
	if (owner.stack)
		owner_charge_counters(ref->counters, -1, charge);
	owner_cpu_put_ref(cpu, owner.task);
	owner_cpu_cache_release(cpu);
}

#endif /* _MM_OWNER_CAPTURE_H */
