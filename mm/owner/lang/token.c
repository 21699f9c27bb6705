// SPDX-License-Identifier: GPL-2.0
/* Split a text into sentences and a sentence into tokens; compose error messages. */

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

static void append_message_args(struct parser *p, const char *format, va_list args)
{
	char *message = p->error->message;
	size_t used = strlen(message);

	vsnprintf(message + used, sizeof(p->error->message) - used, format, args);
}

static __printf(2, 3)
void append_message(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_message_args(p, format, args);
	va_end(args);
}

/* Report an error at token @where, unless one was reported before. Returns false. */
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
	append_message_args(p, format, args);
	va_end(args);
	return false;
}

/* Copy a token for use in a message, cut to 20 bytes. The next call overwrites it. */
const char *owner_lang_quote_word(struct parser *p, const struct token *word)
{
	snprintf(p->quoted_word, sizeof(p->quoted_word), "%.*s", word->length, p->text + word->at);
	return p->quoted_word;
}

/* Append to the message the name most similar to @word, or else all names. */
void owner_lang_suggest_names(struct parser *p, const struct token *word, const char * const *names,
			      unsigned int count)
{
	int nearest = owner_lang_nearest_name(p->text + word->at, word->length, names, count);
	const char *comma = ": choose from ";
	unsigned int i;

	if (nearest >= 0) {
		append_message(p, ": did you mean '%s'?", names[nearest]);
		return;
	}
	for (i = 0; i < count; i++) {
		if (!names[i])
			continue;
		append_message(p, "%s%s", comma, names[i]);
		comma = ", ";
	}
}

/* --- Tokens ----------------------------------------------------------------- */

/* "==" must be found before "=", so signs of two characters are first. */
static const struct sign {
	char text[3];
	unsigned char kind;
} signs[] = {
	{ "&&", TOKEN_AND },
	{ "||", TOKEN_OR },
	{ "==", TOKEN_OPERATOR + OWNER_EQ },
	{ "!=", TOKEN_OPERATOR + OWNER_NE },
	{ "<=", TOKEN_OPERATOR + OWNER_LE },
	{ ">=", TOKEN_OPERATOR + OWNER_GE },
	{ "<", TOKEN_OPERATOR + OWNER_LT },
	{ ">", TOKEN_OPERATOR + OWNER_GT },
	{ "~", TOKEN_OPERATOR + OWNER_LIKE },
	{ "=", TOKEN_ASSIGN },
	{ "!", TOKEN_NOT },
	{ "(", TOKEN_OPEN },
	{ ")", TOKEN_CLOSE },
	{ ",", TOKEN_COMMA },
	{}
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Length of the quoted word at @text with its quotes; 0 if the second quote is missing. */
static size_t quoted_length(const char *text, size_t length)
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
	size_t length = quoted_length(p->text + token->at, p->length - token->at);
	const char *c, *text = p->text + token->at;

	token->kind = TOKEN_INVALID;
	token->length = 1;
	if (!length)
		return owner_lang_fail(p, token, "this quote is not closed");
	token->length = length;
	for (c = text; c < text + length; c++)
		if (is_control(*c))
			return owner_lang_fail(p, token,
					       "a word cannot hold a character 0x%02x: say ~, and ? for it",
					       *c);
	token->kind = TOKEN_QUOTED;
	return true;
}

static bool read_sign(struct parser *p)
{
	const char *text = p->text + p->token.at;
	size_t left = p->length - p->token.at;
	const struct sign *sign;

	for (sign = signs; sign->text[0]; sign++) {
		size_t length = strlen(sign->text);

		if (length > left || memcmp(text, sign->text, length))
			continue;
		p->token.kind = sign->kind;
		p->token.length = length;
		return true;
	}
	p->token.kind = TOKEN_INVALID;
	p->token.length = 1;
	if (*text == '&' || *text == '|')
		return owner_lang_fail(p, &p->token, "a single '%c' means nothing: say '%c%c'",
				       *text, *text, *text);
	if (is_control(*text))
		return owner_lang_fail(p, &p->token, "a character 0x%02x has no meaning here",
				       *text);
	return owner_lang_fail(p, &p->token, "'%c' cannot stand here: in a word, quote it", *text);
}

