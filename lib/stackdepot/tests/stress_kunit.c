// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: saving, reading and counting on four CPUs.
 */

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "evict_kunit.h"

static unsigned int stress_seconds = 2;
module_param(stress_seconds, uint, 0444);
MODULE_PARM_DESC(stress_seconds, "Seconds to save, get and put on four CPUs");

#define STRESS_THREADS	4
#define STRESS_SLOTS	512

struct depot_stress {
	struct evictable_depot *depot;
	/* Handles that simulated objects keep: slot N holds the handle of stack N, or 0. */
	depot_stack_handle_t slot[STRESS_SLOTS];
};

struct stress_thread {
	struct depot_stress *s;
	struct task_struct *task;
	struct rnd_state rnd;
	unsigned long saves, refusals, gets, gone, bad;
};

static unsigned int choose_stress_depth(u32 id)
{
	return 1 + hash_32(id, 16) % MAX_FRAMES;
}

static void do_random_operation(struct stress_thread *t)
{
	u32 r = prandom_u32_state(&t->rnd), id = r % STRESS_SLOTS;
	depot_stack_handle_t *slot = &t->s->slot[id], handle;
	unsigned int nr = choose_stress_depth(id);
	unsigned int n = 1 + ((r >> 24) & 7);
	bool got = false;

	switch ((r >> 16) & 7) {
	case 0 ... 2:	/* Allocate: replace the handle in the slot. */
		handle = save_stack(t->s->depot, nr, id, GET_ALLOC);
		t->saves += !!handle;
		t->refusals += !handle;
		stack_depot_put(xchg(slot, handle));
		break;
	case 3 ... 4:	/* Free. */
		stack_depot_put(xchg(slot, 0));
		break;
	default:	/* Read a handle that may be freed concurrently. */
		rcu_read_lock();
		handle = READ_ONCE(*slot);
		/* Give other CPUs time to free the handle that this thread reads. */
		for (unsigned int i = 0; i < r >> 26; i++)
			cpu_relax();
		if (handle) {
			got = stack_depot_get_many(handle, n);
			t->gets += got;
			t->gone += !got;
		}
		rcu_read_unlock();
		if (got) {
			t->bad += !handle_has_stack(handle, nr, id);
			stack_depot_put_many(handle, n);
		}
	}
}

/* Create thread number @nr, bound to an online CPU, round robin. Do not wake it. */
static struct task_struct *create_cpu_thread(struct kunit *test, int (*run)(void *data), void *data,
					     unsigned int nr)
{
	unsigned int cpu = cpumask_nth(nr % num_online_cpus(), cpu_online_mask);
	struct task_struct *task = kthread_create(run, data, "stackdepot/%d", nr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpu);
	return task;
}

static int run_stress_thread(void *arg)
{
	struct stress_thread *t = arg;

	while (!kthread_should_stop()) {
		for (int i = 0; i < 64; i++)
			do_random_operation(t);
		cond_resched();
	}
	return 0;
}

/*
 * Four CPUs save, get and put the same stacks at random, with too little memory
 * for all of them. No reader gets a stack other than the slot's, and at the end
 * the reference counts are exact.
 */
