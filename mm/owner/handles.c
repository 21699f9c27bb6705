// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU cache: what is not on the fast path. See handles.h.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "capture.h"

DEFINE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches);
DEFINE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches_home);

/* Add to the depot's counters what this CPU has counted for one handle. */
static void flush_ref_counters(struct owner_cpu_cache *cpu, struct cached_ref *ref)
{
	long *pages = &cpu->pages[ref - cpu->ref];
	long counters[STACK_DEPOT_COUNTERS], any = *pages;
	unsigned int i;

	for (i = 0; i < OWNER_PAGES; i++)
		any |= ref->counters[i];
	if (!any)
		return;
	memcpy(counters, ref->counters, sizeof(ref->counters));
	counters[OWNER_PAGES] = *pages;
	stack_depot_count(ref->handle, counters);
	memset(ref->counters, 0, sizeof(ref->counters));
	*pages = 0;
}

/* Give the counts and all references back to the depot. */
static void flush_ref(struct owner_cpu_cache *cpu, struct cached_ref *ref)
{
	flush_ref_counters(cpu, ref);
	if (ref->handle)
		stack_depot_put_many(ref->handle, ref->references);
	*ref = (struct cached_ref){};
}

#ifdef CONFIG_OWNER_UNWIND_ORC

static void evict_cached_chain(struct owner_cpu_cache *cpu, struct cached_chain *chain)
{
	owner_cpu_put_ref(cpu, chain->handle);
	chain->key = 0;
	chain->handle = 0;
}

static void evict_all_cached_chains(struct owner_cpu_cache *cpu)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cpu->chain_sets); i++)
		for (j = 0; j < CHAIN_SET_WAYS; j++)
			evict_cached_chain(cpu, &cpu->chain_sets[i].chain[j]);
}

/* No chain has the key 0, so an unused entry never matches. */
static void init_cached_chains(struct owner_cpu_cache *cpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpu->chain_sets); i++)
		cpu->chain_sets[i].last = &cpu->chain_sets[i].chain[0];
}

/* Recognize the chain that has this handle from now on, if it has a recipe. */
void owner_cpu_store_chain(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
			   unsigned long ip, unsigned int depth, struct owner_caller caller,
			   const struct owner_chain_recipe *recipe)
{
	unsigned long key = owner_cpu_chain_key(ip, depth, caller);
	struct cached_chain_set *set = owner_cpu_chain_set(cpu, key);
	struct cached_chain *chain;

	if (!recipe->nr_words)
		return;
	chain = &set->chain[set->made++ % CHAIN_SET_WAYS];
	evict_cached_chain(cpu, chain);
	if (!owner_cpu_take_ref(cpu, owner_cpu_ref_by_handle(cpu, handle), handle))
		return;
	chain->handle = handle;
	chain->recipe = *recipe;
	chain->key = key;
}

#else

static void evict_all_cached_chains(struct owner_cpu_cache *cpu)
{
}

static void init_cached_chains(struct owner_cpu_cache *cpu)
{
}

void owner_cpu_store_chain(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
			   unsigned long ip, unsigned int depth, struct owner_caller caller,
			   const struct owner_chain_recipe *recipe)
{
}

#endif

static void flush_cpu_cache(struct owner_cpu_cache *cpu)
{
	unsigned int i;

	/* Sites first: their references move to the cached refs. */
	evict_all_cached_chains(cpu);
	for (i = 0; i < ARRAY_SIZE(cpu->ref); i++)
		flush_ref(cpu, &cpu->ref[i]);
}

/**
 * owner_cpu_add_refs() - keep references in the CPU cache
 * @cpu: the CPU cache, between owner_cpu_cache_acquire() and owner_cpu_cache_release()
 * @handle: the handle
 * @references: number of references
 *
 * Evict the handle in this slot: a handle that was just used is likely to be used again.
 */
