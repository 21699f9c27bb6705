// SPDX-License-Identifier: GPL-2.0
/* From a sentence, and from options that say the same, to what is wanted. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ask/given.h"
#include "ask/usage.h"

const char * const given_forms[NR_FORMATS] = {
	[FORMAT_JSON] = "--json",
	[FORMAT_CSV] = "--csv",
	[FORMAT_TSV] = "format=tsv",
};

/* The language groups by anything but age, and each field once. */
void given_group(struct options *o, const char *list)
{
	struct group_list *by = &o->select.group;
	char *fields = xstrndup(list, strlen(list)), *field, *rest = fields;
	struct owner_sentence s;

	by->n = 0;
	while ((field = strsep(&rest, ","))) {
		s.group_by[0] = (struct owner_group_field){ .field = OWNER_FIELD_AGE };
		if (strcmp(field, field_name(OWNER_FIELD_AGE)))
			sentence_of_option(&s, "--group", "group=", field);
		if (field_listed(by, s.group_by[0].field))
			usage_fail("--group", field, "is named twice");
		by->v[by->n++] = s.group_by[0];
	}
	free(fields);
}

static void take_sorts(struct options *o, const struct owner_sentence *s)
{
	memcpy(o->order, s->sort_by, sizeof(o->order));
	o->nr_order = s->nr_sort_by;
}

void given_sort(struct options *o, const char *list)
{
	struct owner_sentence s;

	sentence_of_option(&s, "--sort", "group=kind sort=", list);
	take_sorts(o, &s);
}

static bool said(const struct owner_sentence *s, enum owner_setting setting)
{
	return s->settings_given & 1U << setting;
}

static void once(const char *option, const char *value, bool also_said)
{
	if (value && also_said)
		usage_fail(option, value, "is said in another place as well");
}

/* What the sentence says of groups, where options may say the same. */
static void take_groups(struct options *o, const struct given *given)
{
	const struct owner_sentence *s = &o->select.sentence;
	struct group_list *by = &o->select.group;
	unsigned int i;

	once("--group", given->group, s->nr_group_by);
	once("--depth", given->depth, s->nr_group_by);
	if (s->nr_group_by) {
		memcpy(by->v, s->group_by, sizeof(s->group_by));
		by->n = s->nr_group_by;
	}
	for (i = 0; i < by->n; i++) {
		if (by->v[i].field != OWNER_FIELD_STACK)
			continue;
		once("--depth", given->depth, by->v[i].frames);
		o->select.chains.full = by->v[i].full;
		if (s->nr_group_by || by->v[i].frames)
			o->select.chains.depth = by->v[i].frames;
	}
	o->select.by_handle = s->mode != OWNER_MODE_STACK && field_listed(by, OWNER_FIELD_STACK);
	o->one_by_one = !by->n && (said(s, OWNER_SET_MODE) || said(s, OWNER_SET_FORMAT));
}

bool options_order_is_measure(const struct options *o)
{
	return !o->nr_order || (o->nr_order == 1 && sort_is_measure(o->order[0]));
}

/* Returns TAKES_ bits. */
static unsigned int take_settings(struct options *o, const struct given *given)
{
	const struct owner_sentence *s = &o->select.sentence;
	unsigned int takes = 0;

	once("--sort", given->sort, s->nr_sort_by);
	once("--top", given->top, said(s, OWNER_SET_TOP));
	if (o->format != FORMAT_TEXT)
		once(given_forms[o->format], "format=", said(s, OWNER_SET_FORMAT));
	if (s->nr_sort_by)
		take_sorts(o, s);
	if (!options_order_is_measure(o))
		takes |= TAKES_ORDER;
	if (said(s, OWNER_SET_TOP)) {
		o->top = s->top;
		takes |= TAKES_TOP;
	}
	if (said(s, OWNER_SET_GROUPS)) {
		o->groups = s->max_groups;
		takes |= TAKES_GROUPS;
	}
	if (said(s, OWNER_SET_MODE))
		takes |= TAKES_MODE;
	if (s->format == OWNER_FORMAT_TSV)
		o->format = FORMAT_TSV;
	return takes;
}

static void check_one_by_one(const struct options *o, const struct given *given)
{
	if (!o->one_by_one)
		return;
	if (o->format == FORMAT_JSON || o->format == FORMAT_CSV || o->interval_ms)
		usage_fail(o->interval_ms ? "--live" : "--json or --csv", "mode=records",
			   "shows objects one by one, without groups");
	if (given->sort || given->top)
		usage_fail(given->sort ? "--sort" : "--top", "mode=records",
			   "shows objects one by one, without groups");
}

/* Sentences may stand anywhere between views and files; there is one at most. */
void given_sentence(struct options *o, struct given *given, char **words)
{
	int i, kept = 0;

	for (i = 0; i < o->nr_inputs; i++) {
		if (!sentence_is_one(words[i])) {
			words[kept++] = words[i];
			continue;
		}
		if (given->asking.written)
			usage_fail("sentence", words[i], "is a second one; one is answered");
		given->asking.written = words[i];
	}
	o->inputs = words;
	o->nr_inputs = kept;
}

bool options_need_newest(const struct options *o)
{
	bool tell_age = o->one_by_one && o->format == FORMAT_TSV;

	return !o->now && (tell_age || o->select.sentence.fields_used & 1U << OWNER_FIELD_AGE);
}

void given_finish(struct options *o, struct given *given)
{
	asking_finish(&given->asking, &o->select.sentence);
	take_groups(o, given);
	given->taken |= take_settings(o, given);
	check_one_by_one(o, given);
}
