// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the CPU cache: no reference is lost or counted twice, and each is to the right
 * words.
 */

#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "../internal.h"
#include "refs_kunit.h"

#define WORDS	5

/* Return how many references a handle has, with those that CPUs keep. */
static unsigned int read_references(depot_stack_handle_t handle)
{
	return refcount_read(&__stack_depot_get_stack_record(handle)->count);
}

/* Return how many references a handle has after CPU caches gave back theirs. */
static unsigned int count_handle_references(depot_stack_handle_t handle)
{
	stack_depot_cpu_caches_flush();
	return read_references(handle);
}

/* Intern words as a capture does: take a reference of the CPU cache if it keeps some. */
static depot_stack_handle_t intern_through_cpu_cache(unsigned long *words, unsigned int count)
{
	depot_stack_handle_t handle, taken = 0;
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;

	rcu_read_lock_sched();
	handle = stack_depot_find(words, count, STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA);
	cpu = stack_depot_cpu_acquire();
	if (cpu) {
		ref = stack_depot_find_ref(cpu, handle);
		if (!ref || !stack_depot_can_get_ref(ref))
			ref = stack_depot_get_batch(cpu, handle);
		if (ref) {
			ref->references--;
			taken = ref->handle;
		}
		stack_depot_cpu_release(cpu);
	}
	rcu_read_unlock_sched();
	return taken ?: stack_depot_save_flags(words, count, GFP_KERNEL,
					       STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA |
					       STACK_DEPOT_FLAG_CAN_ALLOC);
}

static depot_stack_handle_t intern_test_words(unsigned long *words)
{
	return intern_through_cpu_cache(words, WORDS);
}

/* Take and put many batches of references to one handle, and flush in between. */
static void test_references(struct kunit *test)
{
	unsigned long words[WORDS] = { 1, 2, 3, 4, (unsigned long)test };
	depot_stack_handle_t handle = intern_test_words(words);
	unsigned int i;

	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	for (i = 1; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, intern_test_words(words), handle);
		if (i == 333)
			KUNIT_EXPECT_EQ(test, count_handle_references(handle), 334);
	}
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1000);
	for (i = 1; i < 1000; i++)
		put_handle(handle);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	put_handle(handle);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(handle));
}

/* More handles than a CPU cache has places for, so that they evict one another. */
#define MANY	6000

static void test_many(struct kunit *test)
{
	unsigned long words[WORDS] = { 5, 6, 7, (unsigned long)test };
	depot_stack_handle_t *handles = kunit_kcalloc(test, MANY, sizeof(*handles), GFP_KERNEL);
	unsigned long *found;
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	for (j = 0; j < 3; j++) {
		for (i = 0; i < MANY; i++) {
			depot_stack_handle_t handle;

			words[WORDS - 1] = i;
			handle = intern_test_words(words);
			KUNIT_ASSERT_NE(test, handle, 0);
			if (j)
				KUNIT_ASSERT_EQ(test, handle, handles[i]);
			handles[i] = handle;
			KUNIT_ASSERT_EQ(test, stack_depot_fetch(handle, &found), WORDS);
			KUNIT_ASSERT_EQ(test, memcmp(found, words, sizeof(words)), 0);
		}
	}
	stack_depot_cpu_caches_flush();
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test, read_references(handles[i]), 3);
		for (j = 0; j < 3; j++)
			put_handle(handles[i]);
	}
	stack_depot_cpu_caches_flush();
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_FALSE(test, stack_depot_get(handles[i]));
}

/* Words that are a prefix of other words have a handle of their own. */
static void test_prefix(struct kunit *test)
{
	unsigned long words[WORDS] = { 9, 8, 7, 6, (unsigned long)test };
	depot_stack_handle_t whole = intern_test_words(words);
	depot_stack_handle_t part = intern_through_cpu_cache(words, WORDS - 1);

	KUNIT_EXPECT_NE(test, whole, part);
	KUNIT_EXPECT_EQ(test, intern_test_words(words), whole);
	put_handle(whole);
	put_handle(whole);
	put_handle(part);
}

