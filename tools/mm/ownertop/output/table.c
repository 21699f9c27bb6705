// SPDX-License-Identifier: GPL-2.0
/*
 * The view "table": the largest groups, and rows or notes for all other objects, so that the
 * figures add up. The view "records" uses its JSON, CSV and TSV.
 */
#include "model/report.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"
#include "output/tsv.h"

static struct cell cell_share(const struct row *row, int arg)
{
	const struct answer *a = row->a;

	(void)arg;
	return (struct cell){
		.type = CELL_SHARE,
		.part = measure_get_value(row->sums, a->view.measure),
		.total = measure_get_value(&a->model.total, a->view.measure),
	};
}

/* Arguments of cell_time() and cell_age(). */
enum {
	OLDEST,
	NEWEST,
};

static struct cell cell_time(const struct row *row, int which)
{
	u64 ts = which == OLDEST ? row->oldest : row->newest;

	if (!(row->has & ROW_AGES))
		return (struct cell){ .type = CELL_NONE };
	if (ts == TS_UNKNOWN)
		return (struct cell){ .type = CELL_UNKNOWN };
	return (struct cell){ .type = CELL_TIME, .number = ts };
}

static struct cell cell_age(const struct row *row, int which)
{
	struct cell cell = cell_time(row, which);

	/* The kernel prints 0 as the age of nothing. */
	if (cell.type != CELL_NONE && !row->groups)
		return (struct cell){ .type = CELL_COUNT };
	if (cell.type == CELL_TIME)
		cell = (struct cell){
			.type = CELL_AGE,
			.number = model_compute_age(&row->a->model, cell.number),
		};
	return cell;
}

static const struct column columns[] = {
	/* text, JSON, CSV, TSV */
	{ { NULL, NULL, "row", "row" }, .get = cell_row_name },
	{ { "#" }, .get = cell_label },
	{ { NULL, "rank", "rank" }, .get = cell_rank },
	{ { NULL, NULL, NULL, "groups" }, .get = cell_groups },
	{ { NULL, "objects", "objects", "objects" }, .get = cell_objects },
	{ { "BYTES", "bytes", "bytes", "bytes" }, .get = cell_bytes },
	{ { "%" }, .get = cell_share },
	{ { "HELD", "held", "held", "held" }, .get = cell_held, .omit = COLUMN_HELD },
	{ { "OBJECTS" }, .get = cell_objects },
	{ { "+-BYTES" }, .get = cell_error, .omit = COLUMN_SAMPLED, .by_objects = "+-OBJECTS" },
	{ { NULL, "records" }, .get = cell_records, .omit = COLUMN_SAMPLED },
	{ { NULL, "objects_error" }, .get = cell_objects_error, .omit = COLUMN_SAMPLED },
	{ { NULL, "bytes_error" }, .get = cell_bytes_error, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, NULL, "waste" }, .get = cell_waste },
	{ { "OLDEST", NULL, NULL, "oldest_ns" }, .get = cell_age, .arg = OLDEST,
	  .omit = COLUMN_AGES },
	{ { NULL, NULL, NULL, "youngest_ns" }, .get = cell_age, .arg = NEWEST },
	{ { NULL, "oldest_ns", "oldest_ns" }, .get = cell_time, .arg = OLDEST },
	{ { NULL, "newest_ns", "newest_ns" }, .get = cell_time, .arg = NEWEST },
	{ { NULL, NULL, "records", "records" }, .get = cell_records, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "objects_error", "objects_error" }, .get = cell_objects_error,
	  .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "bytes_error", "bytes_error" }, .get = cell_bytes_error,
	  .omit = COLUMN_SAMPLED },
};

static void choose_columns(struct column_list *list, const struct report *r,
			   const struct answer *a, enum output_format format, unsigned int omit)
{
	columns_choose(list, a, columns, sizeof(columns) / sizeof(*columns), format, omit);
	columns_add_fields(list, &a->model, format, r->order, r->shown);
}

static void row_of_rank(struct row *row, const struct answer *a, const struct report *r,
			u32 rank)
{
	row_of_group(row, a, rank + 1, r->order[rank]);
	row->sums = &row->group.sum;
	row->nr_sums = 1;
}

static bool has_ages(const struct report *r, bool if_all)
{
	u32 n = if_all ? r->model->groups.n : r->shown, known = 0, i;

	for (i = 0; i < n; i++)
		known += model_get_oldest(r->model, r->order[i]) != TS_UNKNOWN;
	return known && (known == n || !if_all);
}

static void add_sum(struct rows *rows, const struct answer *a, const char *name,
		    const struct sum *sum)
{
	struct row row;

	row_of_sums(&row, a, name, sum, 1);
	rows_add(rows, &row);
}

void write_table(const struct answer *a, const struct output_options *o, FILE *out)
{
	write_table_to(a, o, out, terminal_of(out));
}

void write_table_to(const struct answer *a, const struct output_options *o, FILE *out,
		    struct terminal term)
{
	const struct model *m = &a->model;
	struct column_list list;
	unsigned int omit = 0;
	u32 not_shown, in_other, i;
	struct report r;
	struct rows rows;
	struct row row;

