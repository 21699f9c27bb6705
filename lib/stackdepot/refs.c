// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU cache of the stack depot: its slow paths. See <linux/stackdepot/refs.h>.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "evict.h"
#include "internal.h"

DEFINE_PER_CPU(struct stack_depot_cpu_cache *, stack_depot_cpu_caches);
/* Not beside the other pointer, which its CPU writes in each capture. */
DEFINE_PER_CPU_READ_MOSTLY(struct stack_depot_cpu_cache __rcu *, stack_depot_cpu_caches_home);

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

static u32 make_index_entry(struct stack_depot_cpu_cache *cpu, const struct stack_depot_ref *ref,
			    u64 hash)
{
	return stack_depot_index_tag(hash) | (ref - cpu->ref);
}

/* Find an entry of the index; NULL if other entries have taken its place. */
static u32 *find_index_entry(struct stack_depot_cpu_cache *cpu, u64 hash, u32 entry)
{
	u32 *set = stack_depot_index_set(cpu, hash);
	unsigned int i;

	for (i = 0; i < STACK_DEPOT_INDEX_SET; i++)
		if (set[i] == entry)
			return &set[i];
	return NULL;
}

/* Let nobody find a ref by its hash. */
static void forget_hash(struct stack_depot_cpu_cache *cpu, struct stack_depot_ref *ref)
{
	u32 *entry;

	if (ref->hash == STACK_DEPOT_HASH_UNKNOWN)
		return;
	entry = find_index_entry(cpu, ref->hash, make_index_entry(cpu, ref, ref->hash));
	if (entry)
		*entry = STACK_DEPOT_INDEX_UNUSED;
	ref->hash = STACK_DEPOT_HASH_UNKNOWN;
}

/* Put all references but @keep, and move the counts to the depot. */
static void flush_ref(struct stack_depot_cpu_cache *cpu, struct stack_depot_ref *ref,
		      unsigned int keep)
{
	if (ref->handle == STACK_DEPOT_REF_UNUSED)
		return;
	forget_hash(cpu, ref);
	begin_ref_change(ref);
	flush_counters(ref);
	if (ref->references > keep)
		stack_depot_put_many(ref->handle, ref->references - keep);
	ref->references = 0;
	WRITE_ONCE(ref->handle, STACK_DEPOT_REF_UNUSED);
	end_ref_change(ref);
}

/*
 * A CPU flushes all refs within a second, some of them at a time: in steps, so that no step keeps
 * interrupts or preemption off for long.
 *
 * @nr_evicted: counts evictions, so that the places of a handle, and those of a hash, take turns
 * @last_evicted: index of the evicted chain that was stored last
 * @next: the ref that the next step flushes first
 * @steps_left: steps until each ref has been flushed that was made up to now
 * @arm: arms @timer. A capture may not do so itself: it may run under a lock of the timers.
 * @timer: flushes some refs of this CPU
 */
struct cpu_flush {
	unsigned int nr_evicted;
	unsigned int last_evicted;
	unsigned int next;
	unsigned int steps_left;
	struct irq_work arm;
	struct timer_list timer;
};

static DEFINE_PER_CPU(struct cpu_flush, cpu_flushes);

/* Refs and evicted chains that a step flushes, and the steps in which all are flushed. */
#define FLUSH_STEP	64
#define FLUSH_STEPS	(STACK_DEPOT_REFS / FLUSH_STEP)
/* Ticks between two steps. */
#define FLUSH_TICKS	max(HZ / FLUSH_STEPS, 1)

static void flush_refs(struct stack_depot_cpu_cache *cpu, unsigned int first, unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++) {
		flush_ref(cpu, &cpu->ref[i], 0);
		if (i < STACK_DEPOT_EVICTED) {
			stack_depot_put(cpu->evicted[i]);
			cpu->evicted[i] = 0;
		}
	}
}

static void flush_some_refs(struct stack_depot_cpu_cache *cpu, struct cpu_flush *flush)
{
	BUILD_BUG_ON(STACK_DEPOT_REFS % FLUSH_STEP);
	flush_refs(cpu, flush->next, flush->next + FLUSH_STEP);
	flush->next = (flush->next + FLUSH_STEP) % STACK_DEPOT_REFS;
}

/*
 * Flush a ref whose place another handle needs, but keep a reference if it is a chain's. A task
 * itself has a reference to its handle.
 */
