// SPDX-License-Identifier: GPL-2.0
/*
 * References to handles, which each CPU keeps ready: what is done now and then.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "capture.h"

DEFINE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches);
DEFINE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches_home);

/* Have the depot count what was counted here. */
static void pass_on(struct owner_cpu_cache *handles, struct cached_ref *spare)
{
	long *pages = &handles->pages[spare - handles->spare];
	long counters[STACK_DEPOT_COUNTERS], any = *pages;
	unsigned int i;

	for (i = 0; i < OWNER_PAGES; i++)
		any |= spare->counters[i];
	if (!any)
		return;
	memcpy(counters, spare->counters, sizeof(spare->counters));
	counters[OWNER_PAGES] = *pages;
	stack_depot_count(spare->handle, counters);
	memset(spare->counters, 0, sizeof(spare->counters));
	*pages = 0;
}

/* Keep nothing here. */
static void release(struct owner_cpu_cache *handles, struct cached_ref *spare)
{
	pass_on(handles, spare);
	if (spare->handle)
		stack_depot_put_many(spare->handle, spare->references);
	*spare = (struct cached_ref){};
}

#ifdef CONFIG_OWNER_UNWIND_ORC

static void release_site(struct owner_cpu_cache *handles, struct site *site)
{
	owner_cpu_give(handles, site->handle);
	site->key = 0;
	site->handle = 0;
}

static void release_sites(struct owner_cpu_cache *handles)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(handles->sites); i++)
		for (j = 0; j < SITE_WAYS; j++)
			release_site(handles, &handles->sites[i].site[j]);
}

/* No key is 0, so that none of them is taken for one that was met. */
static void init_sites(struct owner_cpu_cache *handles)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handles->sites); i++)
		handles->sites[i].last = &handles->sites[i].site[0];
}

/* From now on the chain that has this handle is known again by the recipe. */
static void keep_site(struct owner_cpu_cache *handles, depot_stack_handle_t handle, unsigned long ip,
		      unsigned int depth, struct owner_caller caller,
		      const struct owner_recipe *recipe)
{
	unsigned long key = owner_cpu_site_key(ip, depth, caller);
	struct sites *sites = owner_cpu_sites(handles, key);
	struct site *site;

	if (!recipe->nr_words)
		return;
	site = &sites->site[sites->made++ % SITE_WAYS];
	release_site(handles, site);
	if (!owner_cpu_take_ref(handles, owner_cpu_ref(handles, handle), handle))
		return;
	site->handle = handle;
	site->recipe = *recipe;
	site->key = key;
}

#else

static void release_sites(struct owner_cpu_cache *handles)
{
}

static void init_sites(struct owner_cpu_cache *handles)
{
}

static void keep_site(struct owner_cpu_cache *handles, depot_stack_handle_t handle, unsigned long ip,
		      unsigned int depth, struct owner_caller caller,
		      const struct owner_recipe *recipe)
{
}

#endif

static void release_all(struct owner_cpu_cache *handles)
{
	unsigned int i;

	/* Their references become spare ones. */
	release_sites(handles);
	for (i = 0; i < ARRAY_SIZE(handles->spare); i++)
		release(handles, &handles->spare[i]);
}

/**
 * owner_cpu_keep - keep references that were taken or come back
 * @handles: between owner_cpu_begin() and owner_cpu_end()
 * @handle: to which
 * @references: how many
 *
 * What is kept in its place goes: of a handle that is seen once more will be seen.
 */
void owner_cpu_keep(struct owner_cpu_cache *handles, depot_stack_handle_t handle, unsigned int references)
{
	struct cached_ref *spare = owner_cpu_ref(handles, handle);

	if (spare->handle != handle) {
		release(handles, spare);
		spare->handle = handle;
	} else if (spare->references > HANDLES_BATCH) {
		spare->references -= HANDLES_BATCH;
		stack_depot_put_many(handle, HANDLES_BATCH);
	}
	spare->references += references;
}

/**
 * owner_cpu_refill - have more than one reference to a handle
 * @handles: between owner_cpu_begin() and owner_cpu_end()
 * @handle: of which there is one somewhere, or 0
 */
