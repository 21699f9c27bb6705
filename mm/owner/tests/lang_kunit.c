// SPDX-License-Identifier: GPL-2.0
/*
 * The language: what is understood, how it is printed, whether it holds, and
 * what is said of what is not understood.
 */

#include <kunit/test.h>
#include <linux/string.h>

#include "../lang/lang.h"

static struct owner_sentence sentence;
static struct owner_lang_error error;
static char printed[OWNER_SENTENCE_MAX + 1];

static bool parse(enum owner_dialect dialect, const char *text)
{
	return owner_lang_parse(&sentence, dialect, text, strlen(text), &error);
}

/* --- Printing --------------------------------------------------------------- */

static const struct {
	enum owner_dialect dialect;
	const char *text;
	const char *printed;		/* NULL: the same */
} sentences[] = {
	{ OWNER_CONTROL, "depth=16 sample=all track=on free=off" },
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
	{ OWNER_CONTROL, "clear" },
	{ OWNER_CONTROL, "depth=16 sample=all if cache ~ \"ext4_*\" && size >= 512",
	  "depth=16 sample=all if cache ~ ext4_* && size >= 512" },
	{ OWNER_CONTROL, "track=off if cache==kmalloc-8", "track=off if cache == kmalloc-8" },
	{ OWNER_QUERY, "" },
	{ OWNER_QUERY, "mode=stack group=stack.8,cache sort=bytes top=20 if comm != kworker*" },
	{ OWNER_QUERY, "mode=stack nid=0,2-3" },
	{ OWNER_QUERY, "mode=handle" },
	{ OWNER_QUERY, "nid=1 mode=stack_handle", "mode=stack_handle nid=1" },
	{ OWNER_QUERY, "nid=1 if pid == 2 || pid == 3" },
	{ OWNER_QUERY, "mode=records", "mode=stack" },
	{ OWNER_QUERY, "mode=stacks", "mode=stack group=stack" },
	{ OWNER_QUERY, "mode=handles", "mode=handle group=stack" },
	{ OWNER_QUERY, "group=cache mode=handles", "mode=handle group=cache" },
	{ OWNER_QUERY, "source=all", "source=slab,page,percpu" },
	{ OWNER_QUERY, "source=page,slab", "source=slab,page" },
	{ OWNER_QUERY, "group=stack.full,cache,comm,pid,module,nid format=tsv",
	  "group=stack.full,cache,comm,pid,module,nid format=tsv" },
	{ OWNER_QUERY, "group=cache sort=bytes,held,waste,objects,oldest,youngest groups=1048576" },
	{ OWNER_QUERY, "group=bytes", "group=size" },
	/* Numbers and their units. */
	{ OWNER_QUERY, "if size == 0,1023,1024,1536,1048576,3G",
	  "if size == 0,1023,1K,1536,1M,3G" },
	{ OWNER_QUERY, "if bytes == 4K-8191", "if size == 4K-8191" },
	{ OWNER_QUERY, "if size == 1-1", "if size == 1" },
	{ OWNER_QUERY, "if age < 1500ms || age > 60m || ts == 0s,24h,1000us,7ns",
	  "if age < 1500ms || age > 1h || ts == 0ns,1d,1ms,7ns" },
	{ OWNER_QUERY, "if handle == 0x1F,0xffffffffffffffff",
	  "if handle == 31,18446744073709551615" },
	{ OWNER_QUERY, "if pid < 1 || pid <= 0 || pid > 18446744073709551614 || pid >= 7" },
	/* Words and their quotes. */
	{ OWNER_QUERY, "if comm == 'a b',\"c\"", "if comm == \"a b\",c" },
	{ OWNER_QUERY, "if comm == ''", "if comm == \"\"" },
	{ OWNER_QUERY, "if comm == 'say \"hi\"' || comm == \"it\\'s\"",
	  "if comm == \"say \\\"hi\\\"\" || comm == \"it's\"" },
	{ OWNER_QUERY, "if comm == \"a\\*b\\\\\"" },
	{ OWNER_QUERY, "if cgroup ~ /system.slice/*" },
	{ OWNER_QUERY, "if func != [a-f]*,\"[!x]?\"" },
	{ OWNER_QUERY, "if kind == slab,page && gfp == __GFP_ZERO" },
	/* How comparisons are bound. */
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

		KUNIT_ASSERT_TRUE_MSG(test, parse(sentences[i].dialect, text), "%s: %s",
				      text, error.message);
		KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, printed, sizeof(printed)),
				strlen(expected));
		KUNIT_EXPECT_STREQ(test, printed, expected);
		KUNIT_ASSERT_TRUE(test, parse(sentences[i].dialect, printed));
		owner_lang_print(&sentence, printed, sizeof(printed));
		KUNIT_EXPECT_STREQ(test, printed, expected);
	}
}

