// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of the language: message, word and caret of each, and the limits of a
 * sentence. The suite is in lang_kunit.c. tests/lang.py checks that each message of
 * the language is in the table below.
 */

#include <kunit/test.h>
#include <linux/string.h>

#include "../lang/lang.h"
#include "lang_kunit.h"

static struct owner_sentence sentence;
static struct owner_lang_error error;
static char printed[OWNER_ERROR_TEXT_SIZE];

static bool parse_sentence(enum owner_dialect dialect, const char *text)
{
	return owner_lang_parse(&sentence, dialect, text, strlen(text), &error);
}

/* --- Errors ----------------------------------------------------------------- */

#define SETTINGS_OF_CONTROL	"depth, sample, track, free, user"
#define FIELDS_OF_CONTROL \
	"cache, size, held, gfp, order, nid, pid, tgid, comm, task_cgroup, ts, func, module, kind"

static const struct {
	enum owner_dialect dialect;
	const char *text;
	const char *caret;
	const char *message;
} errors[] = {
	/* tokens */
	{ OWNER_QUERY, "if comm == \"a b",
		       "           ^",
	  "this quote is not closed" },
	{ OWNER_QUERY, "if comm == 'a\\'",
		       "           ^",
	  "this quote is not closed" },
	{ OWNER_QUERY, "if comm == 'a\x1b[2J'",
		       "           ^~~~~~~",
	  "a word cannot hold a character 0x1b: say ~, and ? for it" },
	{ OWNER_QUERY, "if pid == 1 & tgid == 1",
		       "            ^",
	  "a single '&' means nothing: say '&&'" },
	{ OWNER_QUERY, "if pid == 1 | tgid == 1",
		       "            ^",
	  "a single '|' means nothing: say '||'" },
	{ OWNER_QUERY, "if pid == 1;",
		       "           ^",
	  "';' cannot stand here: in a word, quote it" },
	{ OWNER_QUERY, "if comm == a\\*",
		       "            ^",
	  "'\\' cannot stand here: in a word, quote it" },
	{ OWNER_QUERY, "if pid \x01",
		       "       ^",
	  "a character 0x01 has no meaning here" },
	/* settings */
	{ OWNER_CONTROL, "depht=8",
			 "^~~~~",
	  "no setting is called 'depht': did you mean 'depth'?" },
	{ OWNER_CONTROL, "xyzzy=8",
			 "^~~~~",
	  "no setting is called 'xyzzy': choose from " SETTINGS_OF_CONTROL },
	{ OWNER_QUERY, "grrup=cache",
		       "^~~~~",
	  "no setting is called 'grrup': did you mean 'group'?" },
	{ OWNER_CONTROL, "a_word_too_long_to_repeat=1",
			 "^~~~~~~~~~~~~~~~~~~~~~~~~",
	  "no setting is called 'a_word_too_long_to_r': choose from " SETTINGS_OF_CONTROL },
	{ OWNER_CONTROL, "group=cache",
			 "^~~~~",
	  "'group' is for queries: what is captured does not depend on it" },
	{ OWNER_QUERY, "mode=stack depth=8",
		       "           ^~~~~",
	  "'depth' is for control: a query reads what was captured" },
	{ OWNER_QUERY, "cache == kmalloc-64",
		       "^~~~~",
	  "a condition comes after 'if'" },
	{ OWNER_CONTROL, "depth 8",
			 "      ^",
	  "expected '=' after 'depth'" },
	{ OWNER_CONTROL, "depth=8 sample=all depth=9",
			 "                   ^~~~~",
	  "'depth' is set twice" },
	{ OWNER_CONTROL, "depth=0",
			 "      ^",
	  "'depth' is a number from 1 to 64" },
	{ OWNER_CONTROL, "depth=65",
			 "      ^~",
	  "'depth' is a number from 1 to 64" },
	{ OWNER_CONTROL, "depth=",
			 "      ^",
	  "'depth' is a number from 1 to 64" },
	{ OWNER_CONTROL, "depth=8K",
			 "      ^~",
	  "'depth' is a number from 1 to 64" },
	{ OWNER_CONTROL, "sample=often",
			 "       ^~~~~",
	  "'sample' is 'all', 1 to 64M bytes from one to the next, or 1/N of the objects" },
	{ OWNER_CONTROL, "sample=0",
			 "       ^",
	  "'sample' is 'all', 1 to 64M bytes from one to the next, or 1/N of the objects" },
	{ OWNER_CONTROL, "sample=64K if kind == page",
			 "^~~~~~",
	  "pages are not sampled, and this rule is about pages only: leave 'sample' out" },
	{ OWNER_CONTROL, "depth=8 sample=1/8 if order >= 2 && comm == a",
				 "        ^~~~~~",
	  "pages are not sampled, and this rule is about pages only: leave 'sample' out" },
	{ OWNER_CONTROL, "sample=1025M",
			 "       ^~~~~",
	  "'sample' is 'all', 1 to 64M bytes from one to the next, or 1/N of the objects" },
	{ OWNER_CONTROL, "track=of",
			 "      ^~",
	  "'track' cannot be 'of': did you mean 'off'?" },
	{ OWNER_CONTROL, "free=never",
			 "     ^~~~~",
	  "'free' cannot be 'never': choose from off, on" },
	{ OWNER_CONTROL, "track= free=on",
			 "       ^~~~",
	  "'track' cannot be 'free': choose from off, on" },
	{ OWNER_QUERY, "mode=stak",
		       "     ^~~~",
	  "'mode' cannot be 'stak': did you mean 'stack'?" },
	{ OWNER_QUERY, "mode=(",
		       "     ^",
	  "expected a value of 'mode'" },
	{ OWNER_QUERY, "format=json",
		       "       ^~~~",
	  "'format' cannot be 'json': choose from text, tsv" },
	{ OWNER_QUERY, "nid=",
		       "    ^",
	  "expected a value of 'nid'" },
	{ OWNER_QUERY, "nid=0,a",
		       "      ^",
	  "'a' is no number" },
	{ OWNER_QUERY, "group=cache top=0",
		       "                ^",
	  "'top' takes a number, 1 or more" },
	{ OWNER_QUERY, "group=cache groups=100",
		       "            ^~~~~~",
	  "no setting is called 'groups': did you mean 'group'?" },
	{ OWNER_QUERY, "group=cachr",
		       "      ^~~~~",
	  "no field is called 'cachr': did you mean 'cache'?" },
	{ OWNER_QUERY, "group=cache,",
		       "            ^",
	  "expected a field to group by" },
	{ OWNER_QUERY, "group=cache,age",
		       "            ^~~",
	  "'age' is each object's own: say age.1h or age.log2" },
	{ OWNER_QUERY, "group=ts",
		       "      ^~",
	  "'ts' is each object's own: say ts.1h or ts.log2" },
	{ OWNER_QUERY, "group=age.5",
		       "      ^~~~~",
	  "'age.' goes on with the width of a bucket, as 1h, or with 'log2'" },
	{ OWNER_QUERY, "group=size.0",
		       "      ^~~~~~",
	  "'size.' goes on with the width of a bucket, as 4K, or with 'log2'" },
	{ OWNER_QUERY, "group=held.1h",
		       "      ^~~~~~~",
	  "'held.' goes on with the width of a bucket, as 4K, or with 'log2'" },
	{ OWNER_QUERY, "group=age.1h,age.log2",
		       "             ^~~~~~~~",
	  "'age' is grouped by twice" },
	{ OWNER_QUERY, "group=cache.8",
		       "      ^~~~~~~",
	  "only chains are cut, as stack.8, and only bytes and times have buckets, as age.1h" },
	{ OWNER_QUERY, "group=stack.65",
		       "      ^~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=stack.-65",
		       "      ^~~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=stack.-",
		       "      ^~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=user.-3",
		       "      ^~~~~~~",
	  "'user.' goes on with 1 to 16 frames" },
	{ OWNER_QUERY, "group=stack.",
		       "      ^~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=user.17",
		       "      ^~~~~~~",
	  "'user.' goes on with 1 to 16 frames" },
	{ OWNER_QUERY, "group=user.full",
		       "      ^~~~~~~~~",
	  "'user.' goes on with 1 to 16 frames" },
	{ OWNER_QUERY, "group=stack.8,stack.4",
		       "              ^~~~~~~",
	  "'stack' is grouped by twice" },
	{ OWNER_QUERY, "group=cache,comm,pid,tgid,nid,kind,module",
		       "                                   ^~~~~~",
	  "at most 6 fields can be grouped by" },
	{ OWNER_QUERY, "group=cache sort=byte",
		       "                 ^~~~",
	  "'sort' cannot be 'byte': did you mean 'bytes'?" },
	{ OWNER_QUERY, "group=cache sort=held,held",
		       "                      ^~~~",
	  "'held' is sorted by twice" },
	{ OWNER_QUERY, "sort=bytes top=3",
		       "^~~~",
	  "'sort' is for groups: say group= too" },
	{ OWNER_QUERY, "group=cache min=0",
		       "                ^",
	  "'min' is how many bytes a group holds at least, as 1M" },
	{ OWNER_QUERY, "group=cache min=1h",
		       "                ^~",
	  "'min' is how many bytes a group holds at least, as 1M" },
	{ OWNER_QUERY, "group=cache min=8589934592G",
		       "                ^~~~~~~~~~~",
	  "'min' is how many bytes a group holds at least, as 1M" },
	{ OWNER_QUERY, "min=1M",
		       "^~~",
	  "'min' is for groups: say group= too" },
	{ OWNER_QUERY, "each=cache top=3",
		       "^~~~",
	  "'each' is for groups: say group= too" },
	{ OWNER_QUERY, "group=cache each=func top=3",
		       "            ^~~~",
	  "'each' names a field of group=, and 'func' is none of them" },
	{ OWNER_QUERY, "group=cache each=cache",
		       "            ^~~~",
	  "'each' shows the first groups of each cache: say top= too" },
	{ OWNER_QUERY, "group=cache each=cachr top=3",
		       "                 ^~~~~",
	  "'each' cannot be 'cachr': did you mean 'cache'?" },
	{ OWNER_QUERY, "group=stack.func.",
		       "      ^~~~~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=stack.func4",
		       "      ^~~~~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=stack.func.65",
		       "      ^~~~~~~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, '-3' for the last 3, 'func' or 'full'" },
	{ OWNER_QUERY, "group=user.func",
		       "      ^~~~~~~~~",
	  "'user.' goes on with 1 to 16 frames" },
	{ OWNER_QUERY, "group=stack.func mode=handle",
		       "                 ^~~~",
	  "a handle is that of a whole chain: say group=stack, without more" },
	{ OWNER_CONTROL, "depth=4 if syscall == openat",
			 "           ^~~~~~~",
	  "'syscall' is not known at allocation: ask it of a query" },
	{ OWNER_QUERY, "since=mark",
		       "^~~~~",
	  "'since' is for groups: say group= too" },
	{ OWNER_QUERY, "group=stack since=1h",
		       "                  ^~",
	  "growth is counted since=mark; for what is younger than an hour say 'if age < 1h'" },
	/* commands and whole sentences */
	{ OWNER_CONTROL, "",
			 "^",
	  "expected what a rule sets: depth=, sample=, track=, free= or user=" },
	{ OWNER_CONTROL, "if pid == 1",
			 "^~",
	  "expected what a rule sets: depth=, sample=, track=, free= or user=" },
	{ OWNER_CONTROL, "depth=8, sample=all",
			 "       ^",
	  "expected a setting, or 'if'" },
	{ OWNER_CONTROL, "dell 3",
			 "^~~~",
	  "no command is called 'dell': did you mean 'del'?" },
	{ OWNER_CONTROL, "remove 3",
			 "^~~~~~",
	  "no command is called 'remove': choose from del, clear" },
	{ OWNER_CONTROL, "del",
			 "   ^",
	  "'del' takes the number of a rule, 'del 3', or its condition, 'del if'" },
	{ OWNER_CONTROL, "del all",
			 "    ^~~",
	  "'del' takes a number, 1 or more" },
	{ OWNER_CONTROL, "delete 3",
			 "^~~~~~",
	  "no command is called 'delete': did you mean 'del'?" },
	{ OWNER_CONTROL, "help",
			 "^~~~",
	  "no command is called 'help': choose from del, clear" },
	{ OWNER_CONTROL, "DEPTH=3",
			 "^~~~~",
	  "no setting is called 'DEPTH': did you mean 'depth'?" },
	{ OWNER_CONTROL, "depth=3 when pid == 1",
			 "        ^~~~",
	  "expected a setting, or 'if': choose from " SETTINGS_OF_CONTROL },
	{ OWNER_QUERY, "group=cache where pid == 1",
		       "            ^~~~~",
	  "expected a setting, or 'if': choose from mode, nid, group, sort, each, top, min, format, since"
	},
	{ OWNER_CONTROL, "del 3 4",
			 "^~~",
	  "'del' stands alone" },
	{ OWNER_CONTROL, "clear depth=3",
			 "^~~~~",
	  "'clear' stands alone" },
	{ OWNER_CONTROL, "depth=3 clear",
			 "        ^~~~~",
	  "'clear' stands alone" },
	{ OWNER_QUERY, "mark if cache == a",
		       "     ^~",
	  "'mark' takes nothing but group=" },
	{ OWNER_QUERY, "mark group=cache top=3",
		       "                 ^~~",
	  "'mark' takes nothing but group=" },
	{ OWNER_QUERY, "mark groups=cache",
		       "     ^~~~~~",
	  "'mark' takes nothing but group=" },
	{ OWNER_QUERY, "mark group=cachr",
		       "           ^~~~~",
	  "no field is called 'cachr': did you mean 'cache'?" },
	/* fields and operators */
	{ OWNER_QUERY, "if",
		       "  ^",
	  "expected a field to compare" },
	{ OWNER_QUERY, "if pid == 1 &&",
		       "              ^",
	  "expected a field to compare" },
	{ OWNER_CONTROL, "depth=3 if cachr == a",
			 "           ^~~~~",
	  "no field is called 'cachr': did you mean 'cache'?" },
	{ OWNER_CONTROL, "depth=3 if xyzzy == a",
			 "           ^~~~~",
	  "no field is called 'xyzzy': choose from " FIELDS_OF_CONTROL },
	{ OWNER_QUERY, "if xyzzy == a",
		       "   ^~~~~",
	  "no field is called 'xyzzy': choose from " FIELDS_OF_CONTROL
	  ", age, cgroup, syscall, handle, binary, ufunc, address" },
	{ OWNER_CONTROL, "depth=3 if age > 1h",
			 "           ^~~",
	  "'age' is not known at allocation: ask it of a query" },
	{ OWNER_CONTROL, "depth=3 if cgroup == /a",
			 "           ^~~~~~",
	  "'cgroup' is known after the rules only: compare 'task_cgroup', the cgroup of the task" },
	{ OWNER_CONTROL, "depth=3 if task_cgroup == removed:7",
			 "                          ^~~~~~~~~",
	  "a cgroup's path begins with '/', as /system.slice/sshd.service" },
	{ OWNER_CONTROL, "depth=3 if handle == 7",
			 "           ^~~~~~",
	  "'handle' is not known at allocation: ask it of a query" },
	{ OWNER_CONTROL, "depth=3 if binary == httpd",
			 "           ^~~~~~",
	  "'binary' is not known at allocation: ask it of a query" },
	{ OWNER_CONTROL, "user=on if ufunc == main",
			 "           ^~~~~",
	  "the kernel knows no functions of programs: ask ownertop for 'ufunc'" },
	{ OWNER_CONTROL, "depth=3 if address == 0x1000",
			 "           ^~~~~~~",
	  "'address' is not known at allocation: ask it of a query" },
	{ OWNER_QUERY, "group=address",
		       "      ^~~~~~~",
	  "'address' is each object's own: nothing to group by" },
	{ OWNER_QUERY, "if address >= 0x1000",
		       "           ^~",
	  "'address' is looked up: say == and one or a few addresses" },
	{ OWNER_QUERY, "if address ~ 0x1*",
		       "           ^",
	  "'address' is looked up: say == and one or a few addresses" },
	{ OWNER_QUERY, "if address == 0x1000,ffff888012345678",
		       "                     ^~~~~~~~~~~~~~~~",
	  "'ffff888012345678' is no address, as 0xffff888012345678" },
	{ OWNER_QUERY, "if address == 0x1000-0x2000",
		       "              ^~~~~~~~~~~~~",
	  "'0x1000-0x2000' is no address, as 0xffff888012345678" },
	{ OWNER_QUERY, "if user == main",
		       "   ^~~~",
	  "user is to group by: compare 'binary' or 'ufunc'" },
	{ OWNER_QUERY, "if stack ~ ext4*",
		       "   ^~~~~",
	  "stack is to group by: a frame of it is a 'func'" },
	{ OWNER_QUERY, "if pid = 1",
		       "       ^",
	  "'=' sets: to compare, say '=='" },
	{ OWNER_QUERY, "if pid 1",
		       "       ^",
	  "expected == != < <= > >= or ~ after 'pid'" },
	{ OWNER_QUERY, "if comm < a",
		       "        ^",
	  "'comm' is a word: say ==, != or ~" },
	{ OWNER_QUERY, "if func >= a",
		       "        ^~",
	  "'func' is a word: say ==, != or ~" },
	{ OWNER_QUERY, "if kind ~ slab",
		       "        ^",
	  "'kind' is compared with == or !=" },
	{ OWNER_QUERY, "if pid ~ 4*",
		       "       ^",
	  "'~' is for words, and 'pid' is a number" },
	/* values */
	{ OWNER_QUERY, "if pid == && tgid == 1",
		       "          ^~",
	  "expected a value of 'pid'" },
	{ OWNER_QUERY, "if pid == 1,",
		       "            ^",
	  "expected a value of 'pid'" },
	{ OWNER_QUERY, "if kind == slub",
		       "           ^~~~",
	  "'kind' cannot be 'slub': did you mean 'slab'?" },
	{ OWNER_QUERY, "if kind == \"slab\"",
		       "           ^~~~~~",
	  "expected a value of 'kind'" },
	{ OWNER_QUERY, "if pid == 4K",
		       "          ^~",
	  "'4K' is no number" },
	{ OWNER_QUERY, "if pid == -1",
		       "          ^~",
	  "a range has two ends, as 2-5" },
	{ OWNER_QUERY, "nid=0-",
		       "    ^~",
	  "a range has two ends, as 2-5" },
	{ OWNER_QUERY, "if cgroup == a,/b",
		       "             ^",
	  "a cgroup's path begins with '/', as /system.slice/sshd.service" },
	{ OWNER_QUERY, "if size == 4k",
		       "           ^~",
	  "'4k' is no number of bytes, as 512, 4K, 1M or 2G" },
	{ OWNER_QUERY, "if size == \"4\"",
		       "           ^~~",
	  "'\"4\"' is no number of bytes, as 512, 4K, 1M or 2G" },
	{ OWNER_QUERY, "if age > 3600",
		       "         ^~~~",
	  "'3600' is no time, as 10ms, 5s, 2m, 1h or 3d" },
	{ OWNER_QUERY, "if age > 3M",
		       "         ^~",
	  "'3M' is no time, as 10ms, 5s, 2m, 1h or 3d" },
	{ OWNER_QUERY, "if pid == 18446744073709551616",
		       "          ^~~~~~~~~~~~~~~~~~~~",
	  "'18446744073709551616' is too large a number" },
	{ OWNER_QUERY, "if size == 17179869184G",
		       "           ^~~~~~~~~~~~",
	  "'17179869184G' is too large a number" },
	{ OWNER_QUERY, "if size == 2K-1K",
		       "           ^~~~~",
	  "this range ends before it begins" },
	{ OWNER_QUERY, "if size == 1K-2k",
		       "              ^~",
	  "'2k' is no number of bytes, as 512, 4K, 1M or 2G" },
	{ OWNER_QUERY, "if size > 1-2",
		       "          ^~~",
	  "'>' takes one number, not a range" },
	{ OWNER_QUERY, "if size <= 1,2",
		       "            ^",
	  "'<=' takes one value, not a list" },
	{ OWNER_QUERY, "if size < 0",
		       "          ^",
	  "nothing is below 0" },
	{ OWNER_QUERY, "if pid > 18446744073709551615",
		       "         ^~~~~~~~~~~~~~~~~~~~",
	  "nothing is above the largest number" },
	{ OWNER_QUERY, "if cache == a,kmalloc-*",
		       "              ^~~~~~~~~",
	  "'==' compares whole words: for a pattern say cache ~" },
	{ OWNER_CONTROL, "depth=3 if comm == 'a?'",
			 "                   ^~~~",
	  "'==' compares whole words: for a pattern say comm ~" },
	{ OWNER_QUERY, "if func != [ab]c",
		       "           ^~~~~",
	  "'!=' compares whole words: for a pattern say !(func ~ ...)" },
	{ OWNER_QUERY, "if comm ~ a[b",
		       "          ^~~",
	  "a [ has no ]: in quotes, '\\[' stands for itself" },
	/* connectives */
	{ OWNER_QUERY, "if pid == 1 top=3",
		       "            ^~~",
	  "settings stand before 'if'" },
	{ OWNER_QUERY, "if comm == my prog",
		       "              ^~~~",
	  "expected && or ||; a value with blanks stands in quotes" },
	{ OWNER_QUERY, "if pid == 1 and tgid == 1",
		       "            ^~~",
	  "'and' is said &&" },
	{ OWNER_QUERY, "if pid == 1 or tgid == 1",
		       "            ^~",
	  "'or' is said ||" },
	{ OWNER_QUERY, "if not pid == 1",
		       "   ^~~",
	  "'not' is said !" },
	{ OWNER_QUERY, "if function == a",
		       "   ^~~~~~~~",
	  "no field is called 'function': did you mean 'func'?" },
	{ OWNER_QUERY, "if (pid == 1 && (tgid == 1)",
		       "   ^",
	  "this ( is not closed" },
	{ OWNER_QUERY, "if (pid == 1))",
		       "             ^",
	  "this ) closes nothing" },
	/* the caret counts characters, not bytes of UTF-8 */
	{ OWNER_QUERY, "if comm == \"\303\251\342\202\254\" pid == 1",
		       "                ^~~",
	  "expected && or ||; a value with blanks stands in quotes" },
};

