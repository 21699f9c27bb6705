/* SPDX-License-Identifier: GPL-2.0 */
/* The parser's state, and what token.c and expr.c provide to parse.c. */
#ifndef _MM_OWNER_LANG_PARSER_H
#define _MM_OWNER_LANG_PARSER_H

#include "lang.h"

/* Format checking is left to the kernel's build. */
#ifndef __KERNEL__
#define __printf(...)
#endif

enum token_kind {
	TOKEN_END,
	TOKEN_INVALID,		/* an error has been reported for it */
	TOKEN_WORD,
	TOKEN_QUOTED,
	TOKEN_ASSIGN,		/* = */
	TOKEN_NOT,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_OPERATOR,		/* TOKEN_OPERATOR + enum owner_operator */
};

struct token {
	unsigned short kind;	/* enum token_kind */
	unsigned short at;	/* byte offset in parser.text */
	unsigned short length;
};

/* The && or || after a comparison: owner_lang_link_comparisons() computes next[] from it. */
struct connective {
	unsigned char precedence;	/* a higher one binds tighter */
	bool is_and;			/* && after each ! was pushed down to the comparisons */
	bool negated;			/* an odd number of ! applies to the comparison before it */
};

struct parser {
	const char *text;
	size_t length;
	struct owner_sentence *s;
	struct owner_lang_error *error;
	bool failed;				/* error is set */
	struct token token;			/* the current token */
	struct token setting_tokens[OWNER_SETTINGS];	/* name of each setting, for errors */
	struct connective connectives[OWNER_COMPARISONS_MAX];	/* [i]: after comparison i */
	char quoted_word[21];			/* result of owner_lang_quote_word() */
};

/* token.c */
enum scan_result {
	SCAN_OK,
	SCAN_NO_NUMBER,
	SCAN_TOO_LARGE,
};

__printf(3, 4)
bool owner_lang_fail(struct parser *p, const struct token *where, const char *format, ...);
const char *owner_lang_quote_word(struct parser *p, const struct token *word);
void owner_lang_suggest_names(struct parser *p, const struct token *word,
			      const char * const *names, unsigned int count);
bool owner_lang_next_token(struct parser *p);
bool owner_lang_token_is(const struct parser *p, const char *word);
int owner_lang_pick_name(struct parser *p, const char *what, const char * const *names,
			 unsigned int count);
int owner_lang_find_field(const char *word, size_t length);
enum scan_result owner_lang_scan_number(const struct parser *p, const struct token *part,
					enum owner_type type, unsigned long long *number);

/* expr.c */
struct owner_comparison *owner_lang_add_comparison(struct parser *p);
bool owner_lang_read_values(struct parser *p, struct owner_comparison *c);
bool owner_lang_read_expression(struct parser *p);
void owner_lang_link_comparisons(struct parser *p);

#endif /* _MM_OWNER_LANG_PARSER_H */
