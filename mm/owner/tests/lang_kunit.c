// SPDX-License-Identifier: GPL-2.0
/*
 * The language: sentences are parsed and printed, and expressions evaluated. Errors
 * are tested in lang_errors_kunit.c.
 */

#include <kunit/test.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "../lang/lang.h"
#include "lang_kunit.h"

static struct owner_sentence sentence;
static struct owner_lang_error error;
static char printed[OWNER_SENTENCE_MAX + 1];

static bool parse_sentence(enum owner_dialect dialect, const char *text)
{
	return owner_lang_parse(&sentence, dialect, text, strlen(text), &error);
}

/* --- Printing --------------------------------------------------------------- */

static const struct {
	enum owner_dialect dialect;
	const char *text;
	const char *printed;		/* canonical form of the text; NULL if equal to it */
} sentences[] = {
	{ OWNER_CONTROL, "depth=16 sample=all track=on free=off user=on" },
	{ OWNER_CONTROL, "  free=on   depth = 1\tsample=1024\n", "depth=1 sample=1K free=on" },
	{ OWNER_CONTROL, "sample=1025" },
	{ OWNER_CONTROL, "sample=64M" },
	{ OWNER_CONTROL, "sample=1/64" },
	{ OWNER_CONTROL, "sample=1/0x40", "sample=1/64" },
	{ OWNER_CONTROL, "sample=1/1048576" },
	{ OWNER_CONTROL, "sample=all if kind == page" },
	{ OWNER_CONTROL, "sample=64K if kind != page" },
	{ OWNER_CONTROL, "sample=64K if order != 2" },
	{ OWNER_CONTROL, "sample=64K if order == 2 || comm == a" },
	{ OWNER_CONTROL, "sample=64K if kind == slab && kind == page" },
	{ OWNER_CONTROL, "del 3" },
	{ OWNER_CONTROL, "del if cache==dentry", "del if cache == dentry" },
	{ OWNER_CONTROL, "clear" },
	{ OWNER_CONTROL, "depth=16 sample=all if cache ~ \"ext4_*\" && size >= 512",
	  "depth=16 sample=all if cache ~ ext4_* && size >= 512" },
	{ OWNER_CONTROL, "track=off if cache==kmalloc-8", "track=off if cache == kmalloc-8" },
	{ OWNER_QUERY, "" },
	{ OWNER_QUERY, "mode=stack group=stack.8,cache sort=bytes top=20 if !(comm ~ kworker*)" },
	{ OWNER_QUERY, "mode=stack nid=0,2-3" },
	{ OWNER_QUERY, "mode=handle" },
	{ OWNER_QUERY, "mark" },
	{ OWNER_QUERY, "mark  group = cache,cgroup", "mark group=cache,cgroup" },
	{ OWNER_QUERY, "since=mark group=stack", "group=stack since=mark" },
	{ OWNER_QUERY, "nid=1 mode=stack_handle", "mode=stack_handle nid=1" },
	{ OWNER_QUERY, "nid=1 if pid == 2 || pid == 3" },
	{ OWNER_QUERY, "top=3 if pid == 1" },
	{ OWNER_QUERY, "group=cache mode=handle", "mode=handle group=cache" },
	{ OWNER_QUERY, "group=stack.full,cache,comm,pid,module,nid format=tsv",
	  "group=stack.full,cache,comm,pid,module,nid format=tsv" },
	{ OWNER_QUERY, "group=cache sort=bytes,held,waste,objects,oldest top=4294967295" },
	{ OWNER_QUERY, "min=2048 group=cache top=3", "group=cache top=3 min=2K" },
	{ OWNER_QUERY, "group=stack.-3" },
	{ OWNER_QUERY, "group=stack.func,syscall" },
	{ OWNER_QUERY, "group=cache,stack.func.4" },
	{ OWNER_QUERY, "group=stack.func.-3" },
	{ OWNER_QUERY, "top=3 each=cgroup group=cgroup,stack sort=slabs",
	  "group=cgroup,stack sort=slabs each=cgroup top=3" },
	{ OWNER_QUERY, "group=age.1h each=age top=1" },
	{ OWNER_QUERY, "if syscall == openat,read && !(syscall ~ io_*)" },
	{ OWNER_QUERY, "group=stack.-0x10", "group=stack.-16" },
	{ OWNER_QUERY, "group=age.1h,size.4K,held.log2,ts.1500ms" },
	{ OWNER_QUERY, "group=age.3600s,size.4096", "group=age.1h,size.4K" },
	/* numbers and units */
	{ OWNER_QUERY, "if size == 0,1023,1024,1536,1048576,3G",
	  "if size == 0,1023,1K,1536,1M,3G" },
	{ OWNER_QUERY, "if size == 4096-8191", "if size == 4K-8191" },
	{ OWNER_QUERY, "if size == 1-1", "if size == 1" },
	{ OWNER_QUERY, "if age < 1500ms || age > 60m || ts == 0s,24h,1000us,7ns",
	  "if age < 1500ms || age > 1h || ts == 0ns,1d,1ms,7ns" },
	{ OWNER_QUERY, "if handle == 0x1F,0xffffffffffffffff",
	  "if handle == 31,18446744073709551615" },
	{ OWNER_QUERY, "if pid < 1 || pid <= 0 || pid > 18446744073709551614 || pid >= 7" },
	{ OWNER_QUERY, "if address==0xFFFF888012345678,4096,0",
	  "if address == 0xffff888012345678,0x1000,0x0" },
	/* words and quotes */
	{ OWNER_QUERY, "if comm == 'a b',\"c\"", "if comm == \"a b\",c" },
	{ OWNER_QUERY, "if comm == ''", "if comm == \"\"" },
	{ OWNER_QUERY, "if comm == 'say \"hi\"' || comm == \"it\\'s\"",
	  "if comm == \"say \\\"hi\\\"\" || comm == \"it's\"" },
	{ OWNER_QUERY, "if comm == \"a\\*b\\\\\"" },
	{ OWNER_QUERY, "if cgroup ~ /system.slice/*" },
	{ OWNER_QUERY, "group=task_cgroup if task_cgroup == removed:7,/a" },
	{ OWNER_QUERY, "if !(func ~ [a-f]*,\"[!x]?\")" },
	{ OWNER_QUERY, "if kind == slab,page && gfp == __GFP_ZERO" },
	/* connectives and parentheses */
	{ OWNER_QUERY, "if !(pid==1||(tgid==2&&!!nid==3))",
	  "if !(pid == 1 || (tgid == 2 && nid == 3))" },
	{ OWNER_QUERY, "if ! ! ! pid == 1", "if !pid == 1" },
	{ OWNER_QUERY, "if ((pid == 1)) && !((!(tgid == 2)))" },
};

