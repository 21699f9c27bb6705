// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the ways in which SLUB frees and allocates objects: each has a hook of its own, and
 * without it an object keeps its owner. A refusal by a memory cgroup is tested in a guest, by the
 * corner "charge" of tools/testing/owner/modules/owner_corners.c.
 */

#include <linux/kfence.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../record.h"
#include "plant.h"

struct planted {
	struct rcu_head rcu;
	char rest[PLANTED_SIZE - sizeof(struct rcu_head)];
};

static noinline void *plant(struct kmem_cache *cache)
{
	void *object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) :
			       kmalloc(sizeof(struct planted), GFP_KERNEL);

	/* Keep this frame: no tail call. */
	barrier();
	return object;
}

/**
 * struct planted_objects - objects, and where their records are
 * @neighbour: an object that keeps the slab and its records
 * @object: the objects
 * @record: their records
 */
struct planted_objects {
	void *neighbour;
	void *object[PLANTED];
	struct owner_record *record[PLANTED];
};

/* @cache: NULL for kmalloc(). The test ends if an object has no owner. */
static struct planted_objects *plant_objects(struct kunit *test, struct kmem_cache *cache)
{
	struct planted_objects *planted = kunit_kzalloc(test, sizeof(*planted), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, planted);
	planted->neighbour = plant(cache);
	for (i = 0; i < PLANTED; i++) {
		planted->object[i] = plant(cache);
		KUNIT_ASSERT_NOT_NULL(test, planted->object[i]);
		planted->record[i] = find_object_record(planted->object[i]);
		KUNIT_ASSERT_NOT_NULL(test, planted->record[i]);
		KUNIT_ASSERT_NE(test, planted->record[i]->handle_pair, 0);
	}
	return planted;
}

/* RCU is read-locked since the objects were freed, or their slabs have other objects. */
static unsigned int count_owned(const struct planted_objects *planted)
{
	unsigned int i, owned = 0;

	for (i = 0; i < PLANTED; i++)
		owned += READ_ONCE(planted->record[i]->handle_pair) != 0;
	return owned;
}

static void free_each(struct kmem_cache *cache, struct planted_objects *planted)
{
	for (unsigned int i = 0; i < PLANTED; i++)
		kmem_cache_free(cache, planted->object[i]);
}

static void free_in_bulk(struct kmem_cache *cache, struct planted_objects *planted)
{
	kmem_cache_free_bulk(cache, PLANTED, planted->object);
}

/* Free the objects of a cache, and look at their records before their slabs' can be freed. */
static void check_free_to_cache(struct kunit *test, slab_flags_t flags,
				void (*free)(struct kmem_cache *cache,
					     struct planted_objects *planted))
{
	struct kmem_cache *cache = create_test_cache(test, flags);
	struct planted_objects *planted = plant_objects(test, cache);

	rcu_read_lock();
	free(cache, planted);
	KUNIT_EXPECT_EQ(test, count_owned(planted), 0);
	rcu_read_unlock();
	kmem_cache_free(cache, planted->neighbour);
	kmem_cache_destroy(cache);
}

static void test_free(struct kunit *test)
{
	check_free_to_cache(test, 0, free_each);
}

/* With sheaves, the objects go there. */
static void test_free_bulk(struct kunit *test)
{
	check_free_to_cache(test, 0, free_in_bulk);
}

/* A cache with debugging has no sheaves: the objects go to their slabs. */
static void test_free_bulk_to_slabs(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_SLUB_DEBUG))
		kunit_skip(test, "needs CONFIG_SLUB_DEBUG");
	check_free_to_cache(test, SLAB_RED_ZONE | SLAB_POISON, free_in_bulk);
}

/* kfree_rcu() collects objects, and frees them after a grace period. A cache keeps some slabs. */
static void test_free_rcu(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct planted_objects *planted = plant_objects(test, cache);
	struct planted *object;

	for (unsigned int i = 0; i < PLANTED; i++) {
		object = planted->object[i];
		kfree_rcu(object, rcu);
	}
	kvfree_rcu_barrier();
	KUNIT_EXPECT_EQ(test, count_owned(planted), 0);
	kmem_cache_free(cache, planted->neighbour);
	kmem_cache_destroy(cache);
}

#ifdef SLAB_ALLOC_NOLOCK
static void test_free_nolock(struct kunit *test)
{
	struct planted_objects *planted = plant_objects(test, NULL);

	if (IS_ENABLED(CONFIG_DEBUG_KMEMLEAK))
		kunit_skip(test, "kfree_nolock() does not tell kmemleak of the free");
	rcu_read_lock();
	for (unsigned int i = 0; i < PLANTED; i++) {
		/* kfree_nolock() does not tell KFENCE, either. */
		if (is_kfence_address(planted->object[i]))
			kfree(planted->object[i]);
		else
			kfree_nolock(planted->object[i]);
	}
	KUNIT_EXPECT_EQ(test, count_owned(planted), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_may_lock());
	rcu_read_unlock();
	kfree(planted->neighbour);
}

