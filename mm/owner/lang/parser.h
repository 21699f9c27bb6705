/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the parser share: tokens, errors, and what has been read so far. */
#ifndef _MM_OWNER_LANG_PARSER_H
#define _MM_OWNER_LANG_PARSER_H

#include "lang.h"

/* The kernel's compiler checks the formats. */
#ifndef __KERNEL__
#define __printf(...)
#endif

enum token_kind {
	T_END,
	T_BAD,		/* what it is has been said already */
	T_WORD,
	T_QUOTED,
	T_SET,
	T_NOT,
	T_AND,
	T_OR,
	T_OPEN,
	T_CLOSE,
	T_COMMA,
	T_OPERATOR,	/* and enum owner_operator */
};

struct token {
	unsigned short kind;
	unsigned short at;
	unsigned short length;
};

/* From which a comparison's next[] is found. */
struct link {
	unsigned char level;	/* of the && or || that follows: the higher the tighter */
	bool and;		/* is it an &&, once all ! are carried inwards? */
	bool inverted;		/* and does the comparison stand under a ! then? */
};

/* What mode=records, stacks and handles say beside how a chain is shown. */
enum shape {
	SHAPE_ANY,
	SHAPE_RECORDS,
	SHAPE_GROUPS,
};

struct parser {
	const char *text;
	size_t length;
	struct owner_sentence *s;
	struct owner_lang_error *error;
	bool failed;
	struct token token;			/* what is looked at */
	struct token said[OWNER_SETTINGS];	/* where each setting was said */
	enum shape shape;
	struct link links[OWNER_COMPARISONS_MAX];
	char shown[21];
};

/* lang_token.c */
enum scanned {
	SCANNED,
	SCANNED_NONE,
	SCANNED_LARGE,
};

__printf(3, 4)
bool owner_lang_fail(struct parser *p, const struct token *where, const char *format, ...);
const char *owner_lang_shown(struct parser *p, const struct token *word);
void owner_lang_say_names(struct parser *p, const struct token *word,
		    const char * const *names, unsigned int count);
bool owner_lang_step(struct parser *p);
bool owner_lang_is_blank(char c);
bool owner_lang_is_word(const struct parser *p, const char *word);
size_t owner_lang_quoted_length(const char *text, size_t length);
int owner_lang_pick(struct parser *p, const char *what, const char * const *names, unsigned int count);
int owner_lang_find_field(const char *word, size_t length);
enum scanned owner_lang_scan_number(const struct parser *p, const struct token *part,
			      enum owner_type type, unsigned long long *number);

/* lang_expr.c */
struct owner_comparison *owner_lang_new_comparison(struct parser *p);
bool owner_lang_read_values(struct parser *p, struct owner_comparison *c);
bool owner_lang_read_expression(struct parser *p);
void owner_lang_link(struct parser *p);

#endif /* _MM_OWNER_LANG_PARSER_H */
