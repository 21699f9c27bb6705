// SPDX-License-Identifier: GPL-2.0
/* Evaluate the expression of a sentence for the field values of an allocation. */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "lang.h"

#define NS_PER_SECOND	1000000000ULL

/* --- Globs: * ? [a-z] [!a-z], and \ to quote the next character -------------- */

/* Read one character of a [set] at @p, which a \ may quote. Returns what follows it. */
static const char *read_set_member(const char *p, unsigned char *member)
{
	if (*p == '\\' && p[1])
		p++;
	*member = *p;
	return p + 1;
}

/**
 * owner_lang_read_glob_set() - read a [set] of a glob
 * @pattern: the glob, from the character after the [ on
 * @set: gets the members
 *
 * Return: the glob, from the character after the ] on; NULL if the set has no ].
 */
const char *owner_lang_read_glob_set(const char *pattern, struct owner_glob_set *set)
{
	bool negated = *pattern == '!' || *pattern == '^';
	const char *p = pattern + negated;
	unsigned char low, high;
	unsigned int c;

	memset(set->members, negated ? 0xff : 0, sizeof(set->members));
	/* A ] at the start of the set is a member, not the end. */
	do {
		if (!*p)
			return NULL;
		p = read_set_member(p, &low);
		high = low;
		if (*p == '-' && p[1] && p[1] != ']')
			p = read_set_member(p + 1, &high);
		for (c = low; c <= high; c++) {
			if (negated)
				set->members[c / 64] &= ~(1ULL << c % 64);
			else
				set->members[c / 64] |= 1ULL << c % 64;
		}
	} while (*p != ']');
	return p + 1;
}

/* Where a glob is being matched. */
struct glob_position {
	const char *pattern;
	const struct owner_glob_set *set;	/* the next [set] of the pattern */
};

/* Match @c with one element of a glob, and step over it. */
static bool match_glob_element(const struct owner_sentence *s, struct glob_position *at,
			       unsigned char c)
{
	bool matches;

	switch (*at->pattern) {
	case '?':
		at->pattern++;
		return true;
	case '[':
		matches = at->set->members[c / 64] >> c % 64 & 1;
		at->pattern = &s->words[at->set->end];
		at->set++;
		return matches;
	case '\\':
		at->pattern++;
		break;
	}
	matches = *at->pattern && (unsigned char)*at->pattern == c;
	at->pattern += matches;
	return matches;
}

/* Match the characters of @word before @end. */
static bool match_glob(const struct owner_sentence *s, const union owner_value *value,
		       const char *word, const char *end)
{
	struct glob_position at = { &s->words[value->word], &s->sets[value->first_set] };
	struct glob_position after_star = {};	/* behind the last * */
	const char *retry = NULL;		/* where in word that was tried last */

	for (;;) {
		if (*at.pattern == '*') {
			at.pattern++;
			after_star = at;
			retry = word;
		} else if (word == end) {
			return !*at.pattern;
		} else if (match_glob_element(s, &at, *word)) {
			word++;
		} else if (after_star.pattern) {
			/* Backtrack: let the last * match one more character. */
			at = after_star;
			word = ++retry;
		} else {
			return false;
		}
	}
}

/* --- Comparisons ------------------------------------------------------------ */

static bool match_number(const struct owner_sentence *s, const struct owner_comparison *c,
			 unsigned long long number)
{
	const union owner_value *value = &s->values[c->first_value];
	const union owner_value *end = value + c->nr_values;

	for (; value < end; value++)
		if (value->low <= number && number <= value->high)
			return true;
	return false;
}

/* Does @value match the first @length characters of @word? */
static bool match_word(const struct owner_sentence *s, const union owner_value *value,
		       const char *word, size_t length)
{
	const char *wanted = &s->words[value->word];

	if (value->is_glob)
		return match_glob(s, value, word, word + length);
	return !strncmp(wanted, word, length) && !wanted[length];
}

/**
 * owner_lang_word_matches() - test whether a word matches a value of a comparison
 * @s: the sentence
 * @comparison: one of its comparisons; its field has type OWNER_TYPE_WORD(S)
 * @word: the word to test
 *
 * Ignores the operator: for != the caller inverts the result. The name of a function of the
 * kernel also matches without the suffixes that owner_lang_function_length() leaves out. In names
 * of other languages, as main.handler, a dot is not the compiler's.
 *
 * Return: true if @word equals a value or matches a glob.
 */
