// SPDX-License-Identifier: GPL-2.0
/*
 * Capture: from the running stack to the handle of its call chain. See
 * include/linux/stackdepot_capture.h.
 *
 * This is the slow path: look up a chain once more, intern one that this CPU keeps no reference
 * to, and shorten it if the depot is full.
 */

#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kmsan.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/stackdepot_capture.h>
#include <linux/workqueue.h>

#include "evict.h"
#include "internal.h"

/* Chains are records with counters. RAW: the walk has ended them at an interrupt's entry. */
#define CHAIN_FLAGS	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW)

/* Flags of captures are not those of the depot. */
static_assert(!((STACK_DEPOT_FLAG_SKIP | STACK_DEPOT_FLAG_WHOLE) &
		(STACK_DEPOT_FLAGS_MASK | DEPOT_FLAG_LINKED)));

/**
 * stack_depot_capture_init() - allocate the tables that make captures cheap
 *
 * Also initializes the depot, if the boot line did not ask for it. May sleep. Idempotent.
 *
 * Return: 0, or -ENOMEM if there is no memory for the depot.
 */
int stack_depot_capture_init(void)
{
	int error = stack_depot_init_evictable();

	if (error)
		return error;
	stack_depot_steps_init();
	stack_depot_cpu_caches_init();
	return 0;
}

/* --- Room for walks ----------------------------------------------------------- */

/* One buffer each for a task, a softirq and a hard interrupt that interrupt one another. */
#define NR_BUFFERS	3

struct chain_buffers {
	unsigned int used;
	unsigned long buffer[NR_BUFFERS][STACK_DEPOT_CAPTURE_MAX];
};

/* Used as a stack: an interrupt takes the next buffer, and puts it before it returns. */
static DEFINE_PER_CPU(struct chain_buffers, chain_buffers);

static void put_chain_buffer(void)
{
	this_cpu_dec(chain_buffers.used);
	preempt_enable();
}

/*
 * Take a buffer of this CPU, and disable preemption until put_chain_buffer(). Return: NULL
 * if all are in use, as in an NMI: then preemption is enabled and there is nothing to put.
 */
static unsigned long *get_chain_buffer(void)
{
	unsigned int i;

	preempt_disable();
	i = this_cpu_inc_return(chain_buffers.used) - 1;
	if (likely(i < NR_BUFFERS))
		return this_cpu_ptr(chain_buffers.buffer[i]);
	put_chain_buffer();
	return NULL;
}

/* --- Interning ------------------------------------------------------------------ */

/* A chain as it was walked. */
struct walked_chain {
	unsigned long *frames;
	unsigned int count;		/* of frames */
	u64 hash;
};

/* Get a reference from a ref. Return: the handle; 0 if the depot refuses. */
static depot_stack_handle_t get_ref(struct stack_depot_ref *ref)
{
	ref = stack_depot_usable_ref(ref, true);
	if (unlikely(!ref))
		return 0;
	ref->references--;
	return ref->handle;
}

/*
 * Get a reference to @handle, which stands for the chain, and let this CPU know the chain by its
 * hash. Return: @handle; 0 if the depot has freed it.
 */
static depot_stack_handle_t get_found_ref(depot_stack_handle_t handle,
					  const struct walked_chain *chain)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref;

	/* An interrupted task uses the CPU cache. */
	if (!cpu)
		return stack_depot_get(handle) ? handle : 0;
	ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_get_batch(cpu, handle);
	if (ref)
		stack_depot_index_ref(cpu, ref, chain->hash);
	handle = ref ? get_ref(ref) : 0;
	stack_depot_cpu_release(cpu);
	return handle;
}

/* Get a reference that this CPU keeps to the chain. Return: a handle, or 0. */
static depot_stack_handle_t get_known_ref(const struct walked_chain *chain)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref = cpu ? stack_depot_find_hashed_ref(cpu, chain->hash) : NULL;
	depot_stack_handle_t handle = ref ? get_ref(ref) : 0;

	if (cpu)
		stack_depot_cpu_release(cpu);
	return handle;
}

