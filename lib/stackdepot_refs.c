// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU cache of the stack depot: its slow paths. See include/linux/stackdepot_refs.h.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stackdepot_refs.h>
#include <linux/string.h>
#include <linux/timer.h>

#include "stackdepot_evict.h"
#include "stackdepot_internal.h"
#include "stackdepot_victims.h"

DEFINE_PER_CPU(struct stack_depot_cpu_cache *, stack_depot_cpu_caches);
DEFINE_PER_CPU(struct stack_depot_cpu_cache __rcu *, stack_depot_cpu_caches_home);

/* Incremented when a CPU cache is freed. Protected by cpu_hotplug_lock. */
static unsigned long freed_cpu_caches;

/* --- Changes of a ref --------------------------------------------------------- */

/* Readers on other CPUs repeat what they read between these two. */
static void begin_ref_change(struct stack_depot_ref *ref)
{
	WRITE_ONCE(ref->sequence, ref->sequence + 1);
	/* Pairs with read_cpu_counters(). */
	smp_wmb();
}

static void end_ref_change(struct stack_depot_ref *ref)
{
	/* Pairs with read_cpu_counters(). */
	smp_store_release(&ref->sequence, ref->sequence + 1);
}

/* Move the counts to the depot. */
static void flush_counters(struct stack_depot_ref *ref)
{
	long counters[STACK_DEPOT_COUNTERS];
	unsigned int i;
	s32 any = 0;

	for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
		any |= ref->counters[i];
	if (!any)
		return;
	for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
		counters[i] = ref->counters[i];
	stack_depot_count(ref->handle, counters);
	memset(ref->counters, 0, sizeof(ref->counters));
}

static void flush_large_counters(struct stack_depot_ref *ref)
{
	bool large = false;
	unsigned int i;

	for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
		large |= abs(ref->counters[i]) > STACK_DEPOT_REF_COUNT_MAX;
	if (likely(!large))
		return;
	begin_ref_change(ref);
	flush_counters(ref);
	end_ref_change(ref);
}

/* Give the counts, and all references but @keep, back to the depot. */
static void flush_ref(struct stack_depot_ref *ref, unsigned int keep)
{
	if (ref->handle == STACK_DEPOT_REF_UNUSED)
		return;
	begin_ref_change(ref);
	flush_counters(ref);
	if (ref->references > keep)
		stack_depot_put_many(ref->handle, ref->references - keep);
	ref->references = 0;
	ref->tag = 0;
	WRITE_ONCE(ref->handle, STACK_DEPOT_REF_UNUSED);
	end_ref_change(ref);
}

/*
 * The flush by which a CPU gives all references and counts back within a second.
 *
 * @nr_evicted: counts evictions, so that the places of a handle take turns
 * @is_due: @timer is going to be armed, or is
 * @arm: arms @timer. A capture may not do so itself: it may run under a lock of the timers.
 * @timer: flushes this CPU's cache
 */
struct cpu_flush {
	unsigned int nr_evicted;
	bool is_due;
	struct irq_work arm;
	struct timer_list timer;
};

static DEFINE_PER_CPU(struct cpu_flush, cpu_flushes);

/* @nr: the number of the CPU, which is this one or has gone offline. */
static void flush_cpu_cache(struct stack_depot_cpu_cache *cpu, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < STACK_DEPOT_REFS; i++)
		flush_ref(&cpu->ref[i], 0);
	stack_depot_flush_victims(nr);
}

/*
 * Is this the ref of a chain? Only chains become victims: each task itself holds a reference to
 * its handle, which keeps that in the depot.
 */
static bool is_chain_ref(const struct stack_depot_ref *ref)
{
	return ref->tag || stack_depot_has_counters(ref->handle);
}

/* Flush a ref whose place another handle needs, but make a victim of a chain. */
static void evict_ref(struct stack_depot_ref *ref)
{
	struct stack_depot_victim kept;

	__this_cpu_inc(cpu_flushes.nr_evicted);
	if (!stack_depot_can_keep_victim() || !is_chain_ref(ref))
		return flush_ref(ref, 0);
	kept = (struct stack_depot_victim){
		.handle = ref->handle,
		.tag = ref->tag % STACK_DEPOT_TAG_UNIT ? 0 : ref->tag / STACK_DEPOT_TAG_UNIT,
		.references = min(ref->references, STACK_DEPOT_VICTIM_REFS_MAX),
	};
	flush_ref(ref, kept.references);
	stack_depot_keep_victim(kept);
}