/* Advance p->token to the next token. Returns false after an error. */
bool owner_lang_next_token(struct parser *p)
{
	struct token *token = &p->token;
	const char *c;

	token->at += token->length;
	while (token->at < p->length && is_blank(p->text[token->at]))
		token->at++;
	token->length = 0;
	token->kind = TOKEN_END;
	if (token->at == p->length)
		return true;
	c = p->text + token->at;
	if (*c == '"' || *c == '\'')
		return read_quoted(p);
	while (token->at + token->length < p->length && owner_lang_is_word_char(c[token->length]))
		token->length++;
	if (!token->length)
		return read_sign(p);
	token->kind = TOKEN_WORD;
	return true;
}

/* Is the current token this word, without quotes? */
bool owner_lang_token_is(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_WORD && strlen(word) == p->token.length &&
	       !memcmp(p->text + p->token.at, word, p->token.length);
}

/*
 * Find the current token in @names, which may contain NULL. Reports an error
 * about setting or field @what and returns -1 if it is none of them.
 */
int owner_lang_pick_name(struct parser *p, const char *what, const char * const *names,
			 unsigned int count)
{
	struct token *word = &p->token;
	int found;

	if (word->kind != TOKEN_WORD) {
		owner_lang_fail(p, word, "expected a value of '%s'", what);
		return -1;
	}
	found = owner_lang_find_name(p->text + word->at, word->length, names, count);
	if (found < 0) {
		owner_lang_fail(p, word, "'%s' cannot be '%s'", what,
				owner_lang_quote_word(p, word));
		owner_lang_suggest_names(p, word, names, count);
	}
	return found;
}

/* Find a field by its name. */
int owner_lang_find_field(const char *word, size_t length)
{
	return owner_lang_find_name(word, length, owner_field_names, OWNER_GROUP_FIELDS);
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

/* Convert all of @part to a number. The units that it may end with depend on @type. */
enum scan_result owner_lang_scan_number(const struct parser *p, const struct token *part,
					enum owner_type type, unsigned long long *number)
{
	const struct owner_unit *unit = owner_lang_units(type);
	size_t length = part->kind == TOKEN_WORD ? part->length : 0;
	const char *text = p->text + part->at;
	bool large = false;
	int base = 10;
	size_t i = 0, first;

	/* No hexadecimal numbers with units: the letter could be either. */
	if ((type == OWNER_TYPE_NUMBER || type == OWNER_TYPE_ADDRESS) &&
	    length > 2 && text[0] == '0' && text[1] == 'x') {
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
		return SCAN_NO_NUMBER;
	while (unit->factor && (strlen(unit->name) != length - i ||
				memcmp(unit->name, text + i, length - i)))
		unit++;
	if (!unit->factor)
		return SCAN_NO_NUMBER;
	if (large || *number > ~0ULL / unit->factor)
		return SCAN_TOO_LARGE;
	*number *= unit->factor;
	return SCAN_OK;
}

/* --- Texts of many sentences ------------------------------------------------ */

static bool ends_sentence(char c)
{
	return c == ';' || c == '\n' || c == '#';
}

/**
 * owner_lang_next_sentence() - find the next sentence of a text
 * @text: the text that has not been read yet; advanced past the sentence
 * @sentence: set to the start of the sentence, after leading blanks
 * @length: set to its length, without trailing blanks
 *
 * A newline ends a sentence, and so does a ; outside of quotes. A # outside of
 * quotes starts a comment up to the end of the line. Empty sentences are skipped.
 * A quote that is not closed takes the rest of its line.
 *
 * Return: false at the end of the text.
 */
bool owner_lang_next_sentence(struct owner_lang_text *text, const char **sentence, size_t *length)
{
	while (text->length) {
		const char *start = text->start;
		size_t end = 0, next, quoted;

		while (end < text->length && !ends_sentence(start[end])) {
			quoted = 1;
			if (start[end] == '"' || start[end] == '\'')
				quoted = quoted_length(start + end, text->length - end);
			if (!quoted)
				break;
			end += quoted;
		}
		/* A quote that is not closed extends to the end of the line. */
		if (end < text->length && !ends_sentence(start[end]))
			while (end < text->length && start[end] != '\n')
				end++;
		next = end;
		if (next < text->length && start[next] == '#')
			while (next < text->length && start[next] != '\n')
				next++;
		if (next < text->length)
			next++;
		text->start += next;
		text->length -= next;

		while (end && is_blank(start[end - 1]))
			end--;
		while (end && is_blank(*start)) {
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
