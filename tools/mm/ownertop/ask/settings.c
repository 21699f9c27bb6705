// SPDX-License-Identifier: GPL-2.0
/* Merge the settings of the sentence with the options that mean the same, such as --sort. */
#include <stdlib.h>
#include <string.h>

#include "ask/settings.h"
#include "ask/usage.h"
#include "base/alloc.h"

const char * const format_options[NR_FORMATS] = {
	[FORMAT_JSON] = "--json",
	[FORMAT_CSV] = "--csv",
	[FORMAT_TSV] = "format=tsv",
	[FORMAT_HTML] = "--html",
};

/*
 * Parse the list of --group field by field: the language allows fewer fields in group= than
 * --group does.
 */
void settings_parse_group(struct options *o, const char *list)
{
	struct group_list *by = &o->select.group;
	char *fields = xstrndup(list, strlen(list)), *field, *next = fields;
	struct owner_sentence s;

	by->n = 0;
	while ((field = strsep(&next, ","))) {
		sentence_parse_setting(&s, "--group", "group=", field);
		if (field_is_listed(by, s.group_by[0].field))
			usage_refuse_value("--group", field, "is named twice");
		by->v[by->n++] = s.group_by[0];
	}
	free(fields);
}

static void copy_sort_keys_from_sentence(struct options *o, const struct owner_sentence *s)
{
	memcpy(o->order, s->sort_by, sizeof(o->order));
	o->nr_order = s->nr_sort_by;
}

void settings_parse_sort(struct options *o, const char *list)
{
	struct owner_sentence s;

	sentence_parse_setting(&s, "--sort", "group=kind sort=", list);
	copy_sort_keys_from_sentence(o, &s);
}

static bool sentence_has_setting(const struct owner_sentence *s, enum owner_setting setting)
{
	return s->settings_given & 1U << setting;
}

/*
 * Refuse an option that repeats a setting. @argument: argument of the option, NULL if it is not
 * used; @in_sentence: the sentence has the setting.
 */
static void refuse_repeated_setting(const char *option, const char *argument, bool in_sentence)
{
	if (argument && in_sentence)
		usage_refuse_value(option, argument, "is said in another place as well");
}

static void apply_groups_of_sentence(struct options *o, const struct command_line *line)
{
	const struct owner_sentence *s = &o->select.sentence;
	struct group_list *by = &o->select.group;
	unsigned int i;

	refuse_repeated_setting("--group", line->group, s->nr_group_by);
	refuse_repeated_setting("--depth", line->depth, s->nr_group_by);
	if (s->nr_group_by) {
		memcpy(by->v, s->group_by, sizeof(s->group_by));
		by->n = s->nr_group_by;
	}
	for (i = 0; i < by->n; i++) {
		if (by->v[i].field == OWNER_FIELD_USER)
			o->select.user.depth = by->v[i].frames;
		if (by->v[i].field != OWNER_FIELD_STACK)
			continue;
		refuse_repeated_setting("--depth", line->depth, by->v[i].frames);
		o->select.chains.full = by->v[i].full;
		o->select.chains.outermost = by->v[i].outermost;
		o->select.chains.by_function = by->v[i].functions;
		if (s->nr_group_by || by->v[i].frames)
			o->select.chains.depth = by->v[i].frames;
	}
	o->select.by_handle = s->mode != OWNER_MODE_STACK && field_is_listed(by, OWNER_FIELD_STACK);
}

/* Copy the settings of the sentence to the options. Returns the TAKES_ bits of the settings. */
static unsigned int apply_settings_of_sentence(struct options *o, const struct command_line *line)
{
	const struct owner_sentence *s = &o->select.sentence;
	unsigned int takes = 0;

	refuse_repeated_setting("--sort", line->sort, s->nr_sort_by);
	refuse_repeated_setting("--top", line->top, sentence_has_setting(s, OWNER_SET_TOP));
	if (o->format != FORMAT_TEXT)
		refuse_repeated_setting(format_options[o->format], "format=",
					sentence_has_setting(s, OWNER_SET_FORMAT));
	if (s->nr_sort_by)
		copy_sort_keys_from_sentence(o, s);
	if (!options_order_is_measure(o))
		takes |= TAKES_ORDER;
	if (sentence_has_setting(s, OWNER_SET_TOP)) {
		o->top = s->top;
		takes |= TAKES_TOP;
	}
	if (sentence_has_setting(s, OWNER_SET_MIN) || sentence_has_setting(s, OWNER_SET_EACH))
		takes |= TAKES_CHOICE;
	if (sentence_has_setting(s, OWNER_SET_MODE))
		takes |= TAKES_MODE;
	if (sentence_has_setting(s, OWNER_SET_EACH) && o->select.group.n &&
	    !field_is_listed(&o->select.group, s->each))
		usage_refuse_value("each=", field_name(s->each), "is no field of --group");
	if (s->format == OWNER_FORMAT_TSV)
		o->format = FORMAT_TSV;
	return takes;
}

void settings_extract_sentence(struct options *o, struct command_line *line, char **words)
{
	struct sentence_parts *parts = &line->parts;
	int i, kept = 0;

	for (i = 0; i < o->nr_inputs; i++) {
		if (!is_query_sentence(words[i])) {
			words[kept++] = words[i];
			continue;
		}
		if (!strcmp(words[i], "if"))
			usage_refuse_option("if", "write the sentence in quotes, as 'if age > 1h'");
		if (parts->sentence)
			usage_refuse_value("sentence", words[i],
					   "is a second one; one is answered");
		parts->sentence = words[i];
	}
	o->inputs = words;
	o->nr_inputs = kept;
}

void settings_merge(struct options *o, struct command_line *line)
{
	sentence_parse_with_conditions(&line->parts, &o->select.sentence);
	apply_groups_of_sentence(o, line);
	line->takes |= apply_settings_of_sentence(o, line);
}