void owner_cpu_add_refs(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
			unsigned int references)
{
	struct cached_ref *ref = owner_cpu_ref_by_handle(cpu, handle);

	if (ref->handle != handle) {
		flush_ref(cpu, ref);
		ref->handle = handle;
	} else if (ref->references > REF_BATCH) {
		ref->references -= REF_BATCH;
		stack_depot_put_many(handle, REF_BATCH);
	}
	ref->references += references;
}

/**
 * owner_cpu_refill_ref() - take a batch of references from the depot
 * @cpu: the CPU cache, between owner_cpu_cache_acquire() and owner_cpu_cache_release()
 * @handle: a handle that somebody holds a reference to, or 0
 *
 * Return: false if the depot refuses, or if @handle is 0.
 */
bool owner_cpu_refill_ref(struct owner_cpu_cache *cpu, depot_stack_handle_t handle)
{
	if (!stack_depot_get_many(handle, REF_BATCH))
		return false;
	owner_cpu_add_refs(cpu, handle, REF_BATCH);
	return true;
}

/* Slow path of owner_cpu_count_pages(): no cached ref, or no CPU cache. */
noinline void owner_cpu_count_pages_slow(struct owner_cpu_cache *cpu, depot_stack_handle_t handle,
					 long n)
{
	long counters[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = n };

	if (!handle || !n)
		return;
	if (cpu && owner_cpu_refill_ref(cpu, handle))
		cpu->pages[owner_cpu_ref_index(handle)] += n;
	else
		stack_depot_count(handle, counters);
}

/**
 * owner_cpu_store_words() - let owner_cpu_get_ref_by_words() find a handle on this CPU
 * @handle: the handle, with a reference
 * @words: what it stands for
 * @count: number of @words
 */
void owner_cpu_store_words(depot_stack_handle_t handle, const unsigned long *words,
			   unsigned int count)
{
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();
	long counters[STACK_DEPOT_COUNTERS];
	unsigned long *in_depot = NULL;
	struct cached_ref *ref;

	if (!cpu)
		return;
	if (owner_cpu_refill_ref(cpu, handle)) {
		ref = owner_cpu_ref_by_handle(cpu, handle);
		/* The depot may store the frames of a chain in another form. */
		if (stack_depot_counters(handle, counters))
			ref->count = 0;
		else
			ref->count = stack_depot_fetch(handle, &in_depot);
		ref->words = in_depot;
		cpu->hint[owner_cpu_hash_words(words, count)] = owner_cpu_ref_index(handle);
	}
	owner_cpu_cache_release(cpu);
}

/* Flush this CPU's cache. Return: false if it is in use. */
static bool flush_this_cpu(void)
{
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();

	if (cpu) {
		flush_cpu_cache(cpu);
		owner_cpu_cache_release(cpu);
	}
	return cpu || !this_cpu_read(owner_cpu_caches_home);
}

/**
 * owner_cpu_flush_ratelimited() - flush this CPU's cache, as the depot is full
 *
 * The references of this CPU may be what keeps it full. Flush them only once in 100 ms on
 * the whole machine.
 */
void owner_cpu_flush_ratelimited(void)
{
	static unsigned long next;

	if (time_before(jiffies, READ_ONCE(next)))
		return;
	WRITE_ONCE(next, jiffies + HZ / 10);
	flush_this_cpu();
}

/**
 * owner_handle_save() - intern words that are not in the CPU cache
 * @words: the words
 * @count: number of @words
 * @flags: flags of the allocation that is tracked
 * @kind: STACK_DEPOT_FLAG_DATA if they are no call chain
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
depot_stack_handle_t owner_handle_save(unsigned long *words, unsigned int count, gfp_t flags,
				       depot_flags_t kind)
{
	depot_stack_handle_t handle;

	/* @flags also forbid the depot to sleep where the tracked allocation must not. */
	flags |= __GFP_NOWARN;
	kind |= STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET;
	handle = stack_depot_save_flags(words, count, flags, kind);
	if (handle)
		owner_cpu_store_words(handle, words, count);
	else if (count)
		owner_cpu_flush_ratelimited();
	return handle;
}

