// SPDX-License-Identifier: GPL-2.0
/*
 * Each reason for which a capture of a slab object leaves the fast path is counted once, and no
 * other one. KFENCE is off in these tests.
 */

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "../slow.h"
#include "plant.h"
#include "write_rules.h"

/* The reason of a capture on the fast path. */
#define FAST		OWNER_SLOW_REASONS

#define RULE		"depth=2 free=off if cache == owner_kunit"

static struct kmem_cache *cache;

/* The next captures are the first ones of their CPU in a tick. Otherwise none is. */
static bool first_in_tick;

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
 * The counts are read before and after. Interrupts are off, so that they allocate nothing in
 * between; PREEMPT_RT does not allow that, and leaves allocations to tasks.
 */
static noinline void *plant_and_count(void *(*plant)(void), long *moved)
{
	unsigned long flags = 0;
	unsigned int i;
	void *object;

	migrate_disable();
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_irq_save(flags);
	for (i = 0; i < OWNER_SLOW_REASONS; i++)
		moved[i] = -this_cpu_read(owner_slow_captures[i]);
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	this_cpu_write(stack_depot_reordered_at, jiffies - first_in_tick);
#endif
	object = plant();
	for (i = 0; i < OWNER_SLOW_REASONS; i++)
		moved[i] += this_cpu_read(owner_slow_captures[i]);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_irq_restore(flags);
	migrate_enable();
	return object;
}

/* Check that this counter has moved by one, and no other. @reason: FAST if none has. */
static void expect_counted(struct kunit *test, const long *moved, enum owner_slow reason)
{
	unsigned int i;

	/* Without a call tree, no chain is found. */
	if (reason == FAST && !IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		reason = OWNER_SLOW_CHAIN;
	/* The timer can tick on another CPU just before the capture. */
	if (reason == OWNER_SLOW_CHAIN && moved[OWNER_SLOW_TICK])
		reason = OWNER_SLOW_TICK;
	for (i = 0; i < OWNER_SLOW_REASONS; i++)
		KUNIT_EXPECT_EQ_MSG(test, moved[i], i == reason, "counter %u, reason %u", i,
				    reason);
}

static void *expect_plant(struct kunit *test, void *(*plant)(void), enum owner_slow reason)
{
	long moved[OWNER_SLOW_REASONS];
	void *object = plant_and_count(plant, moved);

	/* The CPU gives its references back once a second, also just before this. A timer ticks. */
	if (reason == FAST && (moved[OWNER_SLOW_TASK] || moved[OWNER_SLOW_CHAIN] ||
			       moved[OWNER_SLOW_TICK])) {
		kmem_cache_free(cache, object);
		object = plant_and_count(plant, moved);
	}
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_NE(test, find_object_record(object)->handle_pair, 0);
	expect_counted(test, moved, reason);
	return object;
}

/* Allocate an object whose capture leaves the fast path for this reason, and free it. */
static void expect_slow(struct kunit *test, enum owner_slow reason)
{
	kmem_cache_free(cache, expect_plant(test, plant_with_two_frames, reason));
}

/* Rules that have changed are evaluated once, and those with a size each time. */
static void test_rule(struct kunit *test)
{
	expect_slow(test, OWNER_SLOW_RULE);
	expect_slow(test, FAST);
	KUNIT_ASSERT_EQ(test, write_rules("clear; " RULE " && size > 1"), 0);
	expect_slow(test, OWNER_SLOW_RULE);
	expect_slow(test, OWNER_SLOW_RULE);
}

/* The first object of a slab. */
static void test_no_records(struct kunit *test)
{
	void *objects[STACK_DEPOT_REF_BATCH / 2], *first;
	long moved[OWNER_SLOW_REASONS];
	unsigned int i;

	first = expect_plant(test, plant_with_two_frames, OWNER_SLOW_RULE);
	if (virt_to_slab(first)->objects > ARRAY_SIZE(objects)) {
		kmem_cache_free(cache, first);
		kunit_skip(test, "slabs of this machine have more objects");
	}
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = plant_and_count(plant_with_two_frames, moved);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		if (virt_to_slab(objects[i]) != virt_to_slab(first)) {
			expect_counted(test, moved, OWNER_SLOW_RECORDS);
			break;
		}
		KUNIT_EXPECT_EQ(test, moved[OWNER_SLOW_RECORDS], 0);
	}
	KUNIT_EXPECT_LT(test, i, ARRAY_SIZE(objects));
	for (i = min(i, ARRAY_SIZE(objects) - 1) + 1; i > 0; i--)
		kmem_cache_free(cache, objects[i - 1]);
	kmem_cache_free(cache, first);
}

/*
 * Allocate objects in many slabs, with depth 1. Return: the number of slabs. @no_ref: set to the
 * number of captures that walked the stack in vain. All CPUs count there.
 */
