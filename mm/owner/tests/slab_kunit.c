// SPDX-License-Identifier: GPL-2.0
/*
 * Objects with known owners are planted and read back by the walk that the
 * files use.
 */

#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "../../slab.h"
#include "../owner.h"

#define PLANTED		37
#define PLANTED_SIZE	200

/* What a walk found of one cache. */
struct found {
	unsigned int objects;
	unsigned int from_plant;	/* whose call chain passes plant() */
	unsigned int own_task;		/* that this task allocated */
	size_t own_bytes;		/* and how much it asked for */
	u32 youngest;
};

static noinline void *plant(struct kmem_cache *cache)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	/* Not a tail call: the chain must pass here. */
	barrier();
	return object;
}

static bool passes(depot_stack_handle_t stack, void *function)
{
	unsigned long *entries;
	unsigned int i, count = stack_depot_fetch(stack, &entries);

	for (i = 0; i < count; i++)
		if (entries[i] - (unsigned long)function < 256)
			return true;
	return false;
}

static struct found look_for(const char *cache)
{
	struct owner_object object;
	struct found found = {};
	struct slab_walk walk = {};

	slab_walk_begin(&walk);
	while (slab_walk_next(&walk, &object) > 0) {
		struct owner_task task;

		if (strcmp(object.cache, cache))
			continue;
		found.objects++;
		found.youngest = max(found.youngest, object.owner.time);
		found.from_plant += passes(object.owner.stack, plant);
		if (owner_task_fetch(object.owner.task, &task) &&
		    task.pid == current->pid && task.tgid == current->tgid &&
		    !strcmp(task.comm, current->comm)) {
			found.own_task++;
			found.own_bytes += object.owner.size;
		}
	}
	slab_walk_end(&walk);
	return found;
}

static struct kmem_cache *make_cache(struct kunit *test)
{
	struct kmem_cache *cache;

