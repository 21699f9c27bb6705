// SPDX-License-Identifier: GPL-2.0
/*
 * Queries about planted objects: each setting, each field, sums, and the sentences that
 * are refused.
 */

#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../page/page.h"
#include "../query/query.h"
#include "kill.h"
#include "plant.h"

#define ANSWER_SIZE	SZ_64K

static struct owner_query *query;
static struct kmem_cache *cache;
static void *objects[PLANTED], *small[5];
static char *answer, *error_text;

/* barrier() prevents a tail call, so that query_plant() is in the call chain. */
static noinline void *query_plant(struct kmem_cache *from)
{
	void *object = kmem_cache_alloc(from, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void *query_plant_other(size_t size)
{
	void *object = kmalloc(size, GFP_KERNEL);

	barrier();
	return object;
}

static void reset_query(void)
{
	owner_query_reset(query);
	kfree(error_text);
	error_text = NULL;
}

static int parse_sentence(const char *sentence)
{
	reset_query();
	return owner_query_parse(query, sentence, strlen(sentence), &error_text);
}

static void ask_query(struct kunit *test, const char *format, ...)
{
	char sentence[OWNER_SENTENCE_MAX + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	KUNIT_ASSERT_EQ_MSG(test, parse_sentence(sentence), 0, "%s", error_text ?: sentence);
	KUNIT_ASSERT_EQ(test, owner_query_sum_groups(query), 0);
}

static void print_query_with(void (*show)(struct seq_file *m, const struct owner_query *query))
{
	struct seq_file m = { .buf = answer, .size = ANSWER_SIZE - 1 };

	show(&m, query);
	answer[m.count] = '\0';
}

static void print_query_group(unsigned int i)
{
	struct seq_file m = { .buf = answer, .size = ANSWER_SIZE - 1 };

	owner_query_show_group(&m, query, query->groups[i]);
	answer[m.count] = '\0';
}

/* Check that the groups of the answer and its folded groups add up to the total. */
static void expect_groups_add_up(struct kunit *test)
{
	struct owner_sum sum = query->other;
	unsigned int i;

	for (i = 0; i < query->nr_groups; i++)
		owner_sum_join(&sum, &query->groups[i]->sum);
	KUNIT_EXPECT_MEMEQ(test, &sum, &query->total, sizeof(sum));
}

static void test_objects_are_added_up(struct kunit *test)
{
	ask_query(test, "group=cache if cache == owner_kunit");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.bytes, PLANTED * PLANTED_SIZE);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.held, PLANTED * cache->size);
	expect_groups_add_up(test);
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "objects 37, bytes 7400, held "));
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, ", cache owner_kunit\n"));

	ask_query(test, "group=func if func ~ query_plant*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
	KUNIT_EXPECT_EQ(test, query->groups[1]->sum.estimate.objects, ARRAY_SIZE(small));
	KUNIT_EXPECT_EQ(test, query->groups[1]->sum.estimate.bytes, 8 + 16 + 32 + 64 + 128);
	expect_groups_add_up(test);
}

struct field_expectation {
	const char *expression;
	unsigned int objects;
};

#define ALL	(PLANTED + ARRAY_SIZE(small))