static void evict_ref(struct stack_depot_cpu_cache *cpu, struct stack_depot_ref *ref)
{
	unsigned int next = (__this_cpu_read(cpu_flushes.last_evicted) + 1) % STACK_DEPOT_EVICTED;
	depot_stack_handle_t handle = ref->handle;

	if (ref->hash == STACK_DEPOT_HASH_UNKNOWN || !ref->references)
		return flush_ref(cpu, ref, 0);
	flush_ref(cpu, ref, 1);
	stack_depot_put(cpu->evicted[next]);
	cpu->evicted[next] = handle;
	__this_cpu_write(cpu_flushes.last_evicted, next);
}

/* Find a place for @handle, which has none; evict a handle if all of its places are in use. */
static struct stack_depot_ref *make_room(struct stack_depot_cpu_cache *cpu,
					 depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref;
	unsigned int i, turn;

	for (i = 0; i < STACK_DEPOT_REF_CHOICES * STACK_DEPOT_REFS_SET; i++) {
		ref = stack_depot_ref_set(cpu, handle, i / STACK_DEPOT_REFS_SET) +
		      i % STACK_DEPOT_REFS_SET;
		if (ref->handle == STACK_DEPOT_REF_UNUSED)
			return ref;
	}
	turn = __this_cpu_inc_return(cpu_flushes.nr_evicted);
	ref = stack_depot_ref_set(cpu, handle, turn % STACK_DEPOT_REF_CHOICES) +
	      turn / STACK_DEPOT_REF_CHOICES % STACK_DEPOT_REFS_SET;
	evict_ref(cpu, ref);
	return ref;
}

/* Let the timer flush the refs. */
static void schedule_flush(void)
{
	struct cpu_flush *flush = this_cpu_ptr(&cpu_flushes);
	bool scheduled = flush->steps_left;

	WRITE_ONCE(flush->steps_left, FLUSH_STEPS);
	if (!scheduled)
		irq_work_queue(&flush->arm);
}

/* Take a place for @handle, which has none. */
static struct stack_depot_ref *make_ref(struct stack_depot_cpu_cache *cpu,
					depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = make_room(cpu, handle);

	begin_ref_change(ref);
	WRITE_ONCE(ref->handle, handle);
	end_ref_change(ref);
	schedule_flush();
	return ref;
}

/**
 * stack_depot_find_second_ref() - find the ref of a handle in its second set
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: a handle that has no ref in its first set, or 0
 *
 * Return: the ref, or NULL.
 */
struct stack_depot_ref *stack_depot_find_second_ref(struct stack_depot_cpu_cache *cpu,
						    depot_stack_handle_t handle)
{
	struct stack_depot_ref *set = stack_depot_ref_set(cpu, handle, 1);
	unsigned int i;

	for (i = 0; i < STACK_DEPOT_REFS_SET; i++)
		if (set[i].handle == handle)
			return &set[i];
	return NULL;
}

/**
 * stack_depot_index_ref() - let captures find a ref by the hash of its chain
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @ref: the ref
 * @hash: of the frames that its handle stands for
 */
void stack_depot_index_ref(struct stack_depot_cpu_cache *cpu, struct stack_depot_ref *ref,
			   u64 hash)
{
	u32 *set = stack_depot_index_set(cpu, hash), *entry;

	if (ref->hash == hash && find_index_entry(cpu, hash, make_index_entry(cpu, ref, hash)))
		return;
	forget_hash(cpu, ref);
	ref->hash = hash;
	entry = find_index_entry(cpu, hash, STACK_DEPOT_INDEX_UNUSED);
	if (!entry)
		entry = &set[__this_cpu_inc_return(cpu_flushes.nr_evicted) %
			     STACK_DEPOT_INDEX_SET];
	*entry = make_index_entry(cpu, ref, hash);
}

/**
 * stack_depot_get_ref_batch() - get a batch of references from the depot for a ref
 * @ref: a ref of this CPU, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 *
 * Return: @ref; NULL if the depot refuses.
 */
struct stack_depot_ref *stack_depot_get_ref_batch(struct stack_depot_ref *ref)
{
	if (!stack_depot_get_many(ref->handle, STACK_DEPOT_REF_BATCH))
		return NULL;
	flush_large_counters(ref);
	ref->references += STACK_DEPOT_REF_BATCH;
	return ref;
}

/**
 * stack_depot_put_ref_batch() - put a batch of references of a ref back into the depot
 * @ref: a ref of this CPU with more than a batch, between stack_depot_cpu_acquire() and
 *	stack_depot_cpu_release()
 */
void stack_depot_put_ref_batch(struct stack_depot_ref *ref)
{
	flush_large_counters(ref);
	ref->references -= STACK_DEPOT_REF_BATCH;
	stack_depot_put_many(ref->handle, STACK_DEPOT_REF_BATCH);
}