/* Get a reference to the chain if this CPU or the depot has it. Return: a handle, or 0. */
static depot_stack_handle_t find_chain(const struct walked_chain *chain)
{
	depot_stack_handle_t handle = get_known_ref(chain);

	if (handle)
		return handle;
	/* The handle stands for these frames until a grace period has passed. */
	rcu_read_lock_sched_notrace();
	handle = stack_depot_find(chain->frames, chain->count, CHAIN_FLAGS);
	if (handle)
		handle = get_found_ref(handle, chain);
	rcu_read_unlock_sched_notrace();
	return handle;
}

/* Store the chain. Return: a handle with a reference, or 0 if the depot has no room. */
static depot_stack_handle_t store_chain(const struct walked_chain *chain)
{
	depot_stack_handle_t handle;
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;

	handle = stack_depot_save_flags(chain->frames, chain->count, 0, CHAIN_FLAGS);
	cpu = handle ? stack_depot_cpu_acquire() : NULL;
	if (cpu) {
		/* Keep references for the next capture. */
		ref = stack_depot_get_batch(cpu, handle);
		if (ref)
			stack_depot_index_ref(cpu, ref, chain->hash);
		stack_depot_cpu_release(cpu);
	}
	return handle;
}

/* --- Memory for the depot ----------------------------------------------------------- */

static void refill_depot(struct work_struct *work)
{
	stack_depot_refill(GFP_KERNEL | __GFP_NOWARN);
}

static DECLARE_WORK(refill_work, refill_depot);

static void schedule_refill(struct irq_work *work)
{
	schedule_work(&refill_work);
}

/* A capture can run under any lock, also under those of the allocator and of the workqueue. */
static struct irq_work refill_request = IRQ_WORK_INIT_HARD(schedule_refill);

/**
 * stack_depot_request_refill() - ask a worker to give memory to the depot
 *
 * For captures that may not allocate. At most once in a tick: the worker's own wakeup can be
 * captured, and find no room.
 */
void stack_depot_request_refill(void)
{
	static unsigned long requested_at;
	unsigned long now = jiffies | 1;

	if (READ_ONCE(requested_at) == now)
		return;
	WRITE_ONCE(requested_at, now);
	irq_work_queue(&refill_request);
}

/* --- A full depot ----------------------------------------------------------------- */

/* Handle of the overflow chain. Interned with the first chain, while there is room. */
static depot_stack_handle_t overflow_chain __read_mostly;

/* The overflow chain has one frame: users see the name of this function. */
static noinline unsigned long stack_depot_no_room(void)
{
	return _THIS_IP_;
}

/* Intern the overflow chain, unless that was done. */
static void intern_overflow_chain(gfp_t gfp)
{
	unsigned long frame = stack_depot_no_room();
	depot_stack_handle_t handle;

	if (likely(READ_ONCE(overflow_chain)) || !gfp)
		return;
	handle = stack_depot_save_flags(&frame, 1, gfp | __GFP_NOWARN,
					STACK_DEPOT_FLAG_CAN_ALLOC | CHAIN_FLAGS);
	if (cmpxchg(&overflow_chain, 0, handle))
		stack_depot_put(handle);
}

/* Get a reference to the overflow chain, which is never evicted. Return: its handle, or 0. */
static depot_stack_handle_t get_overflow_ref(void)
{
	depot_stack_handle_t handle = READ_ONCE(overflow_chain);
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref;

	if (!cpu)
		return stack_depot_get(handle) ? handle : 0;
	ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_get_batch(cpu, handle);
	handle = ref ? get_ref(ref) : 0;
	stack_depot_cpu_release(cpu);
	return handle;
}

/*
 * When the depot had no room for a chain of this CPU: jiffies | 1, which is never 0. Two ticks
 * count as one.
 */
