// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the language. Checked for any text: the parser accepts it or reports an error
 * with a position inside it; the printed form of a sentence parses to an equal
 * sentence; and a second evaluator, which recurses over the text, gives the same
 * result as the compiled comparisons.
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

/* --- Random field values that are near the values of a sentence -------------- */

static uint64_t random_state;

/* A pseudorandom number less than @below. It depends only on the input. */
static unsigned int draw_number_below(unsigned int below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % below;
}

static void seed_random(const uint8_t *data, size_t size)
{
	random_state = size;
	while (size--)
		random_state = (random_state ^ *data++) * 1099511628211ULL;
}

static const char *pick_sentence_word(const struct owner_sentence *s)
{
	if (!s->nr_words || !draw_number_below(4))
		return "ext4_inode_cache";
	return s->words + draw_number_below(s->nr_words);
}

static unsigned long long pick_sentence_number(const struct owner_sentence *s)
{
	unsigned int number = s->nr_values ? draw_number_below(s->nr_values) : 0;
	const union owner_value *value = &s->values[number];

	switch (draw_number_below(4)) {
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

/* In the fuzzer a field with many words has two: the picked word and its second half. */
static bool any_word_matches(const struct owner_field_values *fields,
			     const struct owner_sentence *s,
			     const struct owner_comparison *comparison)
{
	const char *word = fields->value[comparison->field].word;

	return owner_lang_word_matches(s, comparison, word) ||
	       owner_lang_word_matches(s, comparison, word + strlen(word) / 2);
}

static struct owner_field_values pick_field_values(const struct owner_sentence *s)
{
	struct owner_field_values fields = {
		.known_fields = ~0U,
		.any_word_matches = any_word_matches,
	};
	enum owner_field field;

	fields.absent_fields =
		draw_number_below(1 << OWNER_FIELDS) & draw_number_below(1 << OWNER_FIELDS);
	for (field = 0; field < OWNER_FIELDS; field++) {
		if (owner_field_types[field] <= OWNER_TYPE_WORDS)
			fields.value[field].word = pick_sentence_word(s);
		else
			fields.value[field].number = pick_sentence_number(s);
	}
	return fields;
}

/* --- The second evaluator: recursive, over the printed text ------------------ */

struct text_evaluator {
	const char *at;		/* the text that is not evaluated yet */
	const struct owner_field_values *fields;
};

/* Evaluate a sentence with one comparison with owner_lang_matches(), the code under test. */
static bool one_comparison_holds(const char *text, size_t length,
				 const struct owner_field_values *fields)
{
	struct owner_lang_error error;
	struct owner_sentence s;

	ensure(owner_lang_parse(&s, OWNER_QUERY, text, length, &error));
	ensure(s.nr_comparisons == 1);
	return owner_lang_matches(&s, fields);
}

static bool comparison_holds(struct text_evaluator *e)
{
	static const char prefix[] = "if ";
	char text[OWNER_SENTENCE_MAX + sizeof(prefix)];
	const char *end = e->at;
	size_t length;

	while (*end && *end != ')' && strncmp(end, " &&", 3) && strncmp(end, " ||", 3)) {
		if (*end++ != '"')
			continue;
		for (; *end != '"'; end++)
			end += *end == '\\';
		end++;
	}
	length = end - e->at;
	memcpy(text, prefix, 3);
	memcpy(text + 3, e->at, length);
	e->at = end;
	return one_comparison_holds(text, length + 3, e->fields);
}

static bool disjunction_holds(struct text_evaluator *e);

static bool negation_holds(struct text_evaluator *e)
{
	bool holds;

	if (*e->at == '!') {
		e->at++;
		return !negation_holds(e);
	}
	if (*e->at != '(')
		return comparison_holds(e);
	e->at++;
	holds = disjunction_holds(e);
	ensure(*e->at++ == ')');
	return holds;
}

static bool conjunction_holds(struct text_evaluator *e)
{
	bool holds = negation_holds(e);

	while (!strncmp(e->at, " && ", 4)) {
		e->at += 4;
		holds &= negation_holds(e);
	}
	return holds;
}

static bool disjunction_holds(struct text_evaluator *e)
{
	bool holds = conjunction_holds(e);

	while (!strncmp(e->at, " || ", 4)) {
		e->at += 4;
		holds |= conjunction_holds(e);
	}
	return holds;
}

/*
 * Evaluate the printed form of a sentence for @fields, without the compiled comparisons. A
 * setting nid= before "if" is a comparison, too.
 */
static bool printed_sentence_holds(const char *text, const struct owner_field_values *fields)
{
	const char *nid = strstr(text, "nid=");
	const char *condition = strncmp(text, "if ", 3) ? strstr(text, " if ") : text - 1;
	struct text_evaluator e = { condition ? condition + 4 : NULL, fields };
	bool holds;

	if (nid && (!condition || nid < condition) &&
	    !one_comparison_holds(nid, strcspn(nid, " "), fields))
		return false;
	if (!condition)
		return true;
	holds = disjunction_holds(&e);
	ensure(!*e.at);
	return holds;
}

/* --- Checks -------------------------------------------------------------------- */

/*
 * Outcomes of comparisons that are computed for one allocation must hold for another
 * allocation that has the same values of the compared fields.
 */
static void check_outcomes(const struct owner_sentence *s)
{
	struct owner_field_values first = pick_field_values(s);
	struct owner_field_values second = pick_field_values(s), both = second;
	unsigned int outcomes, mask = draw_number_below(1 << OWNER_FIELDS);
	enum owner_field field;

	for (field = 0; field < OWNER_FIELDS; field++)
		if (mask & 1U << field)
			both.value[field] = first.value[field];
	both.absent_fields = (first.absent_fields & mask) | (second.absent_fields & ~mask);
	outcomes = owner_lang_compare_fields(s, &first, mask);
	ensure(owner_lang_matches_outcomes(s, &second, mask, outcomes) ==
	       owner_lang_matches(s, &both));
}

static void check_evaluation(const struct owner_sentence *s, const char *printed)
{
	struct owner_field_values fields = pick_field_values(s);
	bool holds = owner_lang_matches(s, &fields);
	enum owner_verdict expected = holds ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE, verdict;

	ensure(holds == printed_sentence_holds(printed, &fields));
	ensure(owner_lang_evaluate_known_fields(s, &fields) == expected);
	fields.known_fields = draw_number_below(1 << OWNER_FIELDS);
	verdict = owner_lang_evaluate_known_fields(s, &fields);
	ensure(verdict == expected || verdict == OWNER_VERDICT_UNDECIDED);
	if (!(s->fields_used & ~fields.known_fields))
		ensure(verdict == expected);
}

static void check_printing(const struct owner_sentence *s)
{
	char printed[OWNER_SENTENCE_MAX + 1], reprinted[OWNER_SENTENCE_MAX + 1];
	static struct owner_sentence reparsed;
	struct owner_lang_error error;
	size_t length = owner_lang_print(s, printed, sizeof(printed));

	ensure(length <= OWNER_SENTENCE_MAX && length == strlen(printed));
	ensure(owner_lang_parse(&reparsed, s->dialect, printed, length, &error));
	ensure(owner_lang_print(&reparsed, reprinted, sizeof(reprinted)) == length);
	ensure(!strcmp(printed, reprinted));
	ensure(reparsed.settings_given == s->settings_given);
	ensure(reparsed.fields_used == s->fields_used);
	ensure(!memcmp(reparsed.comparisons, s->comparisons, sizeof(s->comparisons)));
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

int fuzz_one_input(const uint8_t *data, size_t size) __asm__("LLVMFuzzerTestOneInput");
int fuzz_one_input(const uint8_t *data, size_t size)
{
	enum owner_dialect dialect;
	struct owner_lang_text remaining;
	const char *sentence, *last;
	char *text;
	size_t length;

	if (!size)
		return 0;
	seed_random(data, size);
	dialect = *data == 'c' ? OWNER_CONTROL : OWNER_QUERY;
	size--;
	/* An allocation of the exact size: ASan reports reads beyond it. */
	text = malloc(size);
	memcpy(text, data + 1, size);

	check_sentence(dialect, text, size);
	remaining = (struct owner_lang_text){ text, size };
	last = text;
	while (owner_lang_next_sentence(&remaining, &sentence, &length)) {
		ensure(length && sentence >= last && sentence + length <= text + size);
		ensure(remaining.start + remaining.length == text + size);
		last = sentence + length;
		check_sentence(dialect, sentence, length);
	}
	free(text);
	return 0;
}