/* What does not fit is cut, counted, and ended. */
static void test_prints_into_little(struct kunit *test)
{
	static const char text[] = "depth=3 if pid == 1";
	char little[8] = "#######";

	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, text));
	KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, NULL, 0), sizeof(text) - 1);
	KUNIT_EXPECT_EQ(test, owner_lang_print(&sentence, little, 4), sizeof(text) - 1);
	KUNIT_EXPECT_STREQ(test, little, "dep");
	KUNIT_EXPECT_EQ(test, little[4], '#');
}

/* --- Settings --------------------------------------------------------------- */

static void test_settings(struct kunit *test)
{
	const struct owner_sentence *s = &sentence;

	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, "depth=16 sample=512K track=off free=on"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_RULE);
	KUNIT_EXPECT_EQ(test, s->depth, 16);
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 512 * 1024);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 0);
	KUNIT_EXPECT_FALSE(test, s->track);
	KUNIT_EXPECT_TRUE(test, s->free);

	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, "sample=all"));
	KUNIT_EXPECT_EQ(test, s->settings_given, BIT(OWNER_SET_SAMPLE));
	KUNIT_EXPECT_EQ(test, s->depth, 0);
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 0);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 0);
	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, "sample=1/64"));
	KUNIT_EXPECT_EQ(test, s->sample_bytes, 0);
	KUNIT_EXPECT_EQ(test, s->sample_objects, 64);
	KUNIT_EXPECT_TRUE(test, s->track);
	KUNIT_EXPECT_FALSE(test, s->free);

	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, "del 7"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_DEL);
	KUNIT_EXPECT_EQ(test, s->number, 7);
	KUNIT_ASSERT_TRUE(test, parse(OWNER_CONTROL, "clear"));
	KUNIT_EXPECT_EQ(test, s->command, OWNER_CLEAR);

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY,
				      "mode=stack_handle format=tsv source=page,percpu"));
	KUNIT_EXPECT_EQ(test, s->mode, OWNER_MODE_STACK_HANDLE);
	KUNIT_EXPECT_EQ(test, s->format, OWNER_FORMAT_TSV);
	KUNIT_EXPECT_EQ(test, s->sources, BIT(OWNER_SOURCE_PAGE) | BIT(OWNER_SOURCE_PERCPU));
	KUNIT_EXPECT_EQ(test, s->nr_group_by, 0);

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY,
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
	KUNIT_EXPECT_EQ(test, s->max_groups, OWNER_GROUPS_DEFAULT);
	KUNIT_EXPECT_EQ(test, s->fields_used, BIT(OWNER_FIELD_AGE));

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY, "group=stack.full groups=100"));
	KUNIT_EXPECT_TRUE(test, s->group_by[0].full);
	KUNIT_EXPECT_EQ(test, s->max_groups, 100);
	KUNIT_EXPECT_EQ(test, s->sources, 0);
	KUNIT_EXPECT_EQ(test, s->top, 0);

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY, "nid=1 if comm == a"));
	KUNIT_EXPECT_EQ(test, s->fields_used, BIT(OWNER_FIELD_NID) | BIT(OWNER_FIELD_COMM));
}

/* --- Expressions ------------------------------------------------------------ */

