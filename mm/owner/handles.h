/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU cache: references to handles, kept by each CPU for the next capture.
 *
 * Many CPUs capture and drop a hot chain at the same time. If each of them changed the
 * refcount of the depot's record, its cache line would bounce between them. Instead, a
 * CPU takes references from the depot in batches, hands them out one by one, and keeps
 * those that are dropped. As long as it keeps one, the words of the handle stay in the
 * depot, so the CPU can compare them there and needs no lookup.
 *
 * Hints say which cached ref to compare with. A wrong hint only costs a lookup.
 *
 * Only its own CPU uses a CPU cache, with preemption disabled. owner_cpu_cache_acquire()
 * clears the pointer to it meanwhile, so an interrupt falls back to the depot.
 */
#ifndef _MM_OWNER_HANDLES_H
#define _MM_OWNER_HANDLES_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/randomize_kstack.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>

#include "record.h"
#include "unwind.h"

#define REF_BITS	10
#define HINT_BITS	12
#define TASK_HINT_BITS	8

/* Number of references taken from the depot, or given back to it, at a time. */
#define REF_BATCH	64

/**
 * struct cached_ref - references to one handle, kept by one CPU
 * @handle: the handle, 0 if this entry is unused
 * @references: number of references, at least one
 * @count: number of @words, 0 if they were not fetched from the depot
 * @words: return addresses of a chain, or the words of a task, in the depot
 * @counters: what this CPU has counted since it last told the depot, by enum owner_counter
 *	up to OWNER_PAGES, whose part is in owner_cpu_cache.pages
 */
struct cached_ref {
	depot_stack_handle_t handle;
	u16 references;
	u16 count;
	const unsigned long *words;
	long counters[OWNER_PAGES];
};

#ifdef CONFIG_OWNER_UNWIND_ORC
#define CHAIN_SET_BITS	6
#define CHAIN_SET_WAYS	4

/**
 * struct cached_chain - a chain that can be recognized without a walk
 * @key: owner_cpu_chain_key() of the chain, 0 if this entry is unused
 * @handle: handle of the chain, with a reference
 * @recipe: compared with the running stack
 */
struct cached_chain {
	unsigned long key;
	depot_stack_handle_t handle;
	struct owner_chain_recipe recipe;
};

/**
 * struct cached_chain_set - a set of chains whose keys have the same hash
 * @last: the chain that was recognized last, compared first
 * @made: counts chains that were stored; the next one replaces the oldest
 * @chain: the chains
 */
struct cached_chain_set {
	struct cached_chain *last;
	unsigned int made;
	struct cached_chain chain[CHAIN_SET_WAYS];
};
#endif

/**
 * struct owner_cpu_cache - what a CPU keeps
 * @hint: index into @ref by owner_cpu_hash_words() of a handle's words
 * @task_hint: index into @ref by the lowest bits of a task's pid
 * @ref: references, by owner_cpu_ref_index() of the handle
 * @pages: by the same index: allocated pages that the depot was not told of
 * @chain_sets: chains that can be recognized, by a hash of their keys
 *
 * It takes 57 KiB without @chain_sets and 128 KiB with them.
 */
struct owner_cpu_cache {
	u16 hint[1 << HINT_BITS];
	u16 task_hint[1 << TASK_HINT_BITS];
	struct cached_ref ref[1 << REF_BITS];
	long pages[1 << REF_BITS];
#ifdef CONFIG_OWNER_UNWIND_ORC
	struct cached_chain_set chain_sets[1 << CHAIN_SET_BITS];
#endif
};

static_assert(sizeof(struct owner_cpu_cache) <= SZ_128K);

/*
 * The CPU cache of each CPU. The first pointer is NULL while somebody uses the CPU cache;
 * the second is NULL only if the CPU has none.
 */
DECLARE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches);
DECLARE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches_home);

void owner_cpu_caches_init(void);
void owner_cpu_caches_flush(void);
void owner_counters_flush(void);
void owner_cpu_add_refs(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
			unsigned int references);
bool owner_cpu_refill_ref(struct owner_cpu_cache *cpu, depot_stack_handle_t handle);
void owner_cpu_count_pages_slow(struct owner_cpu_cache *cpu, depot_stack_handle_t handle, long n);
void owner_cpu_store_words(depot_stack_handle_t handle, const unsigned long *words,
			   unsigned int count);
void owner_cpu_store_chain(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
			   unsigned long ip, unsigned int depth, struct owner_caller caller,
			   const struct owner_chain_recipe *recipe);
void owner_cpu_flush_ratelimited(void);
depot_stack_handle_t owner_handle_save(unsigned long *words, unsigned int count, gfp_t flags,
				       depot_flags_t kind);