static void test_prints(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sentences); i++) {
		const char *text = sentences[i].text;
		const char *expected = sentences[i].printed ?: text;

		KUNIT_ASSERT_TRUE_MSG(test, parse_sentence(sentences[i].dialect, text), "%s: %s",
				      text, error.message);
		KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, printed, sizeof(printed)),
				strlen(expected));
		KUNIT_EXPECT_STREQ(test, printed, expected);
		KUNIT_ASSERT_TRUE(test, parse_sentence(sentences[i].dialect, printed));
		owner_lang_print(&sentence, printed, sizeof(printed));
		KUNIT_EXPECT_STREQ(test, printed, expected);
	}
}

/* Output is cut to the buffer and NUL-terminated; the full length is returned. */
static void test_prints_into_little(struct kunit *test)
{
	static const char text[] = "depth=3 if pid == 1";
	char little[8] = "#######";

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL, text));
	KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, NULL, 0), sizeof(text) - 1);
	KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, little, 4), sizeof(text) - 1);
	KUNIT_EXPECT_STREQ(test, little, "dep");
	KUNIT_EXPECT_EQ(test, little[4], '#');
}

/* --- Settings --------------------------------------------------------------- */

static void test_settings(struct kunit *test)
{
	const struct owner_sentence *s = &sentence;

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL,
					       "depth=16 sample=512K track=off free=on"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_RULE);
	KUNIT_EXPECT_EQ(test, s->depth, 16);
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 512 * 1024);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 0);
	KUNIT_EXPECT_FALSE(test, s->track);
	KUNIT_EXPECT_TRUE(test, s->free);

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL, "sample=all"));
	KUNIT_EXPECT_EQ(test, s->settings_given, BIT(OWNER_SET_SAMPLE));
	KUNIT_EXPECT_EQ(test, s->depth, 0);
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 0);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 0);
	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL, "sample=1/64"));
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 0);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 64);
	KUNIT_EXPECT_TRUE(test, s->track);
	KUNIT_EXPECT_FALSE(test, s->free);

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL, "del 7"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_DEL);
	KUNIT_EXPECT_EQ(test, s->number, 7);
	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_CONTROL, "clear"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_CLEAR);

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY,
					       "mode=stack_handle format=tsv"));
	KUNIT_EXPECT_EQ(test, s->mode, OWNER_MODE_STACK_HANDLE);
	KUNIT_EXPECT_EQ(test, s->format, OWNER_FORMAT_TSV);
	KUNIT_EXPECT_EQ(test, s->nr_group_by, 0);

	KUNIT_ASSERT_TRUE(test,
			  parse_sentence(OWNER_QUERY,
					 "group=stack.8,cache sort=oldest,held top=5 if age > 1s"));
	KUNIT_ASSERT_EQ(test, s->nr_group_by, 2);
	KUNIT_EXPECT_EQ(test, s->group_by[0].field, OWNER_FIELD_STACK);
	KUNIT_EXPECT_EQ(test, s->group_by[0].frames, 8);
	KUNIT_EXPECT_FALSE(test, s->group_by[0].full);
	KUNIT_EXPECT_EQ(test, s->group_by[1].field, OWNER_FIELD_CACHE);
	KUNIT_ASSERT_EQ(test, s->nr_sort_by, 2);
	KUNIT_EXPECT_EQ(test, s->sort_by[0], OWNER_SORT_OLDEST);
	KUNIT_EXPECT_EQ(test, s->sort_by[1], OWNER_SORT_HELD);
	KUNIT_EXPECT_EQ(test, s->top, 5);
	KUNIT_EXPECT_EQ(test, s->fields_used, BIT(OWNER_FIELD_AGE));

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, "group=stack.full"));
	KUNIT_EXPECT_TRUE(test, s->group_by[0].full);
	KUNIT_EXPECT_EQ(test, s->top, 0);

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, "nid=1 if comm == a"));
	KUNIT_EXPECT_EQ(test, s->fields_used, BIT(OWNER_FIELD_NID) | BIT(OWNER_FIELD_COMM));
}

