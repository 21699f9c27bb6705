// SPDX-License-Identifier: GPL-2.0
/*
 * The depot's counters agree with the planted objects: for each way to allocate and to
 * free, on any CPU, and if the CPU cache is in use by an interrupted context.
 */

#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "../capture.h"
#include "../slab/records.h"
#include "../totals.h"
#include "plant.h"
#include "write_rules.h"

static struct kmem_cache *cache;

static noinline void *plant_cache_object(gfp_t flags)
{
	void *object = kmem_cache_alloc(cache, flags);

	/* Prevent a tail call, so that this function is in the chain. */
	barrier();
	return object;
}

static noinline void *plant_kmalloc_object(size_t size)
{
	void *object = kmalloc(size, GFP_KERNEL);

	barrier();
	return object;
}

/* Take a reference to an object's call chain. */
static depot_stack_handle_t get_object_chain(struct kunit *test, void *object)
{
	struct owner_record *record = find_object_record(object);

	KUNIT_ASSERT_NOT_NULL(test, record);
	KUNIT_ASSERT_TRUE(test, stack_depot_get(record->stack));
	return record->stack;
}

/* Check the depot's counters of a call chain: objects, requested bytes, bytes held. */
static void expect_chain_counters(struct kunit *test, depot_stack_handle_t chain, long objects,
				  long bytes, long held)
{
	long counters[STACK_DEPOT_COUNTERS];

	KUNIT_ASSERT_TRUE(test, stack_depot_read_counters(chain, counters));
	KUNIT_EXPECT_EQ(test, counters[OWNER_OBJECTS], objects << OWNER_WEIGHT_SHIFT);
	KUNIT_EXPECT_EQ(test, counters[OWNER_BYTES], bytes);
	KUNIT_EXPECT_EQ(test, counters[OWNER_HELD], held);
}

/* Check that a chain's counters are those of @objects objects of the test's cache. */
static void expect_planted_counters(struct kunit *test, depot_stack_handle_t chain, long objects)
{
	expect_chain_counters(test, chain, objects, objects * PLANTED_SIZE,
			      objects * (long)cache->size);
}

/* More objects than the references that a CPU cache takes from the depot at a time. */
#define MANY	1000

static void test_objects_are_counted(struct kunit *test)
{
	void **objects = kunit_kcalloc(test, MANY, sizeof(*objects), GFP_KERNEL);
	depot_stack_handle_t chain = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	for (i = 0; i < MANY; i++) {
		objects[i] = plant_cache_object(GFP_KERNEL);
		if (!i)
			chain = get_object_chain(test, objects[i]);
		if (i == MANY / 3)
			expect_planted_counters(test, chain, i + 1);
		/* CPUs that give back their references flush their counts, too. */
		if (i == MANY / 2)
			stack_depot_cpu_caches_flush();
	}
	expect_planted_counters(test, chain, MANY);
	for (i = 0; i < MANY; i += 2)
		kmem_cache_free(cache, objects[i]);
	stack_depot_cpu_caches_flush();
	expect_planted_counters(test, chain, MANY / 2);
	for (i = 1; i < MANY; i += 2)
		kmem_cache_free(cache, objects[i]);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
}

/* One chain's objects of several sizes are counted, also after krealloc() in place. */
static void test_sizes_are_counted(struct kunit *test)
{
	static const size_t sizes[] = { 3, 64, 100, 200, 1000, 5000 };
	depot_stack_handle_t chain = 0;
	void *objects[ARRAY_SIZE(sizes)];
	long bytes = 0, held = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		objects[i] = plant_kmalloc_object(sizes[i]);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		if (!i)
			chain = get_object_chain(test, objects[i]);
		bytes += sizes[i];
		held += virt_to_slab(objects[i])->slab_cache->size;
	}
	expect_chain_counters(test, chain, ARRAY_SIZE(sizes), bytes, held);
	/* krealloc() makes its caller the owner. */
	held -= virt_to_slab(objects[3])->slab_cache->size;
	KUNIT_ASSERT_PTR_EQ(test, krealloc(objects[3], 198, GFP_KERNEL), objects[3]);
	expect_chain_counters(test, chain, ARRAY_SIZE(sizes) - 1, bytes - 200, held);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		kfree(objects[i]);
	expect_chain_counters(test, chain, 0, 0, 0);
	stack_depot_put(chain);
}

