// SPDX-License-Identifier: GPL-2.0
/* Parse a sentence: its settings, or a command. expr.c parses the expression. */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "parser.h"

/* --- Settings --------------------------------------------------------------- */

/* Read a number from 1 to @most as the value of setting or command @what. */
static bool read_count(struct parser *p, const char *what, unsigned int most, unsigned int *count)
{
	unsigned long long number;

	if (owner_lang_scan_number(p, &p->token, OWNER_TYPE_NUMBER, &number) ||
	    !number || number > most)
		return most == ~0U ?
		       owner_lang_fail(p, &p->token, "'%s' takes a number, 1 or more", what) :
		       owner_lang_fail(p, &p->token, "'%s' is a number from 1 to %u", what, most);
	*count = number;
	return owner_lang_next_token(p);
}

/* Read N of "1/N". Returns false, without an error, if the token is something else. */
static bool scan_one_in_n(struct parser *p, unsigned int *objects)
{
	struct token number = p->token;
	unsigned long long n;

	if (number.kind != TOKEN_WORD || number.length < 3 || memcmp(p->text + number.at, "1/", 2))
		return false;
	number.at += 2;
	number.length -= 2;
	if (owner_lang_scan_number(p, &number, OWNER_TYPE_NUMBER, &n) ||
	    !n || n > OWNER_SAMPLE_OBJECTS_MAX)
		return false;
	*objects = n;
	return true;
}

static bool read_sample(struct parser *p)
{
	unsigned long long bytes;

	if (owner_lang_token_is(p, "all"))
		return owner_lang_next_token(p);
	if (scan_one_in_n(p, &p->s->sample_objects))
		return owner_lang_next_token(p);
	if (owner_lang_scan_number(p, &p->token, OWNER_TYPE_BYTES, &bytes) ||
	    !bytes || bytes > OWNER_SAMPLE_BYTES_MAX)
		return owner_lang_fail(p, &p->token,
				       "'sample' is 'all', 1 to 64M bytes from one to the next, or 1/N of the objects");
	p->s->sample_bytes = bytes;
	return owner_lang_next_token(p);
}

static bool read_switch(struct parser *p, const char *what, bool *on)
{
	static const char * const words[] = { "off", "on" };
	int found = owner_lang_pick_name(p, what, words, 2);

	*on = found > 0;
	return found >= 0 && owner_lang_next_token(p);
}

static bool read_mode(struct parser *p)
{
	int found = owner_lang_pick_name(p, "mode", owner_mode_names, OWNER_MODES);

	p->s->mode = found;
	return found >= 0 && owner_lang_next_token(p);
}

static bool read_format(struct parser *p)
{
	int found = owner_lang_pick_name(p, "format", owner_format_names, OWNER_FORMATS);

	p->s->format = found;
	return found >= 0 && owner_lang_next_token(p);
}

static bool read_since(struct parser *p)
{
	p->s->since_mark = true;
	if (!owner_lang_token_is(p, "mark"))
		return owner_lang_fail(p, &p->token,
				       "growth is counted since=mark; for what is younger than an hour say 'if age < 1h'");
	return owner_lang_next_token(p);
}

/*
 * nid= becomes the first comparison, joined with && to the whole expression, so
 * eval.c needs no code for it. Precedence 0 is the lowest: if the comparison
 * fails, the expression is skipped.
 */
static bool read_nid(struct parser *p)
{
	struct owner_comparison *c = owner_lang_add_comparison(p);

	c->field = OWNER_FIELD_NID;
	c->operator = OWNER_EQ;
	p->s->fields_used |= 1U << OWNER_FIELD_NID;
	p->connectives[0].is_and = true;
	return owner_lang_read_values(p, c);
}

/* Skip @word and the dot behind it, if @part is that word or begins so. */
static bool skip_word(const struct parser *p, struct token *part, const char *word)
{
	const char *text = p->text + part->at;
	unsigned int length = strlen(word);

	if (part->length < length || memcmp(text, word, length))
		return false;
	if (part->length > length && (text[length] != '.' || part->length == ++length))
		return false;
	part->at += length;
	part->length -= length;
	return true;
}

/*
 * Read what follows the dot of "stack.8", "stack.-3", "stack.func", "stack.func.8", "stack.full" or
 * "user.4".
 */