/* Four comparisons, and for each whether it holds in each of 16 cases. */
#define A	0xaaaa
#define B	0xcccc
#define C	0xf0f0
#define D	0xff00

static const enum owner_field letter_fields[] = {
	OWNER_FIELD_PID, OWNER_FIELD_TGID, OWNER_FIELD_NID, OWNER_FIELD_ORDER
};

/* Each letter once, so that what is not known leaves no more open than it must. */
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

/* "a && b" becomes "if pid == 1 && tgid == 1". */
static void spell_out(const char *letters, char *text)
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

static void set_letters(struct owner_field_values *fields, unsigned int known, unsigned int values)
{
	unsigned int i;

	memset(fields, 0, sizeof(*fields));
	for (i = 0; i < ARRAY_SIZE(letter_fields); i++) {
		fields->known_fields |= (known >> i & 1) << letter_fields[i];
		fields->value[letter_fields[i]].number = values >> i & 1;
	}
}

/* What is right if only some are known: does it hold in all the cases that are left? */
static enum owner_verdict expected_truth(unsigned int holds, unsigned int known, unsigned int values)
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

		spell_out(text, printed);
		KUNIT_ASSERT_TRUE_MSG(test, parse(OWNER_QUERY, printed), "%s: %s",
				      text, error.message);
		for (values = 0; values < 16; values++) {
			set_letters(&fields, 15, values);
			KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches(&sentence, &fields),
					    expressions[i].holds >> values & 1,
					    "%s, letters %x", text, values);
		}
		for (known = 0; known < 16; known++) {
			for (values = 0; values < 16; values++) {
				set_letters(&fields, known, values);
				KUNIT_EXPECT_EQ_MSG(test, owner_lang_judge(&sentence, &fields),
						    expected_truth(expressions[i].holds,
								   known, values),
						    "%s, letters %x, known %x",
						    text, values, known);
			}
		}
	}
}

/* nid= goes before all, whatever follows "if". */
static void test_nid_binds_all(struct kunit *test)
{
	struct owner_field_values fields;

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY, "nid=1,3-4 if pid == 1 || tgid == 1"));
	set_letters(&fields, 15, 0x4 | 0x1);
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_NID].number = 2;
	KUNIT_EXPECT_FALSE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_NID].number = 4;
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	fields.value[OWNER_FIELD_PID].number = 0;
	KUNIT_EXPECT_FALSE(test, owner_lang_matches(&sentence, &fields));
}

/* Without an expression it is about everything. */
static void test_empty_holds(struct kunit *test)
{
	struct owner_field_values fields = {};

	KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY, ""));
	KUNIT_EXPECT_TRUE(test, owner_lang_matches(&sentence, &fields));
	KUNIT_EXPECT_EQ(test, owner_lang_judge(&sentence, &fields), OWNER_VERDICT_TRUE);
}

/* --- Comparisons ------------------------------------------------------------ */

static bool any_word_matches(const struct owner_field_values *fields, const struct owner_sentence *s,
			const struct owner_comparison *comparison)
{
	switch (comparison->field) {
	case OWNER_FIELD_FUNC:
		return owner_lang_word_matches(s, comparison, "ext4_alloc_inode") ||
		       owner_lang_word_matches(s, comparison, "alloc_inode");
	case OWNER_FIELD_MODULE:
		return owner_lang_word_matches(s, comparison, "ext4");
	default:
		return owner_lang_word_matches(s, comparison, "GFP_NOFS") ||
		       owner_lang_word_matches(s, comparison, "__GFP_ZERO");
	}
}

