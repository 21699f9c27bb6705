// SPDX-License-Identifier: GPL-2.0
/* The view "trend": growth per hour over many dumps, to find leaks. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/slope.h"
#include "base/human.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"

static enum measure measure_of_arg(const struct row *row, int arg)
{
	enum measure measure = row->a->view.measure;

	if (arg == MEASURE_MAIN)
		return measure;
	return arg == MEASURE_BESIDE ? measure_shown_beside(measure) : (enum measure)arg;
}

static const struct slope *main_slope(const struct row *row)
{
	return &row->slopes[row->a->view.measure];
}

static struct cell cell_per_hour(const struct row *row, int arg)
{
	enum measure measure = measure_of_arg(row, arg);

	return (struct cell){
		.type = row->slopes ? CELL_PER_HOUR : CELL_NONE,
		.measure = measure,
		.real = row->slopes ? row->slopes[measure].per_hour : 0,
	};
}

static struct cell cell_up(const struct row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){
		.type = CELL_TIMES,
		.part = main_slope(row)->up,
		.total = row->nr_sums - 1,
	};
}

static struct cell cell_down(const struct row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){ .type = CELL_COUNT, .number = main_slope(row)->down };
}

static struct cell cell_r2(const struct row *row, int arg)
{
	(void)arg;
	if (!row->slopes)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){
		.type = main_slope(row)->r2_known ? CELL_FRACTION : CELL_UNKNOWN,
		.real = main_slope(row)->r2,
	};
}

static struct cell cell_dumps(const struct row *row, int arg)
{
	(void)row;
	(void)arg;
	return (struct cell){ .type = CELL_SUMS };
}

static const struct column columns[] = {
	/* text, JSON, CSV */
	{ { NULL, NULL, "row" }, .get = cell_row_name },
	{ { "#" }, .get = cell_label },
	{ { NULL, "rank", "rank" }, .get = cell_rank },
	{ { "BYTES/H" }, .get = cell_per_hour, .arg = MEASURE_MAIN, .by_objects = "OBJECTS/H" },
	{ { "NOW" }, .get = cell_measure, .arg = SUM_LAST },
	{ { "OBJECTS/H" }, .get = cell_per_hour, .arg = MEASURE_BESIDE, .by_objects = "BYTES/H" },
	{ { NULL, NULL, "objects_per_hour" }, .get = cell_per_hour, .arg = MEASURE_OBJECTS },
	{ { NULL, "bytes_per_hour", "bytes_per_hour" }, .get = cell_per_hour,
	  .arg = MEASURE_BYTES },
	{ { NULL, "held_per_hour", "held_per_hour" }, .get = cell_per_hour, .arg = MEASURE_HELD },
	{ { NULL, "objects_per_hour" }, .get = cell_per_hour, .arg = MEASURE_OBJECTS },
	{ { "UP", "up", "up" }, .get = cell_up },
	{ { NULL, "down", "down" }, .get = cell_down },
	{ { "R2", "r2", "r2" }, .get = cell_r2 },
	{ { NULL, NULL, "objects" }, .get = cell_objects, .arg = SUM_LAST },
	{ { NULL, NULL, "bytes" }, .get = cell_bytes, .arg = SUM_LAST },
	{ { NULL, NULL, "held" }, .get = cell_held, .arg = SUM_LAST },
	{ { NULL, NULL, "records" },
	  .get = cell_records, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "objects_error" },
	  .get = cell_objects_error, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "bytes_error" },
	  .get = cell_bytes_error, .arg = SUM_LAST, .omit = COLUMN_SAMPLED },
	{ { NULL, "dumps" }, .get = cell_dumps },
};

/* The columns, and the sums and slopes of the row that is being written. */
struct trend_rows {
	struct trend trend;
	struct column_list list;
	struct sum *sums;
	struct slope slopes[NR_MEASURES];
	struct row row;
};

