// SPDX-License-Identifier: GPL-2.0
/* Print a sentence, or the error of a sentence, as text. */

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#include "parser.h"

/* A text buffer. @length counts all output, also what did not fit into @buf. */
struct output {
	char *buf;
	size_t size;
	size_t length;
};

static __printf(2, 3)
void append_text(struct output *out, const char *format, ...)
{
	size_t used = out->length < out->size ? out->length : out->size;
	va_list args;

	va_start(args, format);
	out->length += vsnprintf(out->buf ? out->buf + used : NULL, out->size - used, format, args);
	va_end(args);
}

/* Print a number with the largest unit that divides it. */
static void append_number(struct output *out, enum owner_type type, unsigned long long number)
{
	const struct owner_unit *unit = owner_lang_units(type);

	while (number % unit->factor || (!number && unit->factor > 1))
		unit++;
	append_text(out, "%llu%s", number / unit->factor, unit->name);
}

static void append_range(struct output *out, enum owner_type type, const union owner_value *value)
{
	append_number(out, type, value->low);
	if (value->high != value->low) {
		append_text(out, "-");
		append_number(out, type, value->high);
	}
}

/* Print a word, in quotes if the parser could not read it without. */
static void append_word(struct output *out, const char *word)
{
	const char *p = word;

	while (owner_lang_is_word_char(*p))
		p++;
	if (p > word && !*p) {
		append_text(out, "%s", word);
		return;
	}
	append_text(out, "\"");
	for (p = word; *p; p++) {
		/* Copy a \ and the character that it quotes. */
		if (*p == '\\') {
			append_text(out, "%c", *p++);
			append_text(out, "%c", *p);
		} else {
			append_text(out, *p == '"' ? "\\%c" : "%c", *p);
		}
	}
	append_text(out, "\"");
}

static void append_values(struct output *out, const struct owner_sentence *s,
			  const struct owner_comparison *c)
{
	const union owner_value *value = &s->values[c->first_value];
	const union owner_value *end = value + c->nr_values;
	enum owner_type type = owner_field_types[c->field];

	for (; value < end; value++) {
		switch (type) {
		case OWNER_TYPE_WORD:
		case OWNER_TYPE_WORDS:
			append_word(out, &s->words[value->word]);
			break;
		case OWNER_TYPE_KIND:
			append_text(out, "%s", owner_kind_names[value->low]);
			break;
		case OWNER_TYPE_ADDRESS:
			append_text(out, "0x%llx", value->low);
			break;
		default:
			/*
			 * read_comparison_bound() stored the operand as a range: print the
			 * end that was written.
			 */
			if (c->operator == OWNER_LT)
				append_number(out, type, value->high + 1);
			else if (c->operator == OWNER_LE)
				append_number(out, type, value->high);
			else if (c->operator == OWNER_GT)
				append_number(out, type, value->low - 1);
			else if (c->operator == OWNER_GE)
				append_number(out, type, value->low);
			else
				append_range(out, type, value);
		}
		if (value + 1 < end)
			append_text(out, ",");
	}
}

static void append_bare_comparison(struct output *out, const struct owner_sentence *s,
				   const struct owner_comparison *c)
{
	append_text(out, "%s %s ", owner_field_names[c->field], owner_operator_names[c->operator]);
	append_values(out, s, c);
}

static void append_comparison(struct output *out, const struct owner_sentence *s,
			      const struct owner_comparison *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_opening; i++)
		append_text(out, c->negated & 1U << i ? "!(" : "(");
	append_text(out, "%s", c->negated & 1U << i ? "!" : "");
	append_bare_comparison(out, s, c);
	for (i = 0; i < c->nr_closing; i++)
		append_text(out, ")");
}

static void append_bucket(struct output *out, const struct owner_group_field *group)
{
	if (group->log2) {
		append_text(out, ".log2");
	} else if (group->width) {
		append_text(out, ".");
		append_number(out, owner_field_types[group->field], group->width);
	}
}

