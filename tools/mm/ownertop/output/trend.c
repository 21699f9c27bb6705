// SPDX-License-Identifier: GPL-2.0
/* Write the view "trend": growth per hour over many dumps, to find leaks. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/slope.h"
#include "base/human.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/page.h"
#include "output/rows.h"

static enum measure get_measure_of_column(const struct view_row *row, int arg)
{
	enum measure measure = row->a->view.measure;

	if (arg == MEASURE_MAIN)
		return measure;
	return arg == MEASURE_BESIDE ? measure_get_second_shown(measure) : (enum measure)arg;
}

static const struct slope *get_main_slope(const struct view_row *row)
{
	return &row->slopes[row->a->view.measure];
}

static struct cell get_slope_cell(const struct view_row *row, int arg)
{
	enum measure measure = get_measure_of_column(row, arg);

	return (struct cell){
		.type = row->slopes ? CELL_PER_HOUR : CELL_NONE,
		.measure = measure,
		.real = row->slopes ? row->slopes[measure].per_hour : 0,
	};
}

static struct cell get_times_grown_cell(const struct view_row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){
		.type = CELL_TIMES,
		.part = get_main_slope(row)->up,
		.total = row->nr_sums - 1,
	};
}

static struct cell get_times_shrunk_cell(const struct view_row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){ .type = CELL_COUNT, .number = get_main_slope(row)->down };
}

static struct cell get_r2_cell(const struct view_row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){
		.type = get_main_slope(row)->r2_known ? CELL_FRACTION : CELL_UNKNOWN,
		.real = get_main_slope(row)->r2,
	};
}

static struct cell get_dump_sums_cell(const struct view_row *row, int arg)
{
	(void)row;
	(void)arg;
	return (struct cell){ .type = CELL_SUMS };
}

static const struct column columns[] = {
	/* column names in text, JSON and CSV */
	{ { NULL, NULL, "row" }, .get = get_row_name_cell },
	{ { "#" }, .get = get_rank_or_name_cell, .omit = COLUMN_RANK },
	{ { NULL, "rank", "rank" }, .get = get_rank_cell },
	{ { "GROWTH/H" }, .get = get_slope_cell, .arg = MEASURE_MAIN },
	{ { "NOW" }, .get = get_measure_cell, .arg = SUM_LAST },
	{ { "OBJECTS/H" }, .get = get_slope_cell, .arg = MEASURE_BESIDE, .by_objects = "HELD/H" },
	{ { NULL, NULL, "objects_per_hour" }, .get = get_slope_cell, .arg = MEASURE_OBJECTS },
	{ { NULL, "bytes_per_hour", "bytes_per_hour" }, .get = get_slope_cell,
	  .arg = MEASURE_BYTES },
	{ { NULL, "held_per_hour", "held_per_hour" }, .get = get_slope_cell, .arg = MEASURE_HELD },
	{ { NULL, "objects_per_hour" }, .get = get_slope_cell, .arg = MEASURE_OBJECTS },
	{ { "UP", "up", "up" }, .get = get_times_grown_cell },
	{ { NULL, "down", "down" }, .get = get_times_shrunk_cell },
	{ { "R2", "r2", "r2" }, .get = get_r2_cell },
	{ { NULL, NULL, "objects" }, .get = get_objects_cell, .arg = SUM_LAST },
	{ { NULL, NULL, "bytes" }, .get = get_bytes_cell, .arg = SUM_LAST },
	{ { NULL, NULL, "held" }, .get = get_held_cell, .arg = SUM_LAST },
	{ { NULL, NULL, "records" },
	  .get = get_records_cell, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "objects_error" },
	  .get = get_objects_error_cell, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "bytes_error" },
	  .get = get_bytes_error_cell, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, "dumps" }, .get = get_dump_sums_cell },
};

/* The columns of a trend, and the sums and slopes of the row that is being written. */
struct trend_rows {
	struct trend trend;
	struct column_list list;
	struct sum *sums;
	struct slope slopes[NR_MEASURES];
	struct view_row row;
};

static void begin_trend_rows(struct trend_rows *t, const struct answer *a,
			     enum output_format format, unsigned int omit)
{
	trend_init(&t->trend, a);
	t->sums = xmalloc(a->dumps.n * sizeof(*t->sums));
	columns_choose_named(&t->list, a, columns, sizeof(columns) / sizeof(*columns), format,
			     omit);
	columns_add_group_fields(&t->list, &a->model, format, t->trend.order, t->trend.shown);
}

static void end_trend_rows(struct trend_rows *t)
{
	trend_free(&t->trend);
	free(t->sums);
}

static void fill_sums_and_slopes(struct trend_rows *t, u32 id)
{
	u32 n = t->trend.a->dumps.n, i;

	for (i = 0; i < n; i++)
		t->sums[i] = trend_get_group_sum(&t->trend, id, i);
	for (i = 0; i < NR_MEASURES; i++)
		t->slopes[i] = trend_compute_slope(&t->trend, id, i);
	t->row.sums = t->sums;
	t->row.nr_sums = n;
	t->row.slopes = t->slopes;
}