static noinline void *plant_nolock(void)
{
	void *object = kmalloc_nolock(PLANTED_SIZE, 0, NUMA_NO_NODE);

	barrier();
	return object;
}

/* Plant objects where no lock may be waited for. Return: how many have plant_nolock() as owner. */
static unsigned int count_owned_nolock(struct kunit *test)
{
	unsigned int owned = 0, allocated, i;
	void *object[PLANTED];
	struct owner_record *record;

	for (i = 0; i < PLANTED; i++) {
		object[i] = plant_nolock();
		if (!object[i])
			break;
		record = find_object_record(object[i]);
		owned += record && record->stack && chain_has_function(record->stack, plant_nolock);
	}
	allocated = i;
	while (i)
		kfree_nolock(object[--i]);
	if (!allocated)
		kunit_skip(test, "this machine has no kmalloc_nolock()");
	return owned;
}

/* Another CPU may have the depot's lock when a chain is stored for the first time. */
static void test_alloc_nolock(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, count_owned_nolock(test), PLANTED / 2);
}

static void test_sample_nolock(struct kunit *test)
{
	unsigned int owned;

	KUNIT_ASSERT_EQ(test, write_rules("sample=1/2 if cache ~ kmalloc*"), 0);
	owned = count_owned_nolock(test);
	KUNIT_EXPECT_GT(test, owned, 0);
	KUNIT_EXPECT_LT(test, owned, PLANTED);
}

static noinline void *plant_from_sheaf(struct kmem_cache *cache, struct slab_sheaf *sheaf)
{
	void *object = kmem_cache_alloc_from_sheaf(cache, GFP_KERNEL, sheaf);

	barrier();
	return object;
}

/* Objects in a sheaf have no owner until they are taken from it. */
static void test_alloc_from_sheaf(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct slab_sheaf *sheaf = kmem_cache_prefill_sheaf(cache, GFP_KERNEL, 2);
	struct owner_record *record;
	void *object;

	KUNIT_ASSERT_NOT_NULL(test, sheaf);
	object = plant_from_sheaf(cache, sheaf);
	KUNIT_ASSERT_NOT_NULL(test, object);
	record = find_object_record(object);
	KUNIT_ASSERT_NOT_NULL(test, record);
	KUNIT_EXPECT_TRUE(test, chain_has_function(record->stack, plant_from_sheaf));
	kmem_cache_return_sheaf(cache, GFP_KERNEL, sheaf);
	KUNIT_EXPECT_NE(test, record->handle_pair, 0);
	kmem_cache_free(cache, object);
	KUNIT_EXPECT_EQ(test, record->handle_pair, 0);
	kmem_cache_destroy(cache);
}

/* SLUB's own flag is that of the sheaf alone: all else that SLUB allocates then has an owner. */
static void test_sheaf_is_unowned(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct slab_sheaf *sheaf = kmem_cache_prefill_sheaf(cache, GFP_KERNEL, 2);
	struct owner_record *record;
	void *object;

	KUNIT_ASSERT_NOT_NULL(test, sheaf);
	record = find_object_record(sheaf);
	KUNIT_EXPECT_TRUE(test, !record || !record->handle_pair);
	/* Of the cache that the sheaf is from */
	object = kmalloc(ksize(sheaf), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	record = find_object_record(object);
	KUNIT_EXPECT_TRUE(test, record && record->handle_pair);
	kfree(object);
	kmem_cache_return_sheaf(cache, GFP_KERNEL, sheaf);
	kmem_cache_destroy(cache);
}
#endif

static void clear_rules(struct kunit *test)
{
	write_rules("clear");
}

static struct kunit_case owner_free_paths_cases[] = {
	KUNIT_CASE(test_free),
	KUNIT_CASE(test_free_bulk),
	KUNIT_CASE(test_free_bulk_to_slabs),
	KUNIT_CASE(test_free_rcu),
#ifdef SLAB_ALLOC_NOLOCK
	KUNIT_CASE(test_free_nolock),
	KUNIT_CASE(test_alloc_nolock),
	KUNIT_CASE(test_sample_nolock),
	KUNIT_CASE(test_alloc_from_sheaf),
	KUNIT_CASE(test_sheaf_is_unowned),
#endif
	{}
};

static struct kunit_suite owner_free_paths_suite = {
	.name = "owner_free_paths",
	.init = require_slab_owner,
	.exit = clear_rules,
	.test_cases = owner_free_paths_cases,
};

kunit_test_suite(owner_free_paths_suite);
