// SPDX-License-Identifier: GPL-2.0
/* Tests of rules that come and go: what they leave in caches and in slabs. */

#include "../rules/table.h"
#include "../slab/walk.h"
#include "plant.h"
#include "write_rules.h"

static struct owner_choice default_choice;

static void write_default_free(struct kunit *test, bool free)
{
	owner_default_choice.free = free;
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
}

static bool is_slab_slow(const void *object)
{
	return virt_to_slab(object)->obj_exts & OBJEXTS_OWNER_SLOW;
}

/* When no rule has free=on any more, nothing of it is left but empty records. */
static void test_last_rule_with_free(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	void *object, *kept, *again;

	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache == owner_kunit"), 0);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	/* It keeps the slab. */
	kept = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, find_freed_record(object));
	kmem_cache_free(cache, object);
	KUNIT_EXPECT_NE(test, find_freed_record(object)->handle_pair, 0);
	KUNIT_EXPECT_NE(test, find_freed_record(kept)->size_and_rate, 0);
	KUNIT_EXPECT_TRUE(test, is_slab_slow(kept));
	KUNIT_EXPECT_TRUE(test, cache->owner_keeps_freed);
	/* The rule of another cache keeps them. */
	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache == owner_other;"
					  "track=off if cache == owner_kunit"), 0);
	KUNIT_EXPECT_NE(test, find_freed_record(object)->handle_pair, 0);
	KUNIT_EXPECT_EQ(test, cache->owner_rate, OWNER_RATE_ALL);

	KUNIT_ASSERT_EQ(test, write_rules("clear; track=off if cache == owner_kunit"), 0);
	KUNIT_EXPECT_EQ(test, find_freed_record(object)->handle_pair, 0);
	KUNIT_EXPECT_EQ(test, find_freed_record(kept)->size_and_rate, 0);
	KUNIT_EXPECT_FALSE(test, cache->owner_keeps_freed);
	KUNIT_EXPECT_EQ(test, cache->owner_rate, OWNER_RATE_NEVER);
	/* The next allocation gives the slab back to the fast paths. */
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	again = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_PTR_EQ(test, find_slab_records(again), find_slab_records(kept));
	KUNIT_EXPECT_FALSE(test, is_slab_slow(kept));
	kmem_cache_free(cache, again);
	KUNIT_EXPECT_EQ(test, find_freed_record(again)->handle_pair, 0);

	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache == owner_kunit"), 0);
	again = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_TRUE(test, is_slab_slow(kept));
	kmem_cache_free(cache, again);
	KUNIT_EXPECT_NE(test, find_freed_record(again)->handle_pair, 0);
	/* It was allocated while no rule had free=on. */
	kmem_cache_free(cache, kept);
	KUNIT_EXPECT_EQ(test, find_freed_record(kept)->handle_pair, 0);
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	kmem_cache_destroy(cache);
}

/* After a change of the rules, each cache has its rule and the rate of that rule. */
static void test_rules_are_stored(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	struct owner_choice choice;

	KUNIT_ASSERT_EQ(test, write_rules("sample=1/4 if cache == owner_kunit"), 0);
	choice.word = cache->owner_choice;
	KUNIT_EXPECT_EQ(test, choice.cache, OWNER_CACHE_STORED);
	KUNIT_EXPECT_EQ(test, cache->owner_rate, owner_rate_word(owner_register_rate(0, 4)));
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=1 if cache == owner_kunit"), 0);
	choice.word = cache->owner_choice;
	KUNIT_EXPECT_EQ(test, choice.cache, OWNER_CACHE_FAST);
	KUNIT_EXPECT_EQ(test, choice.depth, 1);
	KUNIT_EXPECT_EQ(test, cache->owner_rate, OWNER_RATE_ALL);
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	choice.word = cache->owner_choice;
	KUNIT_EXPECT_EQ(test, choice.depth, owner_default_choice.depth);
	kmem_cache_destroy(cache);
}

static int start_without_free(struct kunit *test)
{
	require_slab_owner(test);
	default_choice = owner_default_choice;
	write_default_free(test, false);
	return 0;
}

static void restore_default(struct kunit *test)
{
	write_default_free(test, default_choice.free);
}

static struct kunit_case owner_freed_cases[] = {
	KUNIT_CASE(test_last_rule_with_free),
	KUNIT_CASE(test_rules_are_stored),
	{}
};

static struct kunit_suite owner_freed_suite = {
	.name = "owner_freed",
	.init = start_without_free,
	.exit = restore_default,
	.test_cases = owner_freed_cases,
};

kunit_test_suite(owner_freed_suite);
