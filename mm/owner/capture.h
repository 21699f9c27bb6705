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
void owner_allocators_init(void);
bool owner_is_allocator(unsigned long ip);
unsigned int owner_first_shown_frame(depot_stack_handle_t stack, unsigned int count);

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
	counters[OWNER_OBJECTS] += n * (s32)BIT(OWNER_WEIGHT_SHIFT);
	counters[OWNER_BYTES] += n * (s32)charge.size;
	counters[OWNER_HELD] += n * (s32)charge.cache->size;
}

void owner_charge_chain(depot_stack_handle_t stack, long n, struct owner_charge charge);

/* --- Records ----------------------------------------------------------------- */

/**
 * owner_record_fill_fast() - take handles out of the CPU cache
 * @chain: this CPU's references to the chain, of which one can be taken
 * @task: this CPU's references to the current task, of which one can be taken
 * @charge: charged to the chain
 *
 * Return: the handles of the chain and of the task, with references.
 */
static __always_inline u64 owner_record_fill_fast(struct stack_depot_ref *chain,
						  struct stack_depot_ref *task,
						  struct owner_charge charge)
{
	struct owner_record owner __uninitialized;

	owner_charge_counters(chain->counters, 1, charge);
	owner.stack = chain->handle;
	owner.task = task->handle;
	stack_depot_get_ref(chain);
	stack_depot_get_ref(task);
	return owner.handle_pair;
}

bool owner_record_fill(struct owner_record *owner, gfp_t flags, unsigned int depth,
		       struct stack_depot_caller caller, struct owner_charge charge);

/**
 * owner_record_drop_to_cpu() - keep the references of a record in the CPU cache
 * @cpu: the CPU cache
 * @handle_pair: handles that were taken out of a record
 * @charge: taken off the chain's counters
 * @current_task: this CPU's references to the current task, which is often that of the record,
 *	or NULL
 *
 * Calls no function.
 *
 * Return: false if the CPU cache has no room for both. Nothing was changed then, and
 *	owner_record_drop() has to drop them.
 */
static __always_inline bool owner_record_drop_to_cpu(struct stack_depot_cpu_cache *cpu,
						     u64 handle_pair, struct owner_charge charge,
						     struct stack_depot_ref *current_task)
{
	struct owner_record owner = { .handle_pair = handle_pair };
	struct stack_depot_ref *chain, *task;

	chain = stack_depot_find_ref(cpu, owner.stack);
	if (unlikely(!chain || !stack_depot_can_put_ref(chain)))
		return false;
	task = current_task && current_task->handle == owner.task ?
	       current_task : stack_depot_find_ref(cpu, owner.task);
	if (unlikely(!task || !stack_depot_can_put_ref(task)))
		return false;
	owner_charge_counters(chain->counters, -1, charge);
	stack_depot_put_ref(chain);
	stack_depot_put_ref(task);
	return true;
}

/* As owner_record_drop_to_cpu(), with the CPU cache of this CPU unless it is in use. */
static __always_inline bool owner_record_drop_fast(u64 handle_pair, struct owner_charge charge)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (unlikely(!cpu))
		return false;
	/* Release in both branches: else the result is kept in a register that has to be saved. */
	if (likely(owner_record_drop_to_cpu(cpu, handle_pair, charge, NULL))) {
		stack_depot_cpu_release(cpu);
		return true;
	}
	stack_depot_cpu_release(cpu);
	return false;
}

void owner_record_drop(u64 handle_pair, struct owner_charge charge);

#endif /* _MM_OWNER_CAPTURE_H */
