// SPDX-License-Identifier: GPL-2.0
/* From text to sentences, and to tokens; what there is to say if that fails. */

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#include "parser.h"

/* --- Errors ----------------------------------------------------------------- */

static void vsay(struct parser *p, const char *format, va_list args)
{
	char *message = p->error->message;
	size_t used = strlen(message);

	vsnprintf(message + used, sizeof(p->error->message) - used, format, args);
}

static __printf(2, 3)
void say(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(p, format, args);
	va_end(args);
}

/* The first thing that is wrong is what is said. Always false. */
bool owner_lang_fail(struct parser *p, const struct token *where, const char *format, ...)
{
	va_list args;

	if (p->failed)
		return false;
	p->failed = true;
	p->error->position = where->at;
	p->error->length = where->length;
	p->error->message[0] = '\0';
	va_start(args, format);
	vsay(p, format, args);
	va_end(args);
	return false;
}

/* A word as a message repeats it, and no more of it than a message can take. */
const char *owner_lang_shown(struct parser *p, const struct token *word)
{
	snprintf(p->shown, sizeof(p->shown), "%.*s", word->length, p->text + word->at);
	return p->shown;
}

/* Go on with the name that was meant, or with all that there are. */
void owner_lang_say_names(struct parser *p, const struct token *word,
		    const char * const *names, unsigned int count)
{
	int nearest = owner_lang_nearest_name(p->text + word->at, word->length, names, count);
	const char *comma = ": choose from ";
	unsigned int i;

	if (nearest >= 0) {
		say(p, ": did you mean '%s'?", names[nearest]);
		return;
	}
	for (i = 0; i < count; i++) {
		if (!names[i])
			continue;
		say(p, "%s%s", comma, names[i]);
		comma = ", ";
	}
}

/* --- Tokens ----------------------------------------------------------------- */

/* Those of two characters come before those that begin like them. */
static const struct symbol {
	char text[3];
	unsigned char kind;
} symbols[] = {
	{ "&&", T_AND },
	{ "||", T_OR },
	{ "==", T_OPERATOR + OWNER_EQ },
	{ "!=", T_OPERATOR + OWNER_NE },
	{ "<=", T_OPERATOR + OWNER_LE },
	{ ">=", T_OPERATOR + OWNER_GE },
	{ "<", T_OPERATOR + OWNER_LT },
	{ ">", T_OPERATOR + OWNER_GT },
	{ "~", T_OPERATOR + OWNER_LIKE },
	{ "=", T_SET },
	{ "!", T_NOT },
	{ "(", T_OPEN },
	{ ")", T_CLOSE },
	{ ",", T_COMMA },
	{}
};

bool owner_lang_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Bytes of a quoted word at @text, quotes included; 0 if it has no end. */
size_t owner_lang_quoted_length(const char *text, size_t length)
{
	size_t i;

	for (i = 1; i < length && text[i] != '\n'; i++) {
		if (text[i] == *text)
			return i + 1;
		if (text[i] == '\\')
			i++;
	}
	return 0;
}

static bool read_quoted(struct parser *p)
{
	struct token *token = &p->token;
	size_t length = owner_lang_quoted_length(p->text + token->at, p->length - token->at);

	token->kind = T_BAD;
	token->length = 1;
	if (!length)
		return owner_lang_fail(p, token, "this quote is not closed");
	token->length = length;
	if (memchr(p->text + token->at, '\0', length))
		return owner_lang_fail(p, token, "a word cannot hold a character 0");
	token->kind = T_QUOTED;
	return true;
}

static bool read_symbol(struct parser *p)
{
	const char *text = p->text + p->token.at;
	size_t left = p->length - p->token.at;
	const struct symbol *symbol;

	for (symbol = symbols; symbol->text[0]; symbol++) {
		size_t length = strlen(symbol->text);

		if (length > left || memcmp(text, symbol->text, length))
			continue;
		p->token.kind = symbol->kind;
		p->token.length = length;
		return true;
	}
	p->token.kind = T_BAD;
	p->token.length = 1;
	if (*text == '&' || *text == '|')
		return owner_lang_fail(p, &p->token, "a single '%c' means nothing: say '%c%c'",
			    *text, *text, *text);
	if ((unsigned char)*text <= ' ' || *text == 0x7f)
		return owner_lang_fail(p, &p->token, "a character 0x%02x has no meaning here", *text);
	return owner_lang_fail(p, &p->token, "'%c' cannot stand here: in a word, quote it", *text);
}

