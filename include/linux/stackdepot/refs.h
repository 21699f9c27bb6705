/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU cache: references to evictable records of the stack depot, and counts of
 * what their stacks hold, kept by each CPU.
 *
 * Many CPUs capture and drop a hot stack at the same time. If each of them changed the
 * refcount and the counters of the depot's record, its cache line would bounce between
 * them. Instead, a CPU gets references from the depot in batches, and captures get and put them
 * one by one. The CPU flushes all of them to the depot within a second.
 *
 * Only its own CPU changes a CPU cache, with preemption disabled. stack_depot_cpu_acquire()
 * clears the pointer to it meanwhile, so an interrupt falls back to the depot. Readers on
 * other CPUs read the counts without a lock: see stack_depot_read_counters().
 *
 * Here is what users inline into an allocation. lib/stackdepot/refs.c has the slow paths.
 */
#ifndef _LINUX_STACKDEPOT_REFS_H
#define _LINUX_STACKDEPOT_REFS_H

#ifndef _LINUX_STACKDEPOT_CAPTURE_H
#error "Include <linux/stackdepot_capture.h> instead"
#endif

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

/*
 * A handle's references are kept in one of two sets of refs, which are a cache line each. Two
 * hashes choose the sets: handles that meet in one set have different second sets, so that nearly
 * all of them find room unless most places are in use.
 */
#define STACK_DEPOT_REFS_SET		2
#define STACK_DEPOT_REFS_SETS		2304
#define STACK_DEPOT_REFS		(STACK_DEPOT_REFS_SETS * STACK_DEPOT_REFS_SET)
#define STACK_DEPOT_REF_CHOICES		2

/* Number of references that a CPU gets from the depot, or puts back, at a time: a batch. */
#define STACK_DEPOT_REF_BATCH		64

/*
 * No record has this handle: it would be in the last bytes of a pool. It is not 0, so that
 * nobody takes an unused place for that of handle 0, and keeps references to nothing there.
 */
#define STACK_DEPOT_REF_UNUSED		U32_MAX

/* Not 0, which is the hash of a stack that could not be walked: no ref is found by that. */
#define STACK_DEPOT_HASH_UNKNOWN	1

/**
 * struct stack_depot_ref - references to one handle, kept by one CPU
 * @hash: the hash of the handle's frames, from stack_depot_hash_frames(), or
 *	STACK_DEPOT_HASH_UNKNOWN
 * @handle: the handle, STACK_DEPOT_REF_UNUSED if this place is unused
 * @references: number of references; at least one, but none to a stack that the depot keeps for
 *	ever. As long as the CPU keeps one, @handle stands for the same words, so @hash stays true.
 *	Only a link can change, and words with a link have no hash: see stack_depot_set_link().
 * @sequence: odd while @handle changes or @counters move to the depot
 * @counters: counts of this CPU that are not in the depot yet. They are moved there before
 *	they can overflow: see STACK_DEPOT_REF_COUNT_MAX.
 */
struct stack_depot_ref {
	u64 hash;
	depot_stack_handle_t handle;
	u16 references;
	u16 sequence;
	s32 counters[STACK_DEPOT_COUNTERS];
};

static_assert(sizeof(struct stack_depot_ref) == 32);

/*
 * Counters beyond this are moved to the depot when a batch is got or put, at least once a second.
 * In between, a CPU allocates at most 128 objects more than it frees, or frees 128 more. If it
 * allocates large objects of a chain and frees small ones of the same chain, its counters wrap
 * after 262,144 pairs of 8 KiB within a second.
 */
#define STACK_DEPOT_REF_COUNT_MAX	BIT(30)

/*
 * The index leads from the hash of a chain to its ref. An entry has the number of the ref in its
 * lower bits, and bits of the hash above. It is in the set of the hash, unless others took its
 * place.
 */
#define STACK_DEPOT_INDEX_BITS		13
#define STACK_DEPOT_INDEX		BIT(STACK_DEPOT_INDEX_BITS)
#define STACK_DEPOT_INDEX_SET		8
#define STACK_DEPOT_INDEX_REF		(BIT(13) - 1)
static_assert(STACK_DEPOT_REFS <= STACK_DEPOT_INDEX_REF);
/*
 * An unused entry has this number, of the place behind the last ref: a lookup then reads words of
 * the index, which are in the CPU cache.
 */
#define STACK_DEPOT_INDEX_UNUSED	STACK_DEPOT_REFS

/* Number of evicted chains to which a CPU keeps a reference: 4,096, fewer than refs. */
#define STACK_DEPOT_EVICTED		(STACK_DEPOT_REFS - 512)

/**
 * struct stack_depot_cpu_cache - the references that a CPU keeps
 * @ref: the places
 * @index: leads from a chain's hash to its ref
 * @evicted: handles of the chains that were evicted last, with a reference, or 0. A chain whose
 *	objects are freed at once may have no other reference: without it, the depot would free the
 *	chain, and the next capture would store it anew.
 */
struct stack_depot_cpu_cache {
	struct stack_depot_ref ref[STACK_DEPOT_REFS];
	u32 index[STACK_DEPOT_INDEX];
	depot_stack_handle_t evicted[STACK_DEPOT_EVICTED];
};

static_assert(sizeof(struct stack_depot_cpu_cache) <= SZ_128K + SZ_64K);

/*
 * The CPU cache of each CPU. The first pointer is NULL while somebody uses the CPU cache;
 * the second is NULL only if the CPU has none, and is RCU-protected for other CPUs.
 */