static bool read_group_frames(struct parser *p, struct token *frames,
			      struct owner_group_field *group)
{
	bool user = group->field == OWNER_FIELD_USER;
	unsigned int most = user ? OWNER_USER_FRAMES_MAX : OWNER_FRAMES_MAX;
	unsigned long long number;

	if (!user && frames->length == 4 && !memcmp(p->text + frames->at, "full", 4)) {
		group->full = true;
		return true;
	}
	group->functions = !user && skip_word(p, frames, "func");
	if (group->functions && !frames->length)
		return true;
	if (!user && frames->length && p->text[frames->at] == '-') {
		group->outermost = true;
		frames->at++;
		frames->length--;
	}
	if (owner_lang_scan_number(p, frames, OWNER_TYPE_NUMBER, &number) ||
	    !number || number > most)
		return owner_lang_fail(p, &p->token,
				       user ? "'user.' goes on with 1 to %d frames" :
				       "'stack.' goes on with 1 to %d frames, '-3' for the last 3, 'func' or 'full'",
				       most);
	group->frames = number;
	return true;
}

/* Read what follows the dot of "age.1h", "size.4K" or "age.log2". */
static bool read_group_bucket(struct parser *p, struct token *bucket,
			      struct owner_group_field *group)
{
	enum owner_type type = owner_field_types[group->field];

	if (bucket->length == 4 && !memcmp(p->text + bucket->at, "log2", 4)) {
		group->log2 = true;
		return true;
	}
	if (owner_lang_scan_number(p, bucket, type, &group->width) || !group->width)
		return owner_lang_fail(p, &p->token,
				       "'%s.' goes on with the width of a bucket, as %s, or with 'log2'",
				       owner_field_names[group->field],
				       type == OWNER_TYPE_TIME ? "1h" : "4K");
	return true;
}

/* Read one field of group=: "cache", "stack", "stack.8", "user.4" or "age.1h". */
static bool read_group_field(struct parser *p, struct owner_group_field *group)
{
	struct token *word = &p->token, name = *word, rest = *word;
	const char *text = p->text + word->at;
	const char *dot = word->kind == TOKEN_WORD ? memchr(text, '.', word->length) : NULL;
	int field;

	if (word->kind != TOKEN_WORD)
		return owner_lang_fail(p, word, "expected a field to group by");
	if (dot)
		name.length = dot - text;
	field = owner_lang_find_field(text, name.length);
	if (field < 0) {
		owner_lang_fail(p, word, "no field is called '%s'",
				owner_lang_quote_word(p, &name));
		owner_lang_suggest_names(p, &name, owner_field_names, OWNER_GROUP_FIELDS);
		return false;
	}
	if (field == OWNER_FIELD_ADDRESS)
		return owner_lang_fail(p, word, "'%s' is each object's own: nothing to group by",
				       owner_field_names[field]);
	if (!dot && (field == OWNER_FIELD_AGE || field == OWNER_FIELD_TS))
		return owner_lang_fail(p, word, "'%s' is each object's own: say %s.1h or %s.log2",
				       owner_field_names[field], owner_field_names[field],
				       owner_field_names[field]);
	group->field = field;
	if (!dot)
		return true;
	rest.at += name.length + 1;
	rest.length -= name.length + 1;
	if (field == OWNER_FIELD_STACK || field == OWNER_FIELD_USER)
		return read_group_frames(p, &rest, group);
	if (owner_field_types[field] == OWNER_TYPE_BYTES ||
	    owner_field_types[field] == OWNER_TYPE_TIME)
		return read_group_bucket(p, &rest, group);
	return owner_lang_fail(p, word,
			       "only chains are cut, as stack.8, and only bytes and times have buckets, as age.1h");
}

/* Find a field in group=. Return: NULL if the sentence does not group by it. */
static const struct owner_group_field *find_group_field(const struct owner_sentence *s,
							enum owner_field field)
{
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field == field)
			return &s->group_by[i];
	return NULL;
}

