// SPDX-License-Identifier: GPL-2.0
/*
 * Which captures of slab objects leave the fast path: each is counted once, and none that does not
 * have to. KFENCE is off in these tests.
 */

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "../slab/object.h"
#include "plant.h"
#include "write_rules.h"

#define RULE		"depth=2 free=off if cache == owner_kunit"

static struct kmem_cache *cache;

static noinline void *plant_with_two_frames(void)
{
	void *object = kmem_cache_alloc(cache, GFP_ATOMIC);

	/* Prevent a tail call, so that this function is in the chain. */
	barrier();
	return object;
}

static noinline void *plant_with_other_frames(void)
{
	void *object = kmem_cache_alloc(cache, GFP_ATOMIC);

	barrier();
	return object;
}

/*
 * The test's functions call this one, so that the chain's two frames are always the same ones.
 * The count is read before and after. Interrupts are off, so that they allocate nothing in
 * between; PREEMPT_RT does not allow that, and leaves allocations to tasks.
 */
static noinline void *plant_and_count(void *(*plant)(void), long *slow)
{
	unsigned long flags = 0;
	void *object;

	migrate_disable();
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_irq_save(flags);
	*slow = -this_cpu_read(owner_slow_captures);
	object = plant();
	*slow += this_cpu_read(owner_slow_captures);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_irq_restore(flags);
	migrate_enable();
	return object;
}

static void *expect_plant(struct kunit *test, void *(*plant)(void), bool is_slow)
{
	void *object;
	long slow;

	object = plant_and_count(plant, &slow);
	/* The CPU flushes its refs within a second, also just before this. */
	if (!is_slow && slow) {
		kmem_cache_free(cache, object);
		object = plant_and_count(plant, &slow);
	}
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_NE(test, find_object_record(object)->handle_pair, 0);
	/* Elsewhere no chain is found without the slow path. */
	KUNIT_EXPECT_EQ(test, slow, is_slow || !IS_ENABLED(CONFIG_STACKDEPOT_WALK));
	return object;
}

/* Allocate an object whose capture leaves the fast path, and free it. */
static void expect_slow(struct kunit *test)
{
	kmem_cache_free(cache, expect_plant(test, plant_with_two_frames, true));
}

static void expect_fast(struct kunit *test)
{
	kmem_cache_free(cache, expect_plant(test, plant_with_two_frames, false));
}

/* Rules that have changed are evaluated once, and those with a task's name each time. */
static void test_rule(struct kunit *test)
{
	expect_slow(test);
	expect_fast(test);
	KUNIT_ASSERT_EQ(test, write_rules("clear; " RULE " && comm != nobody"), 0);
	expect_slow(test);
	expect_slow(test);
}

/* The first object of a slab, at any depth, needs no slow path. */
static void test_no_records(struct kunit *test)
{
	static void *objects[16 * STACK_DEPOT_REF_BATCH];
	long slow, sum = 0;
	unsigned int i, slabs = 0;

	expect_slow(test);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = plant_and_count(plant_with_two_frames, &slow);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		slabs += !i || virt_to_slab(objects[i]) != virt_to_slab(objects[i - 1]);
		sum += slow;
	}
	while (i--)
		kmem_cache_free(cache, objects[i]);
	if (!IS_ENABLED(CONFIG_STACKDEPOT_WALK) || slabs < 8)
		kunit_skip(test, "no fast path, or slabs of this machine have more objects");
	/* A timer can flush the references. */
	KUNIT_EXPECT_LT(test, sum, slabs / 2);
}

/* The CPU cache is in use, as an interrupt of its user finds it. */
static void test_busy(struct kunit *test)
{
	struct stack_depot_cpu_cache *cpu;

	expect_slow(test);
	/* Preemption stays on: an allocation can sleep on PREEMPT_RT. */
	migrate_disable();
	cpu = stack_depot_cpu_acquire();
	preempt_enable();
	if (cpu) {
		expect_slow(test);
		preempt_disable();
		stack_depot_cpu_release(cpu);
	}
	migrate_enable();
	KUNIT_EXPECT_NOT_NULL(test, cpu);
	expect_fast(test);
}

