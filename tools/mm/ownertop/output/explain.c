// SPDX-License-Identifier: GPL-2.0
/* Write the view "explain": in words, who holds memory, since when, and what to ask next. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/quote.h"
#include "model/histogram.h"
#include "names/frame.h"
#include "output/figure.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/programs.h"
#include "output/summary.h"
#include "output/writer.h"

#define NS_PER_SECOND 1000000000ULL
#define COMMANDS 3

/* Number of functions that are printed of a call chain. */
#define FUNCTIONS_MAX 3

/* Width of the longest bar of a histogram. */
#define BAR_WIDTH 30

struct explanation {
	const struct answer *a;
	const struct output_options *o;
	u32 *order;		/* groups of the last dump, the largest first */
	u32 n;
	u32 shown;
	u32 half;		/* how many groups hold half of the total */
	u32 grower;		/* the group that grew most, or NO_GROUP */
	char *commands[COMMANDS];
};

#define NO_GROUP U32_MAX

/* Returns the sum of a group in the last dump. */
static struct sum get_last_sum(const struct answer *a, u32 id)
{
	const struct dumps *d = &a->dumps;

	return d->n ? dumps_find_group_sum(&d->v[d->n - 1], id) : sum_load(&a->model.groups, id);
}

static u64 get_last_figure(const struct answer *a, u32 id)
{
	struct sum sum = get_last_sum(a, id);

	return measure_get_value(&sum, a->view.measure);
}

static int compare_groups(const void *x, const void *y, void *arg)
{
	u32 ix = *(const u32 *)x, iy = *(const u32 *)y;
	u64 vx = get_last_figure(arg, ix), vy = get_last_figure(arg, iy);

	if (vx != vy)
		return vx < vy ? 1 : -1;
	return ix < iy ? -1 : 1;
}

/* Returns the figure of a group, or of the total for NO_GROUP, in a dump. */
static u64 get_figure_in_dump(const struct answer *a, u32 id, u32 dump)
{
	struct sum sum = id == NO_GROUP ? a->dumps.v[dump].total :
					  dumps_find_group_sum(&a->dumps.v[dump], id);

	return measure_get_value(&sum, a->view.measure);
}

static struct change get_growth(const struct answer *a, u32 id)
{
	return change_between(get_figure_in_dump(a, id, 0),
			      get_figure_in_dump(a, id, a->dumps.n - 1));
}

static u32 count_times_grown(const struct answer *a, u32 id)
{
	u32 i, times = 0;

	for (i = 1; i < a->dumps.n; i++)
		times += get_figure_in_dump(a, id, i) > get_figure_in_dump(a, id, i - 1);
	return times;
}

static u32 find_grower(const struct answer *a)
{
	u32 i, grower = NO_GROUP;
	u64 most = 0;

	for (i = 0; a->dumps.n > 1 && i < a->model.groups.n; i++) {
		struct change c = get_growth(a, i);

		if (c.shrunk || c.by <= most)
			continue;
		most = c.by;
		grower = i;
	}
	return grower;
}

/* Returns the name of the function that owns a group, which the caller frees, or NULL. */
static char *copy_owner_name(const struct answer *a, u32 id)
{
	struct group g = model_get_group(&a->model, id);
	const struct chain *chain = model_get_chain(&a->model, &g, OWNER_FIELD_STACK);
	struct frame f;

	if (!chain->n)
		return NULL;
	frame_parse(model_get_frame(&a->model, OWNER_FIELD_STACK, chain, 0), &f);
	if (TEXT_STARTS(f.func, "0x"))
		return NULL;
	return xstrndup(f.func.s, f.func.len);
}

static bool has_single_objects(const struct answer *a)
{
	const struct sources *s = &a->model.sources;

	return s->objects[KIND_SLAB][0] || s->objects[KIND_PAGE][0] || s->objects[KIND_PERCPU][0];
}

/* Make a command from @words, the condition on the function @func, and the inputs. */
static char *make_command(const struct explanation *e, const char *words, const char *func,
			  int first_input)
{
	char *text;
	size_t len;
	FILE *out = xopen_memstream(&text, &len);
	int i;

	fprintf(out, "ownertop %s", words);
	if (func) {
		fputs(" --func", out);
		quote_print_argument(func, out);
	}
	fputs(e->o->selection_arguments, out);
	for (i = first_input; i < e->o->nr_inputs; i++) {
		const char *input = e->o->inputs[i];

		/* A pipe cannot be read again. */
		if (!strcmp(input, "-"))
			input = "FILE";
		if (i == 0 || i == e->o->nr_inputs - 1 || first_input)
			quote_print_argument(input, out);
	}
	fclose(out);
	return text;
}