static void put_handle_100_times(void *handle)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		put_handle(*(depot_stack_handle_t *)handle);
}

/* Take references on one CPU and put them on other CPUs in interrupts. */
static void test_other_cpus(struct kunit *test)
{
	unsigned long words[WORDS] = { 3, 1, 4, 1, (unsigned long)test };
	depot_stack_handle_t handle = 0;
	unsigned int i;

	for (i = 0; i < 100 * num_online_cpus() + 1; i++)
		handle = intern_test_words(words);
	KUNIT_ASSERT_NE(test, handle, 0);
	on_each_cpu(put_handle_100_times, &handle, true);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	put_handle(handle);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(handle));
}

/* --- Sets of refs --------------------------------------------------------------- */

#define COUNTED		(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW)

#define WORDS_MAX	24

/* Save a stack of @count words with counters; its first word is @id. */
static depot_stack_handle_t save_counted_words(unsigned int id, unsigned int count)
{
	unsigned long words[WORDS_MAX] = { (unsigned long)_text + id };
	unsigned int i;

	for (i = 1; i < count; i++)
		words[i] = (unsigned long)_text;
	return stack_depot_save_flags(words, count, GFP_KERNEL,
				      COUNTED | STACK_DEPOT_FLAG_CAN_ALLOC);
}

static depot_stack_handle_t save_counted(unsigned int id)
{
	return save_counted_words(id, WORDS);
}

/* Handles that share the first set of one of them, and those that share its second set. */
#define PLACES		(STACK_DEPOT_REF_CHOICES * STACK_DEPOT_REFS_SET)
#define RIVALS		(PLACES + 1)

/*
 * Find handles for whose references the two sets of the last one have too few places: two of them
 * have its first set as their first one, and two its second set.
 */
static bool find_rivals(struct stack_depot_cpu_cache *cpu, const depot_stack_handle_t *handles,
			unsigned int nr, depot_stack_handle_t rival[RIVALS])
{
	unsigned int found, i, j;

	for (i = 0; i < nr; i++) {
		rival[RIVALS - 1] = handles[i];
		if (stack_depot_ref_set(cpu, handles[i], 0) ==
		    stack_depot_ref_set(cpu, handles[i], 1))
			continue;
		for (found = 0, j = 0; found < PLACES && j < nr; j++)
			if (i != j && stack_depot_ref_set(cpu, handles[j], 0) ==
				      stack_depot_ref_set(cpu, handles[i],
							  found / STACK_DEPOT_REFS_SET))
				rival[found++] = handles[j];
		if (found == PLACES)
			return true;
	}
	return false;
}

/* Save stacks, find rivals among them, and put the others. */
static bool save_rivals(struct kunit *test, depot_stack_handle_t rival[RIVALS])
{
	depot_stack_handle_t *handles = kvcalloc(2 * MANY, sizeof(*handles), GFP_KERNEL);
	struct stack_depot_cpu_cache *cpu;
	unsigned int i, j;
	bool found;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	for (i = 0; i < 2 * MANY; i++)
		handles[i] = save_counted(i);
	/* Only addresses of sets are compared. */
	migrate_disable();
	cpu = rcu_access_pointer(*this_cpu_ptr(&stack_depot_cpu_caches_home));
	found = find_rivals(cpu, handles, 2 * MANY, rival);
	migrate_enable();
	for (i = 0; i < 2 * MANY; i++) {
		for (j = 0; found && j < RIVALS && rival[j] != handles[i]; j++)
			;
		if (!found || j == RIVALS)
			stack_depot_put(handles[i]);
	}
	kvfree(handles);
	return found;
}

static void count_one(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle, long n)
{
	const s32 more[STACK_DEPOT_COUNTERS] = { n };

	stack_depot_count_on_cpu(cpu, handle, more);
}

