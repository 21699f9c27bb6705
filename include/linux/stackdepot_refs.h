/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU cache: references to evictable records of the stack depot, and counts of
 * what their stacks hold, kept by each CPU.
 *
 * Many CPUs capture and drop a hot stack at the same time. If each of them changed the
 * refcount and the counters of the depot's record, its cache line would bounce between
 * them. Instead, a CPU takes references from the depot in batches, hands them out one by
 * one, and keeps those that are dropped. If it needs a place for another stack, it evicts one,
 * and keeps some references to it as a victim. It gives all of them back within a second.
 *
 * Only its own CPU changes a CPU cache, with preemption disabled. stack_depot_cpu_acquire()
 * clears the pointer to it meanwhile, so an interrupt falls back to the depot. Readers on
 * other CPUs read the counts without a lock: see stack_depot_read_counters().
 */
#ifndef _LINUX_STACKDEPOT_REFS_H
#define _LINUX_STACKDEPOT_REFS_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/irq_work_types.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>
#include <linux/types.h>
#include <linux/workqueue_types.h>

#define STACK_DEPOT_REFS_BITS		12
#define STACK_DEPOT_REFS		BIT(STACK_DEPOT_REFS_BITS)

/*
 * A handle's references are kept in one of two places of the CPU cache. Two hashes choose them:
 * handles that meet in one place have different second places, so that all of them find room
 * after some evictions, unless most places are in use.
 */
#define STACK_DEPOT_REF_PLACES		2

/*
 * Number of victims for which a CPU has room at first, and after it has lost many; and the number
 * of victims in a set, which fills a cache line.
 */
#define STACK_DEPOT_VICTIMS		2048
#define STACK_DEPOT_VICTIMS_MAX		8192
#define STACK_DEPOT_VICTIM_SET		8

/* Number of references taken from the depot, or given back to it, at a time. */
#define STACK_DEPOT_REF_BATCH		64

/*
 * No record has this handle: it would be in the last bytes of a pool. It is not 0, so that
 * nobody takes an unused place for that of handle 0, and keeps references to nothing there.
 */
#define STACK_DEPOT_REF_UNUSED		U32_MAX

/**
 * struct stack_depot_ref - references to one handle, kept by one CPU
 * @handle: the handle, STACK_DEPOT_REF_UNUSED if this place is unused
 * @tag: the node or the caller that has the frames of the handle, see stack_depot_refill_ref();
 *	0 if it is not known
 * @references: number of references, at least one. As long as the CPU keeps one, @handle
 *	stands for the same words, so @tag stays true. Only a link can change, which no tag
 *	depends on: see stack_depot_set_link().
 * @sequence: odd while @handle changes or @counters move to the depot
 * @counters: counts of this CPU that are not in the depot yet. They are moved there before
 *	they can overflow: see STACK_DEPOT_REF_COUNT_MAX.
 */
struct stack_depot_ref {
	depot_stack_handle_t handle;
	u32 tag;
	u32 references;
	u32 sequence;
	s32 counters[STACK_DEPOT_COUNTERS];
};

static_assert(sizeof(struct stack_depot_ref) == 32);

/* Tags of the call tree are multiples of this. A victim keeps no other tag. */
#define STACK_DEPOT_TAG_UNIT		32U
#define STACK_DEPOT_VICTIM_REFS_MAX	(STACK_DEPOT_TAG_UNIT - 1)

/**
 * struct stack_depot_victim - what a CPU keeps of the ref of a chain that it has evicted
 * @handle: the handle, 0 if this element is unused
 * @tag: the ref's tag in STACK_DEPOT_TAG_UNIT, 0 if it is not of the call tree
 * @references: number of references, at least one
 */
struct stack_depot_victim {
	depot_stack_handle_t handle;
	u32 tag : 27;
	u32 references : 5;
};

static_assert(sizeof(struct stack_depot_victim) == 8);

/*
 * Counters beyond this are moved to the depot when references are taken from the depot or
 * given back to it, at least once a second. In between, a CPU allocates at most 128 objects more
 * than it frees, or frees 128 more. If it allocates large objects of a chain and frees small ones
 * of the same chain, its counters wrap after 262,144 pairs of 8 KiB within a second.
 */
#define STACK_DEPOT_REF_COUNT_MAX	BIT(30)

/**
 * struct stack_depot_cpu_cache - the references that a CPU keeps
 * @ref: the places
 */
struct stack_depot_cpu_cache {
	struct stack_depot_ref ref[STACK_DEPOT_REFS];
};

static_assert(sizeof(struct stack_depot_cpu_cache) <= SZ_128K);

/*
 * The CPU cache of each CPU. The first pointer is NULL while somebody uses the CPU cache;
 * the second is NULL only if the CPU has none, and is RCU-protected for other CPUs.
 */
DECLARE_PER_CPU(struct stack_depot_cpu_cache *, stack_depot_cpu_caches);
DECLARE_PER_CPU(struct stack_depot_cpu_cache __rcu *, stack_depot_cpu_caches_home);

/**
 * struct stack_depot_victims - the victims of a CPU
 * @victim: an array, NULL if there was no memory for it
 * @count: number of its elements
 * @nr_lost: victims that other ones replaced since the last flush
 * @want_more: queues @grow
 * @grow: makes room for STACK_DEPOT_VICTIMS_MAX
 *
 * They may be read and changed only between stack_depot_cpu_acquire() and
 * stack_depot_cpu_release() on their CPU, or after it has gone offline.
 */