/* --- Expressions ------------------------------------------------------------ */

/* Truth tables of four comparisons: bit n is the result in case n. */
#define A	0xaaaa
#define B	0xcccc
#define C	0xf0f0
#define D	0xff00

static const enum owner_field letter_fields[] = {
	OWNER_FIELD_PID, OWNER_FIELD_TGID, OWNER_FIELD_NID, OWNER_FIELD_ORDER
};

/*
 * Each letter occurs once: with two comparisons of one unknown field,
 * owner_lang_evaluate_known_fields() may report a decided expression as undecided.
 */
static const struct {
	const char *text;
	unsigned int holds;
} expressions[] = {
	{ "a", A },
	{ "!a", ~A },
	{ "!!a", A },
	{ "a && b", A & B },
	{ "a || b", A | B },
	{ "!a && b", ~A & B },
	{ "!a || b", ~A | B },
	{ "!(a && b)", ~(A & B) },
	{ "!(a || b)", ~(A | B) },
	{ "a || b && c", A | (B & C) },
	{ "a && b || c", (A & B) | C },
	{ "(a || b) && c", (A | B) & C },
	{ "a && (b || c)", A & (B | C) },
	{ "a || b || c || d", A | B | C | D },
	{ "a && b && c && d", A & B & C & D },
	{ "a && b || c && d", (A & B) | (C & D) },
	{ "a || b && c || d", A | (B & C) | D },
	{ "(a || b) && (c || d)", (A | B) & (C | D) },
	{ "a && (b || c && d)", A & (B | (C & D)) },
	{ "a || (b || c) && d", A | ((B | C) & D) },
	{ "!(a || b && c) || d", ~(A | (B & C)) | D },
	{ "!(a && b || c) && d", ~((A & B) | C) & D },
	{ "!(a && !(b || !(c && d)))", ~(A & ~(B | ~(C & D))) },
	{ "a && !(b && (c || !d))", A & ~(B & (C | ~D)) },
	{ "!(!a) && (((b))) || !((c) || (d))", (A & B) | ~(C | D) },
	{ "((a || !b) && c || !(d))", ((A | ~B) & C) | ~D },
};

