// SPDX-License-Identifier: GPL-2.0
/* Names of tasks as they are printed: no control characters, and UTF-8 as it is. */

#include <kunit/test.h>
#include <linux/string.h>

#include "../escape.h"

static const struct {
	const char *name;
	const char *escaped;
} names[] = {
	{ "", "" },
	{ "kworker/0:1-events", "kworker/0:1-events" },
	{ "a b,c", "a\\040b\\054c" },
	{ "a\\b", "a\\134b" },
	{ "a\nb\rc\td", "a\\012b\\015c\\011d" },
	{ "\x1b[2J\x7f\a", "\\033[2J\\177\\007" },
	/* two, three and four bytes */
	{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7" },
	/* control characters beyond ASCII: U+009B, and the byte alone */
	{ "\xc2\x9b[J", "\\302\\233[J" },
	{ "\x9b[J", "\\233[J" },
	/* characters that are cut, an overlong form, a surrogate, and beyond the last */
	{ "\xc3", "\\303" },
	{ "\xe2\x82", "\\342\\202" },
	{ "\xf0\x9f\x90", "\\360\\237\\220" },
	{ "\xc0\x8a", "\\300\\212" },
	{ "\xe0\x80\x8a", "\\340\\200\\212" },
	{ "\xed\xa0\x80", "\\355\\240\\200" },
	{ "\xf4\x90\x80\x80", "\\364\\220\\200\\200" },
};

static void test_names(struct kunit *test)
{
	char buf[OWNER_ESCAPED_COMM];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = owner_escape_name(buf, sizeof(buf), names[i].name, " ,");

		KUNIT_EXPECT_STREQ(test, buf, names[i].escaped);
		KUNIT_EXPECT_EQ(test, length, strlen(names[i].escaped));
	}
	owner_escape_name(buf, sizeof(buf), "a b,c", "");
	KUNIT_EXPECT_STREQ(test, buf, "a b,c");
}

/* All bytes of a comm may take four characters. A smaller buffer is not exceeded. */
static void test_sizes(struct kunit *test)
{
	static const char name[TASK_COMM_LEN] = "\1\2\3\4\5\6\1\2\3\4\5\6\1\2\3";
	char buf[OWNER_ESCAPED_COMM + 1];
	size_t size;

	for (size = 1; size <= OWNER_ESCAPED_COMM; size++) {
		memset(buf, 'x', sizeof(buf));
		KUNIT_EXPECT_EQ(test, owner_escape_name(buf, size, name, ""), 60);
		KUNIT_EXPECT_EQ(test, strlen(buf), min(size - 1, 60));
		KUNIT_EXPECT_EQ(test, buf[size], 'x');
	}
}

static struct kunit_case owner_escape_cases[] = {
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_sizes),
	{}
};

static struct kunit_suite owner_escape_suite = {
	.name = "owner_escape",
	.test_cases = owner_escape_cases,
};

kunit_test_suite(owner_escape_suite);