static noinline void *resize_object(void *object)
{
	void *resized = krealloc(object, PLANTED_SIZE - 1, GFP_ATOMIC);

	barrier();
	return resized;
}

/* krealloc() in place replaces the owner without the slow path, once the chain is known. */
static void test_resized(struct kunit *test)
{
	void *object = kmalloc(PLANTED_SIZE, GFP_KERNEL);
	unsigned int i, tries = 5;
	long before, slow = 0;

	KUNIT_ASSERT_NOT_NULL(test, object);
	do {
		for (i = 0; i < 2; i++) {
			before = this_cpu_read(owner_slow_captures);
			object = resize_object(object);
			slow = this_cpu_read(owner_slow_captures) - before;
		}
	} while (slow && --tries);
	if (IS_ENABLED(CONFIG_STACKDEPOT_WALK))
		KUNIT_EXPECT_EQ(test, slow, 0);
	KUNIT_EXPECT_TRUE(test, chain_has_function(find_object_record(object)->stack,
						   resize_object));
	KUNIT_EXPECT_EQ(test, owner_record_requested(find_object_record(object)),
			PLANTED_SIZE - 1);
	kfree(object);
}

/*
 * A rule asks for records of frees that the slab does not have. Later the slab has them, and the
 * rule does not ask for them. Rules that ask for them are evaluated when they are written.
 */
static void test_frees(struct kunit *test)
{
	void *kept = expect_plant(test, plant_with_two_frames, true), *with;

	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=2 free=on if cache == owner_kunit"), 0);
	with = expect_plant(test, plant_with_two_frames, true);
	KUNIT_ASSERT_NOT_NULL(test, find_freed_record(with));
	expect_fast(test);
	KUNIT_ASSERT_EQ(test, write_rules("clear; free=on if cache == owner_other; " RULE), 0);
	expect_slow(test);
	expect_slow(test);
	kmem_cache_free(cache, with);
	kmem_cache_free(cache, kept);
}

#define TRIES		200

/* Objects that are sampled need the slow path, the others do not. */
static void test_sample(struct kunit *test)
{
	unsigned int i, sampled = 0;
	long slow, counted = 0;
	void *object;

	KUNIT_ASSERT_EQ(test, write_rules("clear; sample=1/4 if cache == owner_kunit"), 0);
	for (i = 0; i < TRIES; i++) {
		object = plant_and_count(plant_with_two_frames, &slow);
		KUNIT_ASSERT_NOT_NULL(test, object);
		sampled += find_slab_records(object) && find_object_record(object)->handle_pair;
		counted += slow;
		kmem_cache_free(cache, object);
	}
	KUNIT_EXPECT_GT(test, sampled, 0);
	KUNIT_EXPECT_LT(test, sampled, TRIES);
	KUNIT_EXPECT_EQ(test, counted, sampled);
}

static void test_verify(struct kunit *test)
{
	expect_slow(test);
	static_branch_enable(&stack_depot_verify_key);
	expect_slow(test);
	static_branch_disable(&stack_depot_verify_key);
	expect_fast(test);
}

/* A flush leaves the CPU no reference: neither to the task, nor to the chain. */
static void test_no_task_and_no_chain(struct kunit *test)
{
	struct stack_depot_capture_counts before, after;

	expect_slow(test);
	expect_fast(test);
	stack_depot_read_capture_counts(&before);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, true));
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, false));
	stack_depot_cpu_caches_flush();
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, true));
	stack_depot_read_capture_counts(&after);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, false));
	if (!IS_ENABLED(CONFIG_STACKDEPOT_WALK))
		return;
	/* Other CPUs count here, too. */
	KUNIT_EXPECT_GE(test, after.walked, before.walked + 2);
}