bool owner_cpu_refill(struct owner_cpu_cache *handles, depot_stack_handle_t handle)
{
	if (!stack_depot_get_many(handle, HANDLES_BATCH))
		return false;
	owner_cpu_keep(handles, handle, HANDLES_BATCH);
	return true;
}

/* From now on this CPU has the handle of these words ready. */
static void prepare(depot_stack_handle_t handle, const unsigned long *words, unsigned int count)
{
	struct owner_cpu_cache *handles = owner_cpu_begin();
	struct cached_ref *spare;
	unsigned long *kept;

	if (!handles)
		return;
	if (owner_cpu_refill(handles, handle)) {
		spare = owner_cpu_ref(handles, handle);
		spare->count = stack_depot_fetch(handle, &kept);
		spare->words = kept;
		handles->hint[owner_cpu_hash(words, count)] = owner_cpu_hint(handle);
	}
	owner_cpu_end(handles);
}

/* Give back what this CPU keeps; false if it is just being used. */
static bool flush_this_cpu(void)
{
	struct owner_cpu_cache *handles = owner_cpu_begin();

	if (handles) {
		release_all(handles);
		owner_cpu_end(handles);
	}
	return handles || !this_cpu_read(owner_cpu_caches_home);
}

/* The depot is full: what is kept for later may be what is missing now. */
static void flush_now_and_then(void)
{
	static unsigned long next;

	if (time_before(jiffies, READ_ONCE(next)))
		return;
	WRITE_ONCE(next, jiffies + HZ / 10);
	flush_this_cpu();
}

/**
 * owner_handle_save - intern some words that this CPU has not ready
 * @words: they
 * @count: of @words
 * @flags: those of the allocation that is being tracked
 * @kind: STACK_DEPOT_FLAG_RAW if they are no call chain
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
depot_stack_handle_t owner_handle_save(unsigned long *words, unsigned int count, gfp_t flags,
				       depot_flags_t kind)
{
	depot_stack_handle_t handle;

	/* Whoever allocates in a context that must not wait does not wait here. */
	flags |= __GFP_NOWARN;
	kind |= STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET;
	handle = stack_depot_save_flags(words, count, flags, kind);
	if (handle)
		prepare(handle, words, count);
	else if (count)
		flush_now_and_then();
	return handle;
}

/* Walk, and intern what was found; 0 if there is no room, neither here nor in the depot. */
static depot_stack_handle_t walk_and_save(unsigned long ip, unsigned int depth,
					  struct owner_caller caller, bool whole)
{
	struct owner_unwind_buffer *walk = owner_unwind_buffer_get();
	depot_stack_handle_t handle = 0;
	struct owner_cpu_cache *handles;
	unsigned int count;

	if (!walk)
		return 0;
	count = owner_unwind_chain(walk, depth, caller, whole);
	handles = count ? owner_cpu_begin() : NULL;
	if (handles) {
		struct cached_ref *spare = owner_cpu_take(handles, walk->frames, count);

		if (spare) {
			handle = spare->handle;
			keep_site(handles, handle, ip, depth, caller, &walk->recipe);
		}
		owner_cpu_end(handles);
	}
	if (!handle) {
		/* Where the chain enters an interrupt it ends already. */
		handle = stack_depot_save_flags(walk->frames, count, 0, STACK_DEPOT_FLAG_GET |
						STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW);
		if (handle)
			prepare(handle, walk->frames, count);
	}
	owner_unwind_buffer_put();
	return handle;
}

/* Others may take what the depot is given here. */
#define REFILLS		4