	report_init(&r, a);
	if (m->total.held == m->total.bytes)
		omit |= COLUMN_HELD;
	if (!has_ages(&r, o->ages_if_all))
		omit |= COLUMN_AGES;
	choose_columns(&list, &r, a, FORMAT_TEXT, omit);
	rows_begin(&rows, m, &list, term, out);
	not_shown = r.kept - r.shown;
	in_other = m->groups.n - r.kept;
	do {
		for (i = 0; i < r.shown; i++) {
			row_of_rank(&row, a, &r, i);
			rows_add(&rows, &row);
		}
		if (not_shown)
			add_sum(&rows, a, "rest", &r.not_shown);
		if (in_other)
			add_sum(&rows, a, "other", &r.other);
		add_sum(&rows, a, "total", &m->total);
	} while (rows_end(&rows));
	if (not_shown)
		fprintf(out, "rest: %u of %u groups%s\n", not_shown, m->groups.n,
			o->repeats ? "" : "; --top 0 shows them");
	if (in_other)
		fprintf(out, "other: %u groups beyond groups=%u\n", in_other, r.kept);
	notes_print(a, term, out);
	report_free(&r);
}

void write_table_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct column_list list;
	struct report r;
	struct row row;
	u32 i;

	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_JSON, 0);
	json_begin(a, o, out);
	json_member("total", json_sum(&m->total), out);
	json_member("groups_not_shown", json_count(r.kept - r.shown), out);
	json_member("not_shown", json_sum(&r.not_shown), out);
	if (r.kept < m->groups.n) {
		json_member("groups_in_other", json_count(m->groups.n - r.kept), out);
		json_member("other", json_sum(&r.other), out);
	}
	json_list_begin("groups", out);
	for (i = 0; i < r.shown; i++) {
		row_of_rank(&row, a, &r, i);
		json_list_add(json_row(&list, &row), !i, out);
	}
	json_end(r.shown, out);
	report_free(&r);
}

/* A row that has only the figures of @has. */
static void print_csv_sum(const struct column_list *list, const struct answer *a,
			  const char *name, const struct sum *sum, unsigned int has, FILE *out)
{
	struct row row;

	row_of_sums(&row, a, name, sum, 1);
	row.has = has;
	csv_row(list, &row, out);
}

/* Rows for objects that no group has. */
static void print_csv_notes(const struct column_list *list, const struct answer *a, FILE *out)
{
	const struct model *m = &a->model;
	const struct sources *s = &m->sources;
	const struct sum untracked = { .objects = m->sink.summary.untracked };
	const struct sum backing = { .objects = s->backing.objects, .bytes = s->backing.bytes };
	const struct sum unsized = { .objects = s->unsized };
	const char *overlaps[SOURCES_OVERLAPS];

	if (m->filtered.objects)
		print_csv_sum(list, a, "filtered_out", &m->filtered, ROW_SUM, out);
	if (m->undecided.objects)
		print_csv_sum(list, a, "undecided", &m->undecided, ROW_SUM, out);
	if (m->sink.summary.coverage_known)
		print_csv_sum(list, a, "untracked", &untracked, ROW_OBJECTS, out);
	if (s->backing.objects)
		print_csv_sum(list, a, "set_aside", &backing, ROW_OBJECTS | ROW_BYTES, out);
	if (s->unsized)
		print_csv_sum(list, a, "unknown_size", &unsized, ROW_OBJECTS, out);
	sources_find_overlaps(s, overlaps);
	if (*overlaps)
		csv_row_of_name(list, a, "overlap", out);
	csv_incomplete(list, a, out);
}

void write_table_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct column_list list;
	struct report r;
	struct row row;
	u32 i;

	(void)o;
	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_CSV, 0);
	csv_head(&list, out);
	for (i = 0; i < r.shown; i++) {
		row_of_rank(&row, a, &r, i);
		csv_row(&list, &row, out);
	}
	if (r.shown < r.kept)
		print_csv_sum(&list, a, "not_shown", &r.not_shown, ROW_SUM, out);
	if (r.kept < m->groups.n)
		print_csv_sum(&list, a, "other", &r.other, ROW_SUM, out);
	print_csv_sum(&list, a, "total", &m->total, ROW_SUM, out);
	print_csv_notes(&list, a, out);
	report_free(&r);
}

/* The sum of the groups from rank @from to rank @to, with their ages. */
static void print_tsv_sum(const struct column_list *list, const struct answer *a,
			  const struct report *r, const char *name, u32 from, u32 to, FILE *out)
{
	struct group_totals t = GROUP_TOTALS_NONE;
	struct row row;
	u32 i;

	for (i = from; i < to; i++) {
		struct group g = report_get_group(r, i);

		group_totals_add(&t, &g.sum, 1, g.oldest, g.newest);
	}
	row_of_sums(&row, a, name, &t.sum, 1);
	row.has |= ROW_AGES;
	row.groups = t.groups;
	row.oldest = t.oldest;
	row.newest = t.newest;
	tsv_row(list, &row, out);
}

/* CSV leaves out empty rows of sums; TSV has them, as the kernel always prints them. */
void write_tsv(const struct answer *a, const struct output_options *o, FILE *out)
{
	u32 n = a->model.groups.n, i;
	struct column_list list;
	struct report r;
	struct row row;

	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_TSV, 0);
	tsv_sentence(o->sentence, out);
	tsv_head(&list, out);
	for (i = 0; i < r.shown; i++) {
		row_of_rank(&row, a, &r, i);
		tsv_row(&list, &row, out);
	}
	print_tsv_sum(&list, a, &r, "not_shown", r.shown, r.kept, out);
	print_tsv_sum(&list, a, &r, "other", r.kept, n, out);
	print_tsv_sum(&list, a, &r, "total", 0, n, out);
	tsv_notes(a, out);
	report_free(&r);
}