/* Return the first counter, without the counts that CPUs keep. */
static long read_depot_counter(depot_stack_handle_t handle)
{
	long counters[STACK_DEPOT_COUNTERS];

	return stack_depot_counters(handle, counters) ? counters[0] : LONG_MIN;
}

static long read_counter(depot_stack_handle_t handle)
{
	long counters[STACK_DEPOT_COUNTERS];

	return stack_depot_read_counters(handle, counters) ? counters[0] : LONG_MIN;
}

/*
 * Handles are in all places of another one, which evicts one of them. The depot has the counts and
 * the references of that one then.
 */
static void test_rivals(struct kunit *test)
{
	unsigned int i, kept = 0, evicted = 0, placed = 0;
	struct stack_depot_cpu_cache *cpu;
	depot_stack_handle_t handle[RIVALS];
	bool last;

	KUNIT_ASSERT_TRUE(test, save_rivals(test, handle));
	stack_depot_cpu_caches_flush();
	cpu = stack_depot_cpu_acquire();
	KUNIT_ASSERT_NOT_NULL(test, cpu);
	for (i = 0; i < PLACES; i++) {
		count_one(cpu, handle[i], 10 * (i + 1));
		placed += stack_depot_find_ref(cpu, handle[i]) && !read_depot_counter(handle[i]);
	}
	count_one(cpu, handle[PLACES], 10 * (PLACES + 1));
	last = stack_depot_find_ref(cpu, handle[PLACES]);
	for (i = 0; i < PLACES; i++) {
		if (stack_depot_find_ref(cpu, handle[i]))
			kept += !read_depot_counter(handle[i]);
		else
			evicted += read_depot_counter(handle[i]) == 10 * (i + 1);
	}
	stack_depot_cpu_release(cpu);

	KUNIT_EXPECT_EQ(test, placed, PLACES);
	KUNIT_EXPECT_TRUE(test, last);
	KUNIT_EXPECT_EQ(test, kept, PLACES - 1);
	KUNIT_EXPECT_EQ(test, evicted, 1);
	for (i = 0; i < RIVALS; i++)
		KUNIT_EXPECT_EQ(test, read_counter(handle[i]), 10 * (i + 1));
	stack_depot_cpu_caches_flush();
	for (i = 0; i < RIVALS; i++) {
		KUNIT_EXPECT_EQ(test, read_depot_counter(handle[i]), 10 * (i + 1));
		KUNIT_EXPECT_EQ(test, read_references(handle[i]), 1);
		stack_depot_put(handle[i]);
	}
}

/* No place of the CPU cache has handle 0, not even one that is unused. */
static void test_no_handle(struct kunit *test)
{
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;

	stack_depot_cpu_caches_flush();
	cpu = stack_depot_cpu_acquire();
	KUNIT_ASSERT_NOT_NULL(test, cpu);
	ref = stack_depot_find_ref(cpu, 0);
	stack_depot_put_handle(cpu, 0);
	stack_depot_cpu_release(cpu);
	KUNIT_EXPECT_NULL(test, ref);
}

/*
 * A CPU flushes all refs within a second, without being asked; later on a host that is busy, where
 * a guest loses ticks.
 */
static void test_idle_cpu(struct kunit *test)
{
	unsigned long words[WORDS] = { 2, 7, 1, 8, (unsigned long)test };
	depot_stack_handle_t handle = intern_test_words(words), counted = save_counted(0);
	struct stack_depot_cpu_cache *cpu;
	unsigned long began = jiffies;

	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_ASSERT_NE(test, counted, 0);
	KUNIT_ASSERT_EQ(test, intern_test_words(words), handle);
	cpu = stack_depot_cpu_acquire();
	count_one(cpu, counted, 5);
	if (cpu)
		stack_depot_cpu_release(cpu);
	KUNIT_EXPECT_GT(test, read_references(handle), 2);
	while ((read_references(handle) > 2 || read_depot_counter(counted) != 5) &&
	       time_before(jiffies, began + 5 * HZ))
		msleep(50);
	KUNIT_EXPECT_EQ(test, read_references(handle), 2);
	KUNIT_EXPECT_EQ(test, read_references(counted), 1);
	KUNIT_EXPECT_EQ(test, read_depot_counter(counted), 5);
	stack_depot_put_many(handle, 2);
	stack_depot_put(counted);
}

