// SPDX-License-Identifier: GPL-2.0
/* The view "diff": the groups that differ between two dumps. */
#include "model/growth.h"
#include "base/human.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"

static struct cell cell_change(const struct row *row, int arg)
{
	enum measure measure = row->a->view.measure;

	if (arg == MEASURE_BESIDE)
		measure = measure_shown_beside(measure);
	return (struct cell){
		.type = CELL_CHANGE,
		.measure = measure,
		.change = change_between(measure_get_value(&row->sums[0], measure),
					 measure_get_value(&row->sums[1], measure)),
	};
}

/* "-" for a group that is not in the dump: it is not the same as a group of 0 bytes. */
static struct cell cell_amount(const struct row *row, int which)
{
	return row->sums[which].objects ? cell_measure(row, which) :
					  (struct cell){ .type = CELL_UNKNOWN };
}

#define OLD SUM_FIRST
#define NEW SUM_LAST

static const struct column columns[] = {
	/* text, JSON, CSV */
	{ { NULL, NULL, "row" }, .get = cell_row_name },
	{ { "#" }, .get = cell_label },
	{ { NULL, "rank", "rank" }, .get = cell_rank },
	{ { "GROWTH" }, .get = cell_change, .arg = MEASURE_MAIN },
	{ { "+-BYTES" }, .get = cell_error, .omit = COLUMN_SAMPLED, .by_objects = "+-OBJECTS" },
	{ { "OLD" }, .get = cell_amount, .arg = OLD },
	{ { "NEW" }, .get = cell_amount, .arg = NEW },
	{ { "OBJECTS" }, .get = cell_change, .arg = MEASURE_BESIDE, .by_objects = "BYTES" },
	{ { NULL, "objects", "old_objects" }, .get = cell_objects, .arg = OLD, .object = "old" },
	{ { NULL, "bytes", "old_bytes" }, .get = cell_bytes, .arg = OLD, .object = "old" },
	{ { NULL, "held", "old_held" }, .get = cell_held, .arg = OLD, .object = "old" },
	{ { NULL, "records" }, .get = cell_records, .arg = OLD, .object = "old" },
	{ { NULL, "objects_error" }, .get = cell_objects_error, .arg = OLD, .object = "old" },
	{ { NULL, "bytes_error" }, .get = cell_bytes_error, .arg = OLD, .object = "old" },
	{ { NULL, "objects", "new_objects" }, .get = cell_objects, .arg = NEW, .object = "new" },
	{ { NULL, "bytes", "new_bytes" }, .get = cell_bytes, .arg = NEW, .object = "new" },
	{ { NULL, "held", "new_held" }, .get = cell_held, .arg = NEW, .object = "new" },
	{ { NULL, "records" }, .get = cell_records, .arg = NEW, .object = "new" },
	{ { NULL, "objects_error" }, .get = cell_objects_error, .arg = NEW, .object = "new" },
	{ { NULL, "bytes_error" }, .get = cell_bytes_error, .arg = NEW, .object = "new" },
	{ { NULL, NULL, "old_records" },
	  .get = cell_records, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "old_objects_error" },
	  .get = cell_objects_error, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "old_bytes_error" },
	  .get = cell_bytes_error, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_records" },
	  .get = cell_records, .arg = NEW, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_objects_error" },
	  .get = cell_objects_error, .arg = NEW, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_bytes_error" },
	  .get = cell_bytes_error, .arg = NEW, .omit = COLUMN_SAMPLED },
};

static void choose_columns(struct column_list *list, const struct growth *g,
			   enum output_format format)
{
	columns_choose(list, g->a, columns, sizeof(columns) / sizeof(*columns), format, 0);
	columns_add_fields(list, &g->a->model, format, g->order, g->shown);
}

/* @pair: receives the sums that @row points to */
static void row_of_rank(struct row *row, const struct growth *g, u32 rank, struct dump_sums *pair)
{
	*pair = growth_find_sums(g, g->order[rank]);
	row_of_group(row, g->a, rank + 1, g->order[rank]);
	row->sums = pair->sums;
	row->nr_sums = 2;
}

static void print_time(const struct dump *old, const struct dump *new, FILE *out)
{
	char buf[HUMAN_LEN];

	if (new->newest > old->newest)
		fprintf(out, "time: %s between the newest records of the two\n",
			human_format_age(buf, new->newest - old->newest));
	else
		fputs("time: NEW has no later record than OLD: swapped, or a reboot between?\n",
		      out);
}

static void print_notes(const struct growth *g, FILE *out)
{
	const struct answer *a = g->a;

	notes_not_shown(g->n, g->shown, out);
	fprintf(out, "groups: %u new, %u gone, %u changed, %u as before\n", g->appeared,
		g->gone, g->n - g->appeared - g->gone, g->unchanged);
	print_time(&a->dumps.v[0], &a->dumps.v[1], out);
	notes_print(a, terminal_of(out), out);
}

void write_diff(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct rows rows;
	struct dump_sums pair;
	struct row row;
	u32 i;

	(void)o;
	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_TEXT);
	rows_begin(&rows, &a->model, &list, terminal_of(out), out);
	do {
		for (i = 0; i < g.shown; i++) {
			row_of_rank(&row, &g, i, &pair);
			rows_add(&rows, &row);
		}
		if (g.shown < g.n) {
			row_of_sums(&row, a, "rest", g.not_shown.sums, 2);
			rows_add(&rows, &row);
		}
		row_of_sums(&row, a, "total", g.total.sums, 2);
		rows_add(&rows, &row);
	} while (rows_end(&rows));
	print_notes(&g, out);
	growth_free(&g);
}

static void print_json_pair(const struct column_list *list, const struct answer *a,
			    const char *name, const struct dump_sums *pair, FILE *out)
{
	struct row row;

	row_of_sums(&row, a, name, pair->sums, 2);
	json_member(name, json_row(list, &row), out);
}

void write_diff_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct dump_sums pair;
	struct row row;
	u32 i;

	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_JSON);
	json_begin(a, o, out);
	json_member("appeared", json_count(g.appeared), out);
	json_member("gone", json_count(g.gone), out);
	json_member("unchanged", json_count(g.unchanged), out);
	print_json_pair(&list, a, "total", &g.total, out);
	json_member("groups_not_shown", json_count(g.n - g.shown), out);
	print_json_pair(&list, a, "not_shown", &g.not_shown, out);
	json_list_begin("groups", out);
	for (i = 0; i < g.shown; i++) {
		row_of_rank(&row, &g, i, &pair);
		json_list_add(json_row(&list, &row), !i, out);
	}
	json_end(g.shown, out);
	growth_free(&g);
}

void write_diff_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct dump_sums pair;
	struct row row;
	u32 i;

	(void)o;
	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_CSV);
	csv_head(&list, out);
	for (i = 0; i < g.shown; i++) {
		row_of_rank(&row, &g, i, &pair);
		csv_row(&list, &row, out);
	}
	if (g.shown < g.n) {
		row_of_sums(&row, a, "not_shown", g.not_shown.sums, 2);
		csv_row(&list, &row, out);
	}
	row_of_sums(&row, a, "total", g.total.sums, 2);
	csv_row(&list, &row, out);
	csv_incomplete(&list, a, out);
	growth_free(&g);
}