/* Each comparison of the language selects the expected number of planted objects. */
static void test_each_field(struct kunit *test)
{
	static const struct field_expectation expectations[] = {
		{ "cache == owner_kunit", PLANTED },
		{ "cache != owner_kunit", ARRAY_SIZE(small) },
		{ "size == 200", PLANTED },
		{ "size < 32", 2 },
		{ "held >= 64 && held < 128", 1 },
		{ "kind == slab && (order == 0 || pid == 0)", 0 },
		{ "kind == slab && order != 0", ALL },
		{ "nid == 0-1023", ALL },
		{ "nid > 1023", 0 },
		{ "pid == 0", 0 },
		{ "comm == kunit_try_catch", ALL },
		{ "!(comm ~ kunit*)", 0 },
		{ "age < 1h", ALL },
		{ "age > 1h", 0 },
		{ "ts > 1ms", ALL },
		{ "ts < 1ms", 0 },
		{ "func == query_plant", PLANTED },
		{ "func != query_plant", ARRAY_SIZE(small) },
		{ "func == query_plant && func == query_test_init", PLANTED },
		{ "module ~ *", 0 },
		{ "module != ext4", ALL },
		{ "kind == slab", ALL },
		{ "kind == percpu", 0 },
		{ "kind != page", ALL },
		{ "handle == 0", 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(expectations); i++) {
		ask_query(test, "group=kind if func ~ query_plant* && %s",
			  expectations[i].expression);
		KUNIT_EXPECT_EQ_MSG(test, query->total.estimate.objects, expectations[i].objects,
				    "%s", expectations[i].expression);
	}
	ask_query(test, "group=kind if func ~ query_plant* && pid == %d && tgid == %d",
		  current->pid, current->tgid);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, ALL);
	ask_query(test, "group=kind if handle == %u", find_object_record(objects[0])->stack);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, PLANTED);
	ask_query(test, "nid=%d group=kind if func ~ query_plant*", NUMA_NO_NODE & 1023);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, 0);
}

/* Count planted objects whose age was in this range when the query was answered. */
static unsigned int count_objects_of_age(u64 low, u64 high, u64 *oldest)
{
	unsigned int i, found = 0;

	*oldest = 0;
	for (i = 0; i < PLANTED; i++) {
		u64 age = (u32)(query->now - find_object_record(objects[i])->time) * OWNER_TICK_NS;

		if (age < low || age > high)
			continue;
		found++;
		*oldest = max(*oldest, age);
	}
	return found;
}

static void expect_objects_of_age(struct kunit *test, u64 low, u64 high)
{
	u64 oldest;

	KUNIT_EXPECT_EQ(test, query->total.estimate.records,
			count_objects_of_age(low, high, &oldest));
	KUNIT_EXPECT_EQ(test, query->total.oldest, oldest);
}

/* Check that a query distinguishes objects that differ only in age, in any order of ages. */
static void expect_query_distinguishes_ages(struct kunit *test)
{
	static const char by_age[] = "group=cache if cache == owner_kunit && age";
	unsigned int i;

	for (i = 0; i < 3 * PLANTED; i += 7) {
		u64 ns = i * OWNER_TICK_NS;

		ask_query(test, "%s < %lluns", by_age, ns + 1);
		expect_objects_of_age(test, 0, ns);
		ask_query(test, "%s <= %lluns", by_age, ns);
		expect_objects_of_age(test, 0, ns);
		ask_query(test, "%s > %lluns", by_age, ns);
		expect_objects_of_age(test, ns + 1, U64_MAX);
		ask_query(test, "%s >= %lluns", by_age, ns + 1);
		expect_objects_of_age(test, ns + 1, U64_MAX);
		ask_query(test, "%s == %lluns-%lluns", by_age, ns, 2 * ns);
		expect_objects_of_age(test, ns, 2 * ns);
	}
}

static void test_ages(struct kunit *test)
{
	u32 now = owner_record_time_now();
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time = now - 3 * i;
	expect_query_distinguishes_ages(test);
	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time = now - 3 * (PLANTED - 1 - i);
	expect_query_distinguishes_ages(test);

	/* Give objects a time later than the query: their age is 0, not negative. */
	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time = owner_record_time_now() + 1000;
	ask_query(test, "group=cache if cache == owner_kunit && age == 0ns");
	KUNIT_EXPECT_EQ(test, query->total.estimate.records, PLANTED);
	KUNIT_EXPECT_EQ(test, query->total.youngest, 0);
	KUNIT_EXPECT_EQ(test, query->total.oldest, 0);
}

