// SPDX-License-Identifier: GPL-2.0
/*
 * Save the running stack for KASAN, SLUB's user tracking and kmemleak. See
 * stack_depot_save_running() in include/linux/stackdepot_running.h.
 *
 * The depot keeps a stack that was saved without STACK_DEPOT_FLAG_GET forever, so its handle needs
 * no reference. The CPU cache knows it by a hash of its own: a stack that can be evicted has
 * another handle, even if its frames are equal.
 */

#include <linux/irq_work.h>
#include <linux/kmsan.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/stackdepot_capture.h>
#include <linux/stackdepot_running.h>
#include <linux/workqueue.h>

#include "internal.h"

/* --- Tables ------------------------------------------------------------------------- */

static void init_tables(struct work_struct *work)
{
	stack_depot_steps_init();
	stack_depot_cpu_caches_init();
}

static DECLARE_WORK(init_work, init_tables);

static void schedule_init(struct irq_work *work)
{
	schedule_work(&init_work);
}

/* A stack can be saved under any lock, also under the workqueue's. */
static struct irq_work init_request = IRQ_WORK_INIT_HARD(schedule_init);

/*
 * Allocate the tables soon. Users save stacks long before that is possible, and a user that the
 * configuration has may never be enabled.
 */
static void request_tables(void)
{
	static bool requested;

	if (READ_ONCE(requested) || system_state < SYSTEM_SCHEDULING)
		return;
	WRITE_ONCE(requested, true);
	irq_work_queue(&init_request);
}

/* --- Saving ------------------------------------------------------------------------- */

/* Stacks that a CPU walked with all checks: the CPU cache did not know them. */
DEFINE_PER_CPU(unsigned long, stack_depot_walked_saves);

void stack_depot_show_running(struct seq_file *seq)
{
	unsigned long walked = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		walked += READ_ONCE(*per_cpu_ptr(&stack_depot_walked_saves, cpu));
	seq_printf(seq, "walked_saves: %lu\n", walked);
}

/* The hash by which the CPU cache knows a stack that is kept for ever. */
static __always_inline u64 hash_persistent_stack(u64 hash)
{
	return hash ? hash ^ GOLDEN_RATIO_64 : 0;
}

/* Let this CPU know the handle of a stack by its hash. */
static void remember_handle(depot_stack_handle_t handle, u64 hash)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (!cpu)
		return;
	stack_depot_put_refs(cpu, handle, 0);
	stack_depot_index_ref(cpu, stack_depot_find_ref(cpu, handle), hash);
	stack_depot_cpu_release(cpu);
}

/*
 * Walk the running stack with all checks, and save all but the first frames. Return: a handle, or
 * 0.
 */
static noinline depot_stack_handle_t walk_and_save(unsigned int depth, unsigned int skip,
						   gfp_t gfp, depot_flags_t flags,
						   struct stack_depot_caller caller)
{
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX];
	depot_stack_handle_t handle;
	unsigned int count;

	request_tables();
	this_cpu_inc(stack_depot_walked_saves);
	rcu_read_lock_sched_notrace();
	count = stack_depot_walk_frames(frames, depth + skip, false, caller);
	rcu_read_unlock_sched_notrace();
	/* The caller has interrupted a walk: leave out this function and the one that called it. */
	if (unlikely(!count))
		count = stack_trace_save(frames, depth + skip, 2);
	kmsan_unpoison_memory(frames, count * sizeof(*frames));
	if (count <= skip)
		return 0;
	count -= skip;
	handle = stack_depot_save_flags(frames + skip, count, gfp, flags);
	if (handle)
		remember_handle(handle, hash_persistent_stack(stack_depot_hash_frames(frames + skip,
										      count)));
	return handle;
}

/* Capture a stack that can be evicted. Return: a handle with a reference, or 0. */
static __always_inline depot_stack_handle_t
save_evictable(unsigned int depth, gfp_t gfp, struct stack_depot_caller caller)
{
	enum stack_depot_captured captured;
	depot_stack_handle_t handle;

	request_tables();
	handle = stack_depot_capture(depth, 0, gfp, caller, &captured);
	/* Callers accept a handle of 0, which says as much as the overflow chain. */
	if (unlikely(handle && captured == STACK_DEPOT_CAPTURED_NONE)) {
		stack_depot_put_running(handle);
		handle = 0;
	}
	return handle;
}

static __always_inline depot_stack_handle_t
save_persistent(unsigned int depth, unsigned int skip, gfp_t gfp, depot_flags_t flags,
		struct stack_depot_caller caller)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	depot_stack_handle_t handle = 0;
	struct stack_depot_ref *ref;
	u64 hash;

	if (likely(cpu)) {
		hash = stack_depot_hash_running(depth, skip, caller);
		ref = stack_depot_find_hashed_ref(cpu, hash_persistent_stack(hash));
		handle = ref ? ref->handle : 0;
		stack_depot_cpu_release(cpu);
	}
	return handle ?: walk_and_save(depth, skip, gfp, flags, caller);
}

/* The chain starts with the function that called this one. */
noinline depot_stack_handle_t __stack_depot_save_running(unsigned int depth, unsigned int skip,
							 gfp_t gfp, depot_flags_t flags)
{
	struct stack_depot_caller caller = STACK_DEPOT_CALLER;
	depot_stack_handle_t handle = 0;

	if (flags & STACK_DEPOT_FLAG_GET)
		handle = save_evictable(depth, gfp, caller);
	else if (skip < STACK_DEPOT_CAPTURE_MAX)
		handle = save_persistent(min(depth, STACK_DEPOT_CAPTURE_MAX - skip), skip, gfp,
					 flags, caller);
	/* No tail call: @caller is a place in this function's frame. */
	barrier();
	return handle;
}

/**
 * stack_depot_put_running() - drop the reference of stack_depot_save_running()
 * @handle: a handle that was saved with STACK_DEPOT_FLAG_GET
 *
 * Context: any.
 */
void stack_depot_put_running(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (unlikely(!cpu)) {
		stack_depot_put(handle);
		return;
	}
	stack_depot_put_handle(cpu, handle);
	stack_depot_cpu_release(cpu);
}
