// SPDX-License-Identifier: GPL-2.0
/* What follows "if": values, comparisons, and how they are bound. */

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
	case SCANNED:
		return true;
	case SCANNED_LARGE:
		return owner_lang_fail(p, part, "'%s' is too large a number", owner_lang_shown(p, part));
	case SCANNED_NONE:
		break;
	}
	if (type == OWNER_TYPE_BYTES)
		return owner_lang_fail(p, part, "'%s' is no number of bytes, as 512, 4K, 1M or 2G",
			    owner_lang_shown(p, part));
	if (type == OWNER_TYPE_TIME)
		return owner_lang_fail(p, part, "'%s' is no time, as 10ms, 5s, 2m, 1h or 3d",
			    owner_lang_shown(p, part));
	return owner_lang_fail(p, part, "'%s' is no number", owner_lang_shown(p, part));
}

/* "7", or "2-5". */
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

/* What is smaller or larger than a number is a range as well. */
static bool read_bound(struct parser *p, enum owner_type type, enum owner_operator operator,
		       union owner_value *value)
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

/* Do all sets of a glob have an end? */
static bool glob_is_whole(const char *pattern)
{
	bool in;

	for (; pattern && *pattern; pattern++) {
		if (*pattern == '\\') {
			pattern++;
		} else if (*pattern == '[') {
			pattern = owner_lang_glob_class(pattern + 1, '\0', &in);
			if (!pattern)
				return false;
			pattern--;
		}
	}
	return true;
}

/*
 * Keep a word. There is room: it is shorter than its text by the quotes, or
 * comes after an operator or a comma, and takes one byte more.
 */
static bool read_word(struct parser *p, union owner_value *value)
{
	const char *c = p->text + p->token.at, *end = c + p->token.length;
	char *word = p->s->words + p->s->nr_words, *to = word;
	bool quoted = p->token.kind == T_QUOTED;

	if (quoted) {
		c++;
		end--;
	}
	for (; c < end; c++) {
		/* A \ stays, and means what follows, unless that is a quote. */
		if (*c == '\\' && (c[1] == '"' || c[1] == '\''))
			c++;
		else if (*c == '\\')
			*to++ = *c++;
		*to++ = *c;
	}
	*to++ = '\0';
	value->word = p->s->nr_words;
	value->is_glob = strpbrk(word, "*?[\\");
	p->s->nr_words += to - word;
	if (!glob_is_whole(word))
		return owner_lang_fail(p, &p->token, "a [ has no ]: in quotes, '\\[' stands for itself");
	return true;
}

/* --- Values and comparisons ------------------------------------------------- */

/* Who forgets how a path begins would be answered that nothing is there. */
static bool check_path(struct parser *p, const struct token *word, const union owner_value *value)
{
	const char *path = p->s->words + value->word;

	if (value->is_glob || *path == '/')
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
		return read_word(p, value) &&
		       (c->field != OWNER_FIELD_CGROUP || check_path(p, &p->token, value));
	case OWNER_TYPE_SOURCE:
		kind = owner_lang_pick(p, "kind", owner_source_names, OWNER_SOURCES);
		value->low = kind;
		value->high = kind;
		return kind >= 0;
	default:
		if (c->operator == OWNER_EQ || c->operator == OWNER_NE)
			return read_range(p, type, value);
		return read_bound(p, type, c->operator, value);
	}
}

bool owner_lang_read_values(struct parser *p, struct owner_comparison *c)
{
	struct owner_sentence *s = p->s;

	c->first_value = s->nr_values;
	for (;;) {
		if (p->token.kind != T_WORD && p->token.kind != T_QUOTED)
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
		if (!owner_lang_step(p) || p->token.kind != T_COMMA)
			return !p->failed;
		if (c->operator >= OWNER_LT && c->operator <= OWNER_GE)
			return owner_lang_fail(p, &p->token, "'%s' takes one value, not a list",
					 owner_operator_names[c->operator]);
		owner_lang_step(p);
	}
}

static bool read_field(struct parser *p, struct owner_comparison *c)
{
	bool control = p->s->dialect == OWNER_CONTROL;
	struct token *word = &p->token;
	int field;

	if (word->kind != T_WORD)
		return owner_lang_fail(p, word, "expected a field to compare");
	if (owner_lang_is_word(p, "not"))
		return owner_lang_fail(p, word, "'not' is said !");
	field = owner_lang_find_field(p->text + word->at, word->length);
	if (field < 0) {
		owner_lang_fail(p, word, "no field is called '%s'", owner_lang_shown(p, word));
		owner_lang_say_names(p, word, owner_field_names,
			       control ? OWNER_FIELD_AGE : OWNER_FIELDS);
		return false;
	}
	if (field == OWNER_FIELD_STACK)
		return owner_lang_fail(p, word, "stack is to group by: a frame of it is a 'func'");
	if (control && field >= OWNER_FIELD_AGE)
		return owner_lang_fail(p, word, "'%s' is not known at allocation: ask it of a query",
				 owner_field_names[field]);
	c->field = field;
	p->s->fields_used |= 1U << field;
	return owner_lang_step(p);
}