/* Take the CPU cache, until owner_cpu_cache_release(). Return: NULL if it is in use, or missing. */
static __always_inline struct owner_cpu_cache *owner_cpu_cache_acquire(void)
{
	struct owner_cpu_cache *cpu;

	preempt_disable();
	cpu = __this_cpu_read(owner_cpu_caches);
	if (!cpu) {
		preempt_enable();
		return NULL;
	}
	/* If an interrupt took the CPU cache before this line, it has put it back by now. */
	__this_cpu_write(owner_cpu_caches, NULL);
	barrier();
	return cpu;
}

static __always_inline void owner_cpu_cache_release(struct owner_cpu_cache *cpu)
{
	barrier();
	__this_cpu_write(owner_cpu_caches, cpu);
	preempt_enable();
}

/* The index of the one cached ref that can keep references to this handle. */
static __always_inline u16 owner_cpu_ref_index(depot_stack_handle_t handle)
{
	return hash_32(handle, REF_BITS);
}

/* OPTIMIZER_HIDE_VAR() keeps the compiler from computing the address again for each use. */
static __always_inline struct cached_ref *owner_cpu_ref_by_index(struct owner_cpu_cache *cpu,
								 u16 index)
{
	struct cached_ref *ref = &cpu->ref[index];

	OPTIMIZER_HIDE_VAR(ref);
	return ref;
}

static __always_inline struct cached_ref *owner_cpu_ref_by_handle(struct owner_cpu_cache *cpu,
								  depot_stack_handle_t handle)
{
	return owner_cpu_ref_by_index(cpu, owner_cpu_ref_index(handle));
}

static __always_inline u32 owner_cpu_hash_words(const unsigned long *words, unsigned int count)
{
	u64 hash = count;
	unsigned int i;

	for (i = 0; i < count; i++)
		hash = rol64(hash ^ words[i], 7);
	return hash_64(hash, HINT_BITS);
}