static void choose_commands(struct explanation *e)
{
	const struct answer *a = e->a;
	u32 subject = e->grower != NO_GROUP ? e->grower : e->n ? e->order[0] : NO_GROUP;
	char *func = subject == NO_GROUP ? NULL : copy_owner_name(a, subject);
	int last = e->o->nr_inputs - 1, n = 0;

	if (last < 0)
		last = 0;
	if (a->dumps.n > 1)
		e->commands[n++] = make_command(e, "diff", NULL, 0);
	e->commands[n++] = make_command(e, "-v -d 0 -n 3", func, last);
	if (has_single_objects(a))
		e->commands[n++] = make_command(e, "-g comm,pid", func, last);
	while (n < COMMANDS) {
		const char *words = n == 1 ? "tree" : "functions --callers";

		e->commands[n++] = make_command(e, words, NULL, last);
	}
	free(func);
}

static void explain(struct explanation *e, const struct answer *a,
		    const struct output_options *o)
{
	u64 total = measure_get_value(&a->model.total, a->view.measure), held = 0;
	u32 i;

	*e = (struct explanation){ .a = a, .o = o, .grower = find_grower(a) };
	e->order = xmalloc(a->model.groups.n * sizeof(*e->order));
	for (i = 0; i < a->model.groups.n; i++)
		if (get_last_sum(a, i).objects)
			e->order[e->n++] = i;
	qsort_r(e->order, e->n, sizeof(*e->order), compare_groups, (void *)a);
	e->shown = a->view.top && a->view.top < e->n ? a->view.top : e->n;
	while (e->half < e->n && held < total - total / 2)
		held += get_last_figure(a, e->order[e->half++]);
	choose_commands(e);
}

static void explanation_free(struct explanation *e)
{
	int i;

	for (i = 0; i < COMMANDS; i++)
		free(e->commands[i]);
	free(e->order);
}

static const char *plural(u64 n)
{
	return n == 1 ? "" : "s";
}

static void print_held(const struct explanation *e, FILE *out)
{
	const struct sum *total = &e->a->model.total;
	char bytes[HUMAN_LEN], held[HUMAN_LEN];

	fprintf(out, "HELD\n%s in %llu object%s", human_format_bytes(held, total->held),
		total->objects, plural(total->objects));
	if (total->held != total->bytes)
		fprintf(out, ", which asked for %s", human_format_bytes(bytes, total->bytes));
	fprintf(out, ", by %u owner%s", e->n, plural(e->n));
	if (e->half && e->half < e->n)
		fprintf(out, ", of which %u hold%s half", e->half, e->half == 1 ? "s" : "");
	fputs(".\n", out);
	summary_print_slab(e->a, out);
}

static void print_owners(const struct explanation *e, FILE *out)
{
	const struct answer *a = e->a;
	u64 total = measure_get_value(&a->model.total, a->view.measure);
	char percent[HUMAN_LEN], v[HUMAN_LEN], oldest[HUMAN_LEN], newest[HUMAN_LEN];
	u32 i;

	for (i = 0; i < e->shown; i++) {
		u32 id = e->order[i];
		struct sum sum = get_last_sum(a, id);

		fprintf(out, "%6s: %s in %llu object%s",
			human_format_percent(percent, get_last_figure(a, id), total),
			human_format_bytes(v, sum.held), sum.objects, plural(sum.objects));
		if (model_get_oldest(&a->model, id) != TS_UNKNOWN) {
			u64 ts = model_get_oldest(&a->model, id);

			human_format_age(oldest, model_compute_age(&a->model, ts));
			ts = model_get_newest(&a->model, id);
			human_format_age(newest, model_compute_age(&a->model, ts));
			if (strcmp(newest, oldest))
				fprintf(out, ", %s to %s old", newest, oldest);
			else
				fprintf(out, ", %s old", oldest);
		}
		fputs(": ", out);
		summary_print_owner(a, id, FUNCTIONS_MAX, out);
		putc('\n', out);
	}
}