/**
 * stack_depot_put_refs() - put references into the CPU cache
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: the handle
 * @references: number of references
 *
 * Evict another handle if there is no room: a handle that was just used is likely to be used
 * again.
 */
void stack_depot_put_refs(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle,
			  unsigned int references)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle);

	if (!ref)
		ref = make_ref(cpu, handle);
	else if (ref->references > STACK_DEPOT_REF_BATCH)
		stack_depot_put_ref_batch(ref);
	else
		flush_large_counters(ref);
	ref->references += references;
}

/**
 * stack_depot_get_batch() - get a batch of references from the depot for a handle
 * @cpu: the CPU cache, between stack_depot_cpu_acquire() and stack_depot_cpu_release()
 * @handle: a handle, or 0
 *
 * If nobody holds a reference to @handle, the depot may have evicted its words, and even
 * reused it for others: a caller that does not know must compare the words.
 *
 * Return: the ref; NULL if the depot refuses, or if @handle is 0.
 */
struct stack_depot_ref *stack_depot_get_batch(struct stack_depot_cpu_cache *cpu,
					      depot_stack_handle_t handle)
{
	if (!stack_depot_get_many(handle, STACK_DEPOT_REF_BATCH))
		return NULL;
	stack_depot_put_refs(cpu, handle, STACK_DEPOT_REF_BATCH);
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
		ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_get_batch(cpu, handle);
	for (i = 0; i < STACK_DEPOT_COUNTERS; i++) {
		if (ref)
			ref->counters[i] += more[i];
		counters[i] = more[i];
	}
	if (!ref)
		stack_depot_count(handle, counters);
}

/* --- Flushes -------------------------------------------------------------------- */

/* Has this CPU no CPU cache? Else somebody uses it who was interrupted. */
static bool has_no_cpu_cache(void)
{
	return !rcu_access_pointer(*this_cpu_ptr(&stack_depot_cpu_caches_home));
}

static void arm_flush_timer(struct irq_work *work)
{
	struct cpu_flush *flush = container_of(work, struct cpu_flush, arm);

	mod_timer(&flush->timer, jiffies + FLUSH_TICKS);
}

static void flush_on_timer(struct timer_list *timer)
{
	struct cpu_flush *flush = timer_container_of(flush, timer, timer);
	struct stack_depot_cpu_cache *cpu;

	/* After its CPU has gone offline, the timer runs elsewhere: free_cpu_cache() flushes. */
	if (flush != this_cpu_ptr(&cpu_flushes) || has_no_cpu_cache())
		return;
	/* A softirq can interrupt a user of the CPU cache: try again. */
	cpu = stack_depot_cpu_acquire();
	if (cpu) {
		flush_some_refs(cpu, flush);
		WRITE_ONCE(flush->steps_left, flush->steps_left - 1);
		stack_depot_cpu_release(cpu);
	}
	if (flush->steps_left)
		mod_timer(timer, jiffies + FLUSH_TICKS);
}

/**
 * stack_depot_flush_if_full() - flush some refs of this CPU if the depot is full
 *
 * The depot cannot evict chains to which CPUs keep references. If the depot only waits for pages,
 * flush nothing: the next capture of a chain whose last reference was flushed would have to store
 * it again.
 *
 * Context: Any. The caller has not acquired the CPU cache.
 *
 * Return: true if the depot is full.
 */
bool stack_depot_flush_if_full(void)
{
	struct stack_depot_cpu_cache *cpu;

	if (!stack_depot_is_full(&stack_depot_evictable))
		return false;
	cpu = stack_depot_cpu_acquire();
	if (cpu) {
		flush_some_refs(cpu, this_cpu_ptr(&cpu_flushes));
		stack_depot_cpu_release(cpu);
	}
	return true;
}

#if IS_ENABLED(CONFIG_KUNIT)
static void flush_from_ipi(void *done)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (cpu) {
		flush_refs(cpu, 0, STACK_DEPOT_REFS);
		stack_depot_cpu_release(cpu);
	} else if (!has_no_cpu_cache()) {
		WRITE_ONCE(*(bool *)done, false);
	}
}

/**
 * stack_depot_cpu_caches_flush() - flush the CPU caches of all CPUs
 *
 * Interrupts each CPU. May sleep.
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
#endif

/* --- Readers ---------------------------------------------------------------------- */

/*
 * Add the counts of all CPUs to @counters. Return: false if a CPU is changing its ref.
 * @sequences: set to a sum that is greater when one of the refs was changed since.
 */