static void append_group(struct output *out, const struct owner_sentence *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++) {
		const struct owner_group_field *group = &s->group_by[i];

		append_text(out, "%s%s", i ? "," : "", owner_field_names[group->field]);
		append_text(out, group->full ? ".full" : group->functions ? ".func" : "");
		if (group->frames)
			append_text(out, group->outermost ? ".-%u" : ".%u", group->frames);
		append_bucket(out, group);
	}
}

static void append_sample(struct output *out, const struct owner_sentence *s)
{
	if (s->sample_objects)
		append_text(out, "1/%u", s->sample_objects);
	else if (s->sample_bytes)
		append_number(out, OWNER_TYPE_BYTES, s->sample_bytes);
	else
		append_text(out, "all");
}

static void append_setting(struct output *out, const struct owner_sentence *s,
			   enum owner_setting setting)
{
	unsigned int i;

	switch (setting) {
	case OWNER_SET_DEPTH:
		return append_text(out, "%u", s->depth);
	case OWNER_SET_SAMPLE:
		return append_sample(out, s);
	case OWNER_SET_TRACK:
		return append_text(out, s->track ? "on" : "off");
	case OWNER_SET_FREE:
		return append_text(out, s->free ? "on" : "off");
	case OWNER_SET_USER:
		return append_text(out, "%s", s->user ? "on" : "off");
	case OWNER_SET_MODE:
		return append_text(out, "%s", owner_mode_names[s->mode]);
	case OWNER_SET_NID:
		return append_values(out, s, &s->comparisons[0]);
	case OWNER_SET_GROUP:
		return append_group(out, s);
	case OWNER_SET_SORT:
		for (i = 0; i < s->nr_sort_by; i++)
			append_text(out, "%s%s", i ? "," : "", owner_sort_names[s->sort_by[i]]);
		return;
	case OWNER_SET_EACH:
		return append_text(out, "%s", owner_field_names[s->each]);
	case OWNER_SET_TOP:
		return append_text(out, "%u", s->top);
	case OWNER_SET_MIN:
		return append_number(out, OWNER_TYPE_BYTES, s->min_held);
	case OWNER_SET_FORMAT:
		return append_text(out, "%s", owner_format_names[s->format]);
	case OWNER_SET_SINCE:
		return append_text(out, "mark");
	case OWNER_SETTINGS:
		return;
	}
}

/**
 * owner_lang_print() - print a sentence in its canonical form
 * @s: a sentence from owner_lang_parse()
 * @buf: the output buffer; may be NULL if @size is 0
 * @size: size of @buf; OWNER_SENTENCE_MAX + 1 is enough for any sentence
 *
 * Parsing the output gives an equal sentence, which prints the same way.
 *
 * Return: the length of the complete text without its NUL, as snprintf().
 */
size_t owner_lang_print(const struct owner_sentence *s, char *buf, size_t size)
{
	/* nid= is comparison 0, but is printed as a setting. */
	unsigned int i = s->settings_given & 1U << OWNER_SET_NID ? 1 : 0;
	struct output out = { buf, size, 0 };
	enum owner_setting setting;

	if (size)
		*buf = '\0';
	if (s->command != OWNER_RULE)
		append_text(&out, "%s", owner_command_names[s->command]);
	if (s->command == OWNER_DEL && s->number)
		append_text(&out, " %u", s->number);
	for (setting = 0; setting < OWNER_SETTINGS; setting++) {
		if (!(s->settings_given & 1U << setting))
			continue;
		append_text(&out, "%s%s=", out.length ? " " : "", owner_setting_names[setting]);
		append_setting(&out, s, setting);
	}
	if (i < s->nr_comparisons)
		append_text(&out, "%sif ", out.length ? " " : "");
	for (; i < s->nr_comparisons; i++) {
		append_comparison(&out, s, &s->comparisons[i]);
		if (i + 1 < s->nr_comparisons)
			append_text(&out, s->comparisons[i].followed_by_and ? " && " : " || ");
	}
	return out.length;
}