/* Find a place for @handle, which has none; evict a handle if both of its places are in use. */
static struct stack_depot_ref *make_room(struct stack_depot_cpu_cache *cpu,
					 depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref;
	unsigned int place;

	for (place = 0; place < STACK_DEPOT_REF_PLACES; place++) {
		ref = stack_depot_ref_place(cpu, handle, place);
		if (ref->handle == STACK_DEPOT_REF_UNUSED)
			return ref;
	}
	place = __this_cpu_read(cpu_flushes.nr_evicted) % STACK_DEPOT_REF_PLACES;
	ref = stack_depot_ref_place(cpu, handle, place);
	evict_ref(ref);
	return ref;
}

/* Take a place for @handle, which has none. */
static struct stack_depot_ref *make_ref(struct stack_depot_cpu_cache *cpu,
					depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = make_room(cpu, handle);

	begin_ref_change(ref);
	WRITE_ONCE(ref->handle, handle);
	end_ref_change(ref);
	return ref;
}

/**
 * stack_depot_restore_ref() - make a ref of a victim
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: a handle without a ref, or 0
 *
 * The ref has the tag of the call tree that it had before @handle was evicted. Does not change the
 * depot, unless the handle that has to make room was counted, or has many references. The flush
 * is due: evict_ref() made the victim of a ref, which is given back by that flush.
 *
 * Return: the ref; NULL if @handle is no victim.
 */
struct stack_depot_ref *stack_depot_restore_ref(struct stack_depot_cpu_cache *cpu,
						depot_stack_handle_t handle)
{
	struct stack_depot_victim found;
	struct stack_depot_ref *ref;

	if (!stack_depot_take_victim(handle, &found))
		return NULL;
	ref = make_ref(cpu, handle);
	ref->tag = found.tag * STACK_DEPOT_TAG_UNIT;
	ref->references = found.references;
	return ref;
}

static void schedule_flush(void)
{
	struct cpu_flush *flush = this_cpu_ptr(&cpu_flushes);

	if (READ_ONCE(flush->is_due))
		return;
	WRITE_ONCE(flush->is_due, true);
	irq_work_queue(&flush->arm);
}

/**
 * stack_depot_top_up_ref() - take a batch of references from the depot for a ref
 * @ref: a ref of this CPU, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 *
 * Return: @ref; NULL if the depot refuses.
 */
struct stack_depot_ref *stack_depot_top_up_ref(struct stack_depot_ref *ref)
{
	if (!stack_depot_get_many(ref->handle, STACK_DEPOT_REF_BATCH))
		return NULL;
	flush_large_counters(ref);
	ref->references += STACK_DEPOT_REF_BATCH;
	return ref;
}

/**
 * stack_depot_give_back_batch() - give a batch of references of a ref back to the depot
 * @ref: a ref of this CPU with more than a batch, between stack_depot_cpu_acquire() and
 *	stack_depot_cpu_release()
 */
void stack_depot_give_back_batch(struct stack_depot_ref *ref)
{
	flush_large_counters(ref);
	ref->references -= STACK_DEPOT_REF_BATCH;
	stack_depot_put_many(ref->handle, STACK_DEPOT_REF_BATCH);
}

/**
 * stack_depot_add_refs() - keep references in the CPU cache
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: the handle
 * @references: number of references
 *
 * Evict another handle if there is no room: a handle that was just used is likely to be used
 * again.
 */
void stack_depot_add_refs(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			  unsigned int references)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle) ?:
				      stack_depot_restore_ref(cpu, handle);

	if (!ref) {
		ref = make_ref(cpu, handle);
		schedule_flush();
	} else if (ref->references > STACK_DEPOT_REF_BATCH) {
		stack_depot_give_back_batch(ref);
	} else {
		flush_large_counters(ref);
	}
	ref->references += references;
}

/**
 * stack_depot_refill_ref() - take a batch of references from the depot
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: a handle, or 0
 *
 * If nobody holds a reference to @handle, the depot may have evicted its words, and even
 * reused it for others: a caller that does not know must compare the words, and may then
 * set the ref's tag, which is kept until the handle is evicted from the CPU cache.
 *
 * Return: the ref; NULL if the depot refuses, or if @handle is 0.
 */
struct stack_depot_ref *stack_depot_refill_ref(struct stack_depot_cpu_cache *cpu,
					       depot_stack_handle_t handle)
{
	if (!stack_depot_get_many(handle, STACK_DEPOT_REF_BATCH))
		return NULL;
	stack_depot_add_refs(cpu, handle, STACK_DEPOT_REF_BATCH);
	return stack_depot_find_ref(cpu, handle);
}