/* Translate "a && b" to "if pid == 1 && tgid == 1". */
static void write_letters_as_comparisons(const char *letters, char *text)
{
	text += sprintf(text, "if ");
	for (; *letters; letters++) {
		if (*letters >= 'a' && *letters <= 'd')
			text += sprintf(text, "%s == 1",
					owner_field_names[letter_fields[*letters - 'a']]);
		else
			*text++ = *letters;
	}
	*text = '\0';
}

static void set_letter_fields(struct owner_field_values *fields, unsigned int known,
			      unsigned int values)
{
	unsigned int i;

	memset(fields, 0, sizeof(*fields));
	for (i = 0; i < ARRAY_SIZE(letter_fields); i++) {
		fields->known_fields |= (known >> i & 1) << letter_fields[i];
		fields->value[letter_fields[i]].number = values >> i & 1;
	}
}

/*
 * Return the verdict of an expression when only the letters in @known have values: decided
 * if all truth assignments that agree with these values have the same result.
 */
static enum owner_verdict compute_expected_verdict(unsigned int holds, unsigned int known,
						   unsigned int values)
{
	bool some = false, all = true;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if ((i ^ values) & known)
			continue;
		some |= holds >> i & 1;
		all &= holds >> i & 1;
	}
	if (all)
		return OWNER_VERDICT_TRUE;
	return some ? OWNER_VERDICT_UNDECIDED : OWNER_VERDICT_FALSE;
}

static void test_binds(struct kunit *test)
{
	unsigned int i, known, values;
	struct owner_field_values fields;

	for (i = 0; i < ARRAY_SIZE(expressions); i++) {
		const char *text = expressions[i].text;

		write_letters_as_comparisons(text, printed);
		KUNIT_ASSERT_TRUE_MSG(test, parse_sentence(OWNER_QUERY, printed), "%s: %s",
				      text, error.message);
		for (values = 0; values < 16; values++) {
			set_letter_fields(&fields, 15, values);
			KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches(&sentence, &fields),
					    expressions[i].holds >> values & 1, "%s, letters %x",
					    text, values);
		}
		for (known = 0; known < 16; known++) {
			for (values = 0; values < 16; values++) {
				enum owner_verdict expected, verdict;

				expected = compute_expected_verdict(expressions[i].holds, known,
								    values);
				set_letter_fields(&fields, known, values);
				verdict = owner_lang_evaluate_known_fields(&sentence, &fields);
				KUNIT_EXPECT_EQ_MSG(test, verdict, expected,
						    "%s, letters %x, known %x",
						    text, values, known);
			}
		}
	}
}

/* nid= must hold in addition to the whole expression. */
static void test_nid_binds_all(struct kunit *test)
{
	struct owner_field_values fields;

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, "nid=1,3-4 if pid == 1 || tgid == 1"));
	set_letter_fields(&fields, 15, 0x4 | 0x1);
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_NID].number = 2;
	KUNIT_EXPECT_FALSE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_NID].number = 4;
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_PID].number = 0;
	KUNIT_EXPECT_FALSE(test, owner_lang_matches(&sentence, &fields));
}

