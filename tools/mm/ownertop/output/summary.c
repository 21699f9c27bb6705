// SPDX-License-Identifier: GPL-2.0
/* Say in a few lines who holds memory, and what to ask next. */
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/quote.h"
#include "output/column.h"
#include "output/summary.h"

/* A group that holds less than this share is not worth a line because of its age. */
#define LEAST_PERCENT 1

/* Functions that are printed of a call chain. */
#define FUNCTIONS 2

/*
 * Returns what the objects in slabs hold, in the last dump: pages have no cache, and per-CPU areas
 * that name.
 */
static u64 sum_held_in_slabs(const struct answer *a)
{
	const struct dump *last = a->dumps.n ? &a->dumps.v[a->dumps.n - 1] : NULL;
	const struct model *m = &a->model;
	u64 held = 0;
	u32 i;

	for (i = 0; i < m->groups.n; i++) {
		struct group g = model_get_group(m, i);
		struct text_slice cache = model_get_name(m, &g, OWNER_FIELD_CACHE);

		if (cache.len && !(cache.len == 6 && TEXT_STARTS(cache, "percpu")))
			held += last ? dumps_find_group_sum(last, i).held : g.sum.held;
	}
	return held;
}

void summary_print_slab(const struct answer *a, FILE *out)
{
	char slab[HUMAN_LEN], total[HUMAN_LEN], held[HUMAN_LEN], percent[HUMAN_LEN];
	u64 explained;

	/* The group of known owners has no cache. */
	if (a->model.known.objects || !a->meminfo.slab ||
	    !field_is_listed(&a->model.select->group, OWNER_FIELD_CACHE))
		return;
	explained = sum_held_in_slabs(a);
	if (!explained)
		return;
	fprintf(out, "Slabs take %s of %s of memory, %s.",
		human_format_bytes(slab, a->meminfo.slab),
		human_format_bytes(total, a->meminfo.total),
		human_format_percent(percent, a->meminfo.slab, a->meminfo.total));
	fprintf(out, " Owners explain %s of that, %s.\n", human_format_bytes(held, explained),
		human_format_percent(percent, explained, a->meminfo.slab));
}

void summary_print_owner(const struct answer *a, u32 id, u32 functions, FILE *out)
{
	struct group g = model_get_group(&a->model, id);
	const struct chain *chain = model_get_chain(&a->model, &g, OWNER_FIELD_STACK);
	char *cache = human_escape_name(model_get_name(&a->model, &g, OWNER_FIELD_CACHE));

	if (*cache)
		fprintf(out, "%s, ", cache);
	free(cache);
	print_joined_functions(&a->model, chain, functions, out);
	if (!chain->n)
		fputs("no call chain", out);
}

/* Print a line on the group @id: @label, what it holds, since when, and its owner. */
static void print_group(const struct answer *a, const char *label, u32 id, FILE *out)
{
	char held[HUMAN_LEN], percent[HUMAN_LEN], age[HUMAN_LEN];
	struct group g = model_get_group(&a->model, id);
	u64 oldest = model_get_oldest(&a->model, id);

	fprintf(out, "%s %s, %s, in %llu object%s", label, human_format_bytes(held, g.sum.held),
		human_format_percent(percent, g.sum.held, a->model.total.held), g.sum.objects,
		g.sum.objects == 1 ? "" : "s");
	if (oldest != TS_UNKNOWN)
		fprintf(out, ", up to %s old",
			human_format_age(age, model_compute_age(&a->model, oldest)));
	fputs(": ", out);
	summary_print_owner(a, id, FUNCTIONS, out);
	putc('\n', out);
}

/* Find the group that holds most, and the one with the oldest object, if it holds enough. */
static void print_groups(const struct answer *a, FILE *out)
{
	const struct model *m = &a->model;
	u32 most = 0, oldest = U32_MAX, i;

	for (i = 0; i < m->groups.n; i++) {
		u64 held = sum_load(&m->groups, i).held;

		if (held > sum_load(&m->groups, most).held)
			most = i;
		if (held * 100 < m->total.held * LEAST_PERCENT ||
		    model_get_oldest(m, i) == TS_UNKNOWN)
			continue;
		if (oldest == U32_MAX || model_get_oldest(m, i) < model_get_oldest(m, oldest))
			oldest = i;
	}
	print_group(a, "Most:  ", most, out);
	if (oldest != most && oldest != U32_MAX)
		print_group(a, "Oldest:", oldest, out);
}

void summary_print(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct folded_text folded;
	FILE *text;

	if (!a->model.groups.n)
		return;
	text = fold_begin(&folded);
	summary_print_slab(a, text);
	print_groups(a, text);
	fold_end(&folded, o->term, out);
	/* explain compares two dumps. A command is not folded, so that it can be copied. */
	if (o->nr_inputs > 1)
		return;
	fprintf(out, "Next:   ownertop explain%s", o->selection_arguments);
	if (o->nr_inputs)
		quote_print_argument(strcmp(o->inputs[0], "-") ? o->inputs[0] : "FILE", out);
	fputs(o->nr_inputs ? "\n" : "    (or, what grows: ownertop --live)\n", out);
}