/**
 * stack_depot_count_on_cpu() - count what a stack holds
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release(), or
 *	NULL to count in the depot
 * @handle: handle of a stack with counters, with a reference
 * @more: added to the counters
 */
void stack_depot_count_on_cpu(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			      const s32 more[STACK_DEPOT_COUNTERS])
{
	long counters[STACK_DEPOT_COUNTERS];
	struct stack_depot_ref *ref = NULL;
	unsigned int i;

	if (cpu)
		ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_refill_ref(cpu, handle);
	for (i = 0; i < STACK_DEPOT_COUNTERS; i++) {
		if (ref)
			ref->counters[i] += more[i];
		counters[i] = more[i];
	}
	if (!ref)
		stack_depot_count(handle, counters);
}

/* --- Giving back ---------------------------------------------------------------- */

/* Flush this CPU's cache. Return: false if it is in use. */
static bool flush_this_cpu(void)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (cpu) {
		flush_cpu_cache(cpu, smp_processor_id());
		stack_depot_cpu_release(cpu);
	}
	return cpu || !rcu_access_pointer(*this_cpu_ptr(&stack_depot_cpu_caches_home));
}

static void arm_flush_timer(struct irq_work *work)
{
	struct cpu_flush *flush = container_of(work, struct cpu_flush, arm);

	mod_timer(&flush->timer, jiffies + HZ);
}

static void flush_on_timer(struct timer_list *timer)
{
	struct cpu_flush *flush = from_timer(flush, timer, timer);

	WRITE_ONCE(flush->is_due, false);
	/* After its CPU has gone offline, the timer runs elsewhere: free_cpu_cache() flushes. */
	if (flush != this_cpu_ptr(&cpu_flushes))
		return;
	/* A softirq can interrupt a user of the CPU cache: try again. */
	if (!flush_this_cpu())
		schedule_flush();
}

/**
 * stack_depot_flush_if_full() - flush this CPU's cache if the depot is full
 *
 * The depot cannot evict chains to which CPUs keep references. Flush this CPU's cache, but only
 * once in 100 ms on the whole machine. The other CPUs flush theirs within a second, and make no
 * victims for so long. If the depot only waits for pages, flush nothing: the next capture of a
 * chain whose last reference was flushed would have to store it again.
 *
 * Context: Any. The caller has not acquired the CPU cache.
 */
void stack_depot_flush_if_full(void)
{
	static unsigned long flushed_at = INITIAL_JIFFIES - HZ;

	if (!stack_depot_is_full(&stack_depot_evictable))
		return;
	stack_depot_pause_victims();
	if (jiffies - READ_ONCE(flushed_at) < HZ / 10)
		return;
	WRITE_ONCE(flushed_at, jiffies);
	flush_this_cpu();
}

static void flush_from_ipi(void *done)
{
	if (!flush_this_cpu())
		WRITE_ONCE(*(bool *)done, false);
}

/**
 * stack_depot_cpu_caches_flush() - flush the CPU caches of all CPUs
 *
 * Interrupts each CPU: for tests, and for readers of reference counts. May sleep.
 */
void stack_depot_cpu_caches_flush(void)
{
	unsigned int cpu;
	bool done;

	/* A CPU that goes offline flushes its cache in free_cpu_cache(). */
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		/* The interrupt may hit a user of the CPU cache: try again. */
		do {
			done = true;
			smp_call_function_single(cpu, flush_from_ipi, &done, true);
			cond_resched();
		} while (!done);
	}
	cpus_read_unlock();
}

/* --- Readers ---------------------------------------------------------------------- */

/*
 * Add the counts of all CPUs to @counters. Return: false if a CPU is changing its ref.
 * @sequences: set to a sum that is greater when one of the refs was changed since.
 */
static bool read_cpu_counters(depot_stack_handle_t handle, long *counters, u64 *sequences)
{
	unsigned int nr, place, i;
	u32 sequence;

	*sequences = READ_ONCE(freed_cpu_caches);
	for_each_possible_cpu(nr) {
		struct stack_depot_cpu_cache *cpu =
			rcu_dereference(per_cpu(stack_depot_cpu_caches_home, nr));
		struct stack_depot_ref *ref, *last = NULL;

		for (place = 0; cpu && place < STACK_DEPOT_REF_PLACES; place++, last = ref) {
			ref = stack_depot_ref_place(cpu, handle, place);
			/* Both hashes can be equal. */
			if (ref == last)
				break;
			/* Pairs with end_ref_change(). */
			sequence = smp_load_acquire(&ref->sequence);
			if (sequence % 2)
				return false;
			*sequences += sequence;
			if (READ_ONCE(ref->handle) != handle)
				continue;
			for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
				counters[i] += READ_ONCE(ref->counters[i]);
		}
	}
	/* Pairs with begin_ref_change(). */
	smp_rmb();
	return true;
}

