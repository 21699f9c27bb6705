// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the report when memory runs out: which chains are found, in which order, and how
 * a line looks.
 */

#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "../report/oom.h"
#include "plant.h"
#include "write_rules.h"

/* Rows are ordered by bytes, equal ones by their arrival, and the smallest are left out. */
static void test_rank(struct kunit *test)
{
	static const u64 bytes[] = { 5, 9, 5, 1, 7, 9, 2 };
	static const depot_stack_handle_t ranked[] = { 1, 5, 4, 0 };
	struct owner_ranking *top = kunit_kzalloc(test, sizeof(*top), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, top);
	top->max = ARRAY_SIZE(ranked);
	for (i = 0; i < ARRAY_SIZE(bytes); i++)
		owner_rank_chain(top, &(struct owner_ranked_chain){
			.stack = i,
			.bytes = bytes[i],
		});
	KUNIT_ASSERT_EQ(test, top->count, ARRAY_SIZE(ranked));
	for (i = 0; i < ARRAY_SIZE(ranked); i++)
		KUNIT_EXPECT_EQ(test, top->row[i].stack, ranked[i]);
	KUNIT_EXPECT_EQ(test, top->row[i].bytes, 0);
}

#define MANY		1000
#define MANY_SIZE	4096

static noinline void *plant_page_sized(void)
{
	void *object = kmalloc(MANY_SIZE, GFP_KERNEL);

	/* Prevent a tail call, so that this function is in the chain. */
	barrier();
	return object;
}

struct planted {
	depot_stack_handle_t stack;
	unsigned int slot_size;		/* KASAN makes slots larger. */
	struct owner_oom_find *find;
	void *object[MANY];
};

/* The row of the planted chain. NULL if there is none. */
static const struct owner_ranked_chain *find_planted(struct planted *planted, u64 least)
{
	unsigned int i;

	planted->find->step_ns = 0;
	owner_oom_find(planted->find, OWNER_HELD, least);
	for (i = 0; i < planted->find->top.count; i++)
		if (planted->find->top.row[i].stack == planted->stack)
			return &planted->find->top.row[i];
	return NULL;
}

static struct planted *plant_objects(struct kunit *test)
{
	struct planted *planted = kunit_kzalloc(test, sizeof(*planted), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, planted);
	planted->find = kunit_kzalloc(test, sizeof(*planted->find), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, planted->find);
	for (i = 0; i < MANY; i++) {
		planted->object[i] = plant_page_sized();
		if (!planted->stack && planted->object[i] && find_object_record(planted->object[i]))
			planted->stack = find_object_record(planted->object[i])->stack;
	}
	KUNIT_ASSERT_NE(test, planted->stack, 0);
	planted->slot_size = virt_to_slab(planted->object[0])->slab_cache->size;
	return planted;
}

static void free_planted(struct planted *planted)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		kfree(planted->object[i]);
}

/* Chains are found by what they hold now, whether CPUs or the depot have counted it. */
static void test_find(struct kunit *test)
{
	struct planted *planted = plant_objects(test);
	const u64 held = MANY * planted->slot_size;
	const struct owner_ranked_chain *row;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		row = find_planted(planted, held);
		KUNIT_EXPECT_NOT_NULL(test, row);
		if (row) {
			KUNIT_EXPECT_EQ(test, row->objects, MANY);
			KUNIT_EXPECT_EQ(test, row->bytes, held);
		}
		KUNIT_EXPECT_NULL(test, find_planted(planted, held + 1));
		/* The second time, only the depot has counted the objects. */
		stack_depot_cpu_caches_flush();
	}
	free_planted(planted);
	KUNIT_EXPECT_NULL(test, find_planted(planted, 1));
}

/* Where time is short, the search ends, and says so. */
static void test_deadline(struct kunit *test)
{
	struct planted *planted = plant_objects(test);

	KUNIT_EXPECT_NOT_NULL(test, find_planted(planted, 1));
	KUNIT_EXPECT_FALSE(test, planted->find->is_cut);
	/* The deadline is in the past then, however coarse the clock is. */
	planted->find->step_ns = U64_MAX;
	owner_oom_find(planted->find, OWNER_HELD, 1);
	KUNIT_EXPECT_TRUE(test, planted->find->is_cut);
	KUNIT_EXPECT_EQ(test, planted->find->top.count, 0);
	free_planted(planted);
}

