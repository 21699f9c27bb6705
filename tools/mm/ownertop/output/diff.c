// SPDX-License-Identifier: GPL-2.0
/* Write the view "diff": the groups that differ between two dumps. */
#include "model/growth.h"
#include "base/human.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"

static struct cell get_change_cell(const struct view_row *row, int arg)
{
	enum measure measure = row->a->view.measure;

	if (arg == MEASURE_BESIDE)
		measure = measure_get_second_shown(measure);
	return (struct cell){
		.type = CELL_CHANGE,
		.measure = measure,
		.change = change_between(measure_get_value(&row->sums[0], measure),
					 measure_get_value(&row->sums[1], measure)),
	};
}

/*
 * Make the cell with the size of a group in one dump: "-" if the dump does not have the group,
 * which is not the same as 0 bytes.
 */
static struct cell get_measure_of_dump_cell(const struct view_row *row, int which)
{
	return row->sums[which].objects ? get_measure_cell(row, which) :
					  (struct cell){ .type = CELL_UNKNOWN };
}

#define OLD SUM_FIRST
#define NEW SUM_LAST

static const struct column columns[] = {
	/* column names in text, JSON and CSV */
	{ { NULL, NULL, "row" }, .get = get_row_name_cell },
	{ { "#" }, .get = get_rank_or_name_cell, .omit = COLUMN_RANK },
	{ { NULL, "rank", "rank" }, .get = get_rank_cell },
	{ { "GROWTH" }, .get = get_change_cell, .arg = MEASURE_MAIN },
	{ { "+-BYTES" }, .get = get_measure_error_cell, .omit = COLUMN_SAMPLED,
	  .by_objects = "+-OBJECTS" },
	{ { "OLD" }, .get = get_measure_of_dump_cell, .arg = OLD },
	{ { "NEW" }, .get = get_measure_of_dump_cell, .arg = NEW },
	{ { "OBJECTS" }, .get = get_change_cell, .arg = MEASURE_BESIDE, .by_objects = "HELD" },
	{ { NULL, "objects", "old_objects" },
	  .get = get_objects_cell, .arg = OLD, .object = "old" },
	{ { NULL, "bytes", "old_bytes" }, .get = get_bytes_cell, .arg = OLD, .object = "old" },
	{ { NULL, "held", "old_held" }, .get = get_held_cell, .arg = OLD, .object = "old" },
	{ { NULL, "records" }, .get = get_records_cell, .arg = OLD, .object = "old" },
	{ { NULL, "objects_error" }, .get = get_objects_error_cell, .arg = OLD, .object = "old" },
	{ { NULL, "bytes_error" }, .get = get_bytes_error_cell, .arg = OLD, .object = "old" },
	{ { NULL, "objects", "new_objects" },
	  .get = get_objects_cell, .arg = NEW, .object = "new" },
	{ { NULL, "bytes", "new_bytes" }, .get = get_bytes_cell, .arg = NEW, .object = "new" },
	{ { NULL, "held", "new_held" }, .get = get_held_cell, .arg = NEW, .object = "new" },
	{ { NULL, "records" }, .get = get_records_cell, .arg = NEW, .object = "new" },
	{ { NULL, "objects_error" }, .get = get_objects_error_cell, .arg = NEW, .object = "new" },
	{ { NULL, "bytes_error" }, .get = get_bytes_error_cell, .arg = NEW, .object = "new" },
	{ { NULL, NULL, "old_records" },
	  .get = get_records_cell, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "old_objects_error" },
	  .get = get_objects_error_cell, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "old_bytes_error" },
	  .get = get_bytes_error_cell, .arg = OLD, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_records" },
	  .get = get_records_cell, .arg = NEW, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_objects_error" },
	  .get = get_objects_error_cell, .arg = NEW, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "new_bytes_error" },
	  .get = get_bytes_error_cell, .arg = NEW, .omit = COLUMN_SAMPLED },
};

static void choose_columns(struct column_list *list, const struct growth *g,
			   enum output_format format, unsigned int omit)
{
	columns_choose_named(list, g->a, columns, sizeof(columns) / sizeof(*columns), format, omit);
	columns_add_group_fields(list, &g->a->model, format, g->order, g->shown);
}