/**
 * owner_lang_print_comparison() - print one comparison of a sentence
 * @s: the sentence
 * @c: the comparison
 * @buf: the output buffer; may be NULL if @size is 0
 * @size: size of @buf
 *
 * Return: the length of the complete text without its NUL, as snprintf().
 */
size_t owner_lang_print_comparison(const struct owner_sentence *s,
				   const struct owner_comparison *c, char *buf, size_t size)
{
	struct output out = { buf, size, 0 };

	append_bare_comparison(&out, s, c);
	return out.length;
}

/**
 * owner_lang_print_column() - print the name of the column of a field of group=
 * @by: the field
 * @buf: the output buffer; may be NULL if @size is 0
 * @size: size of @buf
 *
 * The name has the buckets, as "size.4K": who reads the column "size" expects exact sizes. The
 * column "held" is the sum of a group, so that of the field is "held_each".
 *
 * Return: the length of the complete text without its NUL, as snprintf().
 */
size_t owner_lang_print_column(const struct owner_group_field *by, char *buf, size_t size)
{
	struct output out = { buf, size, 0 };

	append_text(&out, "%s%s", owner_field_names[by->field],
		    by->field == OWNER_FIELD_HELD ? "_each" : "");
	append_bucket(&out, by);
	return out.length;
}

/**
 * owner_lang_print_group_number() - print the value that the objects of a group agree in
 * @by: a field of group= whose values are numbers
 * @number: the value: of a field with buckets, the lower bound of one, printed with its unit
 * @buf: the output buffer; may be NULL if @size is 0
 * @size: size of @buf
 *
 * Return: the length of the complete text without its NUL, as snprintf().
 */
size_t owner_lang_print_group_number(const struct owner_group_field *by, unsigned long long number,
				     char *buf, size_t size)
{
	struct output out = { buf, size, 0 };

	append_number(&out, by->log2 || by->width ? owner_field_types[by->field] :
						    OWNER_TYPE_NUMBER, number);
	return out.length;
}

/* Does this byte start a UTF-8 character? Each character takes one column. */
static bool starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Choose the part of a long sentence to show: OWNER_ERROR_SENTENCE_MAX bytes around the error. */
static void choose_excerpt(const struct owner_lang_error *error, const char *text, size_t length,
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
	/* Do not split a UTF-8 character. */
	while (*start < error->position && !starts_character(text[*start]))
		++*start;
	while (*end > error->position && *end < length && !starts_character(text[*end]))
		--*end;
}

/**
 * owner_lang_render_error() - print an error with its place in the sentence
 * @error: an error from owner_lang_parse()
 * @text: the sentence that was parsed
 * @length: length of @text in bytes
 * @buf: the output buffer; may be NULL if @size is 0
 * @size: size of @buf; OWNER_ERROR_TEXT_SIZE is enough for any error
 *
 * Prints three lines: the message, the sentence, and a caret under the word. A
 * long sentence is cut to the part around the word, with "..." on either side,
 * so that the text fits into one printk() record.
 *
 * Return: the length of the complete text without its NUL, as snprintf().
 */
size_t owner_lang_render_error(const struct owner_lang_error *error, const char *text,
			       size_t length, char *buf, size_t size)
{
	struct output out = { buf, size, 0 };
	size_t i, start, end;

	choose_excerpt(error, text, length, &start, &end);
	append_text(&out, "%s\n  %s", error->message, start ? "..." : "");
	for (i = start; i < end; i++)
		append_text(&out, "%c",
			    (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i]);
	append_text(&out, "%s\n  %s", end < length ? "..." : "", start ? "   " : "");
	for (i = start; i < error->position; i++)
		if (starts_character(text[i]))
			append_text(&out, " ");
	append_text(&out, "^");
	for (i++; i < end && i < error->position + error->length; i++)
		if (starts_character(text[i]))
			append_text(&out, "~");
	append_text(&out, "\n");
	return out.length;
}