/* Time is short with interrupts off, but not in an oops. */
static void test_step_ns(struct kunit *test)
{
	u64 without_interrupts, in_oops;

	local_irq_disable();
	without_interrupts = owner_oom_step_ns();
	oops_in_progress++;
	in_oops = owner_oom_step_ns();
	oops_in_progress--;
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, without_interrupts, NSEC_PER_MSEC / 2);
	KUNIT_EXPECT_EQ(test, in_oops, 0);
	KUNIT_EXPECT_EQ(test, owner_oom_step_ns(), 0);
}

/* A sample counts for all objects that it stands for, until it is freed. */
static void test_samples(struct kunit *test)
{
	const struct owner_ranked_chain *row;
	struct planted *planted;
	char rule[80];
	void *object;

	skip_without_rules();
	if (owner_read_samples())
		kunit_skip(test, "boot without sample=");
	/* Caches of kmalloc() can have random names. */
	object = plant_page_sized();
	KUNIT_ASSERT_NOT_NULL(test, object);
	snprintf(rule, sizeof(rule), "sample=1/4 if cache == %s",
		 virt_to_slab(object)->slab_cache->name);
	kfree(object);
	KUNIT_ASSERT_EQ(test, write_rules(rule), 0);
	planted = plant_objects(test);
	row = find_planted(planted, 1);
	KUNIT_EXPECT_NOT_NULL(test, row);
	if (row) {
		u64 weighted = row->objects * planted->slot_size;

		/* Weights are rounded. */
		KUNIT_EXPECT_GT(test, row->objects, MANY / 2);
		KUNIT_EXPECT_LT(test, row->objects, 2 * MANY);
		KUNIT_EXPECT_GE(test, row->bytes, weighted - weighted / 100);
		KUNIT_EXPECT_LE(test, row->bytes, weighted + weighted / 100);
	}
	free_planted(planted);
	KUNIT_EXPECT_NULL(test, find_planted(planted, 1));
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
}

/* A line has the share, the count and the functions, and says where it was cut. */
static void test_format(struct kunit *test)
{
	void *object = plant_page_sized();
	struct owner_ranked_chain row = { .objects = 21, .bytes = 3 << 20 };
	static const char start[] = " 3.00 MiB  30%        21 objects  plant_page_sized < ";
	char line[OWNER_OOM_COLUMNS];
	size_t size;

	KUNIT_ASSERT_NOT_NULL(test, object);
	row.stack = find_object_record(object)->stack;
	owner_oom_format_row(line, sizeof(line), &row, 10 << 20, "objects");
	KUNIT_EXPECT_TRUE(test, strstarts(line, start));
	KUNIT_EXPECT_NOT_NULL(test, strstr(line, " < test_for"));
	/* The chain is longer; at some of these sizes a function ends at the last column. */
	for (size = 80; size <= 110; size++) {
		memset(line, 'x', sizeof(line));
		owner_oom_format_row(line, size, &row, 10 << 20, "objects");
		KUNIT_EXPECT_LT(test, strnlen(line, sizeof(line)), size);
		KUNIT_EXPECT_STREQ(test, line + strlen(line) - 6, " < ...");
	}
	stack_depot_cpu_caches_flush();
	kfree(object);
	stack_depot_cpu_caches_flush();
	owner_oom_format_row(line, sizeof(line), &row, 10 << 20, "objects");
	KUNIT_EXPECT_STREQ(test, line, "");
}

static struct kunit_case owner_oom_cases[] = {
	KUNIT_CASE(test_rank),
	KUNIT_CASE(test_find),
	KUNIT_CASE(test_deadline),
	KUNIT_CASE(test_step_ns),
	KUNIT_CASE(test_samples),
	KUNIT_CASE(test_format),
	{}
};

static struct kunit_suite owner_oom_suite = {
	.name = "owner_oom",
	.init = require_slab_owner,
	.test_cases = owner_oom_cases,
};

kunit_test_suite(owner_oom_suite);