/* A sentence without an expression matches all allocations. */
static void test_empty_holds(struct kunit *test)
{
	struct owner_field_values fields = {};

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, ""));
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	KUNIT_EXPECT_EQ(test, owner_lang_evaluate_known_fields(&sentence, &fields),
			OWNER_VERDICT_TRUE);
}

/* --- Comparisons ------------------------------------------------------------ */

static bool any_word_matches(const struct owner_field_values *fields,
			     const struct owner_sentence *s,
			     const struct owner_comparison *comparison)
{
	switch (comparison->field) {
	case OWNER_FIELD_FUNC:
		return owner_lang_word_matches(s, comparison, "ext4_alloc_inode") ||
		       owner_lang_word_matches(s, comparison, "alloc_inode") ||
		       owner_lang_word_matches(s, comparison, "kmemdup_noprof.isra.0") ||
		       owner_lang_word_matches(s, comparison, "sock_init_data.constprop.0");
	case OWNER_FIELD_MODULE:
		return owner_lang_word_matches(s, comparison, "ext4");
	default:
		return owner_lang_word_matches(s, comparison, "GFP_NOFS") ||
		       owner_lang_word_matches(s, comparison, "__GFP_ZERO");
	}
}

/* A slab object. It has no order and no cgroup. */
static const struct owner_field_values object = {
	.known_fields = ~0U,
	.absent_fields = BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_CGROUP),
	.value = {
		[OWNER_FIELD_CACHE].word	= "kmalloc-64",
		[OWNER_FIELD_SIZE].number	= 50,
		[OWNER_FIELD_HELD].number	= 64,
		[OWNER_FIELD_NID].number	= 1,
		[OWNER_FIELD_PID].number	= 42,
		[OWNER_FIELD_TGID].number	= 40,
		[OWNER_FIELD_COMM].word		= "kworker/0:3",
		[OWNER_FIELD_TS].number		= 5000000000ULL,
		[OWNER_FIELD_KIND].number	= OWNER_KIND_SLAB,
		[OWNER_FIELD_AGE].number	= 3600000000000ULL,
		[OWNER_FIELD_HANDLE].number	= 0x7f,
	},
	.any_word_matches = any_word_matches,
};