/**
 * owner_charge_depot() - charge a chain in the depot, if its cached ref is not at hand
 * @stack: handle of the chain, with a reference
 * @n: 1 for an object that is allocated, -1 for one that is freed
 * @charge: what the object adds to the counters
 */
void owner_charge_depot(depot_stack_handle_t stack, long n, struct owner_charge charge)
{
	long counters[STACK_DEPOT_COUNTERS] = {};

	if (!charge.counted)
		return;
	owner_charge_counters(counters, n, charge);
	stack_depot_count(stack, counters);
}

/* --- Readers ------------------------------------------------------------------- */

/*
 * Call a function on each CPU in turn. It runs in an interrupt; if that hits a user of the
 * CPU cache, the function sets *done to false and is called again.
 */
static void call_on_each_cpu(smp_call_func_t flush)
{
	unsigned int cpu;
	bool done;

	/* A CPU that goes offline flushes its cache in free_cpu_cache(). */
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		do {
			done = true;
			smp_call_function_single(cpu, flush, &done, true);
			cond_resched();
		} while (!done);
	}
	cpus_read_unlock();
}

static void flush_refs_func(void *done)
{
	if (!flush_this_cpu())
		WRITE_ONCE(*(bool *)done, false);
}

/**
 * owner_cpu_caches_flush() - give all cached refs of all CPUs back to the depot
 *
 * For readers of the depot's own statistics. May sleep. Must not be called between
 * owner_cursor_begin() and owner_cursor_end().
 */
void owner_cpu_caches_flush(void)
{
	call_on_each_cpu(flush_refs_func);
}

static void flush_counters_func(void *done)
{
	struct owner_cpu_cache *cpu = owner_cpu_cache_acquire();
	unsigned int i;

	if (!cpu) {
		if (this_cpu_read(owner_cpu_caches_home))
			WRITE_ONCE(*(bool *)done, false);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(cpu->ref); i++)
		flush_ref_counters(cpu, &cpu->ref[i]);
	owner_cpu_cache_release(cpu);
}

/**
 * owner_counters_flush() - add the counts of all CPUs to the depot's counters
 *
 * The CPUs keep their references. May sleep. Must not be called between
 * owner_cursor_begin() and owner_cursor_end().
 */
void owner_counters_flush(void)
{
	call_on_each_cpu(flush_counters_func);
}

/* --- CPU hotplug --------------------------------------------------------------- */

static int alloc_cpu_cache(unsigned int nr)
{
	struct owner_cpu_cache *cpu = kvzalloc_node(sizeof(*cpu), GFP_KERNEL | __GFP_NOWARN,
						    cpu_to_node(nr));

	if (cpu)
		init_cached_chains(cpu);
	per_cpu(owner_cpu_caches_home, nr) = cpu;
	/*
	 * Release: at boot, the CPU runs already, and must see an initialized cache. A CPU
	 * without a cache uses the depot.
	 */
	smp_store_release(per_cpu_ptr(&owner_cpu_caches, nr), cpu);
	return 0;
}

static int free_cpu_cache(unsigned int nr)
{
	struct owner_cpu_cache *cpu = per_cpu(owner_cpu_caches_home, nr);

	per_cpu(owner_cpu_caches, nr) = NULL;
	per_cpu(owner_cpu_caches_home, nr) = NULL;
	if (cpu)
		flush_cpu_cache(cpu);
	kvfree(cpu);
	return 0;
}

/**
 * owner_cpu_caches_init() - allocate a cache for each CPU
 *
 * Captures work without, but each one changes the depot's refcounts. Idempotent. May
 * sleep.
 */
void owner_cpu_caches_init(void)
{
	static DEFINE_MUTEX(mutex);
	static bool done;

	mutex_lock(&mutex);
	if (!done)
		done = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "mm/owner:prepare",
					 alloc_cpu_cache, free_cpu_cache) >= 0;
	mutex_unlock(&mutex);
}
