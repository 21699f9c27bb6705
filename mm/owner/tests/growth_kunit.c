// SPDX-License-Identifier: GPL-2.0
/* Growth since a mark: net objects and bytes of planted call chains. */

#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../query/query.h"
#include "plant.h"

#define ANSWER_SIZE	SZ_64K
#define MORE		7
#define FREED		4

static struct owner_query *query;
static struct kmem_cache *cache;
static void *fewer[PLANTED], *more[MORE];
static char *answer, *error_text;

/* barrier() prevents a tail call, so that the function is in the call chain. */
static noinline void *growth_plant_fewer(void)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void *growth_plant_more(size_t size)
{
	void *object = kmalloc(size, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void growth_plant_resize(struct kunit *test, size_t size)
{
	KUNIT_ASSERT_PTR_EQ(test, krealloc(more[0], size, GFP_KERNEL), more[0]);
	barrier();
}

static int parse_sentence(const char *sentence)
{
	owner_query_reset(query);
	kfree(error_text);
	error_text = NULL;
	return owner_query_parse(query, sentence, strlen(sentence), &error_text);
}

static void ask_query(struct kunit *test, const char *sentence)
{
	KUNIT_ASSERT_EQ_MSG(test, parse_sentence(sentence), 0, "%s", error_text ?: sentence);
	KUNIT_ASSERT_EQ(test, owner_query_sum_groups(query), 0);
}

static void print_group(unsigned int i)
{
	struct seq_file m = { .buf = answer, .size = ANSWER_SIZE - 1 };

	owner_query_show_group(&m, query, query->groups[i]);
	answer[m.count] = '\0';
}

static void print_tail(void)
{
	struct seq_file m = { .buf = answer, .size = ANSWER_SIZE - 1 };

	owner_query_show_tail(&m, query);
	answer[m.count] = '\0';
}

static void set_mark(struct kunit *test, const char *sentence)
{
	KUNIT_ASSERT_EQ_MSG(test, parse_sentence(sentence), 0, "%s", error_text ?: sentence);
	KUNIT_ASSERT_EQ(test, owner_query_set_mark(query), 0);
	/* The table has no more room than it needs. */
	KUNIT_EXPECT_EQ(test, query->mark->room, query->mark->nr_groups);
	KUNIT_EXPECT_PTR_EQ(test, query->mark->chains, NULL);
}

static void plant_fewer(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < PLANTED; i++) {
		fewer[i] = growth_plant_fewer();
		KUNIT_ASSERT_NOT_NULL(test, fewer[i]);
	}
}

static void plant_more(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < MORE; i++) {
		more[i] = growth_plant_more(100);
		KUNIT_ASSERT_NOT_NULL(test, more[i]);
	}
}

static void free_fewer(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < PLANTED && count; i++) {
		if (!fewer[i])
			continue;
		kmem_cache_free(cache, fewer[i]);
		fewer[i] = NULL;
		count--;
	}
}

/* A chain that grew has positive sums, one that shrank negative ones, which come last. */
static void test_net_growth(struct kunit *test)
{
	const struct owner_estimate *e;

	plant_fewer(test);
	set_mark(test, "mark");
	ask_query(test, "group=func since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);

	free_fewer(FREED);
	plant_more(test);
	ask_query(test, "group=func sort=objects since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	e = &query->groups[0]->sum.estimate;
	KUNIT_EXPECT_EQ(test, e->objects, MORE);
	KUNIT_EXPECT_EQ(test, e->bytes, MORE * 100);
	KUNIT_EXPECT_EQ(test, e->held, MORE * virt_to_slab(more[0])->slab_cache->size);
	e = &query->groups[1]->sum.estimate;
	KUNIT_EXPECT_EQ(test, (s64)e->objects, -FREED);
	KUNIT_EXPECT_EQ(test, (s64)e->bytes, -FREED * PLANTED_SIZE);
	KUNIT_EXPECT_EQ(test, (s64)e->held, -FREED * (s64)cache->size);
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, MORE * 100 - FREED * PLANTED_SIZE);
	print_group(1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "objects -4, bytes -800, held -"));
	print_tail();
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "# growth of slab objects and "));
}

