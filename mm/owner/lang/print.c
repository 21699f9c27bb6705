// SPDX-License-Identifier: GPL-2.0
/* A sentence, or what was wrong with one, becomes text. */

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#include "parser.h"

/* Text that is being written; what does not fit is counted. */
struct out {
	char *buf;
	size_t size;
	size_t length;
};

static __printf(2, 3)
void put(struct out *out, const char *format, ...)
{
	size_t used = out->length < out->size ? out->length : out->size;
	va_list args;

	va_start(args, format);
	out->length += vsnprintf(out->buf ? out->buf + used : NULL, out->size - used, format, args);
	va_end(args);
}

/* With the largest unit that keeps it a whole number. */
static void put_number(struct out *out, enum owner_type type, unsigned long long number)
{
	const struct owner_unit *unit = owner_lang_units(type);

	while (number % unit->factor || (!number && unit->factor > 1))
		unit++;
	put(out, "%llu%s", number / unit->factor, unit->name);
}

static void put_range(struct out *out, enum owner_type type, const union owner_value *value)
{
	put_number(out, type, value->low);
	if (value->high != value->low) {
		put(out, "-");
		put_number(out, type, value->high);
	}
}

/* In quotes, unless it is one word without them. */
static void put_word(struct out *out, const char *word)
{
	const char *p = word;

	while (owner_lang_is_word_char(*p))
		p++;
	if (p > word && !*p) {
		put(out, "%s", word);
		return;
	}
	put(out, "\"");
	for (p = word; *p; p++) {
		/* What \ is before stays as it is. */
		if (*p == '\\') {
			put(out, "%c", *p++);
			put(out, "%c", *p);
		} else {
			put(out, *p == '"' ? "\\%c" : "%c", *p);
		}
	}
	put(out, "\"");
}

static void put_values(struct out *out, const struct owner_sentence *s,
		       const struct owner_comparison *c)
{
	const union owner_value *value = &s->values[c->first_value];
	const union owner_value *end = value + c->nr_values;
	enum owner_type type = owner_field_types[c->field];

	for (; value < end; value++) {
		switch (type) {
		case OWNER_TYPE_WORD:
		case OWNER_TYPE_WORDS:
			put_word(out, &s->words[value->word]);
			break;
		case OWNER_TYPE_SOURCE:
			put(out, "%s", owner_source_names[value->low]);
			break;
		default:
			/* Of a range without bounds one side was written. */
			if (c->operator == OWNER_LT)
				put_number(out, type, value->high + 1);
			else if (c->operator == OWNER_LE)
				put_number(out, type, value->high);
			else if (c->operator == OWNER_GT)
				put_number(out, type, value->low - 1);
			else if (c->operator == OWNER_GE)
				put_number(out, type, value->low);
			else
				put_range(out, type, value);
		}
		if (value + 1 < end)
			put(out, ",");
	}
}

static void put_comparison(struct out *out, const struct owner_sentence *s,
			   const struct owner_comparison *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_opening; i++)
		put(out, c->negated & 1U << i ? "!(" : "(");
	put(out, "%s%s %s ", c->negated & 1U << i ? "!" : "",
	    owner_field_names[c->field], owner_operator_names[c->operator]);
	put_values(out, s, c);
	for (i = 0; i < c->nr_closing; i++)
		put(out, ")");
}

static void put_group(struct out *out, const struct owner_sentence *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++) {
		const struct owner_group_field *group = &s->group_by[i];

		put(out, "%s%s", i ? "," : "", owner_field_names[group->field]);
		if (group->full)
			put(out, ".full");
		else if (group->frames)
			put(out, ".%u", group->frames);
	}
}

/* The names of the bits that are set. */
static void put_bits(struct out *out, unsigned int bits, const char * const *names)
{
	const char *comma = "";

	for (; bits; bits >>= 1, names++) {
		if (bits & 1) {
			put(out, "%s%s", comma, *names);
			comma = ",";
		}
	}
}

static void put_sample(struct out *out, const struct owner_sentence *s)
{
	if (s->sample_objects)
		put(out, "1/%u", s->sample_objects);
	else if (s->sample_bytes)
		put_number(out, OWNER_TYPE_BYTES, s->sample_bytes);
	else
		put(out, "all");
}

static void put_setting(struct out *out, const struct owner_sentence *s,
			enum owner_setting setting)
{
	unsigned int i;