static bool read_operator(struct parser *p, struct owner_comparison *c)
{
	const char *field = owner_field_names[c->field];
	struct token *word = &p->token;

	if (word->kind == T_SET)
		return owner_lang_fail(p, word, "'=' sets: to compare, say '=='");
	if (word->kind < T_OPERATOR)
		return owner_lang_fail(p, word, "expected == != < <= > >= or ~ after '%s'", field);
	c->operator = word->kind - T_OPERATOR;
	switch (owner_field_types[c->field]) {
	case OWNER_TYPE_WORD:
	case OWNER_TYPE_WORDS:
		if (c->operator >= OWNER_LT && c->operator <= OWNER_GE)
			return owner_lang_fail(p, word, "'%s' is a word: say ==, != or ~", field);
		break;
	case OWNER_TYPE_SOURCE:
		if (c->operator > OWNER_NE)
			return owner_lang_fail(p, word, "'%s' is compared with == or !=", field);
		break;
	default:
		if (c->operator == OWNER_LIKE)
			return owner_lang_fail(p, word, "'~' is for words, and '%s' is a number", field);
	}
	return owner_lang_step(p);
}

struct owner_comparison *owner_lang_new_comparison(struct parser *p)
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

/* Parentheses that are open; bit 0 of each mask is the innermost. */
struct nest {
	unsigned int depth;
	unsigned int nots;	/* those that a ! stands before */
	bool odd;		/* an odd number of them */
	struct token opened[OWNER_NESTING_MAX];
};

/* All ! and ( before a comparison. */
static bool read_opens(struct parser *p, struct nest *nest, struct owner_comparison *c)
{
	bool not = false;

	for (;; owner_lang_step(p)) {
		if (p->token.kind == T_NOT) {
			not = !not;
			continue;
		}
		c->negated |= (unsigned int)not << c->nr_opening;
		nest->odd ^= not;
		if (p->token.kind != T_OPEN)
			break;
		if (nest->depth == OWNER_NESTING_MAX)
			return owner_lang_fail(p, &p->token, "at most %d parentheses stand in each other",
				    OWNER_NESTING_MAX);
		nest->opened[nest->depth++] = p->token;
		nest->nots = nest->nots << 1 | not;
		c->nr_opening++;
		not = false;
	}
	p->links[c - p->s->comparisons].inverted = nest->odd;
	/* A ! before the comparison itself goes no further. */
	nest->odd ^= not;
	return true;
}

static bool read_closes(struct parser *p, struct nest *nest, struct owner_comparison *c)
{
	for (; p->token.kind == T_CLOSE; owner_lang_step(p)) {
		if (!nest->depth)
			return owner_lang_fail(p, &p->token, "this ) closes nothing");
		nest->depth--;
		nest->odd ^= nest->nots & 1;
		nest->nots >>= 1;
		c->nr_closing++;
	}
	return !p->failed;
}

/* Something stands where && or || should. */
static bool fail_binary(struct parser *p)
{
	const struct token *word = &p->token;
	const char *text = p->text + word->at;

	if (owner_lang_is_word(p, "and") || owner_lang_is_word(p, "or"))
		return owner_lang_fail(p, word, "'%s' is said %s", owner_lang_shown(p, word),
				 owner_lang_is_word(p, "and") ? "&&" : "||");
	if (word->kind == T_WORD &&
	    owner_lang_find_name(text, word->length, owner_setting_names, OWNER_SETTINGS) >= 0)
		return owner_lang_fail(p, word, "settings stand before 'if'");
	return owner_lang_fail(p, word, "expected && or ||; a value with blanks stands in quotes");
}

bool owner_lang_read_expression(struct parser *p)
{
	struct nest nest = {};

	for (;;) {
		struct owner_comparison *c = owner_lang_new_comparison(p);
		struct link *link;

		if (!c || !read_opens(p, &nest, c) || !read_field(p, c) || !read_operator(p, c) ||
		    !owner_lang_read_values(p, c) || !read_closes(p, &nest, c))
			return false;
		if (p->token.kind == T_END)
			break;
		if (p->token.kind != T_AND && p->token.kind != T_OR)
			return fail_binary(p);
		c->followed_by_and = p->token.kind == T_AND;
		link = &p->links[c - p->s->comparisons];
		link->and = c->followed_by_and ^ nest.odd;
		link->level = 2 * nest.depth + c->followed_by_and;
		owner_lang_step(p);
	}
	if (nest.depth)
		return owner_lang_fail(p, &nest.opened[nest.depth - 1], "this ( is not closed");
	return true;
}

/*
 * Where does evaluation go on from a comparison with this outcome? An && that
 * got false and an || that got true are decided: what they bind is skipped, and
 * the looser && or || behind it sees the same outcome.
 */
static unsigned char next_after(const struct parser *p, unsigned int at, bool outcome)
{
	unsigned int last = p->s->nr_comparisons - 1;

	while (at < last) {
		const struct link *link = &p->links[at];

		if (link->and == outcome)
			return at + 1;
		do
			at++;
		while (at < last && p->links[at].level >= link->level);
	}
	return outcome ? OWNER_ACCEPT : OWNER_REJECT;
}

void owner_lang_link(struct parser *p)
{
	unsigned int i;

	for (i = 0; i < p->s->nr_comparisons; i++) {
		p->s->comparisons[i].next[0] = next_after(p, i, p->links[i].inverted);
		p->s->comparisons[i].next[1] = next_after(p, i, !p->links[i].inverted);
	}
}