/* Comparisons of ts are exact: unlike an age, it does not change during the query. */
static void test_times(struct kunit *test)
{
	static const char by_time[] = "group=cache if cache == owner_kunit && ts";
	/* Plant times in the future, so that no ts is below 0 soon after boot. */
	u32 now = owner_record_time_now() + 2 * PLANTED;
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time = now - 2 * i;
	msleep(2 * PLANTED * OWNER_TICK_NS / NSEC_PER_MSEC + 100);
	for (i = 0; i < PLANTED; i++) {
		u64 ts = owner_record_time_to_ns(now - 2 * i);

		ask_query(test, "%s == %lluns", by_time, ts);
		KUNIT_EXPECT_EQ(test, query->total.estimate.records, 1);
		ask_query(test, "%s > %lluns", by_time, ts);
		KUNIT_EXPECT_EQ(test, query->total.estimate.records, i);
		ask_query(test, "%s < %lluns", by_time, ts);
		KUNIT_EXPECT_EQ(test, query->total.estimate.records, PLANTED - 1 - i);
		ask_query(test, "%s == %lluns-%lluns", by_time, ts - 1, ts + 1);
		KUNIT_EXPECT_EQ(test, query->total.estimate.records, 1);
		ask_query(test, "%s != %lluns-%lluns", by_time, ts + 1, ts + OWNER_TICK_NS);
		KUNIT_EXPECT_EQ(test, query->total.estimate.records, PLANTED);
	}
}

/* A query with more age comparisons than a memo has room for works without a memo. */
static void test_many_ages(struct kunit *test)
{
	u32 half_hour = 1800 * NSEC_PER_SEC / OWNER_TICK_NS;
	static char list[400];
	unsigned int i, length = 0;

	for (i = 0; i < 40; i++)
		length += scnprintf(list + length, sizeof(list) - length, "%s%uh-%uh",
				    i ? "," : "", 4 * i, 4 * i + 1);
	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time =
			owner_record_time_now() - (2 * i + 1) * half_hour;
	ask_query(test, "group=cache if cache == owner_kunit && age == %s", list);
	KUNIT_EXPECT_EQ(test, query->total.estimate.records, 10);
	*strchr(list, ',') = '\0';
	ask_query(test, "group=cache if cache == owner_kunit && age != %s", list);
	KUNIT_EXPECT_EQ(test, query->total.estimate.records, 36);
}

/* A query distinguishes objects that differ only in their cache. */
static void test_caches_told(struct kunit *test)
{
	struct kmem_cache *caches[] = {
		cache, kmem_cache_create("owner_kunit_b", PLANTED_SIZE, 0, SLAB_NO_MERGE, NULL),
	};
	void *planted[PLANTED];
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		planted[i] = query_plant(caches[i % 3 == 0]);
	ask_query(test, "group=cache if cache ~ owner_kunit*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED + 24);
	KUNIT_EXPECT_EQ(test, query->groups[1]->sum.estimate.objects, 13);
	ask_query(test, "group=cache if cache == owner_kunit_b");
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, 13 * PLANTED_SIZE);
	for (i = 0; i < PLANTED; i++)
		kmem_cache_free(caches[i % 3 == 0], planted[i]);
	kmem_cache_destroy(caches[1]);
}

/* Caches of the planted objects. The smallest two may be one: KASAN's tags are for 16 bytes. */
static unsigned int count_caches(void)
{
	return kmalloc_size_roundup(8) == kmalloc_size_roundup(16) ? 5 : 6;
}