static DEFINE_PER_CPU(unsigned long, refused_at);

static void remember_refusal(void)
{
	this_cpu_write(refused_at, jiffies | 1);
}

/* After a refusal, a CPU asks the depot for room again in the next tick. */
static bool was_refused_in_this_tick(void)
{
	return this_cpu_read(refused_at) == (jiffies | 1);
}

/*
 * Intern the first frame alone, without memory for it unless @store; at last, use the overflow
 * chain. Return: a handle with a reference, or 0 if the overflow chain is missing, too.
 */
static depot_stack_handle_t intern_first_frame(const struct walked_chain *chain, bool store,
					       enum stack_depot_captured *captured)
{
	struct walked_chain first = {
		chain->frames, 1, stack_depot_hash_frames(chain->frames, 1)
	};
	depot_stack_handle_t handle = chain->count > 1 ? find_chain(&first) : 0;

	if (!handle && store && chain->count > 1)
		handle = store_chain(&first);
	*captured = handle ? STACK_DEPOT_CAPTURED_SHORTER : STACK_DEPOT_CAPTURED_NONE;
	return handle ?: get_overflow_ref();
}

/* --- Capturing ------------------------------------------------------------------- */

/*
 * Intern a chain. @last: use its first frame if the depot has no room for it. @whole: never do.
 * Return: a handle with a reference, or 0.
 */
static depot_stack_handle_t intern_chain(const struct walked_chain *chain, bool last, bool whole,
					 enum stack_depot_captured *captured)
{
	depot_stack_handle_t handle = find_chain(chain);

	*captured = STACK_DEPOT_CAPTURED_ALL;
	if (handle)
		return handle;
	if (!whole && was_refused_in_this_tick())
		return intern_first_frame(chain, false, captured);
	handle = store_chain(chain);
	if (handle || !last)
		return handle;
	if (stack_depot_flush_if_full())
		remember_refusal();
	else
		stack_depot_request_refill();
	return intern_first_frame(chain, true, captured);
}

/*
 * Walk the stack and intern the chain, without an allocation. @last: as for intern_chain().
 * Return: a handle with a reference, or 0.
 */
static depot_stack_handle_t walk_and_intern(unsigned int depth, depot_flags_t flags,
					    struct stack_depot_caller caller, bool last,
					    enum stack_depot_captured *captured)
{
	struct walked_chain chain = { .frames = get_chain_buffer() };
	depot_stack_handle_t handle = 0;

	if (!chain.frames)
		return 0;
	chain.count = stack_depot_walk_frames(chain.frames, depth,
					      flags & STACK_DEPOT_FLAG_SKIP, caller);
	if (likely(chain.count)) {
		chain.hash = stack_depot_hash_frames(chain.frames, chain.count);
		handle = intern_chain(&chain, last, flags & STACK_DEPOT_FLAG_WHOLE, captured);
	}
	put_chain_buffer();
	return handle;
}

/**
 * stack_depot_find_running_again() - find this CPU's references to a chain
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @depth: number of frames at most
 * @flags: STACK_DEPOT_FLAG_SKIP or 0
 * @caller: where the chain starts
 *
 * Gets a batch of references from the depot if only the last one is left.
 *
 * Return: the ref, from which at least one reference can be got, or NULL.
 */
noinline struct stack_depot_ref *
stack_depot_find_running_again(struct stack_depot_cpu_cache *cpu, unsigned int depth,
			       depot_flags_t flags, struct stack_depot_caller caller)
{
	unsigned int skip = flags & STACK_DEPOT_FLAG_SKIP ? STACK_DEPOT_SKIP_ALLOCATORS : 0;
	u64 hash = stack_depot_hash_running(depth, skip, caller);
	struct stack_depot_ref *ref = stack_depot_find_hashed_ref(cpu, hash);

	return ref ? stack_depot_usable_ref(ref, true) : NULL;
}