static const struct {
	const char *text;
	bool holds;
} comparisons[] = {
	{ "size == 50", true }, { "size == 51", false },
	{ "size != 50", false }, { "size != 51", true },
	{ "size < 50", false }, { "size < 51", true },
	{ "size <= 49", false }, { "size <= 50", true },
	{ "size > 50", false }, { "size > 49", true },
	{ "size >= 51", false }, { "size >= 50", true },
	{ "size == 1,50,99", true }, { "size != 1,50,99", false },
	{ "size == 1,2-49,51-99", false }, { "size != 1,2-49,51-99", true },
	{ "size == 50-50", true }, { "held == 64", true },
	{ "pid == 42 && tgid == 40 && nid == 1", true },
	{ "age == 1h", true }, { "age == 60m", true }, { "age == 3600s", true },
	{ "age >= 61m", false }, { "age > 59m", true }, { "age < 1d", true },
	{ "ts == 5s", true }, { "ts == 4999ms-5001ms", true }, { "ts > 5000000us", false },
	{ "ts == 5000000000ns", true },
	{ "handle == 0x7f", true }, { "handle == 127", true },
	{ "kind == slab", true }, { "kind == page,percpu", false }, { "kind != page", true },
	/* words and globs */
	{ "cache == kmalloc-64", true }, { "cache == kmalloc-6", false },
	{ "cache == kmalloc-640", false }, { "cache != kmalloc-64", false },
	{ "cache ~ kmalloc-*", true }, { "!(cache ~ kmalloc-*)", false },
	{ "cache ~ malloc*", false }, { "cache ~ *malloc*", true },
	{ "cache ~ kmalloc-64", true }, { "cache ~ *", true }, { "cache ~ **", true },
	{ "cache ~ *-6?", true }, { "cache ~ *-6??", false }, { "cache ~ ??????????", true },
	{ "cache ~ k*m*c-*4", true }, { "cache ~ k*m*c-*5", false }, { "cache ~ *64*64", false },
	{ "cache ~ [a-k]*", true }, { "cache ~ [a-j]*", false }, { "cache ~ \"[!a-j]*\"", true },
	{ "cache ~ [^k]*", false }, { "cache ~ *-[56][34]", true }, { "cache ~ *-[0-9]", false },
	{ "cache ~ *[]-]64", true }, { "cache ~ *[x-]64", true },
	{ "cache ~ \"kmalloc\\-64\"", true }, { "cache == \"kmalloc\\-64\"", true },
	{ "cache == \"kmalloc-\\*\"", false }, { "cache != \"kmalloc-\\*\"", true },
	{ "cache ~ \"kmalloc-\\*\"", false }, { "cache ~ \"[\\k]*\"", true },
	{ "cache == \"\"", false }, { "cache != \"\"", true },
	{ "cache ~ kmalloc-8,kmalloc-[36]*", true },
	{ "!(cache ~ kmalloc-8,kmalloc-[36]*)", false },
	{ "!(comm ~ kworker*)", false }, { "comm == \"kworker/0:3\"", true },
	/* fields with many words */
	{ "func == alloc_inode", true }, { "func ~ ext4_*", true }, { "func ~ xfs_*", false },
	{ "!(func ~ ext4_*)", false }, { "!(func ~ xfs_*)", true },
	{ "func == sock_init_data", true }, { "func ~ sock_*_data", true },
	{ "func == sock_init_data.constprop.0", true }, { "func == sock_init_data.isra.0", false },
	{ "func != sock_init_data", false }, { "func ~ *.constprop.?", true },
	{ "func == sock_init_data.", false }, { "func ~ sock_init_dat?", true },
	{ "func ~ sock_init_da?", false }, { "func == kmemdup", true },
	{ "func == kmemdup_noprof", true }, { "func == kmemdu", false },
	{ "func ~ kmemdu?", true }, { "func != kmemdup", false }, { "module == ext4.0", false },
	{ "module == ext4", true }, { "module != ext4", false },
	{ "gfp == __GFP_ZERO", true }, { "gfp == GFP_NOFS && gfp == __GFP_ZERO", true },
	{ "gfp == GFP_ATOMIC", false }, { "gfp != GFP_ATOMIC", true },
	/* absent fields */
	{ "order == 0", false }, { "order != 0", true }, { "order >= 0", false },
	{ "!(order >= 0)", true }, { "cgroup ~ *", false }, { "!(cgroup ~ *)", true },
};

/* The result must not change if the comparisons of the fields in @mask are done before. */
static void expect_result_with_outcomes(struct kunit *test, const char *text, unsigned int mask,
					bool expected)
{
	unsigned int outcomes = owner_lang_compare_fields(&sentence, &object, mask);

	KUNIT_EXPECT_EQ_MSG(test,
			    owner_lang_matches_outcomes(&sentence, &object, mask, outcomes),
			    expected, "%s", text);
}

static void test_compares(struct kunit *test)
{
	unsigned int i, field;

	for (i = 0; i < ARRAY_SIZE(comparisons); i++) {
		const char *text = comparisons[i].text;

		sprintf(printed, "if %s", text);
		KUNIT_ASSERT_TRUE_MSG(test, parse_sentence(OWNER_QUERY, printed), "%s: %s",
				      text, error.message);
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches(&sentence, &object),
				    comparisons[i].holds, "%s", text);
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_evaluate_known_fields(&sentence, &object),
				    comparisons[i].holds ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE,
				    "%s", text);
		for (field = 0; field < OWNER_FIELDS; field++) {
			expect_result_with_outcomes(test, text, BIT(field), comparisons[i].holds);
			expect_result_with_outcomes(test, text, ~BIT(field), comparisons[i].holds);
		}
	}
}

