// SPDX-License-Identifier: GPL-2.0
/* Parse the expression after "if": values, comparisons, and !, && and ||. */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "parser.h"

/* --- Numbers ---------------------------------------------------------------- */

static bool read_number(struct parser *p, const struct token *part, enum owner_type type,
			unsigned long long *number)
{
	switch (owner_lang_scan_number(p, part, type, number)) {
	case SCAN_OK:
		return true;
	case SCAN_TOO_LARGE:
		return owner_lang_fail(p, part, "'%s' is too large a number",
				       owner_lang_quote_word(p, part));
	case SCAN_NO_NUMBER:
		break;
	}
	if (type == OWNER_TYPE_BYTES)
		return owner_lang_fail(p, part, "'%s' is no number of bytes, as 512, 4K, 1M or 2G",
				       owner_lang_quote_word(p, part));
	if (type == OWNER_TYPE_TIME)
		return owner_lang_fail(p, part, "'%s' is no time, as 10ms, 5s, 2m, 1h or 3d",
				       owner_lang_quote_word(p, part));
	if (type == OWNER_TYPE_ADDRESS)
		return owner_lang_fail(p, part, "'%s' is no address, as 0xffff888012345678",
				       owner_lang_quote_word(p, part));
	return owner_lang_fail(p, part, "'%s' is no number", owner_lang_quote_word(p, part));
}

/* Read a number, "7", or a range with both ends included, "2-5". */
static bool read_range(struct parser *p, enum owner_type type, union owner_value *value)
{
	const char *text = p->text + p->token.at;
	const char *dash = memchr(text, '-', p->token.length);
	struct token first = p->token, last = p->token;

	if (!dash) {
		if (!read_number(p, &first, type, &value->low))
			return false;
		value->high = value->low;
		return true;
	}
	first.length = dash - text;
	last.at += first.length + 1;
	last.length -= first.length + 1;
	if (!first.length || !last.length)
		return owner_lang_fail(p, &p->token, "a range has two ends, as 2-5");
	if (!read_number(p, &first, type, &value->low) ||
	    !read_number(p, &last, type, &value->high))
		return false;
	if (value->high < value->low)
		return owner_lang_fail(p, &p->token, "this range ends before it begins");
	return true;
}

/* Store the operand of <, <=, > or >= as the range of numbers that satisfy it. */
static bool read_comparison_bound(struct parser *p, enum owner_type type,
				  enum owner_operator operator, union owner_value *value)
{
	unsigned long long number;

	if (memchr(p->text + p->token.at, '-', p->token.length))
		return owner_lang_fail(p, &p->token, "'%s' takes one number, not a range",
				       owner_operator_names[operator]);
	if (!read_number(p, &p->token, type, &number))
		return false;
	value->low = 0;
	value->high = ~0ULL;
	switch (operator) {
	case OWNER_LT:
		if (!number)
			return owner_lang_fail(p, &p->token, "nothing is below 0");
		value->high = number - 1;
		break;
	case OWNER_LE:
		value->high = number;
		break;
	case OWNER_GT:
		if (number == ~0ULL)
			return owner_lang_fail(p, &p->token, "nothing is above the largest number");
		value->low = number + 1;
		break;
	default:
		value->low = number;
	}
	return true;
}

/* --- Words ------------------------------------------------------------------ */

/* Read the [sets] of a glob, so that matching a character with one takes one step. */
static bool read_glob_sets(struct parser *p, union owner_value *value)
{
	struct owner_sentence *s = p->s;
	const char *pattern = &s->words[value->word];
	struct owner_glob_set *set;

	value->first_set = s->nr_sets;
	while (*pattern) {
		if (*pattern == '\\') {
			pattern += 2;
		} else if (*pattern == '[') {
			if (s->nr_sets == OWNER_SETS_MAX)
				return owner_lang_fail(p, &p->token,
						       "a sentence has at most %d sets [ ] in its words",
						       OWNER_SETS_MAX);
			set = &s->sets[s->nr_sets++];
			pattern = owner_lang_read_glob_set(pattern + 1, set);
			if (!pattern)
				return owner_lang_fail(p, &p->token,
						       "a [ has no ]: in quotes, '\\[' stands for itself");
			set->end = pattern - s->words;
		} else {
			pattern++;
		}
	}
	return true;
}