static const struct view_row *fill_row_of_rank(struct trend_rows *t, u32 rank)
{
	u32 id = t->trend.order[rank];

	fill_group_row(&t->row, t->trend.a, rank + 1, id);
	fill_sums_and_slopes(t, id);
	return &t->row;
}

/* @id: TREND_TOTAL or TREND_NOT_SHOWN */
static const struct view_row *fill_row_of_sums(struct trend_rows *t, const char *name, u32 id)
{
	fill_sums_row(&t->row, t->trend.a, name, NULL, 0);
	fill_sums_and_slopes(t, id);
	return &t->row;
}

static void print_trend_notes(const struct trend *t, const struct output_options *o, FILE *to)
{
	const struct answer *a = t->a;
	struct folded_text folded;
	FILE *out = fold_begin(&folded);
	char buf[HUMAN_LEN];

	notes_print_not_shown(t->n, t->shown, out);
	notes_print_same_functions(&a->model, t->order, t->n, out);
	if (t->unchanged)
		fprintf(out, "unchanged: %u groups\n", t->unchanged);
	fprintf(out, "time: %s between the first and the last of %u dumps\n",
		human_format_age(buf, a->dump_ns[a->dumps.n - 1]), a->dumps.n);
	fputs("UP: times a dump had more than the one before; R2: 1.00 is steady growth\n", out);
	notes_print_all(a, o->term, out);
	fold_end(&folded, o->term, to);
}

void write_trend(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend_rows t;
	struct aligned_rows rows;
	u32 i;

	begin_trend_rows(&t, a, FORMAT_TEXT, rows_are_lines(&a->model, o) ? COLUMN_RANK : 0);
	rows_begin_table(&rows, &a->model, &t.list, o, out);
	do {
		for (i = 0; i < t.trend.shown; i++)
			rows_add_row(&rows, fill_row_of_rank(&t, i));
		if (t.trend.shown < t.trend.n)
			rows_add_row(&rows, fill_row_of_sums(&t, "rest", TREND_NOT_SHOWN));
		rows_add_row(&rows, fill_row_of_sums(&t, "total", TREND_TOTAL));
	} while (rows_end_table(&rows));
	print_trend_notes(&t.trend, o, out);
	end_trend_rows(&t);
}

static void print_json_dumps(const struct answer *a, FILE *out)
{
	u32 i;

	json_begin_list("dumps", out);
	for (i = 0; i < a->dumps.n; i++) {
		const char *path = a->dumps.v[i].path;
		struct json_object *dump = json_new_object();

		json_add_member(dump, "after_ns", json_new_count(a->dump_ns[i]));
		json_add_member(dump, "path",
				json_from_text((struct text_slice){ path, strlen(path) }));
		json_print_item(dump, !i, out);
	}
	json_end_list(out);
}

static void print_trend_document(const struct answer *a, const struct output_options *o,
				 bool with_largest, FILE *out)
{
	struct trend_rows t;
	u32 i;

	begin_trend_rows(&t, a, FORMAT_JSON, 0);
	if (with_largest)
		trend_show_largest(&t.trend);
	json_begin_document(a, o, out);
	print_json_dumps(a, out);
	json_print_member("total",
			  json_from_row(&t.list, fill_row_of_sums(&t, "total", TREND_TOTAL)), out);
	json_print_member("groups_not_shown", json_new_count(t.trend.n - t.trend.shown), out);
	json_print_member("not_shown",
			  json_from_row(&t.list, fill_row_of_sums(&t, "", TREND_NOT_SHOWN)), out);
	json_print_member("unchanged", json_new_count(t.trend.unchanged), out);
	json_begin_list("groups", out);
	for (i = 0; i < t.trend.shown; i++)
		json_print_item(json_from_row(&t.list, fill_row_of_rank(&t, i)), !i, out);
	json_end_document(t.trend.shown, out);
	end_trend_rows(&t);
}

void write_trend_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	print_trend_document(a, o, false, out);
}

void write_trend_html(const struct answer *a, const struct output_options *o, FILE *out)
{
	page_begin(a, out);
	fputs("\"trend\":", out);
	print_trend_document(a, o, true, out);
	page_end(_binary_trend_html_start, _binary_trend_html_end, out);
}

void write_trend_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend_rows t;
	u32 i;

	(void)o;
	begin_trend_rows(&t, a, FORMAT_CSV, 0);
	csv_print_head(&t.list, out);
	for (i = 0; i < t.trend.shown; i++)
		csv_print_row(&t.list, fill_row_of_rank(&t, i), out);
	if (t.trend.shown < t.trend.n)
		csv_print_row(&t.list, fill_row_of_sums(&t, "not_shown", TREND_NOT_SHOWN), out);
	csv_print_row(&t.list, fill_row_of_sums(&t, "total", TREND_TOTAL), out);
	csv_print_incomplete(&t.list, a, out);
	end_trend_rows(&t);
}