/* Objects that are allocated singly and freed in bulk are counted, and vice versa. */
static void test_bulk_is_counted(struct kunit *test)
{
	depot_stack_handle_t chain;
	void *objects[PLANTED];
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_cache_object(GFP_KERNEL);
	chain = get_object_chain(test, objects[0]);
	kmem_cache_free_bulk(cache, PLANTED - 1, objects);
	expect_planted_counters(test, chain, 1);
	kmem_cache_free(cache, objects[PLANTED - 1]);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);

	KUNIT_ASSERT_TRUE(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, PLANTED, objects));
	chain = get_object_chain(test, objects[0]);
	expect_planted_counters(test, chain, PLANTED);
	for (i = 0; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
}

/*
 * Mark this CPU's cache as in use, as an interrupt would find it. Preemption stays on: an
 * allocation can sleep on PREEMPT_RT.
 */
static struct stack_depot_cpu_cache *mark_cpu_cache_used(struct kunit *test)
{
	struct stack_depot_cpu_cache *kept;

	migrate_disable();
	kept = stack_depot_cpu_acquire();
	KUNIT_ASSERT_NOT_NULL(test, kept);
	preempt_enable();
	return kept;
}

static void mark_cpu_cache_unused(struct stack_depot_cpu_cache *kept)
{
	preempt_disable();
	stack_depot_cpu_release(kept);
	migrate_enable();
}

static void test_counted_without_the_cpu(struct kunit *test)
{
	void *object = plant_cache_object(GFP_KERNEL);
	depot_stack_handle_t chain = get_object_chain(test, object);
	struct stack_depot_cpu_cache *kept = mark_cpu_cache_used(test);
	void *others[PLANTED];
	unsigned int i, got = 0;

	for (i = 0; i < PLANTED; i++)
		others[i] = plant_cache_object(GFP_ATOMIC);
	kmem_cache_free(cache, object);
	mark_cpu_cache_unused(kept);
	for (i = 0; i < PLANTED; i++)
		got += !!others[i];
	KUNIT_EXPECT_EQ(test, got, PLANTED);
	/* The second call of plant_cache_object() has another call site, so another chain. */
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
	chain = get_object_chain(test, others[0]);
	expect_planted_counters(test, chain, PLANTED);
	kept = mark_cpu_cache_used(test);
	kmem_cache_free(cache, others[0]);
	mark_cpu_cache_unused(kept);
	for (i = 1; i < PLANTED; i++)
		kmem_cache_free(cache, others[i]);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
}

static void free_100_objects(void *objects)
{
	void **first = (void **)objects + 100 * smp_processor_id();
	unsigned int i;

	for (i = 0; i < 100; i++)
		kmem_cache_free(cache, first[i]);
}

static long free_100_in_task(void *objects)
{
	free_100_objects(objects);
	return 0;
}

/*
 * Objects that other CPUs free are subtracted from the counters. The other CPUs free in
 * interrupts, or in tasks with PREEMPT_RT, where interrupts cannot free.
 */
static void test_freed_on_other_cpus(struct kunit *test)
{
	unsigned int cpu, i, count = 100 * nr_cpu_ids;
	void **objects = kunit_kcalloc(test, count, sizeof(*objects), GFP_KERNEL);
	depot_stack_handle_t chain = 0;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	for (i = 0; i < count; i++) {
		objects[i] = plant_cache_object(GFP_KERNEL);
		if (!i)
			chain = get_object_chain(test, objects[i]);
	}
	expect_planted_counters(test, chain, count);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		for_each_online_cpu(cpu)
			work_on_cpu(cpu, free_100_in_task, objects);
	else
		on_each_cpu(free_100_objects, objects, true);
	expect_planted_counters(test, chain, count - 100 * num_online_cpus());
	for (i = 0; i < count; i++)
		if (!cpu_online(i / 100))
			kmem_cache_free(cache, objects[i]);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
}

/* Freeing a slab drops the records of objects that were not freed one by one. */
static void test_slab_that_goes(struct kunit *test)
{
	void *object = plant_cache_object(GFP_KERNEL);
	depot_stack_handle_t chain = get_object_chain(test, object);
	struct owner_record *record = find_object_record(object);
	struct owner_record kept = *record;

	/* Free the object so that the hook does not see its record. */
	WRITE_ONCE(record->handle_pair, 0);
	kmem_cache_free(cache, object);
	WRITE_ONCE(record->handle_pair, kept.handle_pair);
	expect_planted_counters(test, chain, 1);
	kmem_cache_shrink(cache);
	expect_planted_counters(test, chain, 0);
	stack_depot_put(chain);
}