/*
 * Copy a word to words[]. It always fits: a copy is at most one byte longer than
 * the token (its NUL), and the operator or comma before each token makes up for it.
 */
static bool read_word(struct parser *p, const struct owner_comparison *comparison,
		      union owner_value *value)
{
	bool is_equal = comparison->operator == OWNER_EQ, is_pattern = false;
	const char *c = p->text + p->token.at, *end = c + p->token.length;
	char *word = p->s->words + p->s->nr_words, *to = word;
	bool quoted = p->token.kind == TOKEN_QUOTED;

	if (quoted) {
		c++;
		end--;
	}
	for (; c < end; c++) {
		/* Drop the \ before a quote. Keep any other: it is part of the glob. */
		if (*c == '\\' && (c[1] == '"' || c[1] == '\''))
			c++;
		else if (*c == '\\')
			*to++ = *c++;
		else if (*c == '*' || *c == '?' || *c == '[')
			is_pattern = true;
		*to++ = *c;
	}
	*to++ = '\0';
	if (is_pattern && comparison->operator != OWNER_LIKE)
		return owner_lang_fail(p, &p->token,
				       is_equal ?
				       "'==' compares whole words: for a pattern say %s ~" :
				       "'!=' compares whole words: for a pattern say !(%s ~ ...)",
				       owner_field_names[comparison->field]);
	value->word = p->s->nr_words;
	value->is_glob = strpbrk(word, "*?[\\");
	p->s->nr_words += to - word;
	return !value->is_glob || read_glob_sets(p, value);
}

/* --- Values and comparisons ------------------------------------------------- */

/* A path without its leading / would never match, and the user would not learn why. */
static bool check_path(struct parser *p, const struct token *word, enum owner_field field,
		       const union owner_value *value)
{
	const char *path = p->s->words + value->word;

	if (value->is_glob || *path == '/' ||
	    (field == OWNER_FIELD_TASK_CGROUP && p->s->dialect == OWNER_QUERY &&
	     !strncmp(path, OWNER_CGROUP_REMOVED, strlen(OWNER_CGROUP_REMOVED))))
		return true;
	return owner_lang_fail(p, word,
			       "a cgroup's path begins with '/', as /system.slice/sshd.service");
}

static bool read_value(struct parser *p, const struct owner_comparison *c,
		       union owner_value *value)
{
	enum owner_type type = owner_field_types[c->field];
	int kind;

	switch (type) {
	case OWNER_TYPE_WORD:
	case OWNER_TYPE_WORDS:
		return read_word(p, c, value) &&
		       ((c->field != OWNER_FIELD_CGROUP && c->field != OWNER_FIELD_TASK_CGROUP) ||
			check_path(p, &p->token, c->field, value));
	case OWNER_TYPE_KIND:
		kind = owner_lang_pick_name(p, "kind", owner_kind_names, OWNER_KINDS);
		value->low = kind;
		value->high = kind;
		return kind >= 0;
	case OWNER_TYPE_ADDRESS:
		if (!read_number(p, &p->token, type, &value->low))
			return false;
		value->high = value->low;
		return true;
	default:
		if (c->operator == OWNER_EQ || c->operator == OWNER_NE)
			return read_range(p, type, value);
		return read_comparison_bound(p, type, c->operator, value);
	}
}

/* Read the values of @c, separated by commas. Returns false after an error. */
bool owner_lang_read_values(struct parser *p, struct owner_comparison *c)
{
	struct owner_sentence *s = p->s;

	c->first_value = s->nr_values;
	for (;;) {
		if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_QUOTED)
			return owner_lang_fail(p, &p->token, "expected a value of '%s'",
					       owner_field_names[c->field]);
		if (s->nr_values == OWNER_VALUES_MAX)
			return owner_lang_fail(p, &p->token,
					       "a sentence has at most %d values, those of lists included",
					       OWNER_VALUES_MAX);
		if (!read_value(p, c, &s->values[s->nr_values]))
			return false;
		s->nr_values++;
		c->nr_values++;
		if (!owner_lang_next_token(p) || p->token.kind != TOKEN_COMMA)
			return !p->failed;
		if (c->operator >= OWNER_LT && c->operator <= OWNER_GE)
			return owner_lang_fail(p, &p->token, "'%s' takes one value, not a list",
					       owner_operator_names[c->operator]);
		owner_lang_next_token(p);
	}
}