/* Fill @row for the group of @rank. @pair: receives the sums that @row points to. */
static void fill_row_of_rank(struct view_row *row, const struct growth *g, u32 rank,
			     struct dump_sums *pair)
{
	*pair = growth_find_group_sums(g, g->order[rank]);
	fill_group_row(row, g->a, rank + 1, g->order[rank]);
	row->sums = pair->sums;
	row->nr_sums = 2;
}

static void print_time(const struct dump *old, const struct dump *new, FILE *out)
{
	char buf[HUMAN_LEN];

	if (!old->newest || !new->newest)
		fprintf(out, "time: unknown, %s has none\n", old->newest ? new->path : old->path);
	else if (new->newest > old->newest)
		fprintf(out, "time: %s between the newest records of the two\n",
			human_format_age(buf, new->newest - old->newest));
	else
		fputs("time: NEW has no later record than OLD: swapped, or a reboot between?\n",
		      out);
}

static void print_diff_notes(const struct growth *g, const struct output_options *o, FILE *to)
{
	const struct answer *a = g->a;
	struct folded_text folded;
	FILE *out = fold_begin(&folded);

	notes_print_not_shown(g->n, g->shown, out);
	notes_print_same_functions(&a->model, g->order, g->n, out);
	fprintf(out, "groups: %u new, %u gone, %u changed, %u as before\n", g->appeared,
		g->gone, g->n - g->appeared - g->gone, g->unchanged);
	print_time(&a->dumps.v[0], &a->dumps.v[1], out);
	notes_print_all(a, o->term, out);
	fold_end(&folded, o->term, to);
}

void write_diff(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct aligned_rows rows;
	struct dump_sums pair;
	struct view_row row;
	u32 i;

	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_TEXT, rows_are_lines(&a->model, o) ? COLUMN_RANK : 0);
	rows_begin_table(&rows, &a->model, &list, o, out);
	do {
		for (i = 0; i < g.shown; i++) {
			fill_row_of_rank(&row, &g, i, &pair);
			rows_add_row(&rows, &row);
		}
		if (g.shown < g.n) {
			fill_sums_row(&row, a, "rest", g.not_shown.sums, 2);
			rows_add_row(&rows, &row);
		}
		fill_sums_row(&row, a, "total", g.total.sums, 2);
		rows_add_row(&rows, &row);
	} while (rows_end_table(&rows));
	print_diff_notes(&g, o, out);
	growth_free(&g);
}

static void print_json_dump_sums(const struct column_list *list, const struct answer *a,
				 const char *name, const struct dump_sums *pair, FILE *out)
{
	struct view_row row;

	fill_sums_row(&row, a, name, pair->sums, 2);
	json_print_member(name, json_from_row(list, &row), out);
}

void write_diff_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct dump_sums pair;
	struct view_row row;
	u32 i;

	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_JSON, 0);
	json_begin_document(a, o, out);
	json_print_member("appeared", json_new_count(g.appeared), out);
	json_print_member("gone", json_new_count(g.gone), out);
	json_print_member("unchanged", json_new_count(g.unchanged), out);
	print_json_dump_sums(&list, a, "total", &g.total, out);
	json_print_member("groups_not_shown", json_new_count(g.n - g.shown), out);
	print_json_dump_sums(&list, a, "not_shown", &g.not_shown, out);
	json_begin_list("groups", out);
	for (i = 0; i < g.shown; i++) {
		fill_row_of_rank(&row, &g, i, &pair);
		json_print_item(json_from_row(&list, &row), !i, out);
	}
	json_end_document(g.shown, out);
	growth_free(&g);
}

void write_diff_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct growth g;
	struct dump_sums pair;
	struct view_row row;
	u32 i;

	(void)o;
	growth_init(&g, a);
	choose_columns(&list, &g, FORMAT_CSV, 0);
	csv_print_head(&list, out);
	for (i = 0; i < g.shown; i++) {
		fill_row_of_rank(&row, &g, i, &pair);
		csv_print_row(&list, &row, out);
	}
	if (g.shown < g.n) {
		fill_sums_row(&row, a, "not_shown", g.not_shown.sums, 2);
		csv_print_row(&list, &row, out);
	}
	fill_sums_row(&row, a, "total", g.total.sums, 2);
	csv_print_row(&list, &row, out);
	csv_print_incomplete(&list, a, out);
	growth_free(&g);
}