/* A slab object, so without an order; its cgroup is absent as well. */
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
		[OWNER_FIELD_KIND].number	= OWNER_SOURCE_SLAB,
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
	{ "size == 50-50", true }, { "bytes == 50", true }, { "held == 64", true },
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
	{ "cache == kmalloc-*", true }, { "cache != kmalloc-*", false },
	{ "cache ~ kmalloc-*", true }, { "cache ~ malloc*", false }, { "cache ~ *malloc*", true },
	{ "cache ~ kmalloc-64", true }, { "cache ~ *", true }, { "cache ~ **", true },
	{ "cache ~ *-6?", true }, { "cache ~ *-6??", false }, { "cache ~ ??????????", true },
	{ "cache ~ k*m*c-*4", true }, { "cache ~ k*m*c-*5", false }, { "cache ~ *64*64", false },
	{ "cache ~ [a-k]*", true }, { "cache ~ [a-j]*", false }, { "cache ~ \"[!a-j]*\"", true },
	{ "cache ~ [^k]*", false }, { "cache ~ *-[56][34]", true }, { "cache ~ *-[0-9]", false },
	{ "cache ~ *[]-]64", true }, { "cache ~ *[x-]64", true },
	{ "cache ~ \"kmalloc\\-64\"", true },
	{ "cache ~ \"kmalloc-\\*\"", false }, { "cache ~ \"[\\k]*\"", true },
	{ "cache == \"\"", false }, { "cache != \"\"", true },
	{ "cache == kmalloc-8,kmalloc-[36]*", true }, { "cache != kmalloc-8,kmalloc-[36]*", false },
	{ "comm != kworker*", false }, { "comm == \"kworker/0:3\"", true },
	/* one of many */
	{ "func == alloc_inode", true }, { "func == ext4_*", true }, { "func == xfs_*", false },
	{ "func != ext4_*", false }, { "func != xfs_*", true },
	{ "module == ext4", true }, { "module != ext4", false },
	{ "gfp == __GFP_ZERO", true }, { "gfp == GFP_NOFS && gfp == __GFP_ZERO", true },
	{ "gfp == GFP_ATOMIC", false }, { "gfp != GFP_ATOMIC", true },
	/* what it does not have */
	{ "order == 0", false }, { "order != 0", true }, { "order >= 0", false },
	{ "!(order >= 0)", true }, { "cgroup == *", false }, { "cgroup != *", true },
	{ "cgroup ~ *", false },
};

static void test_compares(struct kunit *test)
{
	unsigned int i, field;

	for (i = 0; i < ARRAY_SIZE(comparisons); i++) {
		const char *text = comparisons[i].text;

		sprintf(printed, "if %s", text);
		KUNIT_ASSERT_TRUE_MSG(test, parse(OWNER_QUERY, printed), "%s: %s",
				      text, error.message);
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches(&sentence, &object),
				    comparisons[i].holds, "%s", text);
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_judge(&sentence, &object),
				    comparisons[i].holds ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE, "%s", text);
		/* The same if some of it was found out before. */
		for (field = 0; field < OWNER_FIELDS; field++) {
			unsigned int outcomes;

			outcomes = owner_lang_compare_fields(&sentence, &object, BIT(field));
			KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches_outcomes(&sentence, &object,
									   BIT(field), outcomes),
					    comparisons[i].holds, "%s", text);
			outcomes = owner_lang_compare_fields(&sentence, &object, ~BIT(field));
			KUNIT_EXPECT_EQ_MSG(test, owner_lang_matches_outcomes(&sentence, &object,
									   ~BIT(field), outcomes),
					    comparisons[i].holds, "%s", text);
		}
	}
}

/* What is decided when nothing but the cache is known. */
static void test_judges_by_cache(struct kunit *test)
{
	static const struct {
		const char *text;
		enum owner_verdict truth;
	} cases[] = {
		{ "", OWNER_VERDICT_TRUE },
		{ "if cache == kmalloc-*", OWNER_VERDICT_TRUE },
		{ "if cache == ext4_*", OWNER_VERDICT_FALSE },
		{ "if cache == ext4_* && size > 1K", OWNER_VERDICT_FALSE },
		{ "if size > 1K && cache == ext4_*", OWNER_VERDICT_FALSE },
		{ "if cache == kmalloc-* && size > 1K", OWNER_VERDICT_UNDECIDED },
		{ "if cache == kmalloc-* || func == ext4_*", OWNER_VERDICT_TRUE },
		{ "if func == ext4_* || cache == kmalloc-*", OWNER_VERDICT_TRUE },
		{ "if !(func == ext4_* || cache == kmalloc-*)", OWNER_VERDICT_FALSE },
		{ "if func == ext4_*", OWNER_VERDICT_UNDECIDED },
	};
	struct owner_field_values fields = object;
	unsigned int i;

	fields.known_fields = BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND);
	/* Never asked for what is not known. */
	fields.any_word_matches = NULL;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_TRUE(test, parse(OWNER_QUERY, cases[i].text));
		KUNIT_EXPECT_EQ_MSG(test, owner_lang_judge(&sentence, &fields), cases[i].truth,
				    "%s", cases[i].text);
	}
}

