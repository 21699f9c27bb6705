// SPDX-License-Identifier: GPL-2.0
/*
 * Queries that do not walk all memory: for the object at an address, every byte of it, and
 * addresses that no object has; for one kind of memory.
 */

#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../page/page.h"
#include "../query/query.h"
#include "plant.h"

#define ANSWER_SIZE	SZ_4K

static struct owner_query *query;
static struct kmem_cache *cache;
static void *objects[PLANTED];
static char *answer, *error_text;

static int parse_query(const char *format, va_list args)
{
	char sentence[OWNER_SENTENCE_MAX + 1];

	owner_query_reset(query);
	kfree(error_text);
	error_text = NULL;
	vsnprintf(sentence, sizeof(sentence), format, args);
	return owner_query_parse(query, sentence, strlen(sentence), &error_text);
}

/* Ask for single objects. Return how many were found; @query has the last one. */
static __printf(2, 3)
unsigned int ask_for_objects(struct kunit *test, const char *format, ...)
{
	struct seq_file m = { .buf = answer, .size = ANSWER_SIZE - 1 };
	struct owner_object last = {};
	unsigned int found = 0;
	va_list args;
	int error;

	va_start(args, format);
	error = parse_query(format, args);
	va_end(args);
	KUNIT_ASSERT_EQ_MSG(test, error, 0, "%s", error_text ?: format);
	KUNIT_ASSERT_EQ(test, owner_query_prepare(query), 0);
	owner_cursor_begin(&query->cursor);
	while (owner_query_find_next_match(query) > 0) {
		last = query->object;
		found++;
	}
	owner_cursor_end(&query->cursor);
	query->object = last;
	owner_query_show_tail(&m, query);
	answer[m.count] = '\0';
	return found;
}

static void expect_object_at(struct kunit *test, const void *address, const void *object)
{
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == %#lx", (unsigned long)address),
			1);
	KUNIT_EXPECT_PTR_EQ(test, query->object.address, kasan_reset_tag(object));
	KUNIT_EXPECT_NULL(test, strstr(answer, "# nothing matched"));
}

static void expect_nothing_at(struct kunit *test, u64 address, const char *why)
{
	char line[128];

	snprintf(line, sizeof(line), "# nothing matched address == 0x%llx (%s)\n", address, why);
	KUNIT_EXPECT_EQ_MSG(test, ask_for_objects(test, "if address == %#llx", address), 0,
			    "%llx", address);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(answer, line), "%s instead of %s", answer, line);
}

static void test_each_byte(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < PLANTED; i++) {
		expect_object_at(test, objects[i], objects[i]);
		expect_object_at(test, objects[i] + PLANTED_SIZE / 2, objects[i]);
		expect_object_at(test, objects[i] + PLANTED_SIZE - 1, objects[i]);
	}
}

/* All required addresses are in the slabs that are looked at, and each object is found once. */
static void test_many_addresses(struct kunit *test)
{
	unsigned long a = (unsigned long)objects[0], b = (unsigned long)objects[PLANTED - 1];

	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == %lu,%#lx,%#lx,%#lx,1",
					      a, b, a + 1, a), 2);
	KUNIT_EXPECT_EQ(test, query->nr_addresses, 4);
	KUNIT_EXPECT_NULL(test, strstr(answer, "# nothing matched"));
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == %#lx || address == %#lx", a, b),
			2);
	KUNIT_EXPECT_EQ(test, query->nr_addresses, 2);
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == %#lx && address == %#lx", a, b),
			0);
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == 1,2,%#lx", a), 1);
}

/* Only an expression that requires an address does without a walk; the answer is the same. */
static void test_other_conditions(struct kunit *test)
{
	unsigned long a = (unsigned long)objects[0];

	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if size == %d && (address == %#lx)",
					      PLANTED_SIZE, a), 1);
	KUNIT_EXPECT_EQ(test, query->nr_addresses, 1);
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if address == %#lx && cache == kmalloc-8", a),
			0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "# nothing matched cache == kmalloc-8\n"));
	KUNIT_EXPECT_NULL(test, strstr(answer, "# nothing matched address"));
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if cache == owner_kunit || address == %#lx",
					      a), PLANTED);
	KUNIT_EXPECT_EQ(test, query->nr_addresses, 0);
	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "if cache == owner_kunit && !address == %#lx",
					      a), PLANTED - 1);
}

