/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture: fill and drop records, and charge their chains.
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

/* handles.c */
void owner_cpu_caches_init(void);
void owner_cpu_caches_flush(void);
void owner_counters_flush(void);
depot_stack_handle_t owner_handle_save(unsigned long *words, unsigned int count, gfp_t flags,
				       depot_flags_t kind);
depot_stack_handle_t owner_chain_save(unsigned long ip, unsigned int depth,
				      struct owner_caller caller, bool whole, gfp_t flags);
void owner_chain_verify(depot_stack_handle_t stack, unsigned int depth,
			struct owner_caller caller, bool whole);

/* stack.c */
void owner_capture_early_init(void);
int owner_capture_late_init(void);
void owner_chain_prepare(gfp_t flags);
depot_stack_handle_t owner_chain_degrade(unsigned int depth, struct owner_caller caller);
depot_stack_handle_t owner_task_save(gfp_t flags);

/* An object's part in that. */
struct owner_charge {
	bool counted;			/* those of slabs are */
	u32 size;			/* bytes that were asked for */
	const struct kmem_cache *cache;	/* says how many bytes it takes */
};

#define OWNER_NO_CHARGE	((struct owner_charge){})

/* One object more, or less. */
static __always_inline void owner_count(long *counters, long n, struct owner_charge part)
{
	if (!part.counted)
		return;
	counters[OWNER_OBJECTS] += n;
	counters[OWNER_BYTES] += n * (long)part.size;
	counters[OWNER_HELD] += n * (long)part.cache->size;
}

void owner_count_slow(depot_stack_handle_t stack, long n, struct owner_charge part);

/* --- Records ----------------------------------------------------------------- */

/**
 * owner_record_fill - who allocates or frees here, and when
 * @owner: where it goes, with its references; how much, the caller knows
 * @flags: those of the allocation
 * @depth: frames to keep, at most OWNER_DEPTH_MAX
 * @caller: OWNER_CALLER of the allocator's hook; allocators in front are left out
 * @ip: to which the allocator returns: chains that differ in it differ
 * @part: what the call chain holds from now on
 *
 * Return: false if the call chain could not be kept; that has been counted.
 */
static __always_inline bool owner_record_fill(struct owner_record *owner, gfp_t flags,
					    unsigned int depth, struct owner_caller caller,
					    unsigned long ip, struct owner_charge part)
{
	depot_stack_handle_t stack = 0, task = 0;
	struct owner_cpu_cache *handles = owner_cpu_begin();
	struct cached_ref *spare = NULL;

	if (likely(handles)) {
		/* Who called is the whole chain, unless it is left out. */
		if (depth == 1)
			spare = owner_cpu_take(handles, &ip, 1);
		if (!spare)
			spare = owner_cpu_take_chain(handles, ip, depth, caller);
		if (likely(spare)) {
			stack = spare->handle;
			owner_count(spare->counters, 1, part);
		}
		spare = owner_cpu_take_task(handles);
		if (likely(spare))
			task = spare->handle;
		owner_cpu_end(handles);
	}
	if (unlikely(!stack)) {
		stack = owner_chain_save(ip, depth, caller, false, flags) ?:
			owner_chain_degrade(depth, caller);
		if (!stack) {
			owner_count_loss(OWNER_LOST_STACK);
			stack_depot_put(task);
			return false;
		}
		owner_count_slow(stack, 1, part);
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
	owner->time = owner_now();
	return true;
}

/**
 * owner_record_fill_fast - the same where all that it takes is ready
 * @kept: between owner_cpu_begin() and owner_cpu_end()
 * @depth: as for owner_record_fill(), and so are the others
 * @caller: where the chain starts
 * @ip: to which the allocator returns
 * @part: what the call chain holds from now on
 * @handles: where they go
 *
 * Calls no function, and has changed nothing where it cannot.
 *
 * Return: false if that was not all there, else @handles are those of a record.
 */
static __always_inline bool owner_record_fill_fast(struct owner_cpu_cache *kept, unsigned int depth,
						    struct owner_caller caller, unsigned long ip,
						    struct owner_charge part, u64 *handles)
{
	struct owner_record owner __uninitialized;
	depot_stack_handle_t handle;
	struct cached_ref *chain, *task;

	if (depth == 1) {
		chain = owner_cpu_find(kept, &ip, 1);
		if (unlikely(!owner_cpu_knows(chain, &ip, 1)))
			return false;
	} else {
		handle = owner_cpu_known_chain(kept, ip, depth, caller);
		chain = owner_cpu_ref(kept, handle);
		if (unlikely(!handle || chain->handle != handle))
			return false;
	}
	task = owner_cpu_find_task(kept);
	if (unlikely(!owner_cpu_knows_task(task) || !owner_cpu_has_ref(chain) ||
		     !owner_cpu_has_ref(task)))
		return false;
	chain->references--;
	task->references--;
	owner_count(chain->counters, 1, part);
	owner.stack = chain->handle;
	owner.task = task->handle;
	*handles = owner.handle_pair;
	return true;
}

/**
 * owner_record_drop_fast - drop those references of a record that CPUs have room for
 * @handles: of the record: of a chain, and of a task or 0, whose references are no one's
 * @part: what its call chain no longer holds; counted with its reference
 *
 * Calls no function.
 *
 * Return: the handles that are left for owner_record_drop().
 */
static __always_inline u64 owner_record_drop_fast(u64 handles, struct owner_charge part)
{
	struct owner_record owner __uninitialized;
	struct owner_cpu_cache *kept = owner_cpu_begin();
	struct cached_ref *spare;

	owner.handle_pair = handles;
	if (unlikely(!kept))
		return handles;
	spare = owner_cpu_ref(kept, owner.stack);
	if (likely(owner_cpu_have_room(spare, owner.stack))) {
		spare->references++;
		owner_count(spare->counters, -1, part);
		owner.stack = 0;
	}
	spare = owner_cpu_ref(kept, owner.task);
	if (likely(owner_cpu_have_room(spare, owner.task))) {
		spare->references++;
		owner.task = 0;
	}
	owner_cpu_end(kept);
	return owner.handle_pair;
}

/**
 * owner_record_drop - drop the references of a record that is no longer one
 * @handles: of the record; either can be 0
 * @part: what its call chain no longer holds
 */
static __always_inline void owner_record_drop(u64 handles, struct owner_charge part)
{
	struct owner_record owner __uninitialized;
	struct owner_cpu_cache *kept = owner_cpu_begin();
	struct cached_ref *spare;

	owner.handle_pair = handles;
	if (unlikely(!kept)) {
		if (owner.stack)
			owner_count_slow(owner.stack, -1, part);
		return owner_record_put(&owner);
	}
	spare = owner_cpu_give(kept, owner.stack);
	if (owner.stack)
		owner_count(spare->counters, -1, part);
	owner_cpu_give(kept, owner.task);
	owner_cpu_end(kept);
}

#endif /* _MM_OWNER_CAPTURE_H */