/* Objects are in one group if, and only if, they agree in the field. */
static void test_each_group(struct kunit *test)
{
	static const struct field_expectation expectations[] = {
		{ "cache", 6 }, { "size", 6 }, { "held", 6 }, { "order", 1 }, { "nid", 1 },
		{ "pid", 1 }, { "tgid", 1 }, { "comm", 1 }, { "func", 2 }, { "module", 1 },
		{ "handle", 2 }, { "kind", 1 }, { "stack", 2 }, { "stack.1", 2 },
		{ "stack.full", 2 }, { "cache,size,comm,stack.64,kind,nid", 6 },
	};
	unsigned int groups, i;

	for (i = 0; i < ARRAY_SIZE(expectations); i++) {
		ask_query(test, "group=%s if func ~ query_plant*", expectations[i].expression);
		/* The slabs can be on any node. */
		if (strstr(expectations[i].expression, "nid") && nr_online_nodes > 1)
			continue;
		/* With KASAN's redzones the smallest objects all hold equally many bytes. */
		if (!strcmp(expectations[i].expression, "held") && IS_ENABLED(CONFIG_KASAN))
			continue;
		groups = expectations[i].objects;
		if (!strcmp(expectations[i].expression, "cache"))
			groups = count_caches();
		KUNIT_EXPECT_EQ_MSG(test, query->nr_groups, groups, "%s",
				    expectations[i].expression);
		KUNIT_EXPECT_EQ(test, query->total.estimate.objects, ALL);
		expect_groups_add_up(test);
	}
}

#include "query_groups_kunit.h"

/* The answer leaves out the allocator's frames of a chain that was captured with them. */
static void test_allocator_is_skipped(struct kunit *test)
{
	unsigned long frames[] = {
		(unsigned long)kmem_cache_alloc_noprof + 4, (unsigned long)kstrdup + 4,
		(unsigned long)query_plant + 4, (unsigned long)kstrdup + 4,
	};
	struct owner_query_chain *chain;
	depot_stack_handle_t handle, own;

	handle = stack_depot_save_flags(frames, 4, GFP_KERNEL,
					STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET);
	own = stack_depot_save_flags(frames, 2, GFP_KERNEL,
				     STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET);
	KUNIT_ASSERT_EQ(test, parse_sentence(""), 0);
	KUNIT_ASSERT_EQ(test, owner_query_prepare(query), 0);
	chain = owner_query_get_chain(query->chains, handle);
	KUNIT_EXPECT_EQ(test, chain->first, 2);
	KUNIT_EXPECT_EQ(test, chain->count, 4);
	KUNIT_EXPECT_EQ(test, owner_query_chain_function(chain), (unsigned long)query_plant);
	KUNIT_EXPECT_EQ(test, owner_query_get_chain(query->chains, own)->first, 0);
	stack_depot_put(handle);
	stack_depot_put(own);
}

static void test_modes(struct kunit *test)
{
	char handle[32];

	snprintf(handle, sizeof(handle), "\nhandle: %u\n", find_object_record(objects[0])->stack);
	ask_query(test, "mode=stack group=stack if func == query_plant");
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\n query_plant+0x"));
	KUNIT_EXPECT_NULL(test, strstr(answer, "\nhandle: "));
	ask_query(test, "mode=stack_handle group=stack if func == query_plant");
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\n query_plant+0x"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, handle));
	ask_query(test, "mode=handle group=stack if func == query_plant");
	print_query_group(0);
	KUNIT_EXPECT_NULL(test, strstr(answer, "query_plant"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, handle));
	ask_query(test, "mode=handle group=stack format=tsv if func == query_plant");
	print_query_group(0);
	KUNIT_EXPECT_TRUE(test, strstarts(answer, "group\t1\t37\t7400\t"));
	handle[0] = '\t';
	print_query_with(owner_query_show_head);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\tbytes_error\thandle\n"));
}