/* The memo of a walk treats equal records alike, and these differ in their addresses only. */
static void test_groups(struct kunit *test)
{
	unsigned long a = (unsigned long)objects[PLANTED / 2];

	KUNIT_EXPECT_EQ(test, ask_for_objects(test, "group=cache if address == %#lx", a), 1);
	ask_for_objects(test, "group=cache if address == %#lx || cache == x", a);
	owner_query_reset(query);
	KUNIT_ASSERT_EQ(test, owner_query_sum_groups(query), 0);
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, 1);
}

static void test_no_object(struct kunit *test)
{
	unsigned long freed = (unsigned long)kasan_reset_tag(objects[3]);
	struct page *page = alloc_page(GFP_KERNEL);
	void *mapped = vmalloc(PAGE_SIZE);

	if (page)
		expect_nothing_at(test, (unsigned long)kasan_reset_tag(page_address(page)),
				  "not in a slab: of pages ask with kind == page");
	if (mapped)
		expect_nothing_at(test, (unsigned long)kasan_reset_tag(mapped),
				  "no address that slabs have");
	expect_nothing_at(test, 0, "no address that slabs have");
	expect_nothing_at(test, 4096, "no address that slabs have");
	expect_nothing_at(test, U64_MAX, "no address that slabs have");
	expect_nothing_at(test, 1ULL << 63, "no address that slabs have");
	/* The slab stays: its other objects are not freed. */
	kmem_cache_free(cache, objects[3]);
	objects[3] = NULL;
	expect_nothing_at(test, freed, "free, not tracked, or between two objects");
	if (page)
		__free_page(page);
	vfree(mapped);
}

/* Each page frame and each hole between them is survived. */
static void test_any_address(struct kunit *test)
{
	unsigned long address = PAGE_OFFSET;
	unsigned int i;

	for (i = 0; i < 2000; i++, address += 37 * PAGE_SIZE + 64)
		KUNIT_EXPECT_LE(test, ask_for_objects(test, "if address == %#lx", address), 1);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_LE(test, ask_for_objects(test, "if address == %llu", 1ULL << i), 1);
}

static noinline u64 __percpu *plant_area(void)
{
	u64 __percpu *area = alloc_percpu(u64);

	barrier();
	return area;
}

static void test_percpu(struct kunit *test)
{
	static const char of_area[] = "if address == %#lx && func == plant_area";
	u64 __percpu *area = plant_area();
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, (__force void *)area);
	for_each_possible_cpu(cpu) {
		unsigned long copy = (unsigned long)per_cpu_ptr(area, cpu);

		KUNIT_EXPECT_EQ(test, 1, ask_for_objects(test, "if address == %#lx", copy + 7));
		KUNIT_EXPECT_EQ(test, query->object.kind, OWNER_KIND_PERCPU);
		KUNIT_EXPECT_EQ(test, query->object.size, sizeof(u64) * num_possible_cpus());
		KUNIT_EXPECT_EQ(test, 1, ask_for_objects(test, of_area, copy));
		/* The memory behind it is not the area's. */
		KUNIT_EXPECT_EQ(test, 0, ask_for_objects(test, of_area, copy + 8));
	}
	free_percpu(area);
}

static void test_pages(struct kunit *test)
{
	unsigned long address = __get_free_pages(GFP_KERNEL, 2);
	u64 inside = (unsigned long)kasan_reset_tag((void *)address) + 3 * PAGE_SIZE + 5;

	KUNIT_ASSERT_NE(test, address, 0);
	if (owner_pages_tracked()) {
		KUNIT_EXPECT_EQ(test, ask_for_objects(test,
						      "if address == %llu,%llu && kind == page",
						      inside - PAGE_SIZE, inside), 1);
		KUNIT_EXPECT_EQ(test, query->object.size, PAGE_SIZE << 2);
		KUNIT_EXPECT_EQ(test, ask_for_objects(test,
						      "if address == %llu && kind == slab,page,percpu",
						      inside), 1);
	}
	free_pages(address, 2);
	if (!owner_pages_tracked())
		kunit_skip(test, "boot with page_owner=on");
}