/* Collect what chains hold, and find the one of @chain. Return: an estimate of 0 without it. */
static struct owner_estimate find_estimate(struct kunit *test, depot_stack_handle_t chain)
{
	struct owner_chain_totals totals = {};
	struct owner_estimate estimate = {};
	unsigned int i, found = 0;

	KUNIT_EXPECT_EQ(test, owner_collect_chains(&totals, OWNER_KIND_SLAB, NULL), 0);
	for (i = 0; i < totals.count; i++) {
		if (totals.total[i].stack != chain)
			continue;
		estimate = totals.total[i].estimate;
		found++;
	}
	owner_free_chain_totals(&totals);
	KUNIT_EXPECT_EQ(test, found, estimate.records ? 1 : 0);
	return estimate;
}

/* A chain is collected if it holds an object, whether its CPU or the depot counts it. */
static void test_chains_are_found(struct kunit *test)
{
	void *object = plant_cache_object(GFP_KERNEL), *second = plant_cache_object(GFP_KERNEL);
	depot_stack_handle_t chain = get_object_chain(test, object);
	depot_stack_handle_t other = get_object_chain(test, second);
	struct owner_estimate found;
	unsigned int i;

	KUNIT_ASSERT_NE(test, chain, other);
	kmem_cache_free(cache, second);
	for (i = 0; i < 2; i++) {
		found = find_estimate(test, chain);
		KUNIT_EXPECT_EQ(test, found.records, 1);
		KUNIT_EXPECT_EQ(test, found.objects, 1);
		KUNIT_EXPECT_EQ(test, found.bytes, PLANTED_SIZE);
		KUNIT_EXPECT_EQ(test, found.held, cache->size);
		KUNIT_EXPECT_EQ(test, find_estimate(test, other).records, 0);
		stack_depot_cpu_caches_flush();
	}
	kmem_cache_free(cache, object);
	KUNIT_EXPECT_EQ(test, find_estimate(test, chain).records, 0);
	stack_depot_put(chain);
	stack_depot_put(other);
}

static struct task_struct *moving_task;

/* Allocate, free, and move the counts to the depot, which changes what a chain holds by 0 or 1. */
static int move_counts(void *unused)
{
	while (!kthread_should_stop()) {
		kmem_cache_free(cache, plant_cache_object(GFP_KERNEL));
		stack_depot_cpu_caches_flush();
		cond_resched();
	}
	return 0;
}