/* --- The index ------------------------------------------------------------------ */

/*
 * Save stacks of @count words that differ. The caller has the only reference to each: no CPU
 * keeps any.
 */
static void save_many(struct kunit *test, depot_stack_handle_t *handles, unsigned int nr,
		      unsigned int count)
{
	for (unsigned int i = 0; i < nr; i++) {
		handles[i] = save_counted_words(i, count);
		KUNIT_EXPECT_NE(test, handles[i], 0);
	}
	stack_depot_cpu_caches_flush();
}

/* A made-up hash of a handle. */
static u64 make_hash(unsigned int i)
{
	return (i + 1) * GOLDEN_RATIO_64;
}

/*
 * Index the refs of so many handles. Return: how many of them are found by their hashes, and have
 * the right handle. @wrong: set to how many have another.
 */
static unsigned int index_and_find(const depot_stack_handle_t *handles, unsigned int nr,
				   unsigned int *wrong)
{
	struct stack_depot_cpu_cache *cpu;
	unsigned int i, right = 0;
	struct stack_depot_ref *ref;

	*wrong = 0;
	/* The timer must not flush meanwhile, nor may the test go to another CPU. */
	local_bh_disable();
	for (i = 0; i < nr && (cpu = stack_depot_cpu_acquire()); i++) {
		ref = stack_depot_get_batch(cpu, handles[i]);
		if (ref)
			stack_depot_index_ref(cpu, ref, make_hash(i));
		stack_depot_cpu_release(cpu);
	}
	for (i = 0; i < nr && (cpu = stack_depot_cpu_acquire()); i++) {
		ref = stack_depot_find_hashed_ref(cpu, make_hash(i));
		right += ref && ref->handle == handles[i] && stack_depot_can_get_ref(ref);
		*wrong += ref && ref->handle != handles[i];
		stack_depot_cpu_release(cpu);
	}
	local_bh_enable();
	return right;
}

/*
 * A CPU finds nearly all handles by their hashes while half of its places are in use, and
 * never another handle. It finds none that it has flushed.
 */
static void test_index(struct kunit *test)
{
	const unsigned int few = STACK_DEPOT_REFS / 2, nr = STACK_DEPOT_REFS * 2;
	depot_stack_handle_t *handles = kvcalloc(nr, sizeof(*handles), GFP_KERNEL);
	unsigned int i, right, wrong, references = 0;
	struct stack_depot_cpu_cache *cpu;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	save_many(test, handles, nr, WORDS);
	right = index_and_find(handles, few, &wrong);
	KUNIT_EXPECT_GE(test, right, few - few / 16);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	/* Twice as many handles as places. */
	right = index_and_find(handles, nr, &wrong);
	KUNIT_EXPECT_GE(test, right, STACK_DEPOT_REFS / 2);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	stack_depot_cpu_caches_flush();
	for (i = 0, right = 0; i < nr && (cpu = stack_depot_cpu_acquire()); i++) {
		right += !!stack_depot_find_hashed_ref(cpu, make_hash(i));
		stack_depot_cpu_release(cpu);
	}
	KUNIT_EXPECT_EQ(test, right, 0);
	/* No ref has the hash of a stack that could not be walked. */
	cpu = stack_depot_cpu_acquire();
	right = cpu && stack_depot_find_hashed_ref(cpu, 0);
	if (cpu)
		stack_depot_cpu_release(cpu);
	KUNIT_EXPECT_EQ(test, right, 0);
	for (i = 0; i < nr; i++) {
		references += read_references(handles[i]);
		stack_depot_put(handles[i]);
	}
	KUNIT_EXPECT_EQ(test, references, nr);
	kvfree(handles);
}