static void test_buckets(struct kunit *test)
{
	static const struct {
		const char *field;
		unsigned long long number;
		unsigned long long bucket;
		const char *shown;
	} cases[] = {
		{ "size", 4096, 4096, "4096" },
		{ "size.4K", 0, 0, "0" },
		{ "size.4K", 4095, 0, "0" },
		{ "size.4K", 4096, 4096, "4K" },
		{ "size.4K", 12287, 8192, "8K" },
		{ "size.100", 250, 200, "200" },
		{ "size.log2", 0, 0, "0" },
		{ "size.log2", 1, 1, "1" },
		{ "held.log2", 4095, 2048, "2K" },
		{ "held.log2", ~0ULL, 1ULL << 63, "8589934592G" },
		{ "age.1h", 7200 * NSEC_PER_SEC - 1, 3600 * NSEC_PER_SEC, "1h" },
		{ "age.1h", 7200 * NSEC_PER_SEC, 7200 * NSEC_PER_SEC, "2h" },
		{ "age.log2", NSEC_PER_SEC - 1, 0, "0ns" },
		{ "age.log2", NSEC_PER_SEC, NSEC_PER_SEC, "1s" },
		{ "age.log2", 4 * NSEC_PER_SEC - 1, 2 * NSEC_PER_SEC, "2s" },
		{ "ts.log2", 4 * NSEC_PER_SEC, 4 * NSEC_PER_SEC, "4s" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct owner_group_field *by = &sentence.group_by[0];

		sprintf(printed, "group=%s", cases[i].field);
		KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, printed));
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_find_bucket(by, cases[i].number),
				    cases[i].bucket, "%s of %llu", cases[i].field, cases[i].number);
		owner_lang_print_group_number(by, cases[i].bucket, printed, sizeof(printed));
		KUNIT_EXPECT_STREQ(test, printed, cases[i].shown);
		owner_lang_print_column(by, printed, sizeof(printed));
		if (by->field == OWNER_FIELD_HELD)
			KUNIT_EXPECT_STREQ(test, printed, "held_each.log2");
		else
			KUNIT_EXPECT_STREQ(test, printed, cases[i].field);
	}
}

/* A sentence is judged by the cache alone if its expression allows that. */
static void test_judges_by_cache(struct kunit *test)
{
	static const struct {
		const char *text;
		enum owner_verdict verdict;
	} cases[] = {
		{ "", OWNER_VERDICT_TRUE },
		{ "if cache ~ kmalloc-*", OWNER_VERDICT_TRUE },
		{ "if cache ~ ext4_*", OWNER_VERDICT_FALSE },
		{ "if cache ~ ext4_* && size > 1K", OWNER_VERDICT_FALSE },
		{ "if size > 1K && cache ~ ext4_*", OWNER_VERDICT_FALSE },
		{ "if cache ~ kmalloc-* && size > 1K", OWNER_VERDICT_UNDECIDED },
		{ "if cache ~ kmalloc-* || func ~ ext4_*", OWNER_VERDICT_TRUE },
		{ "if func ~ ext4_* || cache ~ kmalloc-*", OWNER_VERDICT_TRUE },
		{ "if !(func ~ ext4_* || cache ~ kmalloc-*)", OWNER_VERDICT_FALSE },
		{ "if func ~ ext4_*", OWNER_VERDICT_UNDECIDED },
	};
	struct owner_field_values fields = object;
	unsigned int i;

	fields.known_fields = BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND);
	/* Must not be called for an unknown field. */
	fields.any_word_matches = NULL;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, cases[i].text));
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_evaluate_known_fields(&sentence, &fields),
				    cases[i].verdict, "%s", cases[i].text);
	}
}

/* --- Texts of many sentences ------------------------------------------------ */

static void test_texts(struct kunit *test)
{
	static const char text[] =
		"# hits  rule\n"
		"depth=1;  depth=2 ;; # depth=3; depth=4\n"
		"\r\n"
		"track=off if comm == \"a;b#c\"   # 17 hits\r\n"
		"track=on if comm == 'it\"; #'\n"
		"depth=5 if comm == \"open;\n"
		"del 6 # the last has no end";
	static const char * const expected[] = {
		"depth=1", "depth=2", "track=off if comm == \"a;b#c\"",
		"track=on if comm == 'it\"; #'", "depth=5 if comm == \"open;", "del 6",
	};
	struct owner_lang_text remaining = { text, sizeof(text) - 1 };
	const char *found;
	unsigned int i;
	size_t length;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_ASSERT_TRUE(test, owner_lang_next_sentence(&remaining, &found, &length));
		snprintf(printed, sizeof(printed), "%.*s", (int)length, found);
		KUNIT_EXPECT_STREQ(test, printed, expected[i]);
	}
	KUNIT_EXPECT_FALSE(test, owner_lang_next_sentence(&remaining, &found, &length));
}