static void expect_parse_error(struct kunit *test, const char *text, size_t length,
			       const char *caret, const char *message)
{
	static char expected[OWNER_ERROR_TEXT_SIZE];
	char *c;

	snprintf(expected, sizeof(expected), "%s\n  %.*s\n  %s\n", message,
		 (int)length, text, caret);
	/* A control character is printed as a blank. */
	for (c = expected; *c; c++)
		if (*c > 0 && *c < ' ' && *c != '\n')
			*c = ' ';
	KUNIT_EXPECT_EQ(test,
			owner_lang_render_error(&error, text, length, printed, sizeof(printed)),
			strlen(expected));
	KUNIT_EXPECT_STREQ(test, printed, expected);
}

void owner_lang_test_errors(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		const char *text = errors[i].text;

		if (parse_sentence(errors[i].dialect, text)) {
			KUNIT_FAIL(test, "understood: %s", text);
			continue;
		}
		expect_parse_error(test, text, strlen(text), errors[i].caret, errors[i].message);
	}
}

void owner_lang_test_zero_in_word(struct kunit *test)
{
	static const char text[] = "if comm == \"a\0b\"";

	KUNIT_ASSERT_FALSE(test, owner_lang_parse(&sentence, OWNER_QUERY, text, sizeof(text) - 1,
						  &error));
	KUNIT_EXPECT_EQ(test, error.position, 11);
	KUNIT_EXPECT_EQ(test, error.length, 5);
	KUNIT_EXPECT_STREQ(test, error.message,
			   "a word cannot hold a character 0x00: say ~, and ? for it");
}