/*
 * A CPU keeps a reference to chains that it has evicted, so that the depot does not free them,
 * until it flushes.
 */
static void test_evicted(struct kunit *test)
{
	const unsigned int nr = STACK_DEPOT_REFS + STACK_DEPOT_EVICTED / 2;
	depot_stack_handle_t *handles = kvcalloc(nr, sizeof(*handles), GFP_KERNEL);
	unsigned int i, valid = 0, wrong;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	save_many(test, handles, nr, WORDS);
	/* The timer must not flush meanwhile, nor may the test go to another CPU. */
	local_bh_disable();
	index_and_find(handles, nr, &wrong);
	for (i = 0; i < nr; i++)
		stack_depot_put(handles[i]);
	for (i = 0; i < nr; i++) {
		if (stack_depot_get(handles[i])) {
			valid++;
			stack_depot_put(handles[i]);
		}
	}
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, valid, nr);
	stack_depot_cpu_caches_flush();
	for (i = 0, valid = 0; i < nr; i++)
		valid += stack_depot_get(handles[i]);
	KUNIT_EXPECT_EQ(test, valid, 0);
	kvfree(handles);
}

/* --- Readers ---------------------------------------------------------------------- */

/* Counts that each thread adds. */
#define COUNTS		20000

/*
 * Threads that count the same handle, the last of these, one on each CPU, and evict it from their
 * caches by the other handles. Before a thread adds to the first counter it increments begun, and
 * afterwards ended. The second counter is incremented and decremented in turn.
 */
static struct {
	depot_stack_handle_t counted;
	depot_stack_handle_t other[MANY];
	atomic_long_t begun;
	atomic_long_t ended;
	atomic_long_t evictions;
	atomic_t running;
} counting;

/* Handles that are counted in a row, of which some evict the counted one. */
#define OTHERS		2000

/*
 * Count other handles until one evicts the counted one. Their order is random: the four places of a
 * handle take turns, and in a fixed order the turn may always be that of another place.
 */
static void count_others(struct stack_depot_cpu_cache *cpu, struct rnd_state *random)
{
	unsigned int i;

	for (i = 0; i < OTHERS && stack_depot_find_ref(cpu, counting.counted); i++)
		count_one(cpu, counting.other[prandom_u32_state(random) % (MANY - 1)], 1);
}

static unsigned int set_number(depot_stack_handle_t handle, unsigned int choice)
{
	/* Only the distance is used. */
	struct stack_depot_cpu_cache *none = NULL;

	return stack_depot_ref_set(none, handle, choice) - none->ref;
}

/* Choose the handle whose two sets the most other handles share: they evict it often. */
static void choose_counted(struct kunit *test)
{
	unsigned int i, shared, most = 0, chosen = 0;
	u16 *handles_at = kunit_kcalloc(test, STACK_DEPOT_REFS, sizeof(*handles_at), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, handles_at);
	for (i = 0; i < MANY; i++) {
		handles_at[set_number(counting.other[i], 0)]++;
		handles_at[set_number(counting.other[i], 1)]++;
	}
	for (i = 0; i < MANY; i++) {
		shared = min(handles_at[set_number(counting.other[i], 0)],
			     handles_at[set_number(counting.other[i], 1)]);
		if (shared > most) {
			most = shared;
			chosen = i;
		}
	}
	swap(counting.other[chosen], counting.other[MANY - 1]);
	counting.counted = counting.other[MANY - 1];
}