void stack_depot_test_stress(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	struct stress_thread *threads, sum = { };
	unsigned int held = 0;
	unsigned long wrong = 0;
	struct depot_stress *s;

	s = kvzalloc(sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	threads = kunit_kcalloc(test, STRESS_THREADS, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	s->depot = depot;

	for (int i = 0; i < STRESS_THREADS; i++) {
		struct stress_thread *t = &threads[i];

		t->s = s;
		prandom_seed_state(&t->rnd, i + 1);
		t->task = create_cpu_thread(test, run_stress_thread, t, i);
	}
	for (int i = 0; i < STRESS_THREADS; i++)
		wake_up_process(threads[i].task);
	msleep(stress_seconds * 1000);
	/* A slow machine needs longer until slots are reused. */
	for (int i = 0; i < 60 && !READ_ONCE(depot->slots_reused); i++)
		msleep(1000);
	for (int i = 0; i < STRESS_THREADS; i++) {
		struct stress_thread *t = &threads[i];

		kthread_stop(t->task);
		sum.saves += t->saves;
		sum.refusals += t->refusals;
		sum.gets += t->gets;
		sum.gone += t->gone;
		sum.bad += t->bad;
	}

	/* Each slot holds one reference, and no other record is in use. */
	for (u32 id = 0; id < STRESS_SLOTS; id++) {
		if (!s->slot[id])
			continue;
		held++;
		wrong += read_refcount(s->slot[id]) != 1;
		wrong += !handle_has_stack(s->slot[id], choose_stress_depth(id), id);
	}
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), held);
	for (u32 id = 0; id < STRESS_SLOTS; id++)
		stack_depot_put(s->slot[id]);

	kunit_info(test, "%u s on %u CPUs: %lu saves, %lu refused, %lu gets, %lu gone, %lu evictions, %lu slots reused, %lu pools cut again\n",
		   stress_seconds, min(num_online_cpus(), STRESS_THREADS),
		   sum.saves, sum.refusals, sum.gets, sum.gone, depot->evictions,
		   depot->slots_reused, depot->pools_recut);
	KUNIT_EXPECT_EQ(test, sum.bad, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_EQ(test, depot->allocs, depot->evictions);
	KUNIT_EXPECT_GT(test, sum.gets, 0);
	KUNIT_EXPECT_GT(test, depot->slots_reused, 0);
	KUNIT_EXPECT_LE(test, stack_depot_test_bytes(depot), SMALL_DEPOT);
	kvfree(s);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/* Refuse a class, and take the refusal back, as often as possible. */
static int run_refusing_thread(void *arg)
{
	struct depot_class_refusal *refusal = arg;

	while (!kthread_should_stop()) {
		for (int i = 0; i < 1000; i++) {
			WRITE_ONCE(refusal->why, DEPOT_REFUSED_BOUND);
			cpu_relax();
			WRITE_ONCE(refusal->why, DEPOT_NOT_REFUSED);
		}
		cond_resched();
	}
	return 0;
}

/* Each refusal is counted for a reason, also if another CPU takes it back meanwhile. */
void stack_depot_test_taken_back(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	unsigned long refused = 0, counted = 0, until, limit;
	struct task_struct *task;

	if (num_online_cpus() < 2) {
		KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
		kunit_skip(test, "needs two CPUs");
	}
	task = create_cpu_thread(test, run_refusing_thread, &depot->refusal[0],
				 raw_smp_processor_id() + 1);
	wake_up_process(task);
	until = jiffies + HZ / 2;
	/* A guest's other CPU may not run for seconds. */
	limit = until + 60 * HZ;
	while (time_before(jiffies, refused ? until : limit)) {
		for (int i = 0; i < 1000; i++)
			refused += stack_depot_refuse_early(depot, 0, 0, false);
		cond_resched();
	}
	kthread_stop(task);
	for (int why = 0; why < DEPOT_NR_REFUSALS; why++)
		counted += read_refusals(depot, why);
	KUNIT_EXPECT_GT(test, refused, 0);
	KUNIT_EXPECT_EQ(test, counted, refused);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * PLANTED stacks are counted and never freed during the test. Each thread keeps up
 * to PASSING other stacks in a ring.
 */
#define PLANTED		300
#define PLANTED_DEPTHS	min(MAX_FRAMES, 64)
#define PASSING		512

struct counting_thread {
	struct evictable_depot *depot;
	const depot_stack_handle_t *planted;
	struct task_struct *task;
	u32 nr;
	unsigned long rounds, bad;
};

/* The depth of planted stack @id. */
static unsigned int choose_planted_depth(u32 id)
{
	return 1 + id % PLANTED_DEPTHS;
}

/* Add to the counters of the planted stacks; save and put others of both kinds. */
static int run_counting_thread(void *arg)
{
	struct counting_thread *t = arg;
	depot_stack_handle_t *ring;
	u32 id = 0;

	ring = kvcalloc(PASSING, sizeof(*ring), GFP_KERNEL);
	while (!kthread_should_stop()) {
		for (u32 i = 0; i < PLANTED; i++)
			add_to_counters(t->planted[i], 1, i, -(long)t->nr);
		t->rounds++;
		for (u32 i = 0; ring && i < PLANTED; i++, id++) {
			depot_stack_handle_t *slot = &ring[hash_32(id, 9)];
			u32 other = PLANTED + t->nr * BIT(20) + id % BIT(20);

			stack_depot_put(*slot);
			*slot = save_stack(t->depot, choose_planted_depth(other), other,
					   other & 1 ? COUNT_ALLOC : GET_ALLOC);
			if (*slot && other & 1)
				t->bad += !handle_has_counters(*slot, 0, 0, 0);
			if (*slot)
				t->bad += !handle_has_stack(*slot, choose_planted_depth(other),
							    other);
			if (*slot && other & 1)
				add_to_counters(*slot, -1, -1, -1);
		}
		cond_resched();
	}
	for (u32 i = 0; ring && i < PASSING; i++)
		stack_depot_put(ring[i]);
	kvfree(ring);
	return 0;
}

static void start_counting_threads(struct kunit *test, struct counting_thread *threads,
				   struct evictable_depot *depot,
				   const depot_stack_handle_t *planted)
{
	for (int i = 0; i < STRESS_THREADS; i++) {
		struct counting_thread *t = &threads[i];

		t->depot = depot;
		t->planted = planted;
		t->nr = i + 1;
		t->task = create_cpu_thread(test, run_counting_thread, t, i);
	}
	for (int i = 0; i < STRESS_THREADS; i++)
		wake_up_process(threads[i].task);
}

/* Return true if @handle is one of @depot. The caller holds a reference to it. */
static bool depot_has_handle(const struct evictable_depot *depot, depot_stack_handle_t handle)
{
	return depot_find_pool(stack_depot_test_record(handle))->depot == depot;
}

/*
 * Walk all stacks with counters, also the machine's own ones. Count in @met how often each
 * planted stack was found, and return the number of other stacks. @all_planted: a depot that
 * has no other stacks, or NULL.
 */
static unsigned long walk_counted_stacks(struct kunit *test,
					 const struct evictable_depot *all_planted,
					 const depot_stack_handle_t *planted, u8 *met)
{
	unsigned long others = 0, bad = 0;
	depot_stack_handle_t handle;
	u64 place = 0, before = 0;

	memset(met, 0, PLANTED);
	while (!bad && (handle = stack_depot_next_counted(&place))) {
		long counters[STACK_DEPOT_COUNTERS];
		unsigned long id;

		bad += place <= before || !stack_depot_counters(handle, counters);
		before = place;
		id = stack_depot_frame(handle, 0) - FRAME_0;
		if (id < PLANTED) {
			met[id]++;
			bad += planted[id] != handle;
			bad += !handle_has_stack(handle, choose_planted_depth(id), id);
		} else {
			others++;
			bad += all_planted && depot_has_handle(all_planted, handle);
		}
		stack_depot_put(handle);
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	/* After the last record, the walk's position does not move back. */
	KUNIT_EXPECT_GE(test, place, before);
	return others;
}

static unsigned int count_stacks_met_once(const u8 *met)
{
	unsigned int once = 0;

	for (u32 id = 0; id < PLANTED; id++)
		once += met[id] == 1;
	return once;
}

/*
 * A walk finds each stack with counters once, with other stacks and freed records
 * in between, and also while four CPUs save, put and count. No addition to a
 * counter is lost.
 */
void stack_depot_test_next_counted(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 2 * SMALL_DEPOT);
	struct counting_thread *threads;
	depot_stack_handle_t *planted, *between;
	unsigned long rounds = 0, by_thread = 0, bad = 0, met_others = 0;
	unsigned int walks = 0, missed = 0, wrong = 0;
	unsigned long until;
	u8 *met;

	planted = kunit_kcalloc(test, PLANTED, sizeof(*planted), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, planted);
	between = kunit_kcalloc(test, PLANTED, sizeof(*between), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, between);
	met = kunit_kzalloc(test, PLANTED, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, met);
	threads = kunit_kcalloc(test, STRESS_THREADS, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	walk_counted_stacks(test, depot, planted, met);
	KUNIT_EXPECT_EQ(test, count_stacks_met_once(met), 0);

	/* Free a stack of each planted id: the walk must not find it. */
	for (u32 id = 0; id < PLANTED; id++) {
		depot_stack_handle_t gone = save_stack(depot, choose_planted_depth(id + 1), id,
						 COUNT_ALLOC);

		between[id] = save_stack(depot, choose_planted_depth(id), id, GET_ALLOC);
		planted[id] = save_stack(depot, choose_planted_depth(id), id, COUNT_ALLOC);
		KUNIT_ASSERT_NE(test, gone, 0);
		KUNIT_ASSERT_NE(test, planted[id], 0);
		KUNIT_ASSERT_NE(test, between[id], 0);
		KUNIT_ASSERT_FALSE(test, planted[id] == between[id]);
		stack_depot_put(gone);
	}
	walk_counted_stacks(test, depot, planted, met);
	KUNIT_EXPECT_EQ(test, count_stacks_met_once(met), PLANTED);

	start_counting_threads(test, threads, depot, planted);
	until = jiffies + stress_seconds * HZ;
	while (time_before(jiffies, until)) {
		met_others += walk_counted_stacks(test, NULL, planted, met);
		missed += PLANTED - count_stacks_met_once(met);
		walks++;
		schedule_timeout_uninterruptible(1);
	}
	for (int i = 0; i < STRESS_THREADS; i++) {
		kthread_stop(threads[i].task);
		rounds += threads[i].rounds;
		by_thread += threads[i].rounds * threads[i].nr;
		bad += threads[i].bad;
	}

	for (u32 id = 0; id < PLANTED; id++) {
		wrong += !handle_has_counters(planted[id], rounds, rounds * id, -by_thread);
		wrong += read_refcount(planted[id]) != 1;
		wrong += !handle_has_stack(planted[id], choose_planted_depth(id), id);
	}
	kunit_info(test, "%u walks, %lu others met; each of %u stacks counted %lu times, %lu stacks came and %lu slots were reused\n",
		   walks, met_others, PLANTED, rounds, depot->allocs, depot->slots_reused);
	KUNIT_EXPECT_EQ(test, missed, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, rounds, 0);
	KUNIT_EXPECT_GT(test, met_others, 0);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 2 * PLANTED);

	for (u32 id = 0; id < PLANTED; id++) {
		stack_depot_put(planted[id]);
		stack_depot_put(between[id]);
	}
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}