bool owner_lang_word_matches(const struct owner_sentence *s,
			     const struct owner_comparison *comparison, const char *word)
{
	const union owner_value *value = &s->values[comparison->first_value];
	const union owner_value *end = value + comparison->nr_values;
	size_t length = strlen(word), without_suffix = length, stem = length;

	if (comparison->field == OWNER_FIELD_FUNC) {
		without_suffix = strcspn(word, ".");
		stem = owner_lang_function_length(word, length);
	}
	for (; value < end; value++)
		if (match_word(s, value, word, length) ||
		    (without_suffix < length && match_word(s, value, word, without_suffix)) ||
		    (stem < without_suffix && match_word(s, value, word, stem)))
			return true;
	return false;
}

/*
 * A field that the allocation does not have fails every comparison but !=, which
 * it always passes.
 */
static bool comparison_holds(const struct owner_sentence *s, const struct owner_comparison *c,
			     const struct owner_field_values *fields)
{
	bool match = false;

	if (!(fields->absent_fields & 1U << c->field)) {
		switch (owner_field_types[c->field]) {
		case OWNER_TYPE_WORD:
			match = fields->value[c->field].word ?
				owner_lang_word_matches(s, c, fields->value[c->field].word) :
				fields->any_word_matches(fields, s, c);
			break;
		case OWNER_TYPE_WORDS:
		case OWNER_TYPE_ADDRESS:
			match = fields->any_word_matches(fields, s, c);
			break;
		default:
			match = match_number(s, c, fields->value[c->field].number);
		}
	}
	return match ^ (c->operator == OWNER_NE);
}

/* --- Buckets ---------------------------------------------------------------- */

/**
 * owner_lang_find_bucket() - find the bucket of a number
 * @by: the field of group= that the number is a value of
 * @number: the value, in bytes or ns
 *
 * The buckets of log2 are 0 to 1, 1 to 2, 2 to 4 and so on, in bytes or in seconds.
 *
 * Return: the lower bound of the bucket; @number if @by has no buckets.
 */
unsigned long long owner_lang_find_bucket(const struct owner_group_field *by,
					  unsigned long long number)
{
	unsigned long long unit = owner_field_types[by->field] == OWNER_TYPE_TIME ?
				  NS_PER_SECOND : 1;

	if (by->width)
		return number - number % by->width;
	if (!by->log2)
		return number;
	number /= unit;
	/* Clear the lowest bit that is set until one is left. */
	while (number & (number - 1))
		number &= number - 1;
	return number * unit;
}

/* --- Expressions ------------------------------------------------------------ */

/**
 * owner_lang_matches() - evaluate the expression of a sentence
 * @s: the sentence
 * @fields: values of all fields in s->fields_used; known_fields is not read
 *
 * Return: true if the expression holds or the sentence has none.
 */
bool owner_lang_matches(const struct owner_sentence *s, const struct owner_field_values *fields)
{
	unsigned int at = s->nr_comparisons ? 0 : OWNER_ACCEPT;

	while (at < s->nr_comparisons)
		at = s->comparisons[at].next[comparison_holds(s, &s->comparisons[at], fields)];
	return at == OWNER_ACCEPT;
}

/**
 * owner_lang_compare_fields() - evaluate the comparisons of some fields
 * @s: the sentence
 * @fields: values of all fields in @mask
 * @mask: bit mask of enum owner_field
 *
 * A caller that tests many allocations which agree in the fields of @mask
 * evaluates their comparisons once and passes the result to
 * owner_lang_matches_outcomes().
 *
 * Return: bit mask of the comparisons that hold, by their index.
 */
unsigned int owner_lang_compare_fields(const struct owner_sentence *s,
				       const struct owner_field_values *fields, unsigned int mask)
{
	unsigned int at, outcomes = 0;

	for (at = 0; at < s->nr_comparisons; at++)
		if (mask & 1U << s->comparisons[at].field)
			outcomes |= (unsigned int)comparison_holds(s, &s->comparisons[at],
								   fields) << at;
	return outcomes;
}