/* A chain is counted right while counts of this and of other chains move to the depot. */
static void test_counts_that_move(struct kunit *test)
{
	void *object = plant_cache_object(GFP_KERNEL);
	depot_stack_handle_t chain = get_object_chain(test, object);
	unsigned int i, wrong = 0;

	moving_task = kthread_run(move_counts, NULL, "owner_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(moving_task));
	for (i = 0; i < 200; i++) {
		wrong += find_estimate(test, chain).objects != 1;
		kmem_cache_free(cache, object);
		wrong += find_estimate(test, chain).objects != 0;
		object = plant_cache_object(GFP_KERNEL);
		stack_depot_put(chain);
		chain = get_object_chain(test, object);
	}
	kthread_stop(moving_task);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	kmem_cache_free(cache, object);
	stack_depot_put(chain);
}

/*
 * If counters change while they are read, the bytes held can seem less than the bytes
 * asked for. The difference must not wrap.
 */
static void test_no_waste_below_zero(struct kunit *test)
{
	void *object = plant_cache_object(GFP_KERNEL);
	depot_stack_handle_t chain = get_object_chain(test, object);
	long less[STACK_DEPOT_COUNTERS] = { [OWNER_HELD] = -(long)cache->size };
	long more[STACK_DEPOT_COUNTERS] = { [OWNER_HELD] = cache->size };
	struct owner_estimate found;

	stack_depot_count(chain, less);
	found = find_estimate(test, chain);
	stack_depot_count(chain, more);
	KUNIT_EXPECT_EQ(test, found.bytes, PLANTED_SIZE);
	KUNIT_EXPECT_GE(test, found.held, found.bytes);
	kmem_cache_free(cache, object);
	stack_depot_put(chain);
}

#define SAMPLED		200

/*
 * The counters of a chain have what a walk over its objects finds, if some are samples, until they
 * are freed.
 */
static void test_samples_are_counted(struct kunit *test)
{
	struct owner_estimate walked = {}, counted;
	depot_stack_handle_t chain = 0;
	void **objects = kunit_kcalloc(test, SAMPLED, sizeof(*objects), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	if (owner_read_samples())
		kunit_skip(test, "boot without sample=");
	KUNIT_ASSERT_EQ(test, write_rules("sample=100 if cache == owner_kunit"), 0);
	for (i = 0; i < SAMPLED; i++) {
		struct owner_record *record;

		objects[i] = plant_cache_object(GFP_KERNEL);
		record = find_object_record(objects[i]);
		if (!record || !record->handle_pair)
			continue;
		KUNIT_EXPECT_TRUE(test, !chain || chain == record->stack);
		if (!chain)
			chain = get_object_chain(test, objects[i]);
		owner_estimate_add(&walked, 1, owner_record_rate(record), PLANTED_SIZE,
				   cache->size);
	}
	KUNIT_EXPECT_GT(test, walked.records, 0);
	KUNIT_EXPECT_LT(test, walked.records, SAMPLED);
	KUNIT_EXPECT_EQ(test, owner_read_samples(), walked.records);
	counted = find_estimate(test, chain);
	KUNIT_EXPECT_EQ(test, counted.objects, walked.objects);
	KUNIT_EXPECT_EQ(test, counted.fraction, walked.fraction);
	KUNIT_EXPECT_EQ(test, counted.bytes, walked.bytes);
	KUNIT_EXPECT_EQ(test, counted.held, walked.held);
	for (i = 0; i < SAMPLED; i++)
		kmem_cache_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, find_estimate(test, chain).records, 0);
	KUNIT_EXPECT_EQ(test, owner_read_samples(), 0);
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	if (chain)
		stack_depot_put(chain);
}

/* The index of an object's record is SLUB's index of the object. */
static void test_index(struct kunit *test)
{
	static const unsigned int sizes[] = {
		8, 24, 40, 56, 104, 120, 200, 328, 504, 968, 1304, 2056, 3000, 4088, 7000,
	};
	unsigned int i, j, wrong = 0;
	void *objects[3 * PLANTED];

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kmem_cache *s = kmem_cache_create("owner_kunit_index", sizes[i], 0,
							 SLAB_NO_MERGE, NULL);

		KUNIT_ASSERT_NOT_NULL(test, s);
		for (j = 0; j < ARRAY_SIZE(objects); j++) {
			objects[j] = kmem_cache_alloc(s, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, find_object_record(objects[j]));
		}
		for (j = 0; j < ARRAY_SIZE(objects); j += 2) {
			wrong += !find_object_record(objects[j])->handle_pair;
			kmem_cache_free(s, objects[j]);
			wrong += !!find_object_record(objects[j])->handle_pair;
		}
		for (j = 1; j < ARRAY_SIZE(objects); j += 2)
			wrong += !find_object_record(objects[j])->handle_pair;
		for (j = 1; j < ARRAY_SIZE(objects); j += 2)
			kmem_cache_free(s, objects[j]);
		kmem_cache_destroy(s);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static int init_counted_test(struct kunit *test)
{
	int error = require_slab_owner(test);

	if (error)
		return error;
	cache = create_test_cache(test, 0);
	return 0;
}

static void exit_counted_test(struct kunit *test)
{
	kmem_cache_destroy(cache);
	cache = NULL;
}

static struct kunit_case owner_counted_cases[] = {
	KUNIT_CASE(test_objects_are_counted),
	KUNIT_CASE(test_sizes_are_counted),
	KUNIT_CASE(test_bulk_is_counted),
	KUNIT_CASE(test_counted_without_the_cpu),
	KUNIT_CASE(test_freed_on_other_cpus),
	KUNIT_CASE(test_slab_that_goes),
	KUNIT_CASE(test_chains_are_found),
	KUNIT_CASE(test_counts_that_move),
	KUNIT_CASE(test_no_waste_below_zero),
	KUNIT_CASE(test_samples_are_counted),
	KUNIT_CASE(test_index),
	{}
};

static struct kunit_suite owner_counted_suite = {
	.name = "owner_counted",
	.init = init_counted_test,
	.exit = exit_counted_test,
	.test_cases = owner_counted_cases,
};

kunit_test_suite(owner_counted_suite);