	cache = kmem_cache_create("owner_kunit", PLANTED_SIZE, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	return cache;
}

static void test_planted_is_found(struct kunit *test)
{
	struct kmem_cache *cache = make_cache(test);
	void *objects[PLANTED];
	struct found found;
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant(cache);
	found = look_for("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, PLANTED);
	KUNIT_EXPECT_EQ(test, found.from_plant, PLANTED);
	KUNIT_EXPECT_EQ(test, found.own_task, PLANTED);
	KUNIT_EXPECT_EQ(test, found.own_bytes, PLANTED * PLANTED_SIZE);
	KUNIT_EXPECT_LE(test, (u64)found.youngest << OWNER_TIME_SHIFT, local_clock());

	for (i = 0; i < PLANTED; i += 2)
		kmem_cache_free(cache, objects[i]);
	found = look_for("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, PLANTED / 2);

	for (i = 1; i < PLANTED; i += 2)
		kmem_cache_free(cache, objects[i]);
	found = look_for("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, 0);
	kmem_cache_destroy(cache);
}

static void test_bulk_is_found(struct kunit *test)
{
	struct kmem_cache *cache = make_cache(test);
	void *objects[PLANTED];

	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, PLANTED, objects), PLANTED);
	KUNIT_EXPECT_EQ(test, look_for("owner_kunit").objects, PLANTED);
	/* Freed out of order, so that several detached freelists are built. */
	swap(objects[0], objects[PLANTED - 1]);
	kmem_cache_free_bulk(cache, PLANTED, objects);
	KUNIT_EXPECT_EQ(test, look_for("owner_kunit").objects, 0);
	kmem_cache_destroy(cache);
}

static noinline void *plant_alone(struct kmem_cache *cache)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

/* References that the records hold to the chain of the cache's first object. */
static unsigned int references(const char *cache, struct slab_owner *owner)
{
	struct owner_object object;
	unsigned int count = 0;
	struct slab_walk walk = {};

	slab_walk_begin(&walk);
	while (!count && slab_walk_next(&walk, &object) > 0) {
		if (strcmp(object.cache, cache))
			continue;
		*owner = object.owner;
		/* One of them is the walk's. */
		count = refcount_read(&__stack_depot_get_stack_record(owner->stack)->count) - 1;
	}
	slab_walk_end(&walk);
	return count;
}

/* Each object holds one reference, and its free drops it. */
static void test_handles_are_put_once(struct kunit *test)
{
	struct kmem_cache *cache = make_cache(test);
	struct slab_owner owner = {};
	void *objects[PLANTED];
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_alone(cache);
	KUNIT_EXPECT_EQ(test, references("owner_kunit", &owner), PLANTED);
	for (i = 1; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, references("owner_kunit", &owner), 1);
	kmem_cache_free(cache, objects[0]);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(owner.stack));
	kmem_cache_destroy(cache);
}

/* The requested size, not that of the kmalloc cache, is what a caller asked for. */
static void test_requested_size(struct kunit *test)
{
	size_t before = look_for("kmalloc-256").own_bytes;
	void *object = kmalloc(PLANTED_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_EQ(test, look_for("kmalloc-256").own_bytes - before, PLANTED_SIZE);
	kfree(object);
}

static noinline void *shrink(void *object, size_t size)
{
	void *same = krealloc(object, size, GFP_KERNEL);

	barrier();
	return same;
}

/* Who resizes an object in place owns it from then on, at its new size. */
static void test_krealloc_in_place(struct kunit *test)
{
	void *object = kmalloc(PLANTED_SIZE, GFP_KERNEL);
	struct owner_object found;
	unsigned int shrunk = 0;
	struct slab_walk walk = {};

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_PTR_EQ(test, shrink(object, PLANTED_SIZE - 50), object);
	slab_walk_begin(&walk);
	while (slab_walk_next(&walk, &found) > 0) {
		if (found.address != object)
			continue;
		shrunk++;
		KUNIT_EXPECT_EQ(test, found.owner.size, PLANTED_SIZE - 50);
		KUNIT_EXPECT_TRUE(test, passes(found.owner.stack, shrink));
	}
	slab_walk_end(&walk);
	KUNIT_EXPECT_EQ(test, shrunk, 1);
	kfree(object);
}

/*
 * Were the records of kmalloc's own caches in those caches, two of them could
 * hold each other's, and freeing one would recurse into the other.
 */
static void test_kmalloc_records_make_no_cycle(struct kunit *test)
{
	void *object = kmalloc(512, GFP_KERNEL);
	struct slab_owners *owners;

	KUNIT_ASSERT_NOT_NULL(test, object);
	owners = slab_owners(virt_to_slab(object)->obj_exts);
	KUNIT_ASSERT_NOT_NULL(test, owners);
	KUNIT_EXPECT_TRUE(test, virt_to_slab(owners)->slab_cache->flags & SLAB_NO_OBJ_EXT);
	KUNIT_EXPECT_TRUE(test, virt_to_slab(owners->live)->slab_cache->flags & SLAB_NO_OBJ_EXT);
	kfree(object);
}

static int owner_test_init(struct kunit *test)
{
	if (!static_branch_unlikely(&slab_owner_key))
		kunit_skip(test, "boot with slab_owner=on");
	return 0;
}

static struct kunit_case owner_slab_cases[] = {
	KUNIT_CASE(test_planted_is_found),
	KUNIT_CASE(test_bulk_is_found),
	KUNIT_CASE(test_handles_are_put_once),
	KUNIT_CASE(test_requested_size),
	KUNIT_CASE(test_krealloc_in_place),
	KUNIT_CASE(test_kmalloc_records_make_no_cycle),
	{}
};

static struct kunit_suite owner_slab_suite = {
	.name = "owner_slab",
	.init = owner_test_init,
	.test_cases = owner_slab_cases,
};

kunit_test_suite(owner_slab_suite);
