// SPDX-License-Identifier: GPL-2.0
/* Fill a struct answer: read the inputs that the view needs, or send a query to the kernel. */
#include <stdlib.h>

#include "ask/again.h"
#include "ask/answer.h"
#include "ask/query.h"
#include "base/alloc.h"
#include "base/exit_status.h"
#include "base/quote.h"
#include "input/reader.h"

/*
 * Returns the time stamp of the newest record, from which ages are counted. It must be known
 * before the expression is evaluated.
 */
static u64 find_newest_record_time(const struct options *o, char * const *paths, int n)
{
	static const struct record_selection everything = { .chains.depth = 1 };
	struct input_health quiet_health = { .quiet = true };
	struct model model;
	u64 newest;

	model_init(&model, &everything);
	read_records_from_inputs(paths, n, &o->input, &model.sink, &quiet_health);
	newest = model.newest;
	model_free(&model);
	return newest;
}

/* Read the files @paths, which together are one dump, and add their records to @a. */
static void read_dump(struct answer *a, const struct options *o, char * const *paths, int n)
{
	a->model.sink.now = o->now;
	if (options_need_newest_record(o) && o->live)
		a->model.sink.now = read_monotonic_ns();
	else if (options_need_newest_record(o))
		a->model.sink.now = find_newest_record_time(o, paths, n);
	read_records_from_inputs(paths, n, &o->input, &a->model.sink, &a->health);
}

static void read_two_dumps(struct answer *a, const struct options *o, char * const *paths, int n)
{
	char * const old[] = { (char *)o->old };

	read_dump(a, o, old, 1);
	dumps_append_from_model(&a->dumps, &a->model, old[0]);
	read_dump(a, o, paths, n);
	dumps_append_from_model(&a->dumps, &a->model, paths[0]);
	dumps_restore_last(&a->dumps, &a->model);
}

static void read_dump_series(struct answer *a, const struct options *o, char * const *paths, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		a->histograms = (struct histograms){ 0 };
		user_chains_clear_counts(&a->model.user);
		read_dump(a, o, &paths[i], 1);
		dumps_append_from_model(&a->dumps, &a->model, paths[i]);
	}
	dumps_restore_last(&a->dumps, &a->model);
}

/* Returns the name of the memory that a dump lists, or NULL if the dump is empty. */
static const char *name_memory_of_dump(const struct dump *dump)
{
	const u64 (*objects)[2] = dump->sources.objects;

	if (objects[KIND_SLAB][0] || objects[KIND_SLAB][1] || objects[KIND_PERCPU][0] ||
	    objects[KIND_PERCPU][1])
		return "slab objects";
	/* The objects of sums are single pages, those of records are allocations. */
	if (objects[KIND_PAGE][0])
		return "pages";
	if (objects[KIND_PAGE][1])
		return "sums of pages";
	if (objects[KIND_SITE][0] || objects[KIND_SITE][1])
		return "source lines of allocinfo";
	return NULL;
}

/* Returns false after a message if two dumps list different kinds of memory. */
static bool dumps_list_one_kind(const struct dumps *dumps)
{
	const char *first = name_memory_of_dump(&dumps->v[0]);
	u32 i;

	for (i = 1; i < dumps->n; i++) {
		const char *kind = name_memory_of_dump(&dumps->v[i]);

		if (!first || !kind || !strcmp(first, kind))
			continue;
		fprintf(stderr, "ownertop: %s lists %s, and %s lists %s: they cannot be compared\n",
			dumps->v[0].path, first, dumps->v[i].path, kind);
		return false;
	}
	return true;
}

/* Does a dump have a group whose name of @field is known? */
static bool dump_tells_field(const struct answer *a, const struct dump *dump,
			     enum owner_field field)
{
	u32 i;

	for (i = 0; i < a->model.groups.n; i++) {
		struct sum sum = dumps_find_group_sum(dump, i);
		struct group g = model_get_group(&a->model, i);

		if (sum.objects &&
		    (field_is_number(field) || model_field_is_known(&a->model, &g, field)))
			return true;
	}
	return false;
}

/* Returns the name of a dump that tells @field, or of one that does not, or NULL. */
static const char *find_dump(const struct answer *a, enum owner_field field, bool tells)
{
	const struct dump *dump = a->dumps.v, *end = dump + a->dumps.n;

	for (; dump < end; dump++)
		if (dump->total.objects && dump_tells_field(a, dump, field) == tells)
			return dump->path;
	return NULL;
}

/*
 * Returns false after a message if a name makes groups in one dump and is unknown in another: none
 * of their groups would be equal.
 */