/* --- Limits ----------------------------------------------------------------- */

static char *repeat_text(char *to, const char *text, unsigned int times)
{
	while (times--)
		to += sprintf(to, "%s", text);
	return to;
}

static void expect_limit_error(struct kunit *test, const char *text, const char *message)
{
	KUNIT_ASSERT_FALSE(test, parse_sentence(OWNER_QUERY, text));
	KUNIT_EXPECT_STREQ(test, error.message, message);
	KUNIT_EXPECT_LE(test, error.position + error.length, strlen(text));
}

void owner_lang_test_limits(struct kunit *test)
{
	static char text[2 * OWNER_SENTENCE_MAX];

	repeat_text(repeat_text(text, "if pid == 1", 1), " && pid == 1", 31);
	KUNIT_EXPECT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	strcat(text, " && pid == 1");
	expect_limit_error(test, text, "a sentence has at most 32 comparisons");

	repeat_text(repeat_text(text, "if tgid == 1 && pid == 1", 1), ",2", 62);
	KUNIT_EXPECT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	strcat(text, ",2");
	expect_limit_error(test, text, "a sentence has at most 64 values, those of lists included");

	repeat_text(repeat_text(repeat_text(text, "if comm ~ '", 1), "[a]", 32), "'", 1);
	KUNIT_EXPECT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	repeat_text(repeat_text(repeat_text(text, "if comm ~ '", 1), "[a]", 33), "'", 1);
	expect_limit_error(test, text, "a sentence has at most 32 sets [ ] in its words");

	repeat_text(repeat_text(repeat_text(repeat_text(text, "nid=0 if ", 1), "!(", 16),
				"pid == 1", 1), ")", 16);
	KUNIT_EXPECT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	repeat_text(repeat_text(repeat_text(repeat_text(text, "if ", 1), "!(", 17), "pid == 1", 1),
		    ")", 17);
	expect_limit_error(test, text, "at most 16 parentheses stand in each other");

	repeat_text(repeat_text(text, "if comm == ", 1), "x", OWNER_SENTENCE_MAX - 11);
	KUNIT_EXPECT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	strcat(text, "x");
	expect_limit_error(test, text,
			   "a sentence has at most 1023 bytes; written out, this one has 1024");
	/* The text is short enough, but its printed form is not. */
	repeat_text(repeat_text(text, "if comm==", 1), "x", OWNER_SENTENCE_MAX - 9);
	expect_limit_error(test, text,
			   "a sentence has at most 1023 bytes; written out, this one has 1025");
}

