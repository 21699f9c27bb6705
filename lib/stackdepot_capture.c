// SPDX-License-Identifier: GPL-2.0
/*
 * Capture: from the running stack to the handle of its call chain. See
 * include/linux/stackdepot_capture.h.
 *
 * This is the slow path: intern a chain that this CPU keeps no reference to, and shorten it if
 * the depot is full.
 */

#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kmsan.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/stackdepot.h>

#include "stackdepot_unwind.h"

/* Chains are records with counters. RAW: the walk has ended them at an interrupt's entry. */
#define CHAIN_FLAGS	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW)

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
	stack_depot_tree_init(false);
	stack_depot_cpu_caches_init();
	/* Look these functions up by name now, not during the first capture. */
	stack_depot_is_allocator(0);
	stack_depot_ends_chain(0);
	return 0;
}

static bool (*allocator_test)(unsigned long ip) __read_mostly;

/**
 * stack_depot_capture_skip() - say which leading frames STACK_DEPOT_FLAG_SKIP leaves out
 * @is_allocator: returns true if a return address is in a function that allocates for its
 *	caller. It is called in any context, and always has one answer for an address.
 */
void stack_depot_capture_skip(bool (*is_allocator)(unsigned long ip))
{
	WRITE_ONCE(allocator_test, is_allocator);
}

/* Does a chain leave out this function at its start? */
bool stack_depot_is_allocator(unsigned long ip)
{
	bool (*test)(unsigned long ip) = READ_ONCE(allocator_test);

	return test && test(ip);
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
	u32 tag;			/* of references to it, 0 if it has no node */
};

/* Does @handle stand for the chain, or, if @shorter, for its first frames? */
static bool handle_is_chain(depot_stack_handle_t handle, const struct walked_chain *chain,
			    bool shorter)
{
	unsigned int count = stack_depot_match(handle, chain->frames, chain->count);

	return shorter ? count && count < chain->count : count == chain->count;
}

/* This CPU's references to @handle, from which one can be taken; NULL without any. */
static struct stack_depot_ref *get_ref(struct stack_depot_cpu_cache *cpu,
				       depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle) ?:
				      stack_depot_restore_ref(cpu, handle);

	return ref ? stack_depot_usable_ref(ref, true) : stack_depot_refill_ref(cpu, handle);
}

/* Take a reference that this CPU keeps. Return: the handle. */
static depot_stack_handle_t take_ref(struct stack_depot_ref *ref)
{
	ref->references--;
	return ref->handle;
}

/* Take a reference as take_ref_if_chain() does, but from the depot. */
static depot_stack_handle_t get_if_chain(depot_stack_handle_t handle,
					 const struct walked_chain *chain, bool shorter)
{
	if (!stack_depot_get(handle))
		return 0;
	if (handle_is_chain(handle, chain, shorter))
		return handle;
	stack_depot_put(handle);
	return 0;
}

/*
 * Take a reference to @handle from the CPU cache if it stands for the chain, or, if
 * @shorter, for its first frames. Return: @handle, or 0.
 */
static depot_stack_handle_t take_ref_if_chain(depot_stack_handle_t handle,
					      const struct walked_chain *chain, bool shorter)
{
	struct stack_depot_cpu_cache *cpu;
	depot_stack_handle_t taken = 0;
	struct stack_depot_ref *ref;

	if (!handle)
		return 0;
	cpu = stack_depot_cpu_acquire();
	/* An interrupted task uses the CPU cache. */
	if (!cpu)
		return get_if_chain(handle, chain, shorter);
	ref = get_ref(cpu, handle);
	if (ref && !shorter && chain->tag && ref->tag == chain->tag) {
		taken = take_ref(ref);
	} else if (ref && handle_is_chain(handle, chain, shorter)) {
		taken = take_ref(ref);
		if (!shorter && chain->tag)
			ref->tag = chain->tag;
	}
	stack_depot_cpu_release(cpu);
	return taken;
}

/* Take a reference to the chain if the depot has it. Return: a handle, or 0. */
static depot_stack_handle_t find_chain(const struct walked_chain *chain)
{
	depot_stack_handle_t handle;

	/* The handle stands for these frames until a grace period has passed. */
	rcu_read_lock_sched_notrace();
	handle = stack_depot_find(chain->frames, chain->count, CHAIN_FLAGS);
	handle = take_ref_if_chain(handle, chain, false);
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
		ref = stack_depot_refill_ref(cpu, handle);
		if (ref && chain->tag)
			ref->tag = chain->tag;
		stack_depot_cpu_release(cpu);
	}
	return handle;
}