static __always_inline bool owner_cpu_words_equal(const unsigned long *a, const unsigned long *b,
						  unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* True if a reference can be taken. The last one stays: it keeps the words in the depot. */
static __always_inline bool owner_cpu_can_take_ref(const struct cached_ref *ref)
{
	/* READ_ONCE(): otherwise the compiler keeps the value in a register until its decrement. */
	return READ_ONCE(ref->references) > 1;
}

/* Take one reference. Return: false if the depot has no more to give. */
static __always_inline bool owner_cpu_take_ref(struct owner_cpu_cache *cpu, struct cached_ref *ref,
					       depot_stack_handle_t handle)
{
	if (unlikely(ref->handle != handle || !owner_cpu_can_take_ref(ref)) &&
	    !owner_cpu_refill_ref(cpu, handle))
		return false;
	ref->references--;
	return true;
}

/* The cached ref that may have these words: owner_cpu_ref_has_words() tells. */
static __always_inline struct cached_ref *owner_cpu_find_ref_by_words(struct owner_cpu_cache *cpu,
								      const unsigned long *words,
								      unsigned int count)
{
	return owner_cpu_ref_by_index(cpu, cpu->hint[owner_cpu_hash_words(words, count)]);
}

static __always_inline bool owner_cpu_ref_has_words(const struct cached_ref *ref,
						    const unsigned long *words, unsigned int count)
{
	return ref->count == count && owner_cpu_words_equal(ref->words, words, count);
}

/* Take a reference to the handle of these words. Return: NULL if they are not cached. */
static __always_inline struct cached_ref *owner_cpu_get_ref_by_words(struct owner_cpu_cache *cpu,
								     const unsigned long *words,
								     unsigned int count)
{
	struct cached_ref *ref = owner_cpu_find_ref_by_words(cpu, words, count);

	return owner_cpu_ref_has_words(ref, words, count) &&
	       owner_cpu_take_ref(cpu, ref, ref->handle) ? ref : NULL;
}

#ifdef CONFIG_OWNER_UNWIND_ORC

/*
 * A key for chains that start at @ip. Their position on the stack tells most of them
 * apart. If the kernel randomizes that position, use the number of the system call
 * instead: 16 bits of it, so that the depth in the upper bits stays intact.
 */
static __always_inline unsigned long owner_cpu_chain_key(unsigned long ip, unsigned int depth,
							 struct owner_caller caller)
{
	unsigned long key = ip + ((unsigned long)depth << 48);

#ifdef CONFIG_RANDOMIZE_KSTACK_OFFSET
	if (static_branch_maybe(CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT,
				&randomize_kstack_offset))
		return key ^ (unsigned long)(u16)task_pt_regs(current)->orig_ax << 32;
#endif
	return key ^ ((unsigned long)caller.frame & (THREAD_SIZE - 1)) << 32;
}

static __always_inline struct cached_chain_set *owner_cpu_chain_set(struct owner_cpu_cache *cpu,
								    unsigned long key)
{
	return &cpu->chain_sets[hash_64(key, CHAIN_SET_BITS)];
}

/* Recognize the running chain without a walk. Return: its handle, 0 if it is not cached. */
static __always_inline depot_stack_handle_t
owner_cpu_recognize_chain(struct owner_cpu_cache *cpu, unsigned long ip, unsigned int depth,
			  struct owner_caller caller)
{
	unsigned long key = owner_cpu_chain_key(ip, depth, caller);
	struct cached_chain_set *set = owner_cpu_chain_set(cpu, key);
	struct cached_chain *chain = set->last;

	while (unlikely(chain->key != key ||
			!owner_recipe_recognizes_chain(&chain->recipe, caller))) {
		chain = chain == set->chain ? set->chain + CHAIN_SET_WAYS - 1 : chain - 1;
		if (chain == set->last)
			return 0;
	}
	set->last = chain;
	return chain->handle;
}

#else

static __always_inline depot_stack_handle_t
owner_cpu_recognize_chain(struct owner_cpu_cache *cpu, unsigned long ip, unsigned int depth,
			  struct owner_caller caller)
{
	return 0;
}

#endif /* CONFIG_OWNER_UNWIND_ORC */

/* Take a reference to the running chain. Return: NULL if the chain is not recognized. */
static __always_inline struct cached_ref *
owner_cpu_get_running_chain_ref(struct owner_cpu_cache *cpu, unsigned long ip, unsigned int depth,
				struct owner_caller caller)
{
	depot_stack_handle_t handle = owner_cpu_recognize_chain(cpu, ip, depth, caller);
	struct cached_ref *ref = owner_cpu_ref_by_handle(cpu, handle);

	return handle && owner_cpu_take_ref(cpu, ref, handle) ? ref : NULL;
}

/* True if a reference to this handle can be put here. */
static __always_inline bool owner_cpu_can_put_ref(const struct cached_ref *ref,
						  depot_stack_handle_t handle)
{
	return ref->handle == handle && ref->references < 2 * REF_BATCH;
}

/* Put one reference, or none if @handle is 0. Return: the cached ref of @handle. */
static __always_inline struct cached_ref *owner_cpu_put_ref(struct owner_cpu_cache *cpu,
							    depot_stack_handle_t handle)
{
	struct cached_ref *ref = owner_cpu_ref_by_handle(cpu, handle);

	if (likely(owner_cpu_can_put_ref(ref, handle)))
		ref->references++;
	else if (handle)
		owner_cpu_add_refs(cpu, handle, 1);
	return ref;
}

/* Count @n more, or fewer, pages of a chain. @cpu can be NULL, @handle 0. */
static __always_inline void owner_cpu_count_pages(struct owner_cpu_cache *cpu,
						  depot_stack_handle_t handle, long n)
{
	u16 index = owner_cpu_ref_index(handle);

	if (likely(cpu && handle && cpu->ref[index].handle == handle))
		cpu->pages[index] += n;
	else
		owner_cpu_count_pages_slow(cpu, handle, n);
}

static __always_inline u16 *owner_cpu_task_hint(struct owner_cpu_cache *cpu)
{
	return &cpu->task_hint[(unsigned int)current->pid % (1 << TASK_HINT_BITS)];
}

/* The cached ref that may be the current task's: owner_cpu_ref_has_task() tells. */
static __always_inline struct cached_ref *
owner_cpu_find_current_task_ref(struct owner_cpu_cache *cpu)
{
	return owner_cpu_ref_by_index(cpu, *owner_cpu_task_hint(cpu));
}

static __always_inline bool owner_cpu_ref_has_task(const struct cached_ref *ref)
{
	return ref->count == OWNER_TASK_WORDS && ref->words[0] == owner_task_word(0) &&
	       ref->words[1] == owner_task_word(1) && ref->words[2] == owner_task_word(2);
}

/* Take a reference to the current task. Return: NULL if it is not cached. */
static __always_inline struct cached_ref *
owner_cpu_get_current_task_ref(struct owner_cpu_cache *cpu)
{
	struct cached_ref *ref = owner_cpu_find_current_task_ref(cpu);

	return owner_cpu_ref_has_task(ref) &&
	       owner_cpu_take_ref(cpu, ref, ref->handle) ? ref : NULL;
}

#endif /* _MM_OWNER_HANDLES_H */