struct stack_depot_victims {
	struct stack_depot_victim *victim;
	unsigned int count;
	unsigned int nr_lost;
	struct irq_work want_more;
	struct work_struct grow;
};

DECLARE_PER_CPU(struct stack_depot_victims, stack_depot_victims);

void stack_depot_cpu_caches_init(void);
void stack_depot_cpu_caches_flush(void);
void stack_depot_flush_if_full(void);
void stack_depot_add_refs(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			  unsigned int references);
struct stack_depot_ref *stack_depot_refill_ref(struct stack_depot_cpu_cache *cpu,
					       depot_stack_handle_t handle);
struct stack_depot_ref *__cold stack_depot_top_up_ref(struct stack_depot_ref *ref);
void stack_depot_give_back_batch(struct stack_depot_ref *ref);
struct stack_depot_ref *__cold stack_depot_restore_ref(struct stack_depot_cpu_cache *cpu,
						       depot_stack_handle_t handle);
void stack_depot_count_on_cpu(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			      const s32 more[STACK_DEPOT_COUNTERS]);
bool stack_depot_read_counters(depot_stack_handle_t handle, long counters[STACK_DEPOT_COUNTERS]);

/* Take the CPU cache, until stack_depot_cpu_release(). Return: NULL if in use or missing. */
static __always_inline struct stack_depot_cpu_cache *stack_depot_cpu_acquire(void)
{
	struct stack_depot_cpu_cache *cpu;

	preempt_disable();
	cpu = __this_cpu_read(stack_depot_cpu_caches);
	if (!cpu) {
		preempt_enable();
		return NULL;
	}
	/* If an interrupt took the CPU cache before this line, it has put it back by now. */
	__this_cpu_write(stack_depot_cpu_caches, NULL);
	barrier();
	return cpu;
}

static __always_inline void stack_depot_cpu_release(struct stack_depot_cpu_cache *cpu)
{
	barrier();
	__this_cpu_write(stack_depot_cpu_caches, cpu);
	preempt_enable();
}

/* The index of a place in which references to this handle can be kept; @place is 0 or 1. */
static __always_inline u32 stack_depot_ref_index(depot_stack_handle_t handle, unsigned int place)
{
	return hash_32(place ? rol32(handle, 16) : handle, STACK_DEPOT_REFS_BITS);
}

static __always_inline struct stack_depot_ref *
stack_depot_ref_place(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
		      unsigned int place)
{
	struct stack_depot_ref *ref = &cpu->ref[stack_depot_ref_index(handle, place)];

	/* Keep the compiler from computing the address again for each use. */
	OPTIMIZER_HIDE_VAR(ref);
	/* It is not NULL, which the compiler cannot know now: leave out tests for that. */
	if (!ref)
		__builtin_unreachable();
	return ref;
}

/*
 * Find the references that this CPU keeps. Return: NULL if it keeps none of this handle, or
 * if @handle is 0.
 */
static __always_inline struct stack_depot_ref *
stack_depot_find_ref(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = stack_depot_ref_place(cpu, handle, 0);

	if (likely(ref->handle == handle))
		return ref;
	ref = stack_depot_ref_place(cpu, handle, 1);
	return ref->handle == handle ? ref : NULL;
}

/* True if a reference can be taken. The last one stays: it keeps the words in the depot. */
static __always_inline bool stack_depot_can_take_ref(const struct stack_depot_ref *ref)
{
	return ref->references > 1;
}

/*
 * Return @ref if a reference can be taken, else NULL. If only the last one is left and @top_up is
 * set, take a batch from the depot.
 */
static __always_inline struct stack_depot_ref *
stack_depot_usable_ref(struct stack_depot_ref *ref, bool top_up)
{
	if (likely(stack_depot_can_take_ref(ref)))
		return ref;
	return top_up ? stack_depot_top_up_ref(ref) : NULL;
}

/* Take a reference: stack_depot_can_take_ref() was true. */
static __always_inline void stack_depot_take_ref(struct stack_depot_ref *ref)
{
	/* Keep the compiler from holding the number in a register since it was compared. */
	barrier_data(ref);
	ref->references--;
}

/* True if one more reference can be kept. */
static __always_inline bool stack_depot_can_keep_ref(const struct stack_depot_ref *ref)
{
	return ref->references < 2 * STACK_DEPOT_REF_BATCH;
}

/* Keep one more reference: stack_depot_can_keep_ref() was true. */
static __always_inline void stack_depot_keep_ref(struct stack_depot_ref *ref)
{
	/* As in stack_depot_take_ref(). */
	barrier_data(ref);
	ref->references++;
}

/* Put one reference, or none if @handle is 0. */
static __always_inline void stack_depot_put_ref(struct stack_depot_cpu_cache *cpu,
						depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle);

	if (likely(ref && stack_depot_can_keep_ref(ref)))
		stack_depot_keep_ref(ref);
	else if (handle)
		stack_depot_add_refs(cpu, handle, 1);
}

#endif /* _LINUX_STACKDEPOT_REFS_H */