/* Go on to the next token. */
bool owner_lang_step(struct parser *p)
{
	struct token *token = &p->token;
	const char *c;

	token->at += token->length;
	while (token->at < p->length && owner_lang_is_blank(p->text[token->at]))
		token->at++;
	token->length = 0;
	token->kind = T_END;
	if (token->at == p->length)
		return true;
	c = p->text + token->at;
	if (*c == '"' || *c == '\'')
		return read_quoted(p);
	while (token->at + token->length < p->length && owner_lang_is_word_char(c[token->length]))
		token->length++;
	if (!token->length)
		return read_symbol(p);
	token->kind = T_WORD;
	return true;
}

bool owner_lang_is_word(const struct parser *p, const char *word)
{
	return p->token.kind == T_WORD && strlen(word) == p->token.length &&
	       !memcmp(p->text + p->token.at, word, p->token.length);
}

/* Which of @names is the word here? Says "@what" is unknown, and returns -1, if none. */
int owner_lang_pick(struct parser *p, const char *what, const char * const *names, unsigned int count)
{
	struct token *word = &p->token;
	int found;

	if (word->kind != T_WORD) {
		owner_lang_fail(p, word, "expected a value of '%s'", what);
		return -1;
	}
	found = owner_lang_find_name(p->text + word->at, word->length, names, count);
	if (found < 0) {
		owner_lang_fail(p, word, "'%s' cannot be '%s'", what, owner_lang_shown(p, word));
		owner_lang_say_names(p, word, names, count);
	}
	return found;
}

/* bytes is another word for size, as in the sums of a query. */
int owner_lang_find_field(const char *word, size_t length)
{
	if (length == 5 && !memcmp(word, "bytes", 5))
		return OWNER_FIELD_SIZE;
	return owner_lang_find_name(word, length, owner_field_names, OWNER_FIELDS + 1);
}

/* --- Numbers ---------------------------------------------------------------- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* A number with its unit, from start to end of a word or of a part of it. */
enum scanned owner_lang_scan_number(const struct parser *p, const struct token *part,
			      enum owner_type type, unsigned long long *number)
{
	const struct owner_unit *unit = owner_lang_units(type);
	size_t length = part->kind == T_WORD ? part->length : 0;
	const char *text = p->text + part->at;
	bool large = false;
	int base = 10;
	size_t i = 0, first;

	/* Where a unit may follow, a letter is a unit. */
	if (type == OWNER_TYPE_NUMBER && length > 2 && text[0] == '0' && text[1] == 'x') {
		base = 16;
		i = 2;
	}
	first = i;
	*number = 0;
	for (; i < length && digit_value(text[i]) < base; i++) {
		int digit = digit_value(text[i]);

		large |= *number > (~0ULL - digit) / base;
		*number = *number * base + digit;
	}
	if (i == first)
		return SCANNED_NONE;
	while (unit->factor && (strlen(unit->name) != length - i ||
				memcmp(unit->name, text + i, length - i)))
		unit++;
	if (!unit->factor)
		return SCANNED_NONE;
	if (large || *number > ~0ULL / unit->factor)
		return SCANNED_LARGE;
	*number *= unit->factor;
	return SCANNED;
}

/* --- Texts of many sentences ------------------------------------------------ */

static bool ends_sentence(char c)
{
	return c == ';' || c == '\n' || c == '#';
}

/**
 * owner_lang_next_sentence - take the next sentence of a text
 * @text: what is left of it
 * @sentence: where it is found, without blanks around it
 * @length: its length
 *
 * Sentences are separated by ; and ends of lines, also where a quote is open
 * at the end of the line. What follows a # on its line is a comment.
 *
 * Return: false if there is none.
 */
bool owner_lang_next_sentence(struct owner_lang_text *text, const char **sentence, size_t *length)
{
	while (text->left) {
		const char *start = text->rest;
		size_t end = 0, next;

		while (end < text->left && !ends_sentence(start[end])) {
			size_t quoted = 0;

			if (start[end] == '"' || start[end] == '\'')
				quoted = owner_lang_quoted_length(start + end, text->left - end);
			end += quoted ? quoted : 1;
		}
		next = end;
		if (next < text->left && start[next] == '#')
			while (next < text->left && start[next] != '\n')
				next++;
		if (next < text->left)
			next++;
		text->rest += next;
		text->left -= next;

		while (end && owner_lang_is_blank(start[end - 1]))
			end--;
		while (end && owner_lang_is_blank(*start)) {
			start++;
			end--;
		}
		if (end) {
			*sentence = start;
			*length = end;
			return true;
		}
	}
	return false;
}