static void print_growth_of(const struct answer *a, u32 id, FILE *out)
{
	u32 up = count_times_grown(a, id), intervals = a->dumps.n - 1;
	char change[HUMAN_LEN], before[HUMAN_LEN], after[HUMAN_LEN];
	enum measure measure = a->view.measure;

	fprintf(out, "%s (%s to %s), ",
		figure_change_to_text(change, get_growth(a, id), measure),
		figure_to_text(before, get_figure_in_dump(a, id, 0), measure),
		figure_to_text(after, get_figure_in_dump(a, id, a->dumps.n - 1), measure));
	if (intervals == 1)
		fputs(up ? "more than before" : "not more than before", out);
	else
		fprintf(out, "more in %u of %u intervals", up, intervals);
}

static void print_growth(const struct explanation *e, FILE *out)
{
	const struct dumps *d = &e->a->dumps;
	char time[HUMAN_LEN];

	fputs("GROWTH\n", out);
	if (d->n < 2) {
		fputs("Unknown: name an earlier dump before this one, or see --live.\n", out);
		return;
	}
	fputs("Total: ", out);
	print_growth_of(e->a, NO_GROUP, out);
	if (d->v[d->n - 1].newest > d->v[0].newest)
		fprintf(out, ", in %s.\n",
			human_format_age(time, d->v[d->n - 1].newest - d->v[0].newest));
	else
		fputs("; the last dump is not newer than the first: swapped, or a reboot?\n", out);
	if (e->grower == NO_GROUP)
		return;
	fputs("Most: ", out);
	print_growth_of(e->a, e->grower, out);
	fputs(": ", out);
	summary_print_owner(e->a, e->grower, FUNCTIONS_MAX, out);
	putc('\n', out);
}

/* Write the value at which a bin begins, as a size or as an age. */
static const char *format_bin(char buf[HUMAN_LEN], u32 bin, bool ages)
{
	u64 least = histogram_get_least(bin);

	return ages ? human_format_age(buf, least * NS_PER_SECOND) :
		      human_format_bytes(buf, least);
}

static void print_histogram(const struct histogram_bin *bins, bool ages, FILE *out)
{
	char from[HUMAN_LEN], held[HUMAN_LEN];
	u64 most = 0;
	u32 i;

	for (i = 0; i < HISTOGRAM_BINS; i++)
		if (bins[i].held > most)
			most = bins[i].held;
	for (i = 0; i < HISTOGRAM_BINS; i++) {
		u32 bar;

		if (!bins[i].objects)
			continue;
		bar = most ? (double)bins[i].held / most * BAR_WIDTH + 0.5 : 0;

		fprintf(out, "%8s.. %9llu %8s%s", format_bin(from, i, ages), bins[i].objects,
			human_format_bytes(held, bins[i].held), bar ? " " : "");
		while (bar--)
			putc('#', out);
		putc('\n', out);
	}
}

static void print_histograms(const struct explanation *e, FILE *out)
{
	const struct histograms *h = e->a->model.histograms;

	if (!e->a->model.total.objects)
		return;
	fprintf(out, "%10s %9s %8s\n", "SIZE", "OBJECTS", "HELD");
	print_histogram(h->sizes, false, out);
	if (h->ages_unknown == e->a->model.total.objects) {
		fputs(e->a->model.newest ?
		      "AGES are counted from the newest record: name a FILE, not a pipe.\n" :
		      "AGES are unknown: the input has no times.\n", out);
		return;
	}
	fprintf(out, "%10s %9s %8s\n", "AGE", "OBJECTS", "HELD");
	print_histogram(h->ages, true, out);
	if (h->ages_unknown)
		fprintf(out, "The ages of %llu objects are unknown.\n", h->ages_unknown);
}

static void print_untracked(const struct explanation *e, FILE *out)
{
	const struct input_summary *s = &e->a->model.sink.summary;
	char percent[HUMAN_LEN];

	fputs("UNTRACKED\n", out);
	if (!s->coverage_known && !e->o->nr_inputs)
		fputs("See the lines lost_... of /sys/kernel/debug/owner/stats.\n", out);
	else if (!s->coverage_known)
		fputs("The input does not tell how many objects have no owner.\n", out);
	else if (!s->untracked)
		fputs("Every slab object has an owner.\n", out);
	else
		fprintf(out,
			"%llu slab objects, %s, have no owner: older than tracking, or lost by it.\n",
			s->untracked, human_format_percent(percent, s->untracked,
							   s->tracked + s->untracked));
}