/* --- Errors ----------------------------------------------------------------- */

#define FIELDS_OF_CONTROL \
	"cache, size, held, gfp, order, nid, pid, tgid, comm, cgroup, ts, func, module, kind"

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
	  "no setting is called 'xyzzy': choose from depth, sample, track, free" },
	{ OWNER_QUERY, "grrup=cache",
		       "^~~~~",
	  "no setting is called 'grrup': did you mean 'group'?" },
	{ OWNER_CONTROL, "a_word_too_long_to_repeat=1",
			 "^~~~~~~~~~~~~~~~~~~~~~~~~",
	  "no setting is called 'a_word_too_long_to_r': choose from depth, sample, track, free" },
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
	{ OWNER_QUERY, "source=slab,pgae",
		       "            ^~~~",
	  "'source' cannot be 'pgae': did you mean 'page'?" },
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
	{ OWNER_QUERY, "group=cache groups=1048577",
		       "                   ^~~~~~~",
	  "'groups' is a number from 1 to 1048576" },
	{ OWNER_QUERY, "group=cachr",
		       "      ^~~~~",
	  "no field is called 'cachr': did you mean 'cache'?" },
	{ OWNER_QUERY, "group=cache,",
		       "            ^",
	  "expected a field to group by" },
	{ OWNER_QUERY, "group=cache,age",
		       "            ^~~",
	  "'age' is each object's own: nothing to group by" },
	{ OWNER_QUERY, "group=cache.8",
		       "      ^~~~~~~",
	  "only stack is cut to so many frames, as stack.8" },
	{ OWNER_QUERY, "group=stack.65",
		       "      ^~~~~~~~",
	  "'stack.' goes on with 1 to 64 frames, or with 'full'" },
	{ OWNER_QUERY, "group=stack.",
		       "      ^~~~~~",
	  "'stack.' goes on with 1 to 64 frames, or with 'full'" },
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
	{ OWNER_QUERY, "top=3",
		       "^~~",
	  "'top' is for groups: say group= too" },
	{ OWNER_QUERY, "groups=3 mode=handle",
		       "^~~~~~",
	  "'groups' is for groups: say group= too" },
	{ OWNER_QUERY, "mode=records group=cache",
		       "             ^~~~~",
	  "mode=records shows objects one by one: 'group' adds them up" },
	/* commands and whole sentences */
	{ OWNER_CONTROL, "",
			 "^",
	  "expected what a rule sets: depth=, sample=, track= or free=" },
	{ OWNER_CONTROL, "if pid == 1",
			 "^~",
	  "expected what a rule sets: depth=, sample=, track= or free=" },
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
	  "'del' takes the number of a rule: 'del 3'" },
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
	  "expected a setting, or 'if': choose from depth, sample, track, free" },
	{ OWNER_QUERY, "group=cache where pid == 1",
		       "            ^~~~~",
	  "expected a setting, or 'if': choose from mode, source, nid, group, sort, top, groups, format"
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
	  "no field is called 'xyzzy': choose from " FIELDS_OF_CONTROL ", age, handle" },
	{ OWNER_CONTROL, "depth=3 if age > 1h",
			 "           ^~~",
	  "'age' is not known at allocation: ask it of a query" },
	{ OWNER_CONTROL, "depth=3 if handle == 7",
			 "           ^~~~~~",
	  "'handle' is not known at allocation: ask it of a query" },
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
	{ OWNER_QUERY, "if comm == a[b",
		       "           ^~~",
	  "a [ has no ]: in quotes, '\\[' stands for itself" },
	/* how comparisons are bound */
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
	/* a caret stands under what is shown, not under bytes */
	{ OWNER_QUERY, "if comm == \"\303\251\342\202\254\" pid == 1",
		       "                ^~~",
	  "expected && or ||; a value with blanks stands in quotes" },
};