/* Only the text around the error is printed, and no character is split. */
void owner_lang_test_errors_of_long(struct kunit *test)
{
	static char text[OWNER_SENTENCE_MAX + 1], expected[OWNER_ERROR_TEXT_SIZE];
	static const char message[] = "expected && or ||; a value with blanks stands in quotes";
	char *end;

	/* The error is at the start, in the middle, and at the end. */
	repeat_text(repeat_text(text, "if pid == 1 x == ", 1), "y", OWNER_SENTENCE_MAX - 17);
	KUNIT_ASSERT_FALSE(test, parse_sentence(OWNER_QUERY, text));
	snprintf(expected, sizeof(expected), "%s\n  %.*s...\n  %12s^\n", message,
		 OWNER_ERROR_SENTENCE_MAX, text, "");
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);

	end = repeat_text(repeat_text(repeat_text(text, "if comm == '", 1), "\303\251", 300), "'",
			  1);
	repeat_text(repeat_text(end, " x ", 1), "y", 300);
	KUNIT_ASSERT_FALSE(test, parse_sentence(OWNER_QUERY, text));
	KUNIT_EXPECT_EQ(test, error.position, 614);
	end = repeat_text(expected, message, 1);
	end = repeat_text(repeat_text(repeat_text(end, "\n  ...", 1), "\303\251", 59), "' x ", 1);
	end = repeat_text(repeat_text(end, "y", OWNER_ERROR_SENTENCE_MAX / 2 - 2), "...\n     ", 1);
	repeat_text(repeat_text(end, " ", 61), "^\n", 1);
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);

	end = repeat_text(repeat_text(text, "if comm == ", 1), "x", OWNER_SENTENCE_MAX - 11 - 5);
	repeat_text(end, " here", 1);
	KUNIT_ASSERT_FALSE(test, parse_sentence(OWNER_QUERY, text));
	end = repeat_text(repeat_text(expected, message, 1), "\n  ...", 1);
	end = repeat_text(repeat_text(end, text + OWNER_SENTENCE_MAX - OWNER_ERROR_SENTENCE_MAX, 1),
			  "\n     ", 1);
	repeat_text(repeat_text(end, " ", OWNER_ERROR_SENTENCE_MAX - 4), "^~~~\n", 1);
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);
}