static bool read_field(struct parser *p, struct owner_comparison *c)
{
	bool control = p->s->dialect == OWNER_CONTROL;
	struct token *word = &p->token;
	int field;

	if (word->kind != TOKEN_WORD)
		return owner_lang_fail(p, word, "expected a field to compare");
	if (owner_lang_token_is(p, "not"))
		return owner_lang_fail(p, word, "'not' is said !");
	field = owner_lang_find_field(p->text + word->at, word->length);
	if (field < 0) {
		owner_lang_fail(p, word, "no field is called '%s'", owner_lang_quote_word(p, word));
		owner_lang_suggest_names(p, word, owner_field_names,
					 control ? OWNER_FIELD_AGE : OWNER_FIELDS);
		return false;
	}
	if (field == OWNER_FIELD_STACK)
		return owner_lang_fail(p, word, "stack is to group by: a frame of it is a 'func'");
	if (field == OWNER_FIELD_USER)
		return owner_lang_fail(p, word,
				       "user is to group by: compare 'binary' or 'ufunc'");
	if (control && field == OWNER_FIELD_UFUNC)
		return owner_lang_fail(p, word,
				       "the kernel knows no functions of programs: ask ownertop for 'ufunc'");
	if (control && field == OWNER_FIELD_CGROUP)
		return owner_lang_fail(p, word,
				       "'cgroup' is known after the rules only: compare 'task_cgroup', the cgroup of the task");
	if (control && field >= OWNER_FIELD_AGE)
		return owner_lang_fail(p, word,
				       "'%s' is not known at allocation: ask it of a query",
				       owner_field_names[field]);
	c->field = field;
	p->s->fields_used |= 1U << field;
	return owner_lang_next_token(p);
}

static bool read_operator(struct parser *p, struct owner_comparison *c)
{
	const char *field = owner_field_names[c->field];
	struct token *word = &p->token;

	if (word->kind == TOKEN_ASSIGN)
		return owner_lang_fail(p, word, "'=' sets: to compare, say '=='");
	if (word->kind < TOKEN_OPERATOR)
		return owner_lang_fail(p, word, "expected == != < <= > >= or ~ after '%s'", field);
	c->operator = word->kind - TOKEN_OPERATOR;
	switch (owner_field_types[c->field]) {
	case OWNER_TYPE_WORD:
	case OWNER_TYPE_WORDS:
		if (c->operator >= OWNER_LT && c->operator <= OWNER_GE)
			return owner_lang_fail(p, word, "'%s' is a word: say ==, != or ~", field);
		break;
	case OWNER_TYPE_KIND:
		if (c->operator > OWNER_NE)
			return owner_lang_fail(p, word, "'%s' is compared with == or !=", field);
		break;
	case OWNER_TYPE_ADDRESS:
		if (c->operator != OWNER_EQ)
			return owner_lang_fail(p, word,
					       "'%s' is looked up: say == and one or a few addresses",
					       field);
		break;
	default:
		if (c->operator == OWNER_LIKE)
			return owner_lang_fail(p, word, "'~' is for words, and '%s' is a number",
					       field);
	}
	return owner_lang_next_token(p);
}

/* Append an empty comparison to the sentence. Returns NULL if there are too many. */
struct owner_comparison *owner_lang_add_comparison(struct parser *p)
{
	struct owner_sentence *s = p->s;

	if (s->nr_comparisons == OWNER_COMPARISONS_MAX) {
		owner_lang_fail(p, &p->token, "a sentence has at most %d comparisons",
				OWNER_COMPARISONS_MAX);
		return NULL;
	}
	return &s->comparisons[s->nr_comparisons++];
}

/* --- Expressions ------------------------------------------------------------ */

/* The parentheses that are open at the current token. */
struct open_parens {
	unsigned int depth;
	unsigned int negated;	/* bit n: ! before the parenthesis; bit 0 is the innermost */
	bool negates;		/* an odd number of them is negated */
	struct token opened[OWNER_NESTING_MAX];	/* for the error if one stays open */
};

/* Read all ! and ( before a comparison. */
static bool read_opening_parens(struct parser *p, struct open_parens *parens,
				struct owner_comparison *c)
{
	bool not = false;