/* Objects that came and went, and as many new ones in place of old ones, are no growth. */
static void test_balance_is_no_growth(struct kunit *test)
{
	unsigned int i;

	plant_fewer(test);
	set_mark(test, "mark");
	free_fewer(PLANTED);
	plant_fewer(test);
	plant_more(test);
	for (i = 0; i < MORE; i++) {
		kfree(more[i]);
		more[i] = NULL;
	}
	/* The two calls of plant_fewer() give two chains, which one group adds up. */
	ask_query(test, "group=stack since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, 0);
	ask_query(test, "group=stack.full since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, abs((s64)query->groups[0]->sum.estimate.objects), PLANTED);
	ask_query(test, "group=stack.2 since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);
	print_tail();
	KUNIT_EXPECT_NULL(test, strstr(answer, "nothing matched"));
	/* A later mark replaces the earlier one. */
	free_fewer(PLANTED);
	set_mark(test, "mark");
	ask_query(test, "group=stack since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);
}

/* Without a new object, a chain's bytes can grow. */
static void test_sizes_grow(struct kunit *test)
{
	unsigned int round;

	plant_more(test);
	for (round = 0; round < 2; round++) {
		growth_plant_resize(test, 100 + 20 * round);
		if (!round)
			set_mark(test, "mark");
	}
	ask_query(test, "group=func since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, 0);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.bytes, 20);
}

/* A chain whose objects were all freed since the mark is still named. */
static void test_mark_keeps_chains(struct kunit *test)
{
	depot_stack_handle_t stack;

	plant_fewer(test);
	stack = find_object_record(fewer[0])->stack;
	set_mark(test, "mark");
	free_fewer(PLANTED);
	/* CPUs drop their references within a second. */
	msleep(1500);
	ask_query(test, "group=handle since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->key[0], stack);
	KUNIT_EXPECT_EQ(test, (s64)query->groups[0]->sum.estimate.objects, -PLANTED);
	KUNIT_EXPECT_EQ(test, (s64)query->total.estimate.objects, -PLANTED);
}

/* Samples stand for objects and parts of objects: parts are subtracted, too. */
static void test_fractions(struct kunit *test)
{
	struct owner_query_group *group;
	unsigned int i;

	plant_more(test);
	set_mark(test, "mark");
	for (i = 0; i < query->mark->nr_groups; i++) {
		group = query->mark->groups[i];
		if (group->key[0] != find_object_record(more[0])->stack)
			continue;
		group->sum.estimate.objects++;
		group->sum.estimate.fraction = 1 << (OWNER_WEIGHT_SHIFT - 2);
	}
	ask_query(test, "group=func since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, (s64)query->groups[0]->sum.estimate.objects, -2);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.fraction,
			3 << (OWNER_WEIGHT_SHIFT - 2));
	print_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "objects -1, bytes 0, "));
}

/* Sums by what records have, of two caches, in groups that grew and groups that shrank. */
static void test_growth_by_records(struct kunit *test)
{
	const struct owner_query_group *group;
	const char *name;

	plant_fewer(test);
	set_mark(test, "mark group=stack,cache,size,comm");
	ask_query(test, "group=cache since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);

	free_fewer(FREED);
	plant_more(test);
	name = virt_to_slab(more[0])->slab_cache->name;
	ask_query(test, "group=cache since=mark if func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	group = query->groups[0];
	KUNIT_EXPECT_STREQ(test, (const char *)group->key, name);
	KUNIT_EXPECT_EQ(test, group->sum.estimate.objects, MORE);
	KUNIT_EXPECT_EQ(test, group->sum.estimate.bytes, MORE * 100);
	KUNIT_EXPECT_EQ(test, group->sum.estimate.held,
			MORE * virt_to_slab(more[0])->slab_cache->size);
	group = query->groups[1];
	KUNIT_EXPECT_STREQ(test, (const char *)group->key, "owner_kunit");
	KUNIT_EXPECT_EQ(test, (s64)group->sum.estimate.objects, -FREED);
	KUNIT_EXPECT_EQ(test, (s64)group->sum.estimate.bytes, -FREED * PLANTED_SIZE);
	KUNIT_EXPECT_EQ(test, (s64)group->sum.estimate.held, -FREED * (s64)cache->size);
	print_group(1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "objects -4, bytes -800, held -"));
	KUNIT_EXPECT_NULL(test, strstr(answer, "oldest"));

	ask_query(test, "group=size.64 since=mark if cache == owner_kunit");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->key[0], 192);
	KUNIT_EXPECT_EQ(test, (s64)query->total.estimate.objects, -FREED);
	ask_query(test, "group=comm,func since=mark if size == 100,200 && func ~ growth_plant_*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_STREQ(test, (const char *)query->groups[0]->key, current->comm);
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, MORE * 100 - FREED * PLANTED_SIZE);
	/* Objects of the mark that are all gone are found by their cache's name. */
	free_fewer(PLANTED);
	ask_query(test, "group=cache since=mark if cache == owner_kunit");
	KUNIT_EXPECT_EQ(test, (s64)query->total.estimate.objects, -PLANTED);
}

static void test_growth_by_kind(struct kunit *test)
{
	void __percpu *area;

	set_mark(test, "mark group=stack,kind");
	plant_more(test);
	area = __alloc_percpu(64, 8);
	KUNIT_ASSERT_NOT_NULL(test, (__force void *)area);
	ask_query(test, "group=kind since=mark if func ~ growth_plant_*,*growth_by_kind");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, MORE + 1);
	ask_query(test, "group=stack since=mark if kind == percpu && func ~ *growth_by_kind");
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, 64 * num_possible_cpus());
	free_percpu(area);
	ask_query(test, "group=stack since=mark if kind == percpu && func ~ *growth_by_kind");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);
}

/* Growth is not folded: without memory a mark is refused, and the earlier one stays. */
static void test_growth_without_memory(struct kunit *test)
{
	plant_fewer(test);
	set_mark(test, "mark");
	free_fewer(FREED);
	query->memory_max = 3 * SZ_4K;
	KUNIT_EXPECT_EQ(test, parse_sentence("mark group=stack,cache"), 0);
	KUNIT_EXPECT_EQ(test, owner_query_set_mark(query), -ENOMEM);
	KUNIT_ASSERT_NOT_NULL(test, query->short_of);
	KUNIT_EXPECT_NOT_NULL(test, strstr(query->short_of, "1/16 of the memory"));
	KUNIT_EXPECT_GT(test, query->short_at, 0);
	KUNIT_ASSERT_EQ(test, parse_sentence("group=stack since=mark"), 0);
	KUNIT_EXPECT_EQ(test, owner_query_sum_groups(query), -ENOMEM);
	query->memory_max = 0;
	ask_query(test, "group=func since=mark if func ~ growth_plant_*");
	KUNIT_EXPECT_EQ(test, (s64)query->total.estimate.objects, -FREED);
}

static void test_refusals(struct kunit *test)
{
	static const struct {
		const char *sentence;
		const char *message;
	} refused[] = {
		{ "group=cache since=mark", "without 'cache': write 'mark group=cache'" },
		{ "group=kind since=mark", "without 'kind': write 'mark group=kind'" },
		{ "group=stack since=mark if kind == slab", "without 'kind'" },
		{ "group=stack since=mark if kind == page", "no pages: say kind != page" },
		{ "group=stack since=mark if order != 2 || size > 8", "no pages" },
		{ "group=stack since=mark if size > 8", "without 'size'" },
		{ "group=stack since=mark if age > 1h", "growth is known by what a mark can have" },
		{ "group=user since=mark", "growth is known by what a mark can have" },
		{ "group=stack sort=oldest since=mark", "growth has no age" },
		{ "group=stack.4 mode=handle since=mark", "a handle is that of a whole chain" },
		{ "mark group=func", "a mark has no such fields, but stack, cache" },
		{ "mark group=user,cache", "a mark has no such fields, but stack, cache" },
		{ "mark group=age.1h", "a mark has no such fields, but stack, cache" },
		{ "mark group=stack.4", "a mark has whole chains" },
		{ "mark group=size.4K", "a mark has whole chains and exact sizes" },
	};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, parse_sentence("group=stack since=mark"), -EINVAL);
	KUNIT_ASSERT_NOT_NULL(test, error_text);
	KUNIT_EXPECT_NOT_NULL(test, strstr(error_text, "this open file has no mark: write 'mark'"));
	set_mark(test, "mark");
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		KUNIT_EXPECT_EQ_MSG(test, parse_sentence(refused[i].sentence), -EINVAL, "%s",
				    refused[i].sentence);
		KUNIT_ASSERT_NOT_NULL(test, error_text);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(error_text, refused[i].message), "%s",
					  error_text);
	}
}

