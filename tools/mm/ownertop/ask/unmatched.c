// SPDX-License-Identifier: GPL-2.0
/* Say why an expression holds for no object, and which names are similar. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/answer.h"
#include "ask/unmatched.h"
#include "base/alloc.h"

/* All names that objects have in one field. Their texts belong to a model. */
struct seen_names {
	const char **v;
	u32 n;
};

static const char *get_word(const struct owner_sentence *s, const struct owner_comparison *c,
			    unsigned int i)
{
	return &s->words[s->values[c->first_value + i].word];
}

static bool compares_names(const struct owner_comparison *c)
{
	enum owner_type type = owner_field_types[c->field];

	return (type == OWNER_TYPE_WORD || type == OWNER_TYPE_WORDS) && c->operator != OWNER_NE &&
	       !c->excludes && c->field != OWNER_FIELD_GFP;
}

static bool field_is_of_chain(enum owner_field field)
{
	return field == OWNER_FIELD_FUNC || field == OWNER_FIELD_MODULE ||
	       field == OWNER_FIELD_SYSCALL;
}

static bool field_is_of_user_chain(enum owner_field field)
{
	return field == OWNER_FIELD_BINARY || field == OWNER_FIELD_UFUNC;
}

static void add_all_names(struct seen_names *names, const struct strings *strings)
{
	u32 i;

	names->v = xcalloc(strings->n + 1, sizeof(*names->v));
	for (i = 0; i < strings->n; i++)
		names->v[names->n++] = strings->v[i].s;
}

/* The functions of frames; names of a model are NUL-terminated, parts of frames are not. */
static void collect_function_names(struct seen_names *names, const struct strings *frames,
				   struct strings *functions)
{
	struct frame frame;
	u32 i;

	for (i = 0; i < frames->n; i++)
		if (frame_parse(frames->v[i], &frame))
			strings_intern(functions, frame.func);
	names->v = xcalloc(functions->n + 1, sizeof(*names->v));
	for (i = 0; i < functions->n; i++)
		names->v[names->n++] = functions->v[i].s;
}

static void collect_names(struct seen_names *names, const struct model *m, enum owner_field field,
			  struct strings *functions)
{
	u32 i;

	if (field == OWNER_FIELD_FUNC) {
		collect_function_names(names, &m->stacks.frames, functions);
		return;
	}
	if (field == OWNER_FIELD_SYSCALL) {
		add_all_names(names, &m->stacks.funcs);
		return;
	}
	if (field == OWNER_FIELD_MODULE) {
		add_all_names(names, &m->stacks.modules);
		return;
	}
	if (field_is_of_user_chain(field)) {
		add_all_names(names, field == OWNER_FIELD_BINARY ? &m->user.files :
								   &m->user.funcs);
		return;
	}
	names->v = xcalloc(m->groups.n + 1, sizeof(*names->v));
	for (i = 0; i < m->groups.n; i++) {
		struct group g = model_get_group(m, i);

		if (model_field_is_known(m, &g, field))
			names->v[names->n++] = model_get_name(m, &g, field).s;
	}
}

static bool any_name_matches(const struct seen_names *names, const struct owner_sentence *s,
			     const struct owner_comparison *c)
{
	u32 i;

	for (i = 0; i < names->n; i++)
		if (owner_lang_word_matches(s, c, names->v[i]))
			return true;
	return false;
}

/* Suggest a pattern for the names that contain @word, or else the nearest name. */
static void suggest_name(const struct seen_names *names, const char *word)
{
	int nearest = owner_lang_nearest_name(word, strlen(word), names->v, names->n);
	u32 i;

	for (i = 0; i < names->n && *word; i++) {
		if (!strstr(names->v[i], word))
			continue;
		fprintf(stderr, "; did you mean '*%s*'?", word);
		return;
	}
	if (nearest >= 0)
		fprintf(stderr, "; did you mean '%s'?", names->v[nearest]);
}

static void report_unmatched_comparison(const struct seen_names *names,
					const struct owner_sentence *s,
					const struct owner_comparison *c)
{
	char plain[OWNER_SENTENCE_MAX + 1];
	unsigned int i;

	for (i = 0; i < c->nr_values; i++) {
		const char *word = get_word(s, c, i), *from;
		char *to = plain;

		for (from = word; *from; from++)
			if (!strchr("*?\\", *from))
				*to++ = *from;
		*to = '\0';
		fprintf(stderr, "ownertop: no object has %s '%s'", field_name(c->field), word);
		suggest_name(names, plain);
		putc('\n', stderr);
	}
}

/* Returns the options of @o without its expression, with groups of @field. */
static struct options make_options_of_field(const struct options *o, enum owner_field field)
{
	struct options all = *o;

	all.select.group.n = 1;
	all.select.group.v[0] = (struct owner_group_field){
		.field = field_is_of_chain(field) ? OWNER_FIELD_STACK :
			 field_is_of_user_chain(field) ? OWNER_FIELD_USER : field,
	};
	all.select.sentence.nr_comparisons = 0;
	all.select.sentence.fields_used = 0;
	all.select.chains.depth = 0;
	all.select.chains.full = true;
	all.ages = false;
	return all;
}

static void report_names_of_comparison(const struct owner_comparison *c, const struct options *o,
				       char * const *paths, int n)
{
	const struct options options = make_options_of_field(o, c->field);
	/* Quiet: damage was reported when the inputs were read for the view. */
	struct answer all = { .health.quiet = true };
	struct strings functions = { 0 };
	struct seen_names names = { 0 };

	if (answer_read(&all, &options, paths, n)) {
		collect_names(&names, &all.model, c->field, &functions);
		if (!any_name_matches(&names, &o->select.sentence, c))
			report_unmatched_comparison(&names, &o->select.sentence, c);
	}
	free(names.v);
	strings_free(&functions);
	answer_free_members(&all);
}

void unmatched_report_names(const struct answer *a, const struct options *o, char * const *paths,
			    int n)
{
	const struct owner_sentence *s = &o->select.sentence;
	unsigned int c;
	int i;

	if (!s->nr_comparisons || a->dumps.n)
		return;
	/* If it is only unknown which functions of programs have names, some are misspelt. */
	if (a->model.total.objects ||
	    (a->model.undecided.objects && a->model.unknown_fields != 1U << OWNER_FIELD_UFUNC))
		return;
	fputs("ownertop: no object matches the condition\n", stderr);
	for (i = 0; i < n; i++)
		if (!strcmp(paths[i], "-"))
			return;
	for (c = 0; c < s->nr_comparisons; c++)
		if (compares_names(&s->comparisons[c]))
			report_names_of_comparison(&s->comparisons[c], o, paths, n);
}