/* Drop all references of this CPU to a handle but one. Return: false if it has none. */
static bool leave_one_reference(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct stack_depot_ref *ref = cpu ? stack_depot_find_ref(cpu, handle) : NULL;

	if (ref) {
		stack_depot_put_many(ref->handle, ref->references - 1);
		ref->references = 1;
	}
	if (cpu)
		stack_depot_cpu_release(cpu);
	return ref;
}

/*
 * Leave this CPU one reference to the chain or to the task of an object, and allocate the next
 * object. A CPU may capture another chain or flush its references in between: try again then. The
 * second attempt takes more references from the depot, and the slow path is not needed. @free: the
 * rule has free=on.
 */
static void expect_last_reference(struct kunit *test, bool task, bool free)
{
	struct stack_depot_capture_counts before, after;
	struct owner_record owner;
	unsigned int tries = 5;
	void *object;
	bool left;
	long slow;

	do {
		object = plant_and_count(plant_with_two_frames, &slow);
		KUNIT_ASSERT_NOT_NULL(test, object);
		owner = *find_object_record(object);
		kmem_cache_free(cache, object);
		stack_depot_read_capture_counts(&before);
		migrate_disable();
		left = leave_one_reference(task ? owner.task : owner.stack);
		object = plant_and_count(plant_with_two_frames, &slow);
		migrate_enable();
		stack_depot_read_capture_counts(&after);
		KUNIT_ASSERT_NOT_NULL(test, object);
		if (free)
			KUNIT_ASSERT_NOT_NULL(test, find_freed_record(object));
		kmem_cache_free(cache, object);
	} while ((!left || slow || after.walked != before.walked) && --tries);
	KUNIT_EXPECT_TRUE(test, left);
	KUNIT_EXPECT_EQ(test, slow, 0);
	KUNIT_EXPECT_EQ(test, after.walked, before.walked);
	expect_fast(test);
}

static void test_last_reference(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_STACKDEPOT_WALK))
		kunit_skip(test, "there is no fast path");
	expect_slow(test);
	expect_last_reference(test, false, false);
	expect_last_reference(test, true, false);
}

/* As above, if the record of the last free in the slot has a reference, too. */
static void test_last_reference_of_free(struct kunit *test)
{
	void *kept;

	if (!IS_ENABLED(CONFIG_STACKDEPOT_WALK))
		kunit_skip(test, "there is no fast path");
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=2 free=on if cache == owner_kunit"), 0);
	kept = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kept);
	expect_last_reference(test, true, true);
	kmem_cache_free(cache, kept);
}

static int create_cache(struct kunit *test)
{
	int error = require_slab_owner(test);

	if (error)
		return error;
	if (stack_depot_verifies())
		kunit_skip(test, "boot without owner.verify=1");
	error = write_rules("clear; " RULE);
	if (error)
		return error;
	cache = create_test_cache(test, 0);
	return 0;
}

static void destroy_cache(struct kunit *test)
{
	kmem_cache_destroy(cache);
	cache = NULL;
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
}

static struct kunit_case owner_slow_cases[] = {
	KUNIT_CASE(test_rule),
	KUNIT_CASE(test_no_records),
	KUNIT_CASE(test_busy),
	KUNIT_CASE(test_resized),
	KUNIT_CASE(test_frees),
	KUNIT_CASE(test_sample),
	KUNIT_CASE(test_verify),
	KUNIT_CASE(test_no_task_and_no_chain),
	KUNIT_CASE(test_last_reference),
	KUNIT_CASE(test_last_reference_of_free),
	{}
};

static struct kunit_suite owner_slow_suite = {
	.name = "owner_slow",
	.init = create_cache,
	.exit = destroy_cache,
	.test_cases = owner_slow_cases,
};

kunit_test_suite(owner_slow_suite);
