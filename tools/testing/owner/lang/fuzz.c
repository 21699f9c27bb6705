// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold of any text: it is understood or refused with a place in it;
 * what is printed of it is understood as the same; and evaluation agrees with
 * an evaluator that works in another way.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang.h"

#define ensure(condition)							\
	do {									\
		if (!(condition)) {						\
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);	\
			abort();						\
		}								\
	} while (0)

/* --- Facts that are near to what a sentence asks for ------------------------- */

static uint64_t random_state;

static unsigned int pick(unsigned int below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % below;
}

static void seed(const uint8_t *data, size_t size)
{
	random_state = size;
	while (size--)
		random_state = (random_state ^ *data++) * 1099511628211ULL;
}

static const char *some_word(const struct owner_sentence *s)
{
	return s->nr_words && pick(4) ? s->words + pick(s->nr_words) : "ext4_inode_cache";
}

static unsigned long long some_number(const struct owner_sentence *s)
{
	const union owner_value *value = &s->values[s->nr_values ? pick(s->nr_values) : 0];

	switch (pick(4)) {
	case 0:
		return value->low;
	case 1:
		return value->high;
	case 2:
		return value->low - 1;
	default:
		return value->high + 1;
	}
}

static bool any_word_matches(const struct owner_field_values *fields, const struct owner_sentence *s,
			const struct owner_comparison *comparison)
{
	const char *word = fields->value[comparison->field].word;

	return owner_lang_word_matches(s, comparison, word) ||
	       owner_lang_word_matches(s, comparison, word + strlen(word) / 2);
}

static struct owner_field_values some_fields(const struct owner_sentence *s)
{
	struct owner_field_values fields = { .known_fields = ~0U, .any_word_matches = any_word_matches };
	enum owner_field field;

	fields.absent_fields = pick(1 << OWNER_FIELDS) & pick(1 << OWNER_FIELDS);
	for (field = 0; field < OWNER_FIELDS; field++) {
		if (owner_field_types[field] <= OWNER_TYPE_WORDS)
			fields.value[field].word = some_word(s);
		else
			fields.value[field].number = some_number(s);
	}
	return fields;
}

/* --- The other evaluator: recursive, over the text, comparison by comparison -- */

struct reader {
	const char *at;
	const struct owner_field_values *fields;
};

static bool holds_alone(const char *text, size_t length, const struct owner_field_values *fields)
{
	struct owner_lang_error error;
	struct owner_sentence s;

	ensure(owner_lang_parse(&s, OWNER_QUERY, text, length, &error));
	ensure(s.nr_comparisons == 1);
	return owner_lang_matches(&s, fields);
}

static bool comparison_holds(struct reader *r)
{
	static const char prefix[] = "if ";
	char text[OWNER_SENTENCE_MAX + sizeof(prefix)];
	const char *end = r->at;
	size_t length;

	while (*end && *end != ')' && strncmp(end, " &&", 3) && strncmp(end, " ||", 3)) {
		if (*end++ != '"')
			continue;
		for (; *end != '"'; end++)
			end += *end == '\\';
		end++;
	}
	length = end - r->at;
	memcpy(text, prefix, 3);
	memcpy(text + 3, r->at, length);
	r->at = end;
	return holds_alone(text, length + 3, r->fields);
}

static bool any_holds(struct reader *r);

static bool one_holds(struct reader *r)
{
	bool holds;

	if (*r->at == '!') {
		r->at++;
		return !one_holds(r);
	}
	if (*r->at != '(')
		return comparison_holds(r);
	r->at++;
	holds = any_holds(r);
	ensure(*r->at++ == ')');
	return holds;
}

static bool all_hold(struct reader *r)
{
	bool holds = one_holds(r);

	while (!strncmp(r->at, " && ", 4)) {
		r->at += 4;
		holds &= one_holds(r);
	}
	return holds;
}

static bool any_holds(struct reader *r)
{
	bool holds = all_hold(r);

	while (!strncmp(r->at, " || ", 4)) {
		r->at += 4;
		holds |= all_hold(r);
	}
	return holds;
}

static bool text_holds(const char *text, const struct owner_field_values *fields)
{
	const char *nid = strstr(text, "nid=");
	const char *condition = strncmp(text, "if ", 3) ? strstr(text, " if ") : text - 1;
	struct reader r = { condition ? condition + 4 : NULL, fields };
	bool holds;

	if (nid && (!condition || nid < condition) &&
	    !holds_alone(nid, strcspn(nid, " "), fields))
		return false;
	if (!condition)
		return true;
	holds = any_holds(&r);
	ensure(!*r.at);
	return holds;
}