/* --- A full depot ----------------------------------------------------------------- */

/* Handle of the overflow chain. Interned with the first chain, while there is room. */
static depot_stack_handle_t overflow_chain;

/* The overflow chain has one frame: users see the name of this function. */
static noinline unsigned long slab_owner_no_room(void)
{
	return _THIS_IP_;
}

/* Intern the overflow chain, unless that was done. */
static void intern_overflow_chain(gfp_t gfp)
{
	unsigned long frame = slab_owner_no_room();
	depot_stack_handle_t handle;

	if (likely(READ_ONCE(overflow_chain)))
		return;
	handle = stack_depot_save_flags(&frame, 1, gfp | __GFP_NOWARN,
					STACK_DEPOT_FLAG_CAN_ALLOC | CHAIN_FLAGS);
	if (cmpxchg(&overflow_chain, 0, handle))
		stack_depot_put(handle);
}

/* Take a reference to the overflow chain, which is never evicted. Return: its handle, or 0. */
static depot_stack_handle_t take_overflow_ref(void)
{
	depot_stack_handle_t handle = READ_ONCE(overflow_chain);
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref;

	if (!cpu)
		return stack_depot_get(handle) ? handle : 0;
	ref = get_ref(cpu, handle);
	handle = ref ? take_ref(ref) : 0;
	stack_depot_cpu_release(cpu);
	return handle;
}

/*
 * When the depot had no room for a chain of this CPU: jiffies | 1, which is never 0. Two ticks
 * count as one.
 */
static DEFINE_PER_CPU(unsigned long, refused_at);

/* After a refusal, a CPU asks the depot for room again in the next tick. */
static bool was_refused_in_this_tick(void)
{
	return this_cpu_read(refused_at) == (jiffies | 1);
}

/*
 * Intern half of the frames, a quarter, and so on, without memory for new ones unless @store;
 * at last, use the overflow chain. Return: a handle with a reference, or 0 if the overflow
 * chain is missing, too.
 */
static depot_stack_handle_t intern_shorter_chain(const struct walked_chain *chain, bool store,
						 enum stack_depot_captured *captured)
{
	struct walked_chain shorter = { .frames = chain->frames, .count = chain->count };
	depot_stack_handle_t handle;

	*captured = STACK_DEPOT_CAPTURED_SHORTER;
	while (shorter.count /= 2) {
		handle = find_chain(&shorter);
		if (!handle && store)
			handle = store_chain(&shorter);
		if (handle)
			return handle;
	}
	*captured = STACK_DEPOT_CAPTURED_NONE;
	return take_overflow_ref();
}

/* --- Capturing ------------------------------------------------------------------- */

/* The handle that the chain's node has. */
static depot_stack_handle_t *chain_node_handle(const struct stack_depot_walk *walk)
{
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	if (walk->node)
		return &walk->node->handle;
#endif
	return NULL;
}

static u32 chain_tag(const struct stack_depot_walk *walk)
{
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	if (walk->node)
		return stack_depot_node_tag(walk->tree, walk->node);
#endif
	return 0;
}

/*
 * Intern a chain. @weak: the handle that its node has. @last: use a shorter chain if the
 * depot has no room for it. @whole: never do. Return: a handle with a reference, or 0.
 */
static depot_stack_handle_t intern_chain(const struct walked_chain *chain,
					 depot_stack_handle_t weak, bool last, bool whole,
					 enum stack_depot_captured *captured)
{
	depot_stack_handle_t handle;
	bool refused = !whole && was_refused_in_this_tick();

	*captured = STACK_DEPOT_CAPTURED_ALL;
	handle = take_ref_if_chain(weak, chain, false);
	if (handle)
		return handle;
	if (refused) {
		*captured = STACK_DEPOT_CAPTURED_SHORTER;
		handle = take_ref_if_chain(weak, chain, true);
		if (handle)
			return handle;
		*captured = STACK_DEPOT_CAPTURED_ALL;
	}
	handle = find_chain(chain);
	if (handle)
		return handle;
	if (refused)
		return intern_shorter_chain(chain, false, captured);
	handle = store_chain(chain);
	if (handle || !last)
		return handle;
	this_cpu_write(refused_at, jiffies | 1);
	stack_depot_flush_if_full();
	return intern_shorter_chain(chain, true, captured);
}

/*
 * Let the next captures of the chain recognize the shorter one that took its place: tag this
 * CPU's references with the node of its frames, an ancestor of the chain's node. Another chain
 * may have the same frames and another node: it keeps its tag.
 */
