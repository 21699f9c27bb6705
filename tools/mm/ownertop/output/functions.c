// SPDX-License-Identifier: GPL-2.0
/* Write the view "functions": a line for each function, and its callers. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/functions.h"
#include "output/csv.h"
#include "output/figure.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/writer.h"

/* Number of callers that are printed of a function. */
#define CALLERS_MAX 3

/* Width of the figures before the name of a function. */
#define FIGURES_WIDTH 39

#define CALLERS_INDENT 9

static void print_name(struct text_slice name, size_t room, FILE *out)
{
	if (room && name.len > room)
		fprintf(out, "%.*s..\n", (int)(room > 2 ? room - 2 : 0), name.s);
	else
		fprintf(out, "%s\n", name.s);
}

/* Returns the columns behind the first @used ones, 0 if there is no limit. */
static size_t get_room(struct terminal term, size_t used)
{
	if (!term.width)
		return 0;
	return term.width > used + 2 ? term.width - used : 2;
}

static void print_figures(const struct functions *f, const struct sum *flat,
			  const struct sum *cum, FILE *out)
{
	u64 total = measure_get_value(&f->m->total, f->measure);
	u64 own = measure_get_value(flat, f->measure);
	char v[HUMAN_LEN], percent[HUMAN_LEN];

	fprintf(out, "%7s %6s ", figure_to_text(v, own, f->measure),
		human_format_percent(percent, own, total));
	if (f->measure == MEASURE_OBJECTS)
		fprintf(out, "%7s ", human_format_bytes(v, flat->held));
	else
		fprintf(out, "%7llu ", flat->objects);
	if (cum)
		fprintf(out, "%7s %6s  ",
			figure_to_text(v, measure_get_value(cum, f->measure), f->measure),
			human_format_percent(percent, measure_get_value(cum, f->measure), total));
	else
		fprintf(out, "%14s  ", "");
}

/* Print the callers of a function in a line, with their shares of its CUM. */
static void print_callers(const struct functions *f, u32 function, struct terminal term, FILE *out)
{
	u64 cum = measure_get_value(&f->v[function].cum, f->measure);
	u32 n = f->v[function].nr_callers, i;
	const struct function_call *callers = n ? &f->calls[f->v[function].first_call] : NULL;
	char percent[HUMAN_LEN], *text;
	size_t len;
	FILE *line = xopen_memstream(&text, &len);

	for (i = 0; i < n && i < CALLERS_MAX; i++)
		fprintf(line, "%s%s %s", i ? ", " : "< ", f->names.v[callers[i].caller].s,
			human_format_percent(percent,
					     measure_get_value(&callers[i].sum, f->measure),
					     cum));
	if (n > CALLERS_MAX)
		fprintf(line, ", %u more", n - CALLERS_MAX);
	fclose(line);
	if (n) {
		fprintf(out, "%*s", CALLERS_INDENT, "");
		print_name((struct text_slice){ text, len }, get_room(term, CALLERS_INDENT), out);
	}
	free(text);
}

static void print_head(const struct functions *f, const struct output_options *o, FILE *out)
{
	fprintf(out, "%s%7s %6s %7s %7s %6s  FUNCTION%s\n", o->term.colour ? "\033[1m" : "",
		"FLAT", "%", f->measure == MEASURE_OBJECTS ? "HELD" : "OBJECTS", "CUM", "%",
		o->term.colour ? "\033[0m" : "");
}