/* --- What must hold ----------------------------------------------------------- */

/* What was asked of some fields before is true of all that have the same in those. */
static void check_outcomes(const struct owner_sentence *s)
{
	struct owner_field_values first = some_fields(s), again = some_fields(s), both = again;
	unsigned int outcomes, mask = pick(1 << OWNER_FIELDS);
	enum owner_field field;

	for (field = 0; field < OWNER_FIELDS; field++)
		if (mask & 1U << field)
			both.value[field] = first.value[field];
	both.absent_fields = (first.absent_fields & mask) | (again.absent_fields & ~mask);
	outcomes = owner_lang_compare_fields(s, &first, mask);
	ensure(owner_lang_matches_outcomes(s, &again, mask, outcomes) ==
	       owner_lang_matches(s, &both));
}

static void check_evaluation(const struct owner_sentence *s, const char *printed)
{
	struct owner_field_values fields = some_fields(s);
	bool holds = owner_lang_matches(s, &fields);
	enum owner_verdict truth = holds ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE, judged;

	ensure(holds == text_holds(printed, &fields));
	ensure(owner_lang_judge(s, &fields) == truth);
	fields.known_fields = pick(1 << OWNER_FIELDS);
	judged = owner_lang_judge(s, &fields);
	ensure(judged == truth || judged == OWNER_VERDICT_UNDECIDED);
	if (!(s->fields_used & ~fields.known_fields))
		ensure(judged == truth);
}

static void check_printing(const struct owner_sentence *s)
{
	char printed[OWNER_SENTENCE_MAX + 1], again[OWNER_SENTENCE_MAX + 1];
	static struct owner_sentence other;
	struct owner_lang_error error;
	size_t length = owner_lang_print(s, printed, sizeof(printed));

	ensure(length <= OWNER_SENTENCE_MAX && length == strlen(printed));
	ensure(owner_lang_parse(&other, s->dialect, printed, length, &error));
	ensure(owner_lang_print(&other, again, sizeof(again)) == length);
	ensure(!strcmp(printed, again));
	ensure(other.settings_given == s->settings_given && other.fields_used == s->fields_used);
	ensure(!memcmp(other.comparisons, s->comparisons, sizeof(s->comparisons)));
	if (s->command != OWNER_RULE)
		return;
	check_evaluation(s, printed);
	check_outcomes(s);
}

static void check_error(const struct owner_lang_error *error, const char *text, size_t length)
{
	char shown[OWNER_ERROR_TEXT_SIZE], cut[20];
	size_t full = owner_lang_render_error(error, text, length, NULL, 0);

	ensure(error->position + error->length <= length);
	ensure(error->message[0]);
	ensure(memchr(error->message, '\0', sizeof(error->message)));
	ensure(owner_lang_render_error(error, text, length, cut, sizeof(cut)) == full);
	ensure(strlen(cut) == sizeof(cut) - 1);
	ensure(full < sizeof(shown));
	owner_lang_render_error(error, text, length, shown, sizeof(shown));
	ensure(strlen(shown) == full);
}

static void check_sentence(enum owner_dialect dialect, const char *text, size_t length)
{
	static struct owner_sentence s;
	struct owner_lang_error error;

	if (owner_lang_parse(&s, dialect, text, length, &error))
		check_printing(&s);
	else
		check_error(&error, text, length);
}

int fuzz_one(const uint8_t *data, size_t size) __asm__("LLVMFuzzerTestOneInput");
int fuzz_one(const uint8_t *data, size_t size)
{
	enum owner_dialect dialect;
	struct owner_lang_text rest;
	const char *sentence, *last;
	char *text;
	size_t length;

	if (!size)
		return 0;
	seed(data, size);
	dialect = *data == 'c' ? OWNER_CONTROL : OWNER_QUERY;
	size--;
	/* As large as it is: what is read beyond it is seen. */
	text = malloc(size);
	memcpy(text, data + 1, size);

	check_sentence(dialect, text, size);
	rest = (struct owner_lang_text){ text, size };
	last = text;
	while (owner_lang_next_sentence(&rest, &sentence, &length)) {
		ensure(length && sentence >= last && sentence + length <= text + size);
		ensure(rest.start + rest.length == text + size);
		last = sentence + length;
		check_sentence(dialect, sentence, length);
	}
	free(text);
	return 0;
}