static void tag_shorter_chain(depot_stack_handle_t handle, const struct stack_depot_walk *walk,
			      const unsigned long *frames, unsigned int depth, bool skip,
			      struct stack_depot_caller caller)
{
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	struct stack_depot_cpu_cache *cpu = walk->node ? stack_depot_cpu_acquire() : NULL;
	struct stack_depot_ref *ref = cpu ? stack_depot_find_ref(cpu, handle) : NULL;
	const struct stack_depot_node *ancestor = NULL;
	unsigned int count;

	if (ref && !ref->tag) {
		count = stack_depot_match(handle, frames, walk->count);
		ancestor = stack_depot_find_ancestor(walk->tree, depth, skip, caller, count);
	}
	if (ancestor)
		ref->tag = stack_depot_node_tag(walk->tree, ancestor);
	if (cpu)
		stack_depot_cpu_release(cpu);
#endif
}

/*
 * Walk the stack and intern the chain, without an allocation. @last: as for intern_chain().
 * Return: a handle with a reference, or 0.
 */
static depot_stack_handle_t walk_and_intern(unsigned int depth, depot_flags_t flags,
					    struct stack_depot_caller caller, bool last,
					    enum stack_depot_captured *captured)
{
	unsigned long *buffer = get_chain_buffer();
	depot_stack_handle_t handle = 0, *weak;
	struct stack_depot_walk walk;

	if (!buffer)
		return 0;
	walk = stack_depot_walk_running(buffer, depth, flags & STACK_DEPOT_FLAG_SKIP,
					caller);
	weak = chain_node_handle(&walk);
	if (likely(walk.count)) {
		struct walked_chain chain = { buffer, walk.count, chain_tag(&walk) };

		handle = intern_chain(&chain, weak ? READ_ONCE(*weak) : 0, last,
				      flags & STACK_DEPOT_FLAG_WHOLE, captured);
	}
	if (weak && handle && handle != READ_ONCE(*weak))
		WRITE_ONCE(*weak, handle);
	if (handle && *captured == STACK_DEPOT_CAPTURED_SHORTER)
		tag_shorter_chain(handle, &walk, buffer, depth, flags & STACK_DEPOT_FLAG_SKIP,
				  caller);
	put_chain_buffer();
	return handle;
}

#ifdef CONFIG_STACKDEPOT_CALL_TREE
DEFINE_PER_CPU(unsigned long, stack_depot_reordered_at);

/*
 * Find this CPU's references to @handle if it took the place of the running chain: it is the
 * overflow chain, or a chain of its first frames. Return: NULL if it is not recognized.
 */
static struct stack_depot_ref *
find_shorter_ref(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
		 const struct stack_depot_tree *tree, const struct stack_depot_node *node,
		 unsigned int depth, bool skip, struct stack_depot_caller caller,
		 enum stack_depot_captured *captured)
{
	const struct stack_depot_node *ancestor;
	struct stack_depot_ref *ref;

	*captured = STACK_DEPOT_CAPTURED_NONE;
	if (handle == READ_ONCE(overflow_chain))
		return get_ref(cpu, handle);
	*captured = STACK_DEPOT_CAPTURED_SHORTER;
	ref = stack_depot_find_ref(cpu, handle);
	ancestor = ref ? stack_depot_tagged_node(tree, ref->tag) : NULL;
	if (!ancestor || !ancestor->frames || ancestor->frames >= node->frames ||
	    stack_depot_find_ancestor(tree, depth, skip, caller, ancestor->frames) != ancestor)
		return NULL;
	return get_ref(cpu, handle);
}
#endif

/*
 * Take a reference that this CPU keeps to the running chain, or to the chain that took its
 * place if the depot still has no room. Return: a handle, or 0.
 */
static __always_inline depot_stack_handle_t
take_running_ref(unsigned int depth, depot_flags_t flags, struct stack_depot_caller caller,
		 enum stack_depot_captured *captured)
{
	depot_stack_handle_t handle = 0;
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	const struct stack_depot_tree *tree;
	const struct stack_depot_node *node;
	depot_stack_handle_t weak;
	struct stack_depot_ref *ref;
	bool reorder;