static void expect_error(struct kunit *test, const char *text, size_t length, const char *caret,
			 const char *message)
{
	static char expected[OWNER_ERROR_TEXT_SIZE];
	char *c;

	snprintf(expected, sizeof(expected), "%s\n  %.*s\n  %s\n", message,
		 (int)length, text, caret);
	/* What has no picture is shown as a blank. */
	for (c = expected; *c; c++)
		if (*c > 0 && *c < ' ' && *c != '\n')
			*c = ' ';
	KUNIT_EXPECT_EQ(test, owner_lang_render_error(&error, text, length, printed,
						      sizeof(printed)), strlen(expected));
	KUNIT_EXPECT_STREQ(test, printed, expected);
}

static void test_errors(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		const char *text = errors[i].text;

		if (parse(errors[i].dialect, text)) {
			KUNIT_FAIL(test, "understood: %s", text);
			continue;
		}
		expect_error(test, text, strlen(text), errors[i].caret, errors[i].message);
	}
}

static void test_zero_in_word(struct kunit *test)
{
	static const char text[] = "if comm == \"a\0b\"";

	KUNIT_ASSERT_FALSE(test, owner_lang_parse(&sentence, OWNER_QUERY, text,
						  sizeof(text) - 1, &error));
	KUNIT_EXPECT_EQ(test, error.position, 11);
	KUNIT_EXPECT_EQ(test, error.length, 5);
	KUNIT_EXPECT_STREQ(test, error.message, "a word cannot hold a character 0");
}

/* --- Limits ----------------------------------------------------------------- */

static char *repeat(char *to, const char *text, unsigned int times)
{
	while (times--)
		to += sprintf(to, "%s", text);
	return to;
}

static void expect_limit(struct kunit *test, const char *text, const char *message)
{
	KUNIT_ASSERT_FALSE(test, parse(OWNER_QUERY, text));
	KUNIT_EXPECT_STREQ(test, error.message, message);
	KUNIT_EXPECT_LE(test, error.position + error.length, strlen(text));
}

static void test_limits(struct kunit *test)
{
	static char text[2 * OWNER_SENTENCE_MAX];

	repeat(repeat(text, "if pid == 1", 1), " && pid == 1", 31);
	KUNIT_EXPECT_TRUE(test, parse(OWNER_QUERY, text));
	strcat(text, " && pid == 1");
	expect_limit(test, text, "a sentence has at most 32 comparisons");

	repeat(repeat(text, "if tgid == 1 && pid == 1", 1), ",2", 62);
	KUNIT_EXPECT_TRUE(test, parse(OWNER_QUERY, text));
	strcat(text, ",2");
	expect_limit(test, text, "a sentence has at most 64 values, those of lists included");

	repeat(repeat(repeat(repeat(text, "nid=0 if ", 1), "!(", 16), "pid == 1", 1), ")", 16);
	KUNIT_EXPECT_TRUE(test, parse(OWNER_QUERY, text));
	repeat(repeat(repeat(repeat(text, "if ", 1), "!(", 17), "pid == 1", 1), ")", 17);
	expect_limit(test, text, "at most 16 parentheses stand in each other");

	repeat(repeat(text, "if comm == ", 1), "x", OWNER_SENTENCE_MAX - 11);
	KUNIT_EXPECT_TRUE(test, parse(OWNER_QUERY, text));
	strcat(text, "x");
	expect_limit(test, text,
		     "a sentence has at most 1023 bytes; written out, this one has 1024");
	/* It could be read, but what is printed for it could not be. */
	repeat(repeat(text, "if comm==", 1), "x", OWNER_SENTENCE_MAX - 9);
	expect_limit(test, text,
		     "a sentence has at most 1023 bytes; written out, this one has 1025");
}