/* An entry of a system call is known by its name, in each form that an architecture gives it. */
void owner_lang_test_syscalls(struct kunit *test)
{
	static const struct {
		const char *function, *syscall;
	} functions[] = {
		{ "__x64_sys_openat", "openat" }, { "__arm64_sys_read", "read" },
		{ "__ia32_compat_sys_ioctl", "ioctl" }, { "__se_sys_clone3", "clone3" },
		{ "__do_sys_clone", "clone" }, { "sys_finit_module", "finit_module" },
		{ "compat_sys_sendmsg", "sendmsg" }, { "ksys_write", "write" },
		{ "__x64_sys_brk.cold", "brk" }, { "sys_", NULL }, { "__x64_sys_", NULL },
		{ "__sys_bpf", NULL }, { "x64_sys_call", NULL }, { "do_sys_openat2", NULL },
		{ "__x64_sysfs", NULL }, { "__", NULL }, { "k", NULL }, { "", NULL },
		{ "ksysfs_init", NULL }, { "sys.x", NULL }, { "__compat", NULL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t length = strlen(functions[i].function);
		const char *found = owner_lang_syscall_of_function(functions[i].function, &length);

		KUNIT_ASSERT_EQ_MSG(test, !found, !functions[i].syscall, "%s",
				    functions[i].function);
		if (!found)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, length, strlen(functions[i].syscall), "%s",
				    functions[i].function);
		KUNIT_EXPECT_MEMEQ(test, found, functions[i].syscall, length);
	}
}