void write_explain(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct folded_text folded;
	struct explanation e;
	struct answer rest;
	FILE *text;
	int i;

	explain(&e, a, o);
	text = fold_begin(&folded);
	print_held(&e, text);
	print_owners(&e, text);
	programs_print(a, a->view.top, text);
	print_growth(&e, text);
	print_histograms(&e, text);
	print_untracked(&e, text);
	fold_end(&folded, o->term, out);
	/* Commands are not folded, so that they can be copied. */
	fputs("NEXT\n", out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "%s\n", e.commands[i]);
	/* The section UNTRACKED has told how many objects have no owner: print no note of it. */
	rest = *a;
	rest.model.sink.summary.coverage_known = false;
	text = fold_begin(&folded);
	notes_print_all(&rest, o->term, text);
	fold_end(&folded, o->term, out);
	explanation_free(&e);
}

static struct json_object *json_from_owner(const struct answer *a, u32 id)
{
	struct group g = model_get_group(&a->model, id);
	const struct chain *chain = model_get_chain(&a->model, &g, OWNER_FIELD_STACK);
	struct json_object *object = json_new_object(), *stack = json_new_list();
	struct sum sum = get_last_sum(a, id);
	u32 i;

	for (i = 0; i < chain->n; i++)
		json_add_item(stack, json_from_text(model_get_frame(&a->model, OWNER_FIELD_STACK,
								    chain, i)));
	json_add_member(object, "sum", json_from_sum(&sum));
	json_add_member(object, "oldest_ns", g.oldest == TS_UNKNOWN ? NULL :
							json_new_count(g.oldest));
	json_add_member(object, "newest_ns", g.oldest == TS_UNKNOWN ? NULL :
							json_new_count(g.newest));
	json_add_member(object, "cache",
			json_from_text(model_get_name(&a->model, &g, OWNER_FIELD_CACHE)));
	json_add_member(object, "stack", stack);
	return object;
}

static struct json_object *json_from_growth(const struct answer *a, u32 id)
{
	struct json_object *object = json_new_object();

	json_add_member(object, "old", json_new_count(get_figure_in_dump(a, id, 0)));
	json_add_member(object, "new",
			json_new_count(get_figure_in_dump(a, id, a->dumps.n - 1)));
	json_add_member(object, "up", json_new_count(count_times_grown(a, id)));
	json_add_member(object, "intervals", json_new_count(a->dumps.n - 1));
	if (id != NO_GROUP)
		json_add_member(object, "owner", json_from_owner(a, id));
	return object;
}

static struct json_object *json_from_histogram(const struct histogram_bin *bins)
{
	struct json_object *list = json_new_list(), *bin;
	u32 i;

	for (i = 0; i < HISTOGRAM_BINS; i++) {
		if (!bins[i].objects)
			continue;
		bin = json_new_object();
		json_add_member(bin, "from", json_new_count(histogram_get_least(i)));
		json_add_member(bin, "objects", json_new_count(bins[i].objects));
		json_add_member(bin, "bytes", json_new_count(bins[i].bytes));
		json_add_member(bin, "held", json_new_count(bins[i].held));
		json_add_item(list, bin);
	}
	return list;
}

void write_explain_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct json_object *commands = json_new_list(), *programs = json_from_programs(a);
	struct explanation e;
	u32 i;

	explain(&e, a, o);
	json_begin_document(a, o, out);
	json_print_member("total", json_from_sum(&a->model.total), out);
	json_print_member("nr_owners", json_new_count(e.n), out);
	json_print_member("owners_of_half", json_new_count(e.half), out);
	if (a->dumps.n > 1)
		json_print_member("growth", json_from_growth(a, NO_GROUP), out);
	if (e.grower != NO_GROUP)
		json_print_member("grew_most", json_from_growth(a, e.grower), out);
	if (programs)
		json_print_member("programs", programs, out);
	json_print_member("sizes", json_from_histogram(a->model.histograms->sizes), out);
	json_print_member("ages_s", json_from_histogram(a->model.histograms->ages), out);
	json_print_member("ages_unknown", json_new_count(a->model.histograms->ages_unknown), out);
	for (i = 0; i < COMMANDS; i++) {
		const struct text_slice command = { e.commands[i], strlen(e.commands[i]) };

		json_add_item(commands, json_from_text(command));
	}
	json_print_member("commands", commands, out);
	json_begin_list("owners", out);
	for (i = 0; i < e.shown; i++)
		json_print_item(json_from_owner(a, e.order[i]), !i, out);
	json_end_document(e.shown, out);
	explanation_free(&e);
}