static void test_sort_and_top(struct kunit *test)
{
	static const char * const sorts[] = {
		"bytes", "held", "waste", "objects", "oldest", "waste,objects",
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sorts); i++) {
		ask_query(test, "group=cache sort=%s top=3", sorts[i]);
		KUNIT_EXPECT_EQ(test, query->nr_shown, 3);
		expect_groups_add_up(test);
		for (j = 1; j < query->nr_groups; j++) {
			/* Groups that are not shown are in any order. */
			struct owner_sum *a = &query->groups[min(j, 3U) - 1]->sum;
			struct owner_sum *b = &query->groups[j]->sum;
			struct owner_estimate *x = &a->estimate, *y = &b->estimate;
			u64 greater[] = { x->bytes, x->held, x->held - x->bytes, x->objects,
					  a->oldest, x->held - x->bytes };
			u64 smaller[] = { y->bytes, y->held, y->held - y->bytes, y->objects,
					  b->oldest, y->held - y->bytes };

			KUNIT_EXPECT_GE_MSG(test, greater[i], smaller[i], "%s", sorts[i]);
		}
	}
	print_query_with(owner_query_show_tail);
	KUNIT_EXPECT_TRUE(test, strstarts(answer, "not shown: groups "));
	KUNIT_EXPECT_NULL(test, strstr(answer, "other"));
	/* Ask for more groups with top= than the answer has. */
	ask_query(test, "group=size top=9 if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_shown, 6);
	print_query_with(owner_query_show_tail);
	KUNIT_EXPECT_TRUE(test, strstarts(answer, "total: groups 6, objects 42, "));
}

#define BY_SIZE	"group=size sort=bytes if func == query_plant_other && size >= 1000"

/* Without sort=, the group that holds most is first: 9 objects that asked for less than one did. */
static void test_default_order(struct kunit *test)
{
	void *many[9], *large = query_plant_other(1000);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = query_plant_other(110);
	ask_query(test, "group=size if func == query_plant_other && size == 110,1000");
	KUNIT_ASSERT_EQ(test, query->nr_shown, 2);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, ARRAY_SIZE(many));
	KUNIT_EXPECT_EQ(test, query->groups[1]->sum.estimate.bytes, 1000);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		kfree(many[i]);
	kfree(large);
}

/* Without memory for all groups, the half that is last in the order is folded repeatedly. */
static void test_last_are_folded(struct kunit *test)
{
	static void *many[400], *more[ARRAY_SIZE(many)];
	size_t table;
	unsigned int i;

	ask_query(test, BY_SIZE);
	table = query->memory;
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = query_plant_other(1000 + i);
	ask_query(test, BY_SIZE);
	KUNIT_EXPECT_EQ(test, query->nr_groups, ARRAY_SIZE(many));

	query->memory_max = table + (query->memory - table) / 20 + SZ_4K;
	ask_query(test, BY_SIZE);
	KUNIT_EXPECT_LE(test, query->memory, query->memory_max);
	KUNIT_ASSERT_GE(test, query->nr_groups, 10);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, query->groups[i]->sum.estimate.bytes, 1399 - i);
	KUNIT_EXPECT_EQ(test, query->other.groups, ARRAY_SIZE(many) - query->nr_groups);
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, 400 * 1000 + 399 * 400 / 2);
	expect_groups_add_up(test);
	print_query_with(owner_query_show_tail);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\n# other: the groups that were last "));
	/* Plant equal records, so that the memo also serves records of a folded group. */
	for (i = 0; i < ARRAY_SIZE(more); i++)
		more[i] = query_plant_other(2000 + i / 4);
	query->memory_max = table + SZ_4K;
	ask_query(test, BY_SIZE);
	KUNIT_EXPECT_LE(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes,
			400 * 1000 + 399 * 400 / 2 + 400 * 2000 + 4 * (99 * 100 / 2));
	expect_groups_add_up(test);
	query->memory_max--;
	KUNIT_EXPECT_EQ(test, parse_sentence(BY_SIZE), 0);
	KUNIT_EXPECT_EQ(test, owner_query_sum_groups(query), -ENOMEM);
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		kfree(many[i]);
		kfree(more[i]);
	}
}

static noinline void __percpu *query_plant_area(void)
{
	void __percpu *area = __alloc_percpu(24, 8);

	barrier();
	return area;
}