void write_functions(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct folded_text folded;
	struct functions f;
	FILE *notes;
	u32 i;

	functions_build(&f, a);
	print_head(&f, o, out);
	for (i = 0; i < f.shown; i++) {
		u32 function = f.order[i];

		print_figures(&f, &f.v[function].flat, &f.v[function].cum, out);
		print_name(f.names.v[function], get_room(o->term, FIGURES_WIDTH), out);
		if (o->callers)
			print_callers(&f, function, o->term, out);
	}
	if (f.shown < f.n) {
		print_figures(&f, &f.not_shown, NULL, out);
		fputs("rest\n", out);
	}
	print_figures(&f, &a->model.total, NULL, out);
	fputs("total\n", out);
	notes = fold_begin(&folded);
	if (f.shown < f.n)
		fprintf(notes, "rest: %u of %u functions; --top 0 shows them\n", f.n - f.shown,
			f.n);
	notes_print_all(a, o->term, notes);
	fold_end(&folded, o->term, out);
	functions_free(&f);
}

static struct json_object *json_from_function(const struct functions *f, u32 rank)
{
	struct json_object *object = json_new_object(), *list = json_new_list(), *item;
	u32 function = f->order[rank], n = f->v[function].nr_callers, i;
	const struct function_call *callers = n ? &f->calls[f->v[function].first_call] : NULL;

	json_add_member(object, "rank", json_new_count(rank + 1));
	json_add_member(object, "name", json_from_text(f->names.v[function]));
	json_add_member(object, "flat", json_from_sum(&f->v[function].flat));
	json_add_member(object, "cum", json_from_sum(&f->v[function].cum));
	json_add_member(object, "nr_callers", json_new_count(n));
	for (i = 0; i < n && i < CALLERS_MAX; i++) {
		item = json_new_object();
		json_add_member(item, "name", json_from_text(f->names.v[callers[i].caller]));
		json_add_member(item, "sum", json_from_sum(&callers[i].sum));
		json_add_item(list, item);
	}
	json_add_member(object, "callers", list);
	return object;
}

void write_functions_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct functions f;
	u32 i;

	functions_build(&f, a);
	json_begin_document(a, o, out);
	json_print_member("total", json_from_sum(&a->model.total), out);
	json_print_member("functions_not_shown", json_new_count(f.n - f.shown), out);
	json_print_member("not_shown", json_from_sum(&f.not_shown), out);
	json_begin_list("functions", out);
	for (i = 0; i < f.shown; i++)
		json_print_item(json_from_function(&f, i), !i, out);
	json_end_document(f.shown, out);
	functions_free(&f);
}

static void print_csv_sums(const char *row, u32 rank, const struct sum *flat,
			   const struct sum *cum, FILE *out)
{
	fprintf(out, "%s,", row);
	if (rank)
		fprintf(out, "%u", rank);
	fprintf(out, ",%llu,%llu,%llu,", flat->objects, flat->bytes, flat->held);
	if (cum)
		fprintf(out, "%llu,%llu,%llu,", cum->objects, cum->bytes, cum->held);
	else
		fputs(",,,", out);
}

void write_functions_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct functions f;
	u32 i, c;

	(void)o;
	functions_build(&f, a);
	fputs("row,rank,objects,bytes,held,cum_objects,cum_bytes,cum_held,function,callers\r\n",
	      out);
	for (i = 0; i < f.shown; i++) {
		u32 function = f.order[i];

		print_csv_sums("function", i + 1, &f.v[function].flat, &f.v[function].cum, out);
		fprintf(out, "\"%s\",\"", f.names.v[function].s);
		for (c = 0; c < f.v[function].nr_callers && c < CALLERS_MAX; c++) {
			const struct function_call *call = &f.calls[f.v[function].first_call + c];

			fprintf(out, "%s%s %llu", c ? ";" : "", f.names.v[call->caller].s,
				measure_get_value(&call->sum, f.measure));
		}
		fputs("\"\r\n", out);
	}
	if (f.shown < f.n) {
		print_csv_sums("not_shown", 0, &f.not_shown, NULL, out);
		fputs(",\r\n", out);
	}
	print_csv_sums("total", 0, &a->model.total, NULL, out);
	fputs(",\r\n", out);
	if (!health_is_complete(&a->health))
		fputs("incomplete,,,,,,,,,\r\n", out);
	functions_free(&f);
}