static bool read_groups(struct parser *p)
{
	struct owner_sentence *s = p->s;

	for (;;) {
		struct owner_group_field *group = &s->group_by[s->nr_group_by];

		if (s->nr_group_by == OWNER_GROUP_MAX)
			return owner_lang_fail(p, &p->token, "at most %d fields can be grouped by",
					       OWNER_GROUP_MAX);
		if (!read_group_field(p, group))
			return false;
		if (find_group_field(s, group->field))
			return owner_lang_fail(p, &p->token, "'%s' is grouped by twice",
					       owner_field_names[group->field]);
		s->nr_group_by++;
		if (!owner_lang_next_token(p) || p->token.kind != TOKEN_COMMA)
			return !p->failed;
		owner_lang_next_token(p);
	}
}

static bool read_sorts(struct parser *p)
{
	struct owner_sentence *s = p->s;

	for (;;) {
		int found = owner_lang_pick_name(p, "sort", owner_sort_names, OWNER_SORTS);

		if (found < 0)
			return false;
		if (owner_lang_sorts_by(s, found))
			return owner_lang_fail(p, &p->token, "'%s' is sorted by twice",
					       owner_sort_names[found]);
		s->sort_by[s->nr_sort_by++] = found;
		if (!owner_lang_next_token(p) || p->token.kind != TOKEN_COMMA)
			return !p->failed;
		owner_lang_next_token(p);
	}
}

static bool read_each(struct parser *p)
{
	int field = owner_lang_pick_name(p, "each", owner_field_names, OWNER_GROUP_FIELDS);

	p->s->each = field;
	return field >= 0 && owner_lang_next_token(p);
}

static bool read_min(struct parser *p)
{
	if (owner_lang_scan_number(p, &p->token, OWNER_TYPE_BYTES, &p->s->min_held) ||
	    !p->s->min_held || p->s->min_held > OWNER_HELD_MAX)
		return owner_lang_fail(p, &p->token,
				       "'min' is how many bytes a group holds at least, as 1M");
	return owner_lang_next_token(p);
}

static bool read_setting_value(struct parser *p, enum owner_setting setting)
{
	struct owner_sentence *s = p->s;

	switch (setting) {
	case OWNER_SET_DEPTH:
		return read_count(p, "depth", OWNER_FRAMES_MAX, &s->depth);
	case OWNER_SET_SAMPLE:
		return read_sample(p);
	case OWNER_SET_TRACK:
		return read_switch(p, "track", &s->track);
	case OWNER_SET_FREE:
		return read_switch(p, "free", &s->free);
	case OWNER_SET_USER:
		return read_switch(p, "user", &s->user);
	case OWNER_SET_MODE:
		return read_mode(p);
	case OWNER_SET_NID:
		return read_nid(p);
	case OWNER_SET_GROUP:
		return read_groups(p);
	case OWNER_SET_SORT:
		return read_sorts(p);
	case OWNER_SET_EACH:
		return read_each(p);
	case OWNER_SET_TOP:
		return read_count(p, "top", ~0U, &s->top);
	case OWNER_SET_MIN:
		return read_min(p);
	case OWNER_SET_FORMAT:
		return read_format(p);
	case OWNER_SET_SINCE:
		return read_since(p);
	case OWNER_SETTINGS:
		break;
	}
	return false;
}

/*
 * @name is not a setting of this dialect: report what the user may have meant.
 * @other_dialect is the setting of the other dialect with this name, or -1. The
 * current token is the one after @name.
 */
static bool fail_setting(struct parser *p, const struct token *name, int other_dialect)
{
	bool control = p->s->dialect == OWNER_CONTROL;
	const char * const *settings = owner_setting_names + (control ? 0 : OWNER_SET_MODE);
	unsigned int count = control ? OWNER_SET_MODE : OWNER_SETTINGS - OWNER_SET_MODE;
	const char *word = p->text + name->at;

	if (p->failed)
		return false;
	if (p->token.kind >= TOKEN_OPERATOR && owner_lang_find_field(word, name->length) >= 0)
		return owner_lang_fail(p, name, "a condition comes after 'if'");
	if (other_dialect >= 0 && control)
		return owner_lang_fail(p, name,
				       "'%s' is for queries: what is captured does not depend on it",
				       owner_setting_names[other_dialect]);
	if (other_dialect >= 0)
		return owner_lang_fail(p, name,
				       "'%s' is for control: a query reads what was captured",
				       owner_setting_names[other_dialect]);
	if (p->token.kind != TOKEN_ASSIGN &&
	    owner_lang_nearest_name(word, name->length, settings, count) < 0) {
		if (control && owner_lang_find_name(word, name->length, owner_command_names,
						    OWNER_MARK) >= 0)
			return owner_lang_fail(p, name, "'%s' stands alone",
					       owner_lang_quote_word(p, name));
		if (!control || p->s->settings_given) {
			owner_lang_fail(p, name, "expected a setting, or 'if'");
			owner_lang_suggest_names(p, name, settings, count);
			return false;
		}
		owner_lang_fail(p, name, "no command is called '%s'",
				owner_lang_quote_word(p, name));
		owner_lang_suggest_names(p, name, owner_command_names, OWNER_MARK);
		return false;
	}
	owner_lang_fail(p, name, "no setting is called '%s'", owner_lang_quote_word(p, name));
	owner_lang_suggest_names(p, name, settings, count);
	return false;
}