/**
 * owner_lang_matches_outcomes() - evaluate an expression with some comparisons already done
 * @s: the sentence
 * @fields: values of the fields outside @mask
 * @mask: bit mask of enum owner_field: their comparisons are in @outcomes
 * @outcomes: result of owner_lang_compare_fields() with the same @mask
 *
 * Return: as owner_lang_matches().
 */
bool owner_lang_matches_outcomes(const struct owner_sentence *s,
				 const struct owner_field_values *fields, unsigned int mask,
				 unsigned int outcomes)
{
	unsigned int at = s->nr_comparisons ? 0 : OWNER_ACCEPT;

	while (at < s->nr_comparisons) {
		const struct owner_comparison *c = &s->comparisons[at];
		bool outcome = outcomes >> at & 1;

		if (!(mask & 1U << c->field))
			outcome = comparison_holds(s, c, fields);
		at = c->next[outcome];
	}
	return at == OWNER_ACCEPT;
}

/**
 * owner_lang_evaluate_known_fields() - evaluate an expression from incomplete field values
 * @s: the sentence
 * @fields: values of the fields in known_fields
 *
 * Follows both branches of a comparison whose field is not known. The expression
 * is decided if all branches lead to the same result.
 *
 * Return: OWNER_VERDICT_UNDECIDED if the unknown fields can change the result.
 */
enum owner_verdict owner_lang_evaluate_known_fields(const struct owner_sentence *s,
						    const struct owner_field_values *fields)
{
	bool accept = !s->nr_comparisons, reject = false;
	unsigned int at, reached = 1;

	for (at = 0; at < s->nr_comparisons; at++) {
		const struct owner_comparison *c = &s->comparisons[at];
		unsigned int outcome, possible = 3;	/* bit 0: false, bit 1: true */

		if (!(reached & 1U << at))
			continue;
		if (fields->known_fields & 1U << c->field)
			possible = 1U << comparison_holds(s, c, fields);
		for (outcome = 0; outcome < 2; outcome++) {
			unsigned int next = c->next[outcome];

			if (!(possible & 1U << outcome))
				continue;
			accept |= next == OWNER_ACCEPT;
			reject |= next == OWNER_REJECT;
			if (next < s->nr_comparisons)
				reached |= 1U << next;
		}
	}
	if (accept && reject)
		return OWNER_VERDICT_UNDECIDED;
	return accept ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE;
}

/* --- Kinds of memory -------------------------------------------------------- */

/**
 * owner_lang_matching_kinds() - find the kinds of memory for which an expression can hold
 * @s: the sentence
 *
 * Only pages have an order. A query knows the gfp flags of pages only.
 *
 * Return: bit mask of enum owner_kind; 0 if comparisons contradict each other.
 */
unsigned int owner_lang_matching_kinds(const struct owner_sentence *s)
{
	const unsigned int of_pages = s->dialect == OWNER_CONTROL ? 1U << OWNER_FIELD_ORDER :
				      1U << OWNER_FIELD_ORDER | 1U << OWNER_FIELD_GFP;
	struct owner_field_values fields;
	unsigned int kind, kinds = 0;

	for (kind = 0; kind < OWNER_KINDS; kind++) {
		fields = (struct owner_field_values){ .known_fields = 1U << OWNER_FIELD_KIND };
		fields.value[OWNER_FIELD_KIND].number = kind;
		if (kind != OWNER_KIND_PAGE) {
			fields.known_fields |= of_pages;
			fields.absent_fields = of_pages;
		}
		if (owner_lang_evaluate_known_fields(s, &fields) != OWNER_VERDICT_FALSE)
			kinds |= 1U << kind;
	}
	return kinds;
}

/**
 * owner_lang_asked_kinds() - find the kinds of memory that a query is about
 * @s: the query
 *
 * Slab objects lie in pages, so a query is about pages only if its expression can hold for them,
 * and compares the kind or what only pages have.
 *
 * Return: bit mask of enum owner_kind; 0 if comparisons contradict each other.
 */
unsigned int owner_lang_asked_kinds(const struct owner_sentence *s)
{
	const unsigned int about_pages = 1U << OWNER_FIELD_KIND | 1U << OWNER_FIELD_ORDER |
					 1U << OWNER_FIELD_GFP;
	unsigned int kinds = owner_lang_matching_kinds(s);

	return s->fields_used & about_pages ? kinds : kinds & ~(1U << OWNER_KIND_PAGE);
}