static unsigned int plant_in_slabs(struct kunit *test, unsigned long *no_ref)
{
	static void *objects[16 * STACK_DEPOT_REF_BATCH];
	struct stack_depot_capture_counts before, after;
	long moved[OWNER_SLOW_REASONS];
	unsigned int i, slabs = 0;

	stack_depot_read_capture_counts(&before);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = plant_and_count(plant_with_two_frames, moved);
		if (!objects[i])
			break;
		slabs += moved[OWNER_SLOW_RECORDS];
	}
	stack_depot_read_capture_counts(&after);
	*no_ref = after.no_ref - before.no_ref;
	KUNIT_EXPECT_EQ(test, i, ARRAY_SIZE(objects));
	while (i--)
		kmem_cache_free(cache, objects[i]);
	return slabs;
}

/* With depth 1, the first object of a slab needs no walk of the stack either. */
static void test_no_records_depth1(struct kunit *test)
{
	unsigned int slabs, tries = 5;
	unsigned long no_ref;

	if (!IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		kunit_skip(test, "there is no call tree");
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=1 free=off if cache == owner_kunit"), 0);
	kmem_cache_free(cache, plant_with_two_frames());
	do {
		slabs = plant_in_slabs(test, &no_ref);
	} while (no_ref >= slabs / 2 && --tries);
	if (slabs < 8)
		kunit_skip(test, "slabs of this machine have more objects");
	KUNIT_EXPECT_LT(test, no_ref, slabs / 2);
}

/* The CPU cache is in use, as an interrupt of its user finds it. */
static void test_busy(struct kunit *test)
{
	struct stack_depot_cpu_cache *cpu;

	expect_slow(test, OWNER_SLOW_RULE);
	/* Preemption stays on: an allocation can sleep on PREEMPT_RT. */
	migrate_disable();
	cpu = stack_depot_cpu_acquire();
	preempt_enable();
	if (cpu) {
		expect_slow(test, OWNER_SLOW_BUSY);
		preempt_disable();
		stack_depot_cpu_release(cpu);
	}
	migrate_enable();
	KUNIT_EXPECT_NOT_NULL(test, cpu);
	expect_slow(test, FAST);
}

/* An object that is resized keeps its slot, whose record is dropped. */
static void test_stale(struct kunit *test)
{
	void *object = expect_plant(test, plant_with_two_frames, OWNER_SLOW_RULE);
	long before = this_cpu_read(owner_slow_captures[OWNER_SLOW_STALE]);

	__slab_owner_resize(object, GFP_ATOMIC, PLANTED_SIZE - 1);
	KUNIT_EXPECT_GE(test, this_cpu_read(owner_slow_captures[OWNER_SLOW_STALE]), before + 1);
	kmem_cache_free(cache, object);
}

/*
 * A rule asks for records of frees that the slab does not have. Later the slab has them, and the
 * rule does not ask for them. Rules that ask for them are evaluated when they are written.
 */
static void test_frees(struct kunit *test)
{
	void *kept = expect_plant(test, plant_with_two_frames, OWNER_SLOW_RULE), *with;

	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=2 free=on if cache == owner_kunit"), 0);
	with = expect_plant(test, plant_with_two_frames, OWNER_SLOW_RECORDS);
	KUNIT_ASSERT_NOT_NULL(test, find_freed_record(with));
	expect_slow(test, FAST);
	KUNIT_ASSERT_EQ(test, write_rules("clear; free=on if cache == owner_other; " RULE), 0);
	expect_slow(test, OWNER_SLOW_FREES);
	expect_slow(test, OWNER_SLOW_FREES);
	kmem_cache_free(cache, with);
	kmem_cache_free(cache, kept);
}

#define TRIES		200

/* Objects that are not sampled have no record and no reason. */
static void test_sample(struct kunit *test)
{
	long moved[OWNER_SLOW_REASONS], counted = 0;
	unsigned int i, sampled = 0;
	void *object;

	KUNIT_ASSERT_EQ(test, write_rules("clear; sample=1/4 if cache == owner_kunit"), 0);
	for (i = 0; i < TRIES; i++) {
		bool tracked;

		object = plant_and_count(plant_with_two_frames, moved);
		KUNIT_ASSERT_NOT_NULL(test, object);
		tracked = find_slab_records(object) && find_object_record(object)->handle_pair;
		sampled += tracked;
		counted += moved[OWNER_SLOW_SAMPLE];
		moved[OWNER_SLOW_SAMPLE] -= tracked;
		KUNIT_EXPECT_NULL(test, memchr_inv(moved, 0, sizeof(moved)));
		kmem_cache_free(cache, object);
	}
	KUNIT_EXPECT_GT(test, sampled, 0);
	KUNIT_EXPECT_LT(test, sampled, TRIES);
	KUNIT_EXPECT_EQ(test, counted, sampled);
}

static void test_verify(struct kunit *test)
{
	expect_slow(test, OWNER_SLOW_RULE);
	static_branch_enable(&stack_depot_verify_key);
	expect_slow(test, OWNER_SLOW_VERIFY);
	static_branch_disable(&stack_depot_verify_key);
	expect_slow(test, FAST);
}

/*
 * Flush all references, and expect that the next capture counts OWNER_SLOW_TASK. An interrupt in
 * between can capture, which gives the CPU a reference to the task: flush again then.
 */
static void expect_slow_after_flush(struct kunit *test)
{
	long moved[OWNER_SLOW_REASONS];
	unsigned int tries = 5;
	void *object;

	do {
		stack_depot_cpu_caches_flush();
		object = plant_and_count(plant_with_two_frames, moved);
		KUNIT_ASSERT_NOT_NULL(test, object);
		KUNIT_EXPECT_NE(test, find_object_record(object)->handle_pair, 0);
		kmem_cache_free(cache, object);
	} while (!moved[OWNER_SLOW_TASK] && --tries);
	expect_counted(test, moved, OWNER_SLOW_TASK);
}

/* A flush leaves the CPU no reference: neither to the task, nor to the chain. */
static void test_no_task_and_no_chain(struct kunit *test)
{
	struct stack_depot_capture_counts before, known, after;

	expect_slow(test, OWNER_SLOW_RULE);
	expect_slow(test, FAST);
	stack_depot_read_capture_counts(&before);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, OWNER_SLOW_CHAIN));
	stack_depot_read_capture_counts(&known);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, FAST));
	expect_slow_after_flush(test);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, OWNER_SLOW_CHAIN));
	stack_depot_read_capture_counts(&after);
	kmem_cache_free(cache, expect_plant(test, plant_with_other_frames, FAST));
	if (!IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		return;
	/* Other CPUs count here, too. A second run of the test finds the chain in the call tree. */
	KUNIT_EXPECT_GE(test, known.unknown + known.no_ref, before.unknown + before.no_ref + 1);
	KUNIT_EXPECT_GE(test, after.no_ref, known.no_ref + 2);
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
 * slow path takes more references from the depot, without another look at the chain's frames, or
 * each following allocation and free would be slow, too. @free: the rule has free=on.
 */
static void expect_last_reference(struct kunit *test, bool task, bool free)
{
	enum owner_slow reason = task ? OWNER_SLOW_TASK : OWNER_SLOW_CHAIN;
	struct stack_depot_capture_counts before, after;
	long moved[OWNER_SLOW_REASONS];
	struct owner_record owner;
	unsigned int tries = 5;
	void *object;
	bool left;

	do {
		object = plant_and_count(plant_with_two_frames, moved);
		KUNIT_ASSERT_NOT_NULL(test, object);
		owner = *find_object_record(object);
		kmem_cache_free(cache, object);
		stack_depot_read_capture_counts(&before);
		migrate_disable();
		left = leave_one_reference(task ? owner.task : owner.stack);
		object = plant_and_count(plant_with_two_frames, moved);
		migrate_enable();
		stack_depot_read_capture_counts(&after);
		KUNIT_ASSERT_NOT_NULL(test, object);
		if (free)
			KUNIT_ASSERT_NOT_NULL(test, find_freed_record(object));
		kmem_cache_free(cache, object);
	} while ((!left || moved[reason] != 1 || after.no_ref != before.no_ref) && --tries);
	KUNIT_EXPECT_TRUE(test, left);
	expect_counted(test, moved, reason);
	KUNIT_EXPECT_EQ(test, after.no_ref, before.no_ref);
	expect_slow(test, FAST);
}

static void test_last_reference(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		kunit_skip(test, "there is no call tree");
	expect_slow(test, OWNER_SLOW_RULE);
	expect_last_reference(test, false, false);
	expect_last_reference(test, true, false);
}

/* As above, if the record of the last free in the slot has a reference, too. */
static void test_last_reference_of_free(struct kunit *test)
{
	void *kept;

	if (!IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		kunit_skip(test, "there is no call tree");
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=2 free=on if cache == owner_kunit"), 0);
	kept = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kept);
	expect_last_reference(test, true, true);
	kmem_cache_free(cache, kept);
}

/* The first capture in a tick leaves the fast path, the second one does not. */
static void test_tick(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		kunit_skip(test, "there is no call tree");
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS) || IS_ENABLED(CONFIG_KASAN_HW_TAGS))
		kunit_skip(test, "KASAN captures the chain first");
	expect_slow(test, OWNER_SLOW_RULE);
	expect_slow(test, FAST);
	first_in_tick = true;
	expect_slow(test, OWNER_SLOW_TICK);
	first_in_tick = false;
	expect_slow(test, FAST);
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
	first_in_tick = false;
	kmem_cache_destroy(cache);
	cache = NULL;
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
}

static struct kunit_case owner_slow_cases[] = {
	KUNIT_CASE(test_rule),
	KUNIT_CASE(test_no_records),
	KUNIT_CASE(test_no_records_depth1),
	KUNIT_CASE(test_busy),
	KUNIT_CASE(test_stale),
	KUNIT_CASE(test_frees),
	KUNIT_CASE(test_sample),
	KUNIT_CASE(test_verify),
	KUNIT_CASE(test_no_task_and_no_chain),
	KUNIT_CASE(test_last_reference),
	KUNIT_CASE(test_last_reference_of_free),
	KUNIT_CASE(test_tick),
	{}
};

static struct kunit_suite owner_slow_suite = {
	.name = "owner_slow",
	.init = create_cache,
	.exit = destroy_cache,
	.test_cases = owner_slow_cases,
};

kunit_test_suite(owner_slow_suite);