static bool read_cpu_counters(depot_stack_handle_t handle, long *counters, u64 *sequences)
{
	unsigned int nr, place, i;
	u16 sequence;

	*sequences = READ_ONCE(freed_cpu_caches);
	for_each_possible_cpu(nr) {
		struct stack_depot_cpu_cache *cpu =
			rcu_dereference(per_cpu(stack_depot_cpu_caches_home, nr));
		struct stack_depot_ref *ref;

		for (place = 0; cpu && place < STACK_DEPOT_REF_CHOICES * STACK_DEPOT_REFS_SET;
		     place++) {
			ref = stack_depot_ref_set(cpu, handle, place / STACK_DEPOT_REFS_SET) +
			      place % STACK_DEPOT_REFS_SET;
			/* Both hashes can choose one set. */
			if (place == STACK_DEPOT_REFS_SET &&
			    ref == stack_depot_ref_set(cpu, handle, 0))
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

/**
 * stack_depot_next_on_cpu() - find the next handle for which a CPU keeps counts
 * @nr: the CPU
 * @place: where to begin; set to the place behind the one that was found
 * @counters: set to the counts that are not in the depot yet
 * @moving: set to true if they move to the depot now: read the chain by itself
 *
 * Context: Any.
 *
 * Return: the handle, without a reference; 0 if there are no more.
 */
depot_stack_handle_t stack_depot_next_on_cpu(unsigned int nr, unsigned int *place,
					     s32 counters[STACK_DEPOT_COUNTERS], bool *moving)
{
	depot_stack_handle_t handle = 0;
	struct stack_depot_cpu_cache *cpu;
	unsigned int i;

	rcu_read_lock();
	cpu = rcu_dereference(per_cpu(stack_depot_cpu_caches_home, nr));
	while (cpu && !handle && *place < STACK_DEPOT_REFS) {
		struct stack_depot_ref *ref = &cpu->ref[(*place)++];
		/* Pairs with end_ref_change(). */
		u16 sequence = smp_load_acquire(&ref->sequence);
		s32 any = 0;

		for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
			any |= counters[i] = READ_ONCE(ref->counters[i]);
		if (!any)
			continue;
		handle = READ_ONCE(ref->handle);
		/* Pairs with begin_ref_change(). */
		smp_rmb();
		*moving = sequence % 2 || READ_ONCE(ref->sequence) != sequence;
	}
	rcu_read_unlock();
	return handle;
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

/**
 * stack_depot_alloc_table() - allocate a zeroed table that is read often
 * @bytes: its size
 * @node: the node of its memory, or NUMA_NO_NODE
 *
 * The memory is from the direct mapping if possible, which takes fewer TLB entries than that of
 * vmalloc(). alloc_pages_exact_nid() is __meminit. May sleep.
 *
 * Return: the table, NULL without memory.
 */
void *stack_depot_alloc_table(size_t bytes, int node)
{
	unsigned int order = get_order(bytes), used = DIV_ROUND_UP(bytes, PAGE_SIZE), i;
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN;
	struct page *page = alloc_pages_node(node, gfp, order);

	if (!page)
		return vzalloc_node(bytes, node);
	split_page(page, order);
	for (i = used; i < 1U << order; i++)
		__free_page(page + i);
	return page_address(page);
}

/**
 * stack_depot_free_table() - free a table
 * @table: from stack_depot_alloc_table()
 * @bytes: its size
 */
void stack_depot_free_table(void *table, size_t bytes)
{
	if (is_vmalloc_addr(table))
		vfree(table);
	else
		free_pages_exact(table, bytes);
}

static int alloc_cpu_cache(unsigned int nr)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_alloc_table(sizeof(*cpu), cpu_to_node(nr));
	struct cpu_flush *flush = per_cpu_ptr(&cpu_flushes, nr);
	unsigned int i;

	for (i = 0; cpu && i < STACK_DEPOT_REFS; i++) {
		cpu->ref[i].handle = STACK_DEPOT_REF_UNUSED;
		cpu->ref[i].hash = STACK_DEPOT_HASH_UNKNOWN;
	}
	for (i = 0; cpu && i < STACK_DEPOT_INDEX; i++)
		cpu->index[i] = STACK_DEPOT_INDEX_UNUSED;
	flush->steps_left = 0;
	/* Hard: with PREEMPT_RT, a CPU that goes offline runs no others. */
	flush->arm = IRQ_WORK_INIT_HARD(arm_flush_timer);
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
	flush_refs(cpu, 0, STACK_DEPOT_REFS);
	rcu_assign_pointer(per_cpu(stack_depot_cpu_caches_home, nr), NULL);
	WRITE_ONCE(freed_cpu_caches, freed_cpu_caches + 1);
	/* Readers on other CPUs. */
	synchronize_rcu();
	stack_depot_free_table(cpu, sizeof(*cpu));
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