DECLARE_PER_CPU(struct stack_depot_cpu_cache *, stack_depot_cpu_caches);
DECLARE_PER_CPU_READ_MOSTLY(struct stack_depot_cpu_cache __rcu *, stack_depot_cpu_caches_home);

void *stack_depot_alloc_table(size_t bytes, int node);
void stack_depot_free_table(void *table, size_t bytes);
void stack_depot_cpu_caches_flush(void);
void stack_depot_put_refs(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			  unsigned int references);
struct stack_depot_ref *stack_depot_get_batch(struct stack_depot_cpu_cache *cpu,
					      depot_stack_handle_t handle);
struct stack_depot_ref *__cold stack_depot_get_ref_batch(struct stack_depot_ref *ref);
void stack_depot_put_ref_batch(struct stack_depot_ref *ref);
struct stack_depot_ref *__cold stack_depot_find_second_ref(struct stack_depot_cpu_cache *cpu,
							   depot_stack_handle_t handle);
void stack_depot_count_on_cpu(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			      const s32 more[STACK_DEPOT_COUNTERS]);
bool stack_depot_read_counters(depot_stack_handle_t handle, long counters[STACK_DEPOT_COUNTERS]);
depot_stack_handle_t stack_depot_next_on_cpu(unsigned int nr, unsigned int *place,
					     s32 counters[STACK_DEPOT_COUNTERS], bool *moving);

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

/* One of the two sets that can have the ref of a handle; @choice is 0 or 1. */
static __always_inline struct stack_depot_ref *
stack_depot_ref_set(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
		    unsigned int choice)
{
	u32 hash = (choice ? rol32(handle, 16) : handle) * GOLDEN_RATIO_32;

	return &cpu->ref[((u64)hash * STACK_DEPOT_REFS_SETS >> 32) * STACK_DEPOT_REFS_SET];
}

/*
 * Find the references that this CPU keeps. Return: NULL if it keeps none of this handle, or
 * if @handle is 0.
 */
static __always_inline struct stack_depot_ref *
stack_depot_find_ref(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle)
{
	struct stack_depot_ref *set = stack_depot_ref_set(cpu, handle, 0);

	if (likely(set[0].handle == handle))
		return &set[0];
	if (likely(set[1].handle == handle))
		return &set[1];
	return stack_depot_find_second_ref(cpu, handle);
}

static __always_inline u32 *stack_depot_index_set(struct stack_depot_cpu_cache *cpu, u64 hash)
{
	return &cpu->index[hash >> (64 - STACK_DEPOT_INDEX_BITS) & ~(STACK_DEPOT_INDEX_SET - 1)];
}

/* The bits of a hash that an entry of the index has. No bit of them selects the set. */
static __always_inline u32 stack_depot_index_tag(u64 hash)
{
	return hash >> (32 - STACK_DEPOT_INDEX_BITS) & ~STACK_DEPOT_INDEX_REF;
}

/* Find the references to a chain that this CPU keeps, by its hash. Return: NULL without any. */
static __always_inline struct stack_depot_ref *
stack_depot_find_hashed_ref(struct stack_depot_cpu_cache *cpu, u64 hash)
{
	u32 *entry = stack_depot_index_set(cpu, hash), *end = entry + STACK_DEPOT_INDEX_SET;
	u32 tag = stack_depot_index_tag(hash);
	struct stack_depot_ref *ref;

	for (; entry != end; entry++) {
		u32 differs = *entry ^ tag;

		if (differs > STACK_DEPOT_INDEX_REF)
			continue;
		ref = &cpu->ref[differs];
		if (likely(ref->hash == hash))
			return ref;
	}
	return NULL;
}

/* Can a reference be got from @ref? The last one stays: it keeps the words in the depot. */
static __always_inline bool stack_depot_can_get_ref(const struct stack_depot_ref *ref)
{
	return ref->references > 1;
}

/*
 * Return @ref if a reference can be got from it, else NULL. If only the last one is left and
 * @get_batch is set, get a batch from the depot.
 */
static __always_inline struct stack_depot_ref *
stack_depot_usable_ref(struct stack_depot_ref *ref, bool get_batch)
{
	if (likely(stack_depot_can_get_ref(ref)))
		return ref;
	return get_batch ? stack_depot_get_ref_batch(ref) : NULL;
}

/* Get a reference from @ref: stack_depot_can_get_ref() was true. */
static __always_inline void stack_depot_get_ref(struct stack_depot_ref *ref)
{
	/* Keep the compiler from holding the number in a register since it was compared. */
	barrier_data(ref);
	ref->references--;
}

/* Can one more reference be put into @ref? */
static __always_inline bool stack_depot_can_put_ref(const struct stack_depot_ref *ref)
{
	return ref->references < 2 * STACK_DEPOT_REF_BATCH;
}

/* Put a reference into @ref: stack_depot_can_put_ref() was true. */
static __always_inline void stack_depot_put_ref(struct stack_depot_ref *ref)
{
	/* As in stack_depot_get_ref(). */
	barrier_data(ref);
	ref->references++;
}

/* Put one reference, or none if @handle is 0. */
static __always_inline void stack_depot_put_handle(struct stack_depot_cpu_cache *cpu,
						   depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle);

	if (likely(ref && stack_depot_can_put_ref(ref)))
		stack_depot_put_ref(ref);
	else if (handle)
		stack_depot_put_refs(cpu, handle, 1);
}

#endif /* _LINUX_STACKDEPOT_REFS_H */