	if (unlikely(!cpu))
		return 0;
	reorder = stack_depot_reorder_is_due();
	__this_cpu_write(stack_depot_reordered_at, jiffies);
	tree = READ_ONCE(stack_depot_tree);
	node = tree ? stack_depot_recognize(tree, depth, flags & STACK_DEPOT_FLAG_SKIP, caller,
					    reorder) : NULL;
	weak = node ? READ_ONCE(node->handle) : 0;
	ref = stack_depot_find_ref(cpu, weak) ?: stack_depot_restore_ref(cpu, weak);
	if (likely(ref && ref->tag == stack_depot_node_tag(tree, node))) {
		*captured = STACK_DEPOT_CAPTURED_ALL;
		ref = stack_depot_usable_ref(ref, true);
	} else if (weak && !(flags & STACK_DEPOT_FLAG_WHOLE) && was_refused_in_this_tick()) {
		ref = find_shorter_ref(cpu, weak, tree, node, depth,
				       flags & STACK_DEPOT_FLAG_SKIP, caller, captured);
	} else {
		ref = NULL;
	}
	if (likely(ref))
		handle = take_ref(ref);
	else if (node)
		this_cpu_inc(stack_depot_capture_counts.no_ref);
	else
		this_cpu_inc(stack_depot_capture_counts.unknown);
	stack_depot_cpu_release(cpu);
#endif
	return handle;
}

/* Attempts to give memory to the depot: another CPU can use it up in between. */
#define REFILLS		4

/**
 * stack_depot_capture() - intern the running stack's chain
 * @depth: number of frames to keep, from 1 to STACK_DEPOT_CAPTURE_MAX
 * @flags: STACK_DEPOT_FLAG_SKIP, STACK_DEPOT_FLAG_WHOLE, or 0
 * @gfp: flags of the allocation that is tracked; 0 if the depot may not allocate
 * @caller: STACK_DEPOT_CALLER of a function that does not return before
 * @captured: set to how much of the chain the handle stands for
 *
 * The frames are in a per-CPU buffer while they are interned, so nothing is allocated
 * then. If the depot has no room, give it memory afterwards and walk the stack again. At
 * the depot's bound, use a shorter chain, or the overflow chain.
 *
 * Context: any.
 *
 * Return: a handle with a reference, which stack_depot_put_ref() or stack_depot_put()
 * drops. 0 if the depot has no room for any chain, or in an NMI that the depot cannot serve.
 */
noinline depot_stack_handle_t stack_depot_capture(unsigned int depth, depot_flags_t flags,
						  gfp_t gfp, struct stack_depot_caller caller,
						  enum stack_depot_captured *captured)
{
	depot_stack_handle_t handle;
	unsigned int i;

	/* KMSAN does not see that this file sets @captured. */
	kmsan_unpoison_memory(captured, sizeof(*captured));
	handle = take_running_ref(depth, flags, caller, captured);
	if (likely(handle))
		return handle;
	if (flags & STACK_DEPOT_FLAG_WHOLE)
		return walk_and_intern(depth, flags, caller, false, captured);
	intern_overflow_chain(gfp);
	for (i = 0; !handle && i < REFILLS; i++) {
		handle = walk_and_intern(depth, flags, caller, false, captured);
		/* @gfp also forbids the refill to sleep where the allocation must not. */
		if (!handle && !stack_depot_refill(gfp | __GFP_NOWARN))
			break;
	}
	return handle ?: walk_and_intern(depth, flags, caller, true, captured);
}

/**
 * stack_depot_find_tag() - find out which chain the running stack is
 * @depth: number of frames at most
 * @caller: where the chain starts
 * @hint: set to a handle that was the chain's, and can be another one's by now
 *
 * A caller that holds a reference to a chain, and knows its tag, recognizes it by the tag.
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the chain's tag, which changes when the call tree is replaced; 0 if the call tree does
 * not have the chain.
 */
noinline u32 stack_depot_find_tag(unsigned int depth, struct stack_depot_caller caller,
				  depot_stack_handle_t *hint)
{
	u32 tag = 0;
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	const struct stack_depot_tree *tree = READ_ONCE(stack_depot_tree);
	bool reorder = stack_depot_reorder_is_due();
	const struct stack_depot_node *node;

	__this_cpu_write(stack_depot_reordered_at, jiffies);
	node = tree ? stack_depot_recognize(tree, depth, false, caller, reorder) : NULL;
	if (node) {
		*hint = READ_ONCE(node->handle);
		tag = stack_depot_node_tag(tree, node);
	}
#endif
	return tag;
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
	count = stack_depot_walk_running(frames, depth, flags & STACK_DEPOT_FLAG_SKIP,
					 caller).count;
	preempt_enable();
	kmsan_unpoison_memory(frames, count * sizeof(*frames));
	return count;
}