static bool read_setting(struct parser *p)
{
	struct token name = p->token;
	int setting = owner_lang_find_name(p->text + name.at, name.length, owner_setting_names,
					   OWNER_SETTINGS);
	enum owner_dialect dialect = setting < OWNER_SET_MODE ? OWNER_CONTROL : OWNER_QUERY;

	owner_lang_next_token(p);
	if (setting < 0 || dialect != p->s->dialect)
		return fail_setting(p, &name, setting);
	if (p->token.kind != TOKEN_ASSIGN)
		return owner_lang_fail(p, &p->token, "expected '=' after '%s'",
				       owner_setting_names[setting]);
	if (p->s->settings_given & 1U << setting)
		return owner_lang_fail(p, &name, "'%s' is set twice", owner_setting_names[setting]);
	p->s->settings_given |= 1U << setting;
	p->setting_tokens[setting] = name;
	return owner_lang_next_token(p) && read_setting_value(p, setting);
}

/**
 * owner_lang_sorts_by() - find a key in sort=
 * @s: the sentence
 * @key: the key
 *
 * Return: true if the sentence sorts by it.
 */
bool owner_lang_sorts_by(const struct owner_sentence *s, enum owner_sort key)
{
	return memchr(s->sort_by, key, s->nr_sort_by);
}

/* --- Sentences -------------------------------------------------------------- */

static bool read_condition(struct parser *p)
{
	owner_lang_next_token(p);
	return owner_lang_read_expression(p);
}

/* Read "del 3", "del if cache == dentry", "clear", "mark" or "mark group=cache". */
static bool read_command(struct parser *p)
{
	int command = owner_lang_find_name(p->text + p->token.at, p->token.length,
					   owner_command_names, OWNER_COMMANDS);
	struct token name = p->token;

	p->s->command = command;
	owner_lang_next_token(p);
	if (command == OWNER_DEL && p->token.kind == TOKEN_END)
		return owner_lang_fail(p, &p->token,
				       "'del' takes the number of a rule, 'del 3', or its condition, 'del if'");
	if (command == OWNER_DEL && owner_lang_token_is(p, "if")) {
		if (!read_condition(p))
			return false;
		owner_lang_link_comparisons(p);
		return true;
	}
	if (command == OWNER_DEL && !read_count(p, "del", ~0U, &p->s->number))
		return false;
	if (command == OWNER_MARK && owner_lang_token_is(p, "group") && !read_setting(p))
		return false;
	if (command == OWNER_MARK && p->token.kind != TOKEN_END)
		return owner_lang_fail(p, &p->token, "'mark' takes nothing but group=");
	if (p->token.kind != TOKEN_END)
		return owner_lang_fail(p, &name, "'%s' stands alone", owner_command_names[command]);
	return true;
}

/* each= is about one of the fields of group=, and about top=. */
static bool check_each(struct parser *p)
{
	const struct token *each = &p->setting_tokens[OWNER_SET_EACH];
	struct owner_sentence *s = p->s;

	if (!(s->settings_given & 1U << OWNER_SET_EACH))
		return true;
	if (!s->top)
		return owner_lang_fail(p, each,
				       "'each' shows the first groups of each %s: say top= too",
				       owner_field_names[s->each]);
	return find_group_field(s, s->each) ||
	       owner_lang_fail(p, each, "'each' names a field of group=, and '%s' is none of them",
			       owner_field_names[s->each]);
}