/* Get a reference that this CPU keeps to the running stack's chain. Return: a handle, or 0. */
static depot_stack_handle_t get_running_ref(unsigned int depth, depot_flags_t flags,
					    struct stack_depot_caller caller)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	depot_stack_handle_t handle = 0;
	struct stack_depot_ref *ref;

	if (unlikely(!cpu))
		return 0;
	ref = stack_depot_find_running_again(cpu, depth, flags, caller);
	if (likely(ref)) {
		ref->references--;
		handle = ref->handle;
	}
	stack_depot_cpu_release(cpu);
	return handle;
}

/* Attempts to give memory to the depot: another CPU can use it up in between. */
#define REFILLS		4

/**
 * stack_depot_capture() - capture the chain of the running stack
 * @depth: number of frames to keep, from 1 to STACK_DEPOT_CAPTURE_MAX
 * @flags: STACK_DEPOT_FLAG_SKIP, STACK_DEPOT_FLAG_WHOLE, or 0
 * @gfp: flags of the allocation that is tracked; 0 if the depot may not allocate
 * @caller: STACK_DEPOT_CALLER of a function that does not return before
 * @captured: set to how much of the chain the handle stands for
 *
 * If this CPU does not keep a reference to the chain, walk the stack with all checks. The frames
 * are in a per-CPU buffer while they are interned, so nothing is allocated then. If the depot has
 * no room, give it memory afterwards and walk the stack again. At the depot's bound, use the first
 * frame alone, or the overflow chain.
 *
 * Context: any.
 *
 * Return: a handle with a reference, which stack_depot_put_handle() or stack_depot_put()
 * drops. 0 if the depot has no room for any chain, or in an NMI that the depot cannot serve.
 */
noinline depot_stack_handle_t stack_depot_capture(unsigned int depth, depot_flags_t flags,
						  gfp_t gfp, struct stack_depot_caller caller,
						  enum stack_depot_captured *captured)
{
	depot_stack_handle_t handle;
	unsigned int i;

	if (!stack_depot_may_lock())
		gfp = 0;
	/* KMSAN does not see that this file sets @captured. */
	kmsan_unpoison_memory(captured, sizeof(*captured));
	*captured = STACK_DEPOT_CAPTURED_ALL;
	handle = get_running_ref(depth, flags, caller);
	if (handle)
		return handle;
	this_cpu_inc(stack_depot_capture_counts.walked);
	if (flags & STACK_DEPOT_FLAG_WHOLE) {
		handle = walk_and_intern(depth, flags, caller, false, captured);
		if (!handle)
			stack_depot_request_refill();
		return handle;
	}
	intern_overflow_chain(gfp);
	for (i = 0; !handle && i < REFILLS; i++) {
		handle = walk_and_intern(depth, flags, caller, false, captured);
		/* @gfp also forbids the refill to sleep where the allocation must not. */
		if (handle || !gfp)
			break;
		if (!stack_depot_refill(gfp | __GFP_NOWARN)) {
			remember_refusal();
			break;
		}
	}
	return handle ?: walk_and_intern(depth, flags, caller, true, captured);
}

/**
 * stack_depot_get_frames() - walk the running stack
 * @frames: filled with return addresses
 * @depth: number of frames to get, from 1 to STACK_DEPOT_CAPTURE_MAX
 * @flags: STACK_DEPOT_FLAG_SKIP or 0
 * @caller: where the chain starts
 *
 * Return: the number of frames.
 */
unsigned int stack_depot_get_frames(unsigned long *frames, unsigned int depth,
				    depot_flags_t flags, struct stack_depot_caller caller)
{
	unsigned int count;

	preempt_disable();
	count = stack_depot_walk_frames(frames, depth, flags & STACK_DEPOT_FLAG_SKIP, caller);
	preempt_enable();
	kmsan_unpoison_memory(frames, count * sizeof(*frames));
	return count;
}
