// SPDX-License-Identifier: GPL-2.0
/* Does an expression hold for an allocation? */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "lang.h"

/* --- Globs: * ? [a-z] [!a-z] and \ before what is meant as it stands -------- */

/* The character of a set at @p, where a \ may stand before it. */
static const char *set_member(const char *p, unsigned char *member)
{
	if (*p == '\\' && p[1])
		p++;
	*member = *p;
	return p + 1;
}

/**
 * owner_lang_glob_class - a set of characters in a glob
 * @pattern: what follows its [
 * @c: a character
 * @in: whether the set has it
 *
 * Return: what follows its ], NULL if there is none.
 */
const char *owner_lang_glob_class(const char *pattern, char c, bool *in)
{
	bool negated = *pattern == '!' || *pattern == '^';
	unsigned char low, high, wanted = c;
	const char *p = pattern + negated;

	*in = false;
	/* A ] that comes first is one of the set. */
	do {
		if (!*p)
			return NULL;
		p = set_member(p, &low);
		high = low;
		if (*p == '-' && p[1] && p[1] != ']')
			p = set_member(p + 1, &high);
		*in |= low <= wanted && wanted <= high;
	} while (*p != ']');
	*in ^= negated;
	return p + 1;
}

/* The rest of a pattern after the element that takes @c; NULL if it does not. */
static const char *take(const char *pattern, char c)
{
	bool in;

	switch (*pattern) {
	case '?':
		return pattern + 1;
	case '[':
		pattern = owner_lang_glob_class(pattern + 1, c, &in);
		return in ? pattern : NULL;
	case '\\':
		pattern++;
		break;
	}
	return *pattern && *pattern == c ? pattern + 1 : NULL;
}

static bool glob_matches(const char *pattern, const char *word)
{
	const char *star = NULL, *taken = NULL;	/* the last *, and where what follows was tried */

	for (;;) {
		const char *rest;

		if (*pattern == '*') {
			star = ++pattern;
			taken = word;
			continue;
		}
		if (!*word)
			return !*pattern;
		rest = take(pattern, *word);
		if (rest) {
			pattern = rest;
			word++;
		} else if (star) {
			/* Let the * take one character more. */
			pattern = star;
			word = ++taken;
		} else {
			return false;
		}
	}
}

/* --- Comparisons ------------------------------------------------------------ */

static bool number_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			   unsigned long long number)
{
	const union owner_value *value = &s->values[c->first_value];
	const union owner_value *end = value + c->nr_values;

	for (; value < end; value++)
		if (value->low <= number && number <= value->high)
			return true;
	return false;
}

/**
 * owner_lang_word_matches - is a word one of a comparison's values?
 * @s: the sentence
 * @comparison: one of its comparisons, of a field of words
 * @word: the word
 *
 * Looks at the values only: != is up to who asks.
 */
bool owner_lang_word_matches(const struct owner_sentence *s,
			     const struct owner_comparison *comparison, const char *word)
{
	const union owner_value *value = &s->values[comparison->first_value];
	const union owner_value *end = value + comparison->nr_values;

	for (; value < end; value++) {
		const char *wanted = &s->words[value->word];

		if (value->is_glob ? glob_matches(wanted, word) : !strcmp(wanted, word))
			return true;
	}
	return false;
}

/* What is absent is equal to nothing, and neither below nor above anything. */
static bool holds(const struct owner_sentence *s, const struct owner_comparison *c,
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
			match = fields->any_word_matches(fields, s, c);
			break;
		default:
			match = number_matches(s, c, fields->value[c->field].number);
		}
	}
	return match ^ (c->operator == OWNER_NE);
}

/* --- Expressions ------------------------------------------------------------ */

/**
 * owner_lang_matches - does a sentence's expression hold?
 * @s: the sentence
 * @fields: all that it uses (s->fields_used) is known
 *
 * A sentence without an expression holds always.
 */
bool owner_lang_matches(const struct owner_sentence *s, const struct owner_field_values *fields)
{
	unsigned int at = s->nr_comparisons ? 0 : OWNER_ACCEPT;

	while (at < s->nr_comparisons)
		at = s->comparisons[at].next[holds(s, &s->comparisons[at], fields)];
	return at == OWNER_ACCEPT;
}

/**
 * owner_lang_compare_fields - which comparisons of a sentence hold?
 * @s: the sentence
 * @fields: of which @mask are known
 * @mask: a bit for each field whose comparisons are made
 *
 * Return: a bit for each that does, for owner_lang_matches_outcomes().
 */
unsigned int owner_lang_compare_fields(const struct owner_sentence *s, const struct owner_field_values *fields,
				 unsigned int mask)
{
	unsigned int at, outcomes = 0;

	for (at = 0; at < s->nr_comparisons; at++)
		if (mask & 1U << s->comparisons[at].field)
			outcomes |= (unsigned int)holds(s, &s->comparisons[at], fields) << at;
	return outcomes;
}

/**
 * owner_lang_matches_outcomes - does it hold for what differs in some fields only?
 * @s: the sentence
 * @fields: of which the other fields are known
 * @mask: what is the same
 * @outcomes: of owner_lang_compare_fields() for that
 */
bool owner_lang_matches_outcomes(const struct owner_sentence *s, const struct owner_field_values *fields,
			      unsigned int mask, unsigned int outcomes)
{
	unsigned int at = s->nr_comparisons ? 0 : OWNER_ACCEPT;

	while (at < s->nr_comparisons) {
		const struct owner_comparison *c = &s->comparisons[at];
		bool outcome = outcomes >> at & 1;

		if (!(mask & 1U << c->field))
			outcome = holds(s, c, fields);
		at = c->next[outcome];
	}
	return at == OWNER_ACCEPT;
}

/**
 * owner_lang_judge - does a sentence's expression hold by what is known so far?
 * @s: the sentence
 * @fields: some of which are known
 *
 * Follows both ways out of a comparison that cannot be decided.
 *
 * Return: OWNER_VERDICT_UNDECIDED if what is known decides it neither way.
 */
enum owner_verdict owner_lang_judge(const struct owner_sentence *s, const struct owner_field_values *fields)
{
	bool accept = !s->nr_comparisons, reject = false;
	unsigned int at, reached = 1;

	for (at = 0; at < s->nr_comparisons; at++) {
		const struct owner_comparison *c = &s->comparisons[at];
		unsigned int outcome, ways = 3;

		if (!(reached & 1U << at))
			continue;
		if (fields->known_fields & 1U << c->field)
			ways = 1U << holds(s, c, fields);
		for (outcome = 0; outcome < 2; outcome++) {
			unsigned int next = c->next[outcome];

			if (!(ways & 1U << outcome))
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