/* Of a long sentence what stands around the error is shown, and no part of a character. */
static void test_errors_of_long(struct kunit *test)
{
	static char text[OWNER_SENTENCE_MAX + 1], expected[OWNER_ERROR_TEXT_SIZE];
	static const char message[] = "expected && or ||; a value with blanks stands in quotes";
	char *end;

	/* The error in front, amid, and at the end. */
	repeat(repeat(text, "if pid == 1 x == ", 1), "y", OWNER_SENTENCE_MAX - 17);
	KUNIT_ASSERT_FALSE(test, parse(OWNER_QUERY, text));
	snprintf(expected, sizeof(expected), "%s\n  %.*s...\n  %12s^\n", message,
		 OWNER_ERROR_SENTENCE_MAX, text, "");
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);

	end = repeat(repeat(repeat(text, "if comm == '", 1), "\303\251", 300), "'", 1);
	repeat(repeat(end, " x ", 1), "y", 300);
	KUNIT_ASSERT_FALSE(test, parse(OWNER_QUERY, text));
	KUNIT_EXPECT_EQ(test, error.position, 614);
	end = repeat(expected, message, 1);
	end = repeat(repeat(repeat(end, "\n  ...", 1), "\303\251", 59), "' x ", 1);
	end = repeat(repeat(end, "y", OWNER_ERROR_SENTENCE_MAX / 2 - 2), "...\n     ", 1);
	repeat(repeat(end, " ", 61), "^\n", 1);
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);

	end = repeat(repeat(text, "if comm == ", 1), "x", OWNER_SENTENCE_MAX - 11 - 5);
	repeat(end, " here", 1);
	KUNIT_ASSERT_FALSE(test, parse(OWNER_QUERY, text));
	end = repeat(repeat(expected, message, 1), "\n  ...", 1);
	end = repeat(repeat(end, text + OWNER_SENTENCE_MAX - OWNER_ERROR_SENTENCE_MAX, 1), "\n     ", 1);
	repeat(repeat(end, " ", OWNER_ERROR_SENTENCE_MAX - 4), "^~~~\n", 1);
	owner_lang_render_error(&error, text, strlen(text), printed, sizeof(printed));
	KUNIT_EXPECT_STREQ(test, printed, expected);
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
		"track=on if comm == 'it\"; #'", "depth=5 if comm == \"open", "del 6",
	};
	struct owner_lang_text rest = { text, sizeof(text) - 1 };
	const char *found;
	unsigned int i;
	size_t length;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_ASSERT_TRUE(test, owner_lang_next_sentence(&rest, &found, &length));
		snprintf(printed, sizeof(printed), "%.*s", (int)length, found);
		KUNIT_EXPECT_STREQ(test, printed, expected[i]);
	}
	KUNIT_EXPECT_FALSE(test, owner_lang_next_sentence(&rest, &found, &length));
}

static struct kunit_case owner_lang_cases[] = {
	KUNIT_CASE(test_prints),
	KUNIT_CASE(test_prints_into_little),
	KUNIT_CASE(test_settings),
	KUNIT_CASE(test_binds),
	KUNIT_CASE(test_nid_binds_all),
	KUNIT_CASE(test_empty_holds),
	KUNIT_CASE(test_compares),
	KUNIT_CASE(test_judges_by_cache),
	KUNIT_CASE(test_errors),
	KUNIT_CASE(test_zero_in_word),
	KUNIT_CASE(test_limits),
	KUNIT_CASE(test_errors_of_long),
	KUNIT_CASE(test_texts),
	{}
};

static struct kunit_suite owner_lang_suite = {
	.name = "owner_lang",
	.test_cases = owner_lang_cases,
};

kunit_test_suite(owner_lang_suite);