/* A handle is that of a whole chain: a part of one and its functions have none. */
static bool check_mode(struct parser *p)
{
	const struct owner_group_field *stack = find_group_field(p->s, OWNER_FIELD_STACK);

	if (p->s->mode == OWNER_MODE_STACK || !stack || !(stack->frames || stack->functions))
		return true;
	return owner_lang_fail(p, &p->setting_tokens[OWNER_SET_MODE],
			       "a handle is that of a whole chain: say group=stack, without more");
}

/* sort=, each=, min= and since= need group=. */
static bool check_groups(struct parser *p)
{
	static const unsigned char group_settings[] = {
		OWNER_SET_SORT, OWNER_SET_EACH, OWNER_SET_MIN, OWNER_SET_SINCE
	};
	struct owner_sentence *s = p->s;
	unsigned int i;

	for (i = 0; i < sizeof(group_settings); i++)
		if (s->settings_given & 1U << group_settings[i] && !s->nr_group_by)
			return owner_lang_fail(p, &p->setting_tokens[group_settings[i]],
					       "'%s' is for groups: say group= too",
					       owner_setting_names[group_settings[i]]);
	return check_each(p) && check_mode(p);
}

/* Pages are never sampled, so sample= in a rule about pages only is a mistake. */
static bool check_sample(struct parser *p)
{
	struct owner_sentence *s = p->s;

	if (!s->sample_bytes && !s->sample_objects)
		return true;
	if (owner_lang_matching_kinds(s) != 1U << OWNER_KIND_PAGE)
		return true;
	return owner_lang_fail(p, &p->setting_tokens[OWNER_SET_SAMPLE],
			       "pages are not sampled, and this rule is about pages only: leave 'sample' out");
}

static bool read_sentence(struct parser *p)
{
	struct owner_sentence *s = p->s;

	if (!owner_lang_next_token(p))
		return false;
	if (s->dialect == OWNER_CONTROL ?
	    owner_lang_token_is(p, "del") || owner_lang_token_is(p, "clear") :
	    owner_lang_token_is(p, "mark"))
		return read_command(p);
	while (p->token.kind == TOKEN_WORD && !owner_lang_token_is(p, "if"))
		if (!read_setting(p))
			return false;
	if (s->dialect == OWNER_CONTROL && !s->settings_given)
		return owner_lang_fail(p, &p->token,
				       "expected what a rule sets: depth=, sample=, track=, free= or user=");
	if (owner_lang_token_is(p, "if")) {
		if (!read_condition(p))
			return false;
	} else if (p->token.kind != TOKEN_END) {
		return owner_lang_fail(p, &p->token, "expected a setting, or 'if'");
	}
	owner_lang_link_comparisons(p);
	return check_groups(p) && check_sample(p);
}

/*
 * Called with the length of the text, which bounds what the parser reads, and with
 * the length of the printed form, which can be longer.
 */
static bool check_length(struct parser *p, size_t length)
{
	struct token end = {
		.at = p->length < OWNER_SENTENCE_MAX ? p->length : OWNER_SENTENCE_MAX,
	};

	if (length <= OWNER_SENTENCE_MAX)
		return true;
	return owner_lang_fail(p, &end,
			       "a sentence has at most %d bytes; written out, this one has %zu",
			       OWNER_SENTENCE_MAX, length);
}

/**
 * owner_lang_parse() - parse one sentence
 * @s: the result; undefined after an error
 * @dialect: decides which settings and fields are allowed
 * @text: the sentence; it needs no NUL at its end
 * @length: length of @text in bytes
 * @error: set to the first error, if there is one
 *
 * Return: true if the sentence is valid.
 */
bool owner_lang_parse(struct owner_sentence *s, enum owner_dialect dialect, const char *text,
		      size_t length, struct owner_lang_error *error)
{
	struct parser p = { .text = text, .length = length, .s = s, .error = error };

	memset(s, 0, sizeof(*s));
	s->dialect = dialect;
	s->command = OWNER_RULE;
	s->track = true;
	return check_length(&p, length) && read_sentence(&p) &&
	       check_length(&p, owner_lang_print(s, NULL, 0));
}