static void test_kinds(struct kunit *test)
{
	void __percpu *area = query_plant_area();

	ask_query(test, "group=kind,cache,nid if func == query_plant_area");
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, 1);
	KUNIT_EXPECT_EQ(test, query->total.estimate.bytes, 24 * num_possible_cpus());
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, ", kind percpu, cache -, nid -\n"));
	ask_query(test, "group=kind if func ~ query_plant* && kind == percpu");
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, 1);
	ask_query(test, "group=kind if func ~ query_plant* && kind == slab");
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, ALL);
	ask_query(test, "group=kind if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, ALL + 1);
	free_percpu(area);
}

/*
 * Without group= a query returns one object at a time, each object once, also if the reader
 * ends and restarts its cursor after each object.
 */
static void test_single_objects(struct kunit *test)
{
	bool seen[PLANTED] = {};
	unsigned int i, found = 0;

	KUNIT_ASSERT_EQ(test, parse_sentence("if cache == owner_kunit"), 0);
	KUNIT_ASSERT_EQ(test, owner_query_prepare(query), 0);
	owner_cursor_begin(&query->cursor);
	while (owner_query_find_next_match(query) > 0) {
		const void *first = query->object.address;

		owner_cursor_end(&query->cursor);
		owner_cursor_begin(&query->cursor);
		owner_cursor_step_back(&query->cursor);
		/* Expect, do not assert: a failed assertion would leave the cursor open. */
		KUNIT_EXPECT_EQ(test, owner_query_find_next_match(query), 1);
		KUNIT_EXPECT_PTR_EQ(test, query->object.address, first);
		if (query->object.address != first)
			break;
		for (i = 0; i < PLANTED; i++) {
			if (kasan_reset_tag(objects[i]) != first)
				continue;
			KUNIT_EXPECT_FALSE(test, seen[i]);
			seen[i] = true;
			found++;
		}
	}
	owner_cursor_end(&query->cursor);
	KUNIT_EXPECT_EQ(test, found, PLANTED);
}

/* A signal stops the walk of a query; the next read continues it. */
static void test_signal_stops(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, parse_sentence("if cache == owner_kunit"), 0);
	KUNIT_ASSERT_EQ(test, owner_query_prepare(query), 0);
	owner_cursor_begin(&query->cursor);
	/* Set a deadline in the past, so that the cursor yields at once. */
	query->cursor.deadline = jiffies - 1;
	set_thread_flag(TIF_SIGPENDING);
	KUNIT_EXPECT_EQ(test, owner_query_find_next_match(query), -ERESTARTSYS);
	clear_thread_flag(TIF_SIGPENDING);
	KUNIT_EXPECT_EQ(test, owner_query_find_next_match(query), 1);
	owner_cursor_end(&query->cursor);
}

/* A task that is killed does not wait until a full table is sorted. */
static void test_sort_is_killed(struct kunit *test)
{
	unsigned int room;
	int error;

	ask_query(test, "group=stack");
	KUNIT_ASSERT_GT(test, query->nr_groups, 100);
	room = query->room;
	query->room = query->nr_groups;
	query->memory_bound = 1;
	set_fatal_signal(true);
	error = owner_query_make_room(query);
	set_fatal_signal(false);
	query->room = room;
	KUNIT_EXPECT_EQ(test, error, -EINTR);
}

/* A task that is killed leaves no part of an answer to another one with the same open file. */
static void test_kill_ends_answer(struct kunit *test)
{
	int error;

	KUNIT_ASSERT_EQ(test, parse_sentence("group=stack"), 0);
	set_fatal_signal(true);
	error = owner_query_sum_groups(query);
	set_fatal_signal(false);
	/* After -ERESTARTSYS the next read() would go on. */
	KUNIT_EXPECT_EQ(test, error, -EINTR);
}

