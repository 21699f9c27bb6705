/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: fill and drop records, and charge chains for what they hold.
 *
 * The fast path is inline, and takes all handles from the CPU cache.
 */
#ifndef _MM_OWNER_CAPTURE_H
#define _MM_OWNER_CAPTURE_H

#include <linux/compiler.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>
#include <linux/types.h>

#include "../slab.h"
#include "record.h"
#include "task.h"

void owner_capture_early_init(void);
int owner_capture_late_init(void);
bool owner_is_allocator(unsigned long ip);
depot_stack_handle_t owner_capture_chain(unsigned int depth, struct owner_caller caller,
					 gfp_t flags);

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
static __always_inline void owner_charge_counters(s32 *counters, s32 n, struct owner_charge charge)
{
	if (!charge.counted)
		return;
	counters[OWNER_OBJECTS] += n;
	counters[OWNER_BYTES] += n * (s32)charge.size;
	counters[OWNER_HELD] += n * (s32)charge.cache->size;
}

void owner_charge_chain(depot_stack_handle_t stack, long n, struct owner_charge charge);

/* --- Records ----------------------------------------------------------------- */

/**
 * owner_record_fill_fast() - capture who allocates here, from the CPU cache alone
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @depth: number of frames to keep
 * @caller: OWNER_CALLER of the allocator's hook
 * @charge: charged to the chain
 * @handle_pair: set to the handles of the chain and of the task, with references
 *
 * Calls no function, so its caller saves few registers.
 *
 * Return: false if the CPU cache lacks the chain or the task. Nothing was changed then.
 */
static __always_inline bool owner_record_fill_fast(struct stack_depot_cpu_cache *cpu,
						   unsigned int depth, struct owner_caller caller,
						   struct owner_charge charge, u64 *handle_pair)
{
	struct owner_record owner __uninitialized;
	struct stack_depot_ref *chain, *task;

	chain = stack_depot_find_running(cpu, depth, STACK_DEPOT_FLAG_SKIP, caller);
	if (unlikely(!chain))
		return false;
	task = owner_find_current_task_ref(cpu);
	if (unlikely(!task))
		return false;
	chain->references--;
	task->references--;
	owner_charge_counters(chain->counters, 1, charge);
	owner.stack = chain->handle;
	owner.task = task->handle;
	*handle_pair = owner.handle_pair;
	return true;
}

bool owner_record_fill(struct owner_record *owner, gfp_t flags, unsigned int depth,
		       struct owner_caller caller, struct owner_charge charge);

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
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref;

	owner.handle_pair = handle_pair;
	if (unlikely(!cpu))
		return handle_pair;
	ref = stack_depot_find_ref(cpu, owner.stack);
	if (likely(ref && stack_depot_can_keep_ref(ref))) {
		ref->references++;
		owner_charge_counters(ref->counters, -1, charge);
		owner.stack = 0;
	}
	ref = stack_depot_find_ref(cpu, owner.task);
	if (likely(ref && stack_depot_can_keep_ref(ref))) {
		ref->references++;
		owner.task = 0;
	}
	stack_depot_cpu_release(cpu);
	return owner.handle_pair;
}

void owner_record_drop(u64 handle_pair, struct owner_charge charge);

#endif /* _MM_OWNER_CAPTURE_H */