static bool dumps_tell_same_names(const struct answer *a)
{
	const struct group_list *by = &a->model.select->group;
	u32 i;

	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;
		const char *teller = find_dump(a, field, true), *other = find_dump(a, field, false);

		if (!teller || !other)
			continue;
		fprintf(stderr,
			"ownertop: %s tells no %s, as %s does: compare them without it, as by -g stack\n",
			other, field_name(field), teller);
		return false;
	}
	return true;
}

bool answer_report_same_kind(const struct answer *a)
{
	const char * const *paths = a->model.sink.summary.same_kind;

	if (!paths[0])
		return false;
	fprintf(stderr, "ownertop: %s and %s list the same kind of memory.\n"
		"To add up dumps of different machines, add --sum. To compare them:\n"
		"ownertop diff", paths[0], paths[1]);
	quote_print_argument(paths[0], stderr);
	quote_print_argument(paths[1], stderr);
	putc('\n', stderr);
	return true;
}

/* Returns which key of the groups each= names, plus 1; 0: none. */
static u32 find_key_of_each(const struct record_selection *select)
{
	const struct owner_group_field *by = field_find(&select->group, select->sentence.each);

	return select->sentence.settings_given & 1U << OWNER_SET_EACH && by ?
	       by - select->group.v + 1 : 0;
}

static void init_view_of_answer(struct answer *a, const struct options *o)
{
	*a = (struct answer){
		.view = {
			.measure = o->sort,
			.nr_order = o->nr_order,
			.top = o->top,
			.min_held = o->select.sentence.min_held,
			.each = find_key_of_each(&o->select),
			.callees = o->callees,
		},
		.health.quiet = a->health.quiet,
	};
	memcpy(a->view.order, o->order, sizeof(a->view.order));
}

/* Does the answer have all that its input lists? */
static bool nothing_is_selected(const struct options *o)
{
	return !o->select.sentence.nr_comparisons;
}

struct output_options make_output_options(const struct options *o)
{
	return (struct output_options){
		.view = o->view->name,
		.sentence = &o->select.sentence,
		.least_percent = o->least_percent,
		.old = o->old,
		.inputs = o->inputs,
		.nr_inputs = o->nr_inputs,
		.term = terminal_describe(stdout, o->colour),
		.unfold = o->unfold,
		.callers = o->callers,
		.selection_arguments = o->view->explains || o->view->summary ?
				       make_selection_arguments(o) : NULL,
		.repeats = o->interval_ms,
		.summary = o->view->summary && !o->check_groups && !o->interval_ms &&
			   nothing_is_selected(o),
		/*
		 * Without a request for ages, the kernel's answer has them only for some
		 * groups. Show the column of ages only if all groups have one, or it would
		 * appear and disappear.
		 */
		.ages_if_all = o->live && !o->ages,
	};
}

/* Are the groups the caches of one machine, which slabinfo has as well? */
static bool groups_are_caches(const struct options *o)
{
	return o->select.group.n == 1 && o->select.group.v[0].field == OWNER_FIELD_CACHE &&
	       !o->input.sum && !o->interval_ms;
}

bool answer_read(struct answer *a, const struct options *o, char * const *paths, int n)
{
	init_view_of_answer(a, o);
	/* With --sum, the dumps are of different machines. */
	if (n && nothing_is_selected(o) && !o->input.sum &&
	    !meminfo_read_of_dump(o->live ? NULL : paths[n - 1], &a->meminfo))
		a->meminfo = (struct meminfo){ 0 };
	if (n && groups_are_caches(o))
		slabinfo_read_of_dump(o->live ? NULL : paths[n - 1], &a->slabinfo);
	if (o->live && !o->old && !o->view->series && !o->view->explains && query_groups(a, o))
		return true;
	model_init(&a->model, &o->select);
	if (o->view->explains)
		a->model.histograms = &a->histograms;
	if (o->old)
		read_two_dumps(a, o, paths, n);
	else if (o->view->series || (o->view->explains && !o->live && n > 1))
		read_dump_series(a, o, paths, n);
	else
		read_dump(a, o, paths, n);
	model_finish(&a->model);
	if (a->model.sink.summary.same_kind[0])
		return false;
	/*
	 * Without one of its dumps a comparison would show wrong changes, and without any input
	 * a view would show zeros.
	 */
	if (a->dumps.n ? a->health.missing : a->health.missing == (u32)n)
		return false;
	if (a->dumps.n && (!dumps_list_one_kind(&a->dumps) || !dumps_tell_same_names(a)))
		return false;
	if (!o->view->series)
		return true;
	a->dump_ns = dump_times_find(&o->times, &a->dumps);
	return a->dump_ns;
}

void answer_free_members(struct answer *a)
{
	free(a->dump_ns);
	dumps_free(&a->dumps);
	slabinfo_free(&a->slabinfo);
	model_free(&a->model);
}