static int count_on_one_cpu(void *unused)
{
	struct stack_depot_cpu_cache *cpu;
	struct rnd_state random;
	unsigned int i;

	prandom_seed_state(&random, raw_smp_processor_id());
	for (i = 0; i < COUNTS; i++) {
		const s32 more[STACK_DEPOT_COUNTERS] = { 1, i % 2 ? -1 : 1 };

		atomic_long_inc(&counting.begun);
		/* Pairs with read_possible_counters(), which reads begun last. */
		smp_mb__after_atomic();
		cpu = stack_depot_cpu_acquire();
		stack_depot_count_on_cpu(cpu, counting.counted, more);
		if (cpu && i % 64 == 63) {
			count_others(cpu, &random);
			if (!stack_depot_find_ref(cpu, counting.counted))
				atomic_long_inc(&counting.evictions);
		}
		if (cpu)
			stack_depot_cpu_release(cpu);
		/* Pairs with read_possible_counters(), which reads ended first. */
		smp_mb__before_atomic();
		atomic_long_inc(&counting.ended);
		if (i % 256 == 255)
			cond_resched();
	}
	atomic_dec(&counting.running);
	return 0;
}

/* Read the counters, and check them. Return false if a value is impossible. */
static bool read_possible_counters(unsigned int threads, long *last)
{
	long counters[STACK_DEPOT_COUNTERS], min = atomic_long_read(&counting.ended), max;
	bool good;

	/* Pairs with count_on_one_cpu(): counts that have ended are seen. */
	smp_mb();
	if (!stack_depot_read_counters(counting.counted, counters))
		return false;
	/* Pairs with count_on_one_cpu(): counts that were seen have begun. */
	smp_mb();
	max = atomic_long_read(&counting.begun);
	good = counters[0] >= min && counters[0] <= max && counters[0] >= *last &&
	       counters[1] >= 0 && counters[1] <= threads && !counters[2] && !counters[3];
	*last = counters[0];
	return good;
}

/*
 * Read counters while threads on all CPUs count, evict and flush. Each value is between
 * the sums before and after the read.
 */
static void test_readers(struct kunit *test)
{
	unsigned int threads = 0, reads = 0, bad = 0, cpu, i;
	struct task_struct *thread;
	long last = 0;

	save_many(test, counting.other, MANY, WORDS);
	choose_counted(test);
	atomic_long_set(&counting.begun, 0);
	atomic_long_set(&counting.ended, 0);
	atomic_long_set(&counting.evictions, 0);
	atomic_set(&counting.running, 0);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		atomic_inc(&counting.running);
		thread = kthread_run_on_cpu(count_on_one_cpu, NULL, cpu, "refs_kunit/%u");
		if (IS_ERR(thread))
			atomic_dec(&counting.running);
		else
			threads++;
	}
	cpus_read_unlock();
	/* The threads may have ended before the first read. */
	do {
		bad += !read_possible_counters(threads, &last);
		/* Flush seldom: readers give up if flushes never cease. */
		if (++reads % 16 == 0)
			stack_depot_cpu_caches_flush();
		cond_resched();
	} while (atomic_read(&counting.running));
	KUNIT_EXPECT_GT(test, threads, 0);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_EQ(test, read_counter(counting.counted), (long)threads * COUNTS);
	KUNIT_EXPECT_GT(test, atomic_long_read(&counting.evictions), 0);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_EQ(test, read_depot_counter(counting.counted), (long)threads * COUNTS);
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ(test, read_references(counting.other[i]), 1);
		stack_depot_put(counting.other[i]);
	}
}

static int init_refs_suite(struct kunit_suite *suite)
{
	return stack_depot_capture_init();
}

static struct kunit_case refs_cases[] = {
	KUNIT_CASE(test_references),
	KUNIT_CASE(test_many),
	KUNIT_CASE(test_prefix),
	KUNIT_CASE(test_other_cpus),
	KUNIT_CASE(test_rivals),
	KUNIT_CASE_SLOW(test_index),
	KUNIT_CASE_SLOW(test_evicted),
	KUNIT_CASE(test_no_handle),
	KUNIT_CASE_SLOW(test_idle_cpu),
	KUNIT_CASE_SLOW(test_readers),
	{}
};

static struct kunit_suite refs_suite = {
	.name = "stackdepot_refs",
	.suite_init = init_refs_suite,
	.test_cases = refs_cases,
};

kunit_test_suite(refs_suite);