	for (;; owner_lang_next_token(p)) {
		if (p->token.kind == TOKEN_NOT) {
			not = !not;
			continue;
		}
		c->negated |= (unsigned int)not << c->nr_opening;
		parens->negates ^= not;
		if (p->token.kind != TOKEN_OPEN)
			break;
		if (parens->depth == OWNER_NESTING_MAX)
			return owner_lang_fail(p, &p->token,
					       "at most %d parentheses stand in each other",
					       OWNER_NESTING_MAX);
		parens->opened[parens->depth++] = p->token;
		parens->negated = parens->negated << 1 | not;
		c->nr_opening++;
		not = false;
	}
	p->connectives[c - p->s->comparisons].negated = parens->negates;
	c->excludes = parens->negates;
	/* A ! directly before the comparison negates only this comparison. */
	parens->negates ^= not;
	return true;
}

static bool read_closing_parens(struct parser *p, struct open_parens *parens,
				struct owner_comparison *c)
{
	for (; p->token.kind == TOKEN_CLOSE; owner_lang_next_token(p)) {
		if (!parens->depth)
			return owner_lang_fail(p, &p->token, "this ) closes nothing");
		parens->depth--;
		parens->negates ^= parens->negated & 1;
		parens->negated >>= 1;
		c->nr_closing++;
	}
	return !p->failed;
}

/* The current token is not the expected && or ||: report what the user may have meant. */
static bool fail_connective(struct parser *p)
{
	const struct token *word = &p->token;
	const char *text = p->text + word->at;

	if (owner_lang_token_is(p, "and") || owner_lang_token_is(p, "or"))
		return owner_lang_fail(p, word, "'%s' is said %s", owner_lang_quote_word(p, word),
				       owner_lang_token_is(p, "and") ? "&&" : "||");
	if (word->kind == TOKEN_WORD &&
	    owner_lang_find_name(text, word->length, owner_setting_names, OWNER_SETTINGS) >= 0)
		return owner_lang_fail(p, word, "settings stand before 'if'");
	return owner_lang_fail(p, word, "expected && or ||; a value with blanks stands in quotes");
}

/* Read the expression after "if", up to the end of the sentence. */
bool owner_lang_read_expression(struct parser *p)
{
	struct open_parens parens = {};

	for (;;) {
		struct owner_comparison *c = owner_lang_add_comparison(p);
		struct connective *connective;

		if (!c || !read_opening_parens(p, &parens, c) || !read_field(p, c) ||
		    !read_operator(p, c) || !owner_lang_read_values(p, c) ||
		    !read_closing_parens(p, &parens, c))
			return false;
		if (p->token.kind == TOKEN_END)
			break;
		if (p->token.kind != TOKEN_AND && p->token.kind != TOKEN_OR)
			return fail_connective(p);
		c->followed_by_and = p->token.kind == TOKEN_AND;
		connective = &p->connectives[c - p->s->comparisons];
		connective->is_and = c->followed_by_and ^ parens.negates;
		connective->precedence = 2 * parens.depth + c->followed_by_and;
		owner_lang_next_token(p);
	}
	if (parens.depth)
		return owner_lang_fail(p, &parens.opened[parens.depth - 1], "this ( is not closed");
	return true;
}

/*
 * Find the comparison to evaluate after comparison @at had this outcome. False
 * before && and true before || decide that operation: skip its other operands,
 * and pass the outcome to the next connective that binds less tightly.
 */
static unsigned char find_next_comparison(const struct parser *p, unsigned int at, bool outcome)
{
	unsigned int last = p->s->nr_comparisons - 1;

	while (at < last) {
		const struct connective *connective = &p->connectives[at];

		if (connective->is_and == outcome)
			return at + 1;
		do
			at++;
		while (at < last && p->connectives[at].precedence >= connective->precedence);
	}
	return outcome ? OWNER_ACCEPT : OWNER_REJECT;
}

/* Compute next[] of each comparison. A ! swaps its two outcomes. */
void owner_lang_link_comparisons(struct parser *p)
{
	unsigned int i;

	for (i = 0; i < p->s->nr_comparisons; i++) {
		bool negated = p->connectives[i].negated;

		p->s->comparisons[i].next[0] = find_next_comparison(p, i, negated);
		p->s->comparisons[i].next[1] = find_next_comparison(p, i, !negated);
	}
}