/*
 * Attempts to read counters while no CPU gives its own to the depot. A CPU of a virtual machine
 * can lose its processor meanwhile, for some milliseconds.
 */
#define READ_ATTEMPTS	20000

/**
 * stack_depot_read_counters() - read what a stack holds, on all CPUs
 * @handle: handle with a reference
 * @counters: set to the sums of the depot's and of all CPUs' counters
 *
 * No CPU is interrupted or slowed down. A CPU moves its counters to the depot seldom; if
 * one does so meanwhile, read again.
 *
 * Return: false if @handle has no counters.
 */
bool stack_depot_read_counters(depot_stack_handle_t handle, long counters[STACK_DEPOT_COUNTERS])
{
	long on_cpus[STACK_DEPOT_COUNTERS], ignored[STACK_DEPOT_COUNTERS];
	unsigned int attempts = 0, i;
	u64 before, after;
	bool good, found;

	rcu_read_lock();
	do {
		memset(on_cpus, 0, sizeof(on_cpus));
		good = read_cpu_counters(handle, on_cpus, &before);
		found = stack_depot_counters(handle, counters);
		/* The depot's counters are read before the sequences are read again. */
		smp_rmb();
		good = good && read_cpu_counters(handle, ignored, &after) && before == after;
		if (!good)
			cpu_relax();
	} while (found && !good && ++attempts < READ_ATTEMPTS);
	rcu_read_unlock();
	for (i = 0; found && i < STACK_DEPOT_COUNTERS; i++)
		counters[i] += on_cpus[i];
	return found;
}

/* --- CPU hotplug --------------------------------------------------------------- */

static int alloc_cpu_cache(unsigned int nr)
{
	struct stack_depot_cpu_cache *cpu = kvzalloc_node(sizeof(*cpu), GFP_KERNEL | __GFP_NOWARN,
							  cpu_to_node(nr));
	struct cpu_flush *flush = per_cpu_ptr(&cpu_flushes, nr);
	unsigned int i;

	if (cpu)
		stack_depot_alloc_victims(nr);
	for (i = 0; cpu && i < STACK_DEPOT_REFS; i++)
		cpu->ref[i].handle = STACK_DEPOT_REF_UNUSED;
	flush->is_due = false;
	init_irq_work(&flush->arm, arm_flush_timer);
	timer_setup(&flush->timer, flush_on_timer, TIMER_PINNED);
	rcu_assign_pointer(per_cpu(stack_depot_cpu_caches_home, nr), cpu);
	/*
	 * Release: at boot, the CPU runs already, and must see an initialized cache. A CPU
	 * without a cache uses the depot.
	 */
	smp_store_release(per_cpu_ptr(&stack_depot_cpu_caches, nr), cpu);
	return 0;
}

static int free_cpu_cache(unsigned int nr)
{
	struct stack_depot_cpu_cache *cpu =
		rcu_dereference_protected(per_cpu(stack_depot_cpu_caches_home, nr), true);
	struct cpu_flush *flush = per_cpu_ptr(&cpu_flushes, nr);

	per_cpu(stack_depot_cpu_caches, nr) = NULL;
	if (!cpu)
		return 0;
	irq_work_sync(&flush->arm);
	timer_shutdown_sync(&flush->timer);
	flush_cpu_cache(cpu, nr);
	stack_depot_free_victims(nr);
	rcu_assign_pointer(per_cpu(stack_depot_cpu_caches_home, nr), NULL);
	WRITE_ONCE(freed_cpu_caches, freed_cpu_caches + 1);
	/* Readers on other CPUs. */
	synchronize_rcu();
	kvfree(cpu);
	return 0;
}

/**
 * stack_depot_cpu_caches_init() - allocate a cache for each CPU
 *
 * Captures work without a CPU cache, but then each one changes the depot's refcounts.
 * Idempotent. May sleep.
 */
void stack_depot_cpu_caches_init(void)
{
	static DEFINE_MUTEX(mutex);
	static bool done;

	mutex_lock(&mutex);
	if (!done)
		done = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "lib/stackdepot:prepare",
					 alloc_cpu_cache, free_cpu_cache) >= 0;
	mutex_unlock(&mutex);
}