#define SLAB	BIT(OWNER_KIND_SLAB)
#define PAGE	BIT(OWNER_KIND_PAGE)
#define PERCPU	BIT(OWNER_KIND_PERCPU)

/* The expression decides which kinds of memory are read. */
static void test_kinds(struct kunit *test)
{
	static const struct {
		const char *text;
		unsigned int kinds;
	} asked[] = {
		{ "", SLAB | PERCPU },
		{ "if size > 8", SLAB | PERCPU },
		{ "nid=1", SLAB | PERCPU },
		{ "if kind == page", PAGE },
		{ "if kind == slab,page", SLAB | PAGE },
		{ "if kind != slab", PAGE | PERCPU },
		{ "if !(kind == page)", SLAB | PERCPU },
		{ "if kind == slab || size > 8", SLAB | PAGE | PERCPU },
		{ "if kind == slab && size > 8", SLAB },
		{ "if kind == slab && kind == page", 0 },
		{ "if order >= 2", PAGE },
		{ "if order >= 2 && kind == percpu", 0 },
		{ "if order >= 2 || kind == percpu", PAGE | PERCPU },
		{ "if gfp == __GFP_COMP", PAGE },
		{ "if order >= 2 || comm == a", SLAB | PAGE | PERCPU },
		{ "if comm == a && !(cache == b && order < 2)", SLAB | PAGE | PERCPU },
		{ "if cache == b && gfp == __GFP_COMP || size > 8", SLAB | PAGE | PERCPU },
		{ "if order != 2", SLAB | PAGE | PERCPU },
		{ "if order != 2 && kind != page", SLAB | PERCPU },
		{ "if comm == a || size > 8", SLAB | PERCPU },
		{ "if gfp != __GFP_COMP", SLAB | PAGE | PERCPU },
		{ "if gfp != __GFP_COMP && kind == page", PAGE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		struct owner_lang_error error;

		KUNIT_ASSERT_TRUE_MSG(test,
				      owner_lang_parse(&query->sentence, OWNER_QUERY,
						       asked[i].text, strlen(asked[i].text),
						       &error),
				      "%s", asked[i].text);
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_asked_kinds(&query->sentence),
				    asked[i].kinds, "%s", asked[i].text);
	}
}

static int query_address_test_init(struct kunit *test)
{
	unsigned int i;
	int error = require_slab_owner(test);

	if (error)
		return error;
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	answer = kmalloc(ANSWER_SIZE, GFP_KERNEL);
	cache = create_test_cache(test, 0);
	for (i = 0; i < PLANTED; i++)
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
	return query && answer ? 0 : -ENOMEM;
}

static void query_address_test_exit(struct kunit *test)
{
	unsigned int i;

	if (query)
		owner_query_reset(query);
	for (i = 0; cache && i < PLANTED; i++)
		if (objects[i])
			kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
	kfree(error_text);
	kfree(answer);
	kfree(query);
	cache = NULL;
	query = NULL;
	answer = NULL;
	error_text = NULL;
	memset(objects, 0, sizeof(objects));
}

static struct kunit_case owner_query_address_cases[] = {
	KUNIT_CASE(test_each_byte),
	KUNIT_CASE(test_many_addresses),
	KUNIT_CASE(test_other_conditions),
	KUNIT_CASE(test_groups),
	KUNIT_CASE(test_no_object),
	KUNIT_CASE(test_any_address),
	KUNIT_CASE(test_percpu),
	KUNIT_CASE(test_pages),
	KUNIT_CASE(test_kinds),
	{}
};

static struct kunit_suite owner_query_address_suite = {
	.name = "owner_query_address",
	.init = query_address_test_init,
	.exit = query_address_test_exit,
	.test_cases = owner_query_address_cases,
};

kunit_test_suite(owner_query_address_suite);