static int init_growth_test(struct kunit *test)
{
	query = kvzalloc(sizeof(*query), GFP_KERNEL);
	answer = kzalloc(ANSWER_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, query);
	KUNIT_ASSERT_NOT_NULL(test, answer);
	cache = create_test_cache(test, 0);
	return 0;
}

static void exit_growth_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < MORE; i++) {
		kfree(more[i]);
		more[i] = NULL;
	}
	free_fewer(PLANTED);
	kmem_cache_destroy(cache);
	owner_query_reset(query);
	owner_query_free_mark(query);
	kfree(error_text);
	error_text = NULL;
	kfree(answer);
	kvfree(query);
}

static struct kunit_case owner_growth_cases[] = {
	KUNIT_CASE(test_net_growth),
	KUNIT_CASE(test_balance_is_no_growth),
	KUNIT_CASE(test_sizes_grow),
	KUNIT_CASE(test_mark_keeps_chains),
	KUNIT_CASE(test_fractions),
	KUNIT_CASE(test_growth_by_records),
	KUNIT_CASE(test_growth_by_kind),
	KUNIT_CASE(test_growth_without_memory),
	KUNIT_CASE(test_refusals),
	{}
};

static struct kunit_suite owner_growth_suite = {
	.name = "owner_growth",
	.init = init_growth_test,
	.exit = exit_growth_test,
	.test_cases = owner_growth_cases,
};

kunit_test_suite(owner_growth_suite);