	switch (setting) {
	case OWNER_SET_DEPTH:
		return put(out, "%u", s->depth);
	case OWNER_SET_SAMPLE:
		return put_sample(out, s);
	case OWNER_SET_TRACK:
		return put(out, s->track ? "on" : "off");
	case OWNER_SET_FREE:
		return put(out, s->free ? "on" : "off");
	case OWNER_SET_MODE:
		return put(out, "%s", owner_mode_names[s->mode]);
	case OWNER_SET_SOURCE:
		return put_bits(out, s->sources, owner_source_names);
	case OWNER_SET_NID:
		return put_values(out, s, &s->comparisons[0]);
	case OWNER_SET_GROUP:
		return put_group(out, s);
	case OWNER_SET_SORT:
		for (i = 0; i < s->nr_sort_by; i++)
			put(out, "%s%s", i ? "," : "", owner_sort_names[s->sort_by[i]]);
		return;
	case OWNER_SET_TOP:
		return put(out, "%u", s->top);
	case OWNER_SET_GROUPS:
		return put(out, "%u", s->max_groups);
	case OWNER_SET_FORMAT:
		return put(out, "%s", owner_format_names[s->format]);
	case OWNER_SETTINGS:
		return;
	}
}

/**
 * owner_lang_print - write a sentence in its one form
 * @s: what owner_lang_parse() understood
 * @buf: where it goes, cut to fit and ended by a 0; may be NULL if @size is 0
 * @size: of @buf; OWNER_SENTENCE_MAX + 1 takes any sentence
 *
 * What it writes is understood as the same sentence, and is then written the
 * same.
 *
 * Return: how long it is, whether it fits or not.
 */
size_t owner_lang_print(const struct owner_sentence *s, char *buf, size_t size)
{
	unsigned int i = s->settings_given & 1U << OWNER_SET_NID ? 1 : 0;
	struct out out = { buf, size, 0 };
	enum owner_setting setting;

	if (size)
		*buf = '\0';
	if (s->command != OWNER_RULE)
		put(&out, "%s", owner_command_names[s->command]);
	if (s->command == OWNER_DEL)
		put(&out, " %u", s->number);
	for (setting = 0; setting < OWNER_SETTINGS; setting++) {
		if (!(s->settings_given & 1U << setting))
			continue;
		put(&out, "%s%s=", out.length ? " " : "", owner_setting_names[setting]);
		put_setting(&out, s, setting);
	}
	if (i < s->nr_comparisons)
		put(&out, "%sif ", out.length ? " " : "");
	for (; i < s->nr_comparisons; i++) {
		put_comparison(&out, s, &s->comparisons[i]);
		if (i + 1 < s->nr_comparisons)
			put(&out, s->comparisons[i].followed_by_and ? " && " : " || ");
	}
	return out.length;
}

/* Does a character of the sentence, as it is shown, take a column? */
static bool takes_column(char c)
{
	/* All bytes of a UTF-8 character but its first do not. */
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* The part of a sentence that is shown: of a long one, what stands around the error. */
static void part_to_show(const struct owner_lang_error *error, const char *text, size_t length,
			 size_t *start, size_t *end)
{
	*start = 0;
	*end = length;
	if (length <= OWNER_ERROR_SENTENCE_MAX)
		return;
	if (error->position > OWNER_ERROR_SENTENCE_MAX / 2)
		*start = error->position - OWNER_ERROR_SENTENCE_MAX / 2;
	if (*start > length - OWNER_ERROR_SENTENCE_MAX)
		*start = length - OWNER_ERROR_SENTENCE_MAX;
	*end = *start + OWNER_ERROR_SENTENCE_MAX;
	/* No part of a character. */
	while (*start < error->position && !takes_column(text[*start]))
		++*start;
	while (*end > error->position && *end < length && !takes_column(text[*end]))
		--*end;
}

/**
 * owner_lang_render_error - show what was wrong, and where
 * @error: what owner_lang_parse() found
 * @text: the sentence
 * @length: of @text
 * @buf: where it goes, cut to fit and ended by a 0; may be NULL if @size is 0
 * @size: of @buf; OWNER_ERROR_TEXT_SIZE takes any
 *
 * Writes three lines: the message, the sentence, and a caret under the word.
 * Of a sentence longer than OWNER_ERROR_SENTENCE_MAX it is what stands around the word,
 * with "..." for the rest, so that all fits into one record of the kernel's log.
 *
 * Return: how long it is, whether it fits or not.
 */
size_t owner_lang_render_error(const struct owner_lang_error *error, const char *text,
			       size_t length, char *buf, size_t size)
{
	struct out out = { buf, size, 0 };
	size_t i, start, end;

	part_to_show(error, text, length, &start, &end);
	put(&out, "%s\n  %s", error->message, start ? "..." : "");
	for (i = start; i < end; i++)
		put(&out, "%c", (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i]);
	put(&out, "%s\n  %s", end < length ? "..." : "", start ? "   " : "");
	for (i = start; i < error->position; i++)
		if (takes_column(text[i]))
			put(&out, " ");
	put(&out, "^");
	for (i++; i < end && i < error->position + error->length; i++)
		if (takes_column(text[i]))
			put(&out, "~");
	put(&out, "\n");
	return out.length;
}