/* --- Costs ------------------------------------------------------------------ */

#define COST_RUNS	20

static void match_many_times(const char *word)
{
	struct owner_field_values fields = { .value[OWNER_FIELD_COMM].word = word };
	unsigned int i;

	for (i = 0; i < 1000; i++)
		owner_lang_matches(&sentence, &fields);
}

static void find_all_sentences(const char *text)
{
	struct owner_lang_text remaining = { text, strlen(text) };
	const char *found;
	size_t length;

	while (owner_lang_next_sentence(&remaining, &found, &length))
		cond_resched();
}

/* Early in boot the clock advances by ticks. */
#define CLOCK_ERROR	(10 * (u64)hrtimer_resolution)

/* The least time of several runs, which hardly depends on the load of the machine. */
static u64 measure_least_time(void (*run)(const char *text), const char *text)
{
	u64 least = U64_MAX, start;
	unsigned int i;

	for (i = 0; i < COST_RUNS; i++) {
		start = ktime_get_ns();
		run(text);
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/* Matching with a long set costs as much as with a short one: without sets[], 50 times. */
static void test_cost_of_sets(struct kunit *test)
{
	static const char word[] = "a_name_that_does_not_match";
	static char text[OWNER_SENTENCE_MAX + 1];
	u64 brief, lengthy;

	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, "if comm ~ *[0-9]"));
	brief = measure_least_time(match_many_times, word);
	strscpy(text, "if comm ~ *[");
	memset(text + strlen(text), '0', OWNER_SENTENCE_MAX - 20);
	strcat(text, "]");
	KUNIT_ASSERT_TRUE(test, parse_sentence(OWNER_QUERY, text));
	lengthy = measure_least_time(match_many_times, word);
	KUNIT_EXPECT_LT(test, lengthy, 8 * brief + CLOCK_ERROR);
}

/* Quotes that are not closed are looked at once: if each looks for its end, 5,000 times. */
static void test_cost_of_open_quotes(struct kunit *test)
{
	const size_t size = SZ_16K;
	char *text = kunit_kzalloc(test, size, GFP_KERNEL);
	u64 plain, quotes;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'x', size - 1);
	plain = measure_least_time(find_all_sentences, text);
	for (i = 0; i < size - 1; i++)
		text[i] = i % 2 ? '\\' : '"';
	quotes = measure_least_time(find_all_sentences, text);
	KUNIT_EXPECT_LT(test, quotes, 30 * plain + CLOCK_ERROR);
}

static struct kunit_case owner_lang_cases[] = {
	KUNIT_CASE(test_prints),
	KUNIT_CASE(test_prints_into_little),
	KUNIT_CASE(test_settings),
	KUNIT_CASE(test_binds),
	KUNIT_CASE(test_nid_binds_all),
	KUNIT_CASE(test_empty_holds),
	KUNIT_CASE(test_compares),
	KUNIT_CASE(test_buckets),
	KUNIT_CASE(test_judges_by_cache),
	OWNER_LANG_CASE(test_errors),
	OWNER_LANG_CASE(test_zero_in_word),
	OWNER_LANG_CASE(test_limits),
	OWNER_LANG_CASE(test_errors_of_long),
	OWNER_LANG_CASE(test_syscalls),
	KUNIT_CASE(test_texts),
	KUNIT_CASE(test_cost_of_sets),
	KUNIT_CASE(test_cost_of_open_quotes),
	{}
};

static struct kunit_suite owner_lang_suite = {
	.name = "owner_lang",
	.test_cases = owner_lang_cases,
};

kunit_test_suite(owner_lang_suite);