static void test_refusals(struct kunit *test)
{
	static const char * const refused[][2] = {
		{ "if kind == slab && order == 2", "neither slab objects, pages nor per-CPU " },
		{ "group=gfp",
		  "'gfp' is kept of pages only: say kind == page\n  group=gfp\n  ^~~" },
		{ "group=gfp if kind == slab", "'gfp' is kept of pages only: say kind == page" },
		{ "group=cache; group=comm", "one sentence is answered at a time: " },
		{ "group=cachr", "no field is called 'cachr': did you mean 'cache'?\n"
		  "  group=cachr\n        ^~~~~\n" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		KUNIT_EXPECT_EQ_MSG(test, parse_sentence(refused[i][0]), -EINVAL, "%s",
				    refused[i][0]);
		KUNIT_ASSERT_NOT_NULL(test, error_text);
		KUNIT_EXPECT_TRUE_MSG(test, strstarts(error_text, refused[i][1]), "%s", error_text);
	}
	if (!owner_pages_tracked()) {
		KUNIT_EXPECT_EQ(test, parse_sentence("if kind != percpu"), -EINVAL);
		KUNIT_EXPECT_TRUE(test, strstarts(error_text, "page_owner is off: "));
	}
	KUNIT_EXPECT_EQ(test, parse_sentence("# a comment\n group=cache # another\n"), 0);
	KUNIT_EXPECT_EQ(test, query->sentence.nr_group_by, 1);
	KUNIT_EXPECT_EQ(test, parse_sentence(""), 0);
	KUNIT_EXPECT_EQ(test, query->sentence.nr_group_by, 0);
}

static int query_test_init(struct kunit *test)
{
	unsigned int i;
	int error = require_slab_owner(test);

	if (error)
		return error;
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	answer = kmalloc(ANSWER_SIZE, GFP_KERNEL);
	cache = create_test_cache(test, 0);
	for (i = 0; i < PLANTED; i++)
		objects[i] = query_plant(cache);
	for (i = 0; i < ARRAY_SIZE(small); i++)
		small[i] = query_plant_other(8 << i);
	return query && answer ? 0 : -ENOMEM;
}

static void query_test_exit(struct kunit *test)
{
	unsigned int i;

	if (query)
		reset_query();
	for (i = 0; i < ARRAY_SIZE(small); i++)
		kfree(small[i]);
	for (i = 0; cache && i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
	kfree(answer);
	kfree(query);
	cache = NULL;
	query = NULL;
	answer = NULL;
	memset(small, 0, sizeof(small));
}

static struct kunit_case owner_query_cases[] = {
	KUNIT_CASE(test_objects_are_added_up),
	KUNIT_CASE(test_each_field),
	KUNIT_CASE(test_ages),
	KUNIT_CASE(test_times),
	KUNIT_CASE(test_many_ages),
	KUNIT_CASE(test_caches_told),
	KUNIT_CASE(test_each_group),
	KUNIT_CASE(test_chains_are_cut),
	KUNIT_CASE(test_outermost_frames),
	KUNIT_CASE(test_size_buckets),
	KUNIT_CASE(test_age_buckets),
	KUNIT_CASE(test_min),
	KUNIT_CASE(test_functions),
	KUNIT_CASE(test_each),
	KUNIT_CASE(test_slabs),
	KUNIT_CASE(test_syscall),
	KUNIT_CASE(test_allocator_is_skipped),
	KUNIT_CASE(test_modes),
	KUNIT_CASE(test_sort_and_top),
	KUNIT_CASE(test_default_order),
	KUNIT_CASE(test_last_are_folded),
	KUNIT_CASE(test_kinds),
	KUNIT_CASE(test_single_objects),
	KUNIT_CASE(test_signal_stops),
	KUNIT_CASE(test_sort_is_killed),
	KUNIT_CASE(test_kill_ends_answer),
	KUNIT_CASE(test_refusals),
	{}
};

static struct kunit_suite owner_query_suite = {
	.name = "owner_query",
	.init = query_test_init,
	.exit = query_test_exit,
	.test_cases = owner_query_cases,
};

kunit_test_suite(owner_query_suite);
