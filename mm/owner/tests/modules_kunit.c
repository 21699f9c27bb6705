// SPDX-License-Identifier: GPL-2.0
/* Unloaded modules: their text has their names until another module is loaded there. */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../query/query.h"

/* No module is loaded at the end of the address space. */
#define START	(-(unsigned long)SZ_64K)
#define TEXT	64UL

static const char *find_module_at(unsigned long frame)
{
	static char name[MODULE_NAME_LEN];

	return owner_query_find_unloaded(frame, name, sizeof(name)) ? name : "-";
}

/* A frame is a return address: its call ends before it. */
static void test_frames(struct kunit *test)
{
	owner_query_remember_unloaded("first", START, TEXT);
	owner_query_remember_unloaded("second", START + 2 * TEXT, TEXT);
	KUNIT_EXPECT_STREQ(test, find_module_at(START), "-");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + 1), "first");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + TEXT), "first");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + TEXT + 1), "-");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + 2 * TEXT), "-");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + 2 * TEXT + 1), "second");
}

static void test_loaded_again(struct kunit *test)
{
	static const struct {
		unsigned long offset;
		unsigned long size;
		bool forgets;
	} loads[] = {
		{ 0, TEXT, false },
		{ 2 * TEXT, TEXT, false },
		{ 0, TEXT + 1, true },
		{ 2 * TEXT - 1, 1, true },
		{ TEXT + 8, 8, true },
		{ 0, 4 * TEXT, true },
		{ TEXT, 0, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		owner_query_forget_unloaded(START, SZ_4K);
		owner_query_remember_unloaded("gone", START + TEXT, TEXT);
		owner_query_forget_unloaded(START + loads[i].offset, loads[i].size);
		KUNIT_EXPECT_STREQ_MSG(test, find_module_at(START + TEXT + 1),
				       loads[i].forgets ? "-" : "gone", "load %u", i);
	}
}

static void test_last_ones(struct kunit *test)
{
	char name[MODULE_NAME_LEN];
	unsigned int i;

	for (i = 0; i <= OWNER_QUERY_UNLOADED; i++) {
		scnprintf(name, sizeof(name), "module%u", i);
		owner_query_remember_unloaded(name, START + i * TEXT, TEXT);
	}
	KUNIT_EXPECT_STREQ(test, find_module_at(START + 1), "-");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + TEXT + 1), "module1");
	KUNIT_EXPECT_STREQ(test, find_module_at(START + OWNER_QUERY_UNLOADED * TEXT + 1), name);
}

static void modules_test_exit(struct kunit *test)
{
	owner_query_forget_unloaded(START, SZ_64K - 1);
}

static struct kunit_case owner_modules_cases[] = {
	KUNIT_CASE(test_frames),
	KUNIT_CASE(test_loaded_again),
	KUNIT_CASE(test_last_ones),
	{}
};

static struct kunit_suite owner_modules_suite = {
	.name = "owner_modules",
	.exit = modules_test_exit,
	.test_cases = owner_modules_cases,
};

kunit_test_suite(owner_modules_suite);