/**
 * owner_chain_save - intern the call chain from here, and try to know it again
 * @ip: to which the allocator returns: chains that differ in it differ
 * @depth: frames to keep
 * @caller: OWNER_CALLER, where it starts
 * @whole: with the allocators in front
 * @flags: those of the allocation that is being tracked
 *
 * Nothing is allocated while the chain stands in memory of this CPU: if the depot has
 * no room it is given some afterwards, and the chain is walked again.
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_chain_save(unsigned long ip, unsigned int depth,
					       struct owner_caller caller, bool whole, gfp_t flags)
{
	depot_stack_handle_t handle;
	unsigned int i;

	owner_chain_prepare(flags);
	handle = walk_and_save(ip, depth, caller, whole);
	/* Whoever allocates in a context that must not wait does not wait here. */
	for (i = 0; !handle && i < REFILLS && stack_depot_refill(flags | __GFP_NOWARN); i++)
		handle = walk_and_save(ip, depth, caller, whole);
	if (!handle)
		flush_now_and_then();
	return handle;
}

/* A chain that was known again is one that a walk would find: owner.verify=1. */
void owner_chain_verify(depot_stack_handle_t stack, unsigned int depth,
			struct owner_caller caller, bool whole)
{
	unsigned long *entries;
	unsigned int count = stack_depot_fetch(stack, &entries);

	owner_unwind_compare(entries, count, depth, caller, whole);
}

/**
 * owner_count_slow - count where it could not be done in passing
 * @stack: a call chain that there is a reference to
 * @n: 1 if it holds @part from now on, -1 if it does no longer
 * @part: an object's
 */
void owner_count_slow(depot_stack_handle_t stack, long n, struct owner_charge part)
{
	long counters[STACK_DEPOT_COUNTERS] = {};

	if (!part.counted)
		return;
	owner_count(counters, n, part);
	stack_depot_count(stack, counters);
}

/* --- Readers ------------------------------------------------------------------- */

/* For each CPU, by itself and between two captures. */
static void on_each_kept(smp_call_func_t flush)
{
	unsigned int cpu;
	bool done;

	/* One that is going does it when it has gone: not in between. */
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

static void flush_handles(void *done)
{
	if (!flush_this_cpu())
		WRITE_ONCE(*(bool *)done, false);
}

/**
 * owner_cpu_caches_flush - give back to the depot what no record refers to
 *
 * For whoever looks at the depot's own counts. May sleep; not within a walk.
 */
void owner_cpu_caches_flush(void)
{
	on_each_kept(flush_handles);
}

static void flush_counters(void *done)
{
	struct owner_cpu_cache *handles = owner_cpu_begin();
	unsigned int i;

	if (!handles) {
		if (this_cpu_read(owner_cpu_caches_home))
			WRITE_ONCE(*(bool *)done, false);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(handles->spare); i++)
		pass_on(handles, &handles->spare[i]);
	owner_cpu_end(handles);
}

/**
 * owner_counters_flush - have the depot's counters know all that was counted till now
 *
 * What CPUs keep ready stays. May sleep; not within a walk.
 */
void owner_counters_flush(void)
{
	on_each_kept(flush_counters);
}

/* --- CPUs that come and go --------------------------------------------------- */

static int cpu_comes(unsigned int cpu)
{
	struct owner_cpu_cache *handles = kvzalloc_node(sizeof(*handles), GFP_KERNEL | __GFP_NOWARN,
						cpu_to_node(cpu));

	if (handles)
		init_sites(handles);
	per_cpu(owner_cpu_caches_home, cpu) = handles;
	/* The CPU may be running; one that gets none does without. */
	smp_store_release(per_cpu_ptr(&owner_cpu_caches, cpu), handles);
	return 0;
}

static int cpu_has_gone(unsigned int cpu)
{
	struct owner_cpu_cache *handles = per_cpu(owner_cpu_caches_home, cpu);

	per_cpu(owner_cpu_caches, cpu) = NULL;
	per_cpu(owner_cpu_caches_home, cpu) = NULL;
	if (handles)
		release_all(handles);
	kvfree(handles);
	return 0;
}

/**
 * owner_cpu_caches_init - have each CPU keep handles from now on
 *
 * Before it is called, and where it fails, every reference is the depot's. May be
 * called again; sleeps.
 */
void owner_cpu_caches_init(void)
{
	static DEFINE_MUTEX(mutex);
	static bool done;

	mutex_lock(&mutex);
	if (!done)
		done = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "mm/owner:prepare",
					 cpu_comes, cpu_has_gone) >= 0;
	mutex_unlock(&mutex);
}