static void begin_trend(struct trend_rows *t, const struct answer *a, enum output_format format)
{
	trend_init(&t->trend, a);
	t->sums = xmalloc(a->dumps.n * sizeof(*t->sums));
	columns_choose(&t->list, a, columns, sizeof(columns) / sizeof(*columns), format, 0);
	columns_add_fields(&t->list, &a->model, format, t->trend.order, t->trend.shown);
}

static void end_trend(struct trend_rows *t)
{
	trend_free(&t->trend);
	free(t->sums);
}

static void fill_figures(struct trend_rows *t, u32 id)
{
	u32 n = t->trend.a->dumps.n, i;

	for (i = 0; i < n; i++)
		t->sums[i] = trend_get_sum(&t->trend, id, i);
	for (i = 0; i < NR_MEASURES; i++)
		t->slopes[i] = trend_compute_slope(&t->trend, id, i);
	t->row.sums = t->sums;
	t->row.nr_sums = n;
	t->row.slopes = t->slopes;
}

static const struct row *row_of_rank(struct trend_rows *t, u32 rank)
{
	u32 id = t->trend.order[rank];

	row_of_group(&t->row, t->trend.a, rank + 1, id);
	fill_figures(t, id);
	return &t->row;
}

static const struct row *row_of_total(struct trend_rows *t)
{
	row_of_sums(&t->row, t->trend.a, "total", NULL, 0);
	fill_figures(t, TREND_TOTAL);
	return &t->row;
}

static void print_notes(const struct trend *t, FILE *out)
{
	const struct answer *a = t->a;
	char buf[HUMAN_LEN];

	notes_not_shown(t->n, t->shown, out);
	if (t->unchanged)
		fprintf(out, "unchanged: %u groups\n", t->unchanged);
	fprintf(out, "time: %s between the first and the last of %u dumps\n",
		human_format_age(buf, a->dump_ns[a->dumps.n - 1]), a->dumps.n);
	fputs("UP: times a dump had more than the one before; R2: 1.00 is steady growth\n", out);
	notes_print(a, terminal_of(out), out);
}

void write_trend(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend_rows t;
	struct rows rows;
	u32 i;

	(void)o;
	begin_trend(&t, a, FORMAT_TEXT);
	rows_begin(&rows, &a->model, &t.list, terminal_of(out), out);
	do {
		for (i = 0; i < t.trend.shown; i++)
			rows_add(&rows, row_of_rank(&t, i));
		rows_add(&rows, row_of_total(&t));
	} while (rows_end(&rows));
	print_notes(&t.trend, out);
	end_trend(&t);
}

static void print_json_dumps(const struct answer *a, FILE *out)
{
	u32 i;

	json_list_begin("dumps", out);
	for (i = 0; i < a->dumps.n; i++) {
		const char *path = a->dumps.v[i].path;
		struct json_object *dump = json_new_object();

		json_add(dump, "after_ns", json_count(a->dump_ns[i]));
		json_add(dump, "path", json_text((struct text){ path, strlen(path) }));
		json_list_add(dump, !i, out);
	}
	json_list_end(out);
}

void write_trend_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend_rows t;
	u32 i;

	begin_trend(&t, a, FORMAT_JSON);
	json_begin(a, o, out);
	print_json_dumps(a, out);
	json_member("total", json_row(&t.list, row_of_total(&t)), out);
	json_member("groups_not_shown", json_count(t.trend.n - t.trend.shown), out);
	json_member("unchanged", json_count(t.trend.unchanged), out);
	json_list_begin("groups", out);
	for (i = 0; i < t.trend.shown; i++)
		json_list_add(json_row(&t.list, row_of_rank(&t, i)), !i, out);
	json_end(t.trend.shown, out);
	end_trend(&t);
}

void write_trend_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend_rows t;
	u32 i;

	(void)o;
	begin_trend(&t, a, FORMAT_CSV);
	csv_head(&t.list, out);
	for (i = 0; i < t.trend.shown; i++)
		csv_row(&t.list, row_of_rank(&t, i), out);
	csv_row(&t.list, row_of_total(&t), out);
	csv_incomplete(&t.list, a, out);
	end_trend(&t);
}
