// SPDX-License-Identifier: GPL-2.0
/*
 * Write the view "table": the largest groups, and rows or notes for all other objects, so that
 * the figures add up.
 */
#include "model/report.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"
#include "output/summary.h"
#include "output/tsv.h"

/* Value of column.arg for get_share_cell(), besides enum measure. */
#define SHARE_OF_WASTE NR_MEASURES

static struct cell get_share_cell(const struct view_row *row, int arg)
{
	const struct sum *total = &row->a->model.total;

	if (arg == SHARE_OF_WASTE)
		return (struct cell){
			.type = CELL_SHARE,
			.part = sum_get_waste(row->sums),
			.total = sum_get_waste(total),
		};
	return (struct cell){
		.type = CELL_SHARE,
		.part = measure_get_value(row->sums, arg),
		.total = measure_get_value(total, arg),
	};
}

/* Values of column.arg for get_slabs_cell(). */
enum {
	SLABS,
	SLABS_USE,
	SLABS_USE_FRACTION,
};

/* Make the cell with a figure of the slabs of a cache, of which slabinfo tells. */
static struct cell get_slabs_cell(const struct view_row *row, int which)
{
	const struct slab_cache *cache;

	if (row->id == ROW_NO_GROUP)
		return (struct cell){ .type = CELL_NONE };
	cache = slabinfo_find(&row->a->slabinfo,
			      model_get_name(&row->a->model, &row->group, OWNER_FIELD_CACHE));
	if (!cache || !cache->objects)
		return (struct cell){ .type = CELL_UNKNOWN };
	switch (which) {
	case SLABS:
		return (struct cell){ .type = CELL_COUNT, .number = cache->slabs };
	case SLABS_USE:
		return (struct cell){
			.type = CELL_SHARE,
			.part = cache->in_use,
			.total = cache->objects,
		};
	default:
		return (struct cell){
			.type = CELL_FRACTION,
			.real = (double)cache->in_use / cache->objects,
		};
	}
}

static struct cell get_positive_waste_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return (struct cell){ .type = CELL_BYTES, .number = sum_get_waste(row->sums) };
}

/* Values of column.arg for get_time_cell() and get_age_cell(). */
enum {
	OLDEST,
	NEWEST,
};

static struct cell get_time_cell(const struct view_row *row, int which)
{
	u64 ts = which == OLDEST ? row->oldest : row->newest;

	if (!(row->has & ROW_AGES))
		return (struct cell){ .type = CELL_NONE };
	if (ts == TS_UNKNOWN)
		return (struct cell){ .type = CELL_UNKNOWN };
	return (struct cell){ .type = CELL_TIME, .number = ts };
}

static struct cell get_age_cell(const struct view_row *row, int which)
{
	struct cell cell = get_time_cell(row, which);

	/* In a row without groups print the age as 0, like the kernel's TSV. */
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
	/* column names in text, JSON, CSV and TSV */
	{ { NULL, NULL, "row", "row" }, .get = get_row_name_cell },
	{ { "#" }, .get = get_rank_or_name_cell, .omit = COLUMN_RANK },
	{ { NULL, "rank", "rank" }, .get = get_rank_cell },
	{ { NULL, NULL, NULL, "groups" }, .get = get_groups_cell },
	{ { NULL, "objects", "objects", "objects" }, .get = get_objects_cell },
	{ { NULL, "bytes", "bytes", "bytes" }, .get = get_bytes_cell },
	{ { "HELD", "held", "held", "held" }, .get = get_held_cell },
	{ { "%" }, .get = get_share_cell, .arg = MEASURE_HELD, .omit = COLUMN_SHARE_OF_HELD },
	{ { "WASTE" }, .get = get_positive_waste_cell, .omit = COLUMN_WASTE },
	{ { "%" }, .get = get_share_cell, .arg = SHARE_OF_WASTE, .omit = COLUMN_SHARE_OF_WASTE },
	{ { "BYTES" }, .get = get_bytes_cell, .omit = COLUMN_SHARE_OF_BYTES },
	{ { "%" }, .get = get_share_cell, .arg = MEASURE_BYTES, .omit = COLUMN_SHARE_OF_BYTES },
	{ { "OBJECTS" }, .get = get_objects_cell },
	{ { "%" }, .get = get_share_cell, .arg = MEASURE_OBJECTS,
	  .omit = COLUMN_SHARE_OF_OBJECTS },
	{ { "SLABS" }, .get = get_slabs_cell, .arg = SLABS, .omit = COLUMN_SLABS },
	{ { "USE%" }, .get = get_slabs_cell, .arg = SLABS_USE, .omit = COLUMN_SLABS },
	{ { "+-BYTES" }, .get = get_measure_error_cell, .omit = COLUMN_SAMPLED,
	  .by_objects = "+-OBJECTS" },
	{ { NULL, "records" }, .get = get_records_cell, .omit = COLUMN_SAMPLED },
	{ { NULL, "objects_error" }, .get = get_objects_error_cell, .omit = COLUMN_SAMPLED },
	{ { NULL, "bytes_error" }, .get = get_bytes_error_cell, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, NULL, "waste" }, .get = get_waste_cell },
	{ { "OLDEST", NULL, NULL, "oldest_ns" }, .get = get_age_cell, .arg = OLDEST,
	  .omit = COLUMN_AGES },
	{ { NULL, NULL, NULL, "youngest_ns" }, .get = get_age_cell, .arg = NEWEST },
	{ { NULL, "oldest_ns", "oldest_ns" }, .get = get_time_cell, .arg = OLDEST },
	{ { NULL, "newest_ns", "newest_ns" }, .get = get_time_cell, .arg = NEWEST },
	{ { NULL, NULL, "records", "records" }, .get = get_records_cell, .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "objects_error", "objects_error" }, .get = get_objects_error_cell,
	  .omit = COLUMN_SAMPLED },
	{ { NULL, NULL, "bytes_error", "bytes_error" }, .get = get_bytes_error_cell,
	  .omit = COLUMN_SAMPLED },
	{ { NULL, "slabs", "slabs" }, .get = get_slabs_cell, .arg = SLABS, .omit = COLUMN_SLABS },
	{ { NULL, "use", "use" }, .get = get_slabs_cell, .arg = SLABS_USE_FRACTION,
	  .omit = COLUMN_SLABS },
};

static void choose_columns(struct column_list *list, const struct report *r,
			   const struct answer *a, enum output_format format, unsigned int omit)
{
	columns_choose_named(list, a, columns, sizeof(columns) / sizeof(*columns), format, omit);
	columns_add_group_fields(list, &a->model, format, r->order, r->shown);
}

static void fill_row_of_rank(struct view_row *row, const struct answer *a, const struct report *r,
			     u32 rank)
{
	fill_group_row(row, a, rank + 1, r->order[rank]);
	row->sums = &row->group.sum;
	row->nr_sums = 1;
}

static bool report_has_ages(const struct report *r, bool if_all)
{
	u32 n = if_all ? r->model->groups.n : r->shown, known = 0, i;

	for (i = 0; i < n; i++)
		known += model_get_oldest(r->model, r->order[i]) != TS_UNKNOWN;
	return known && (known == n || !if_all);
}

static void add_sum_row(struct aligned_rows *rows, const struct answer *a, const char *name,
			const struct sum *sum)
{
	struct view_row row;

	fill_sums_row(&row, a, name, sum, 1);
	rows_add_row(rows, &row);
}

/* Returns the COLUMN_SHARE_OF_ bit of the figure that groups are sorted by. */
static unsigned int choose_share(const struct view_options *view)
{
	static const unsigned int shares[NR_MEASURES] = {
		[MEASURE_BYTES] = COLUMN_SHARE_OF_BYTES,
		[MEASURE_HELD] = COLUMN_SHARE_OF_HELD,
		[MEASURE_OBJECTS] = COLUMN_SHARE_OF_OBJECTS,
	};

	return view->nr_order && view->order[0] == OWNER_SORT_WASTE ? COLUMN_SHARE_OF_WASTE :
								      shares[view->measure];
}

static unsigned int choose_omitted_columns(const struct answer *a, const struct report *r,
					   const struct output_options *o)
{
	const struct sum *total = &a->model.total;
	unsigned int share = choose_share(&a->view), omit = COLUMN_SHARES & ~share;

	if (rows_are_lines(&a->model, o))
		omit |= COLUMN_RANK;
	if (share != COLUMN_SHARE_OF_WASTE && total->held == total->bytes)
		omit |= COLUMN_WASTE;
	if (!report_has_ages(r, o->ages_if_all))
		omit |= COLUMN_AGES;
	return omit;
}

void write_table(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct column_list list;
	u32 not_shown, i;
	struct report r;
	struct aligned_rows rows;
	struct folded_text folded;
	struct view_row row;
	FILE *notes;

	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_TEXT, choose_omitted_columns(a, &r, o));
	rows_begin_table(&rows, m, &list, o, out);
	not_shown = r.n - r.shown;
	if (o->summary && o->term.width)
		summary_print(a, o, out);
	do {
		for (i = 0; i < r.shown; i++) {
			fill_row_of_rank(&row, a, &r, i);
			rows_add_row(&rows, &row);
		}
		if (not_shown)
			add_sum_row(&rows, a, "rest", &r.not_shown);
		add_sum_row(&rows, a, "total", &m->total);
	} while (rows_end_table(&rows));
	notes = fold_begin(&folded);
	if (not_shown)
		fprintf(notes, "rest: %u of %u groups%s\n", not_shown, m->groups.n,
			o->repeats || a->view.min_held || a->view.each ? "" :
			"; --top 0 shows them");
	notes_print_same_functions(m, r.order, r.shown, notes);
	notes_print_all(a, o->term, notes);
	fold_end(&folded, o->term, out);
	report_free(&r);
}

void write_table_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct column_list list;
	struct report r;
	struct view_row row;
	u32 i;

	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_JSON, 0);
	json_begin_document(a, o, out);
	json_print_member("total", json_from_sum(&m->total), out);
	json_print_member("groups_not_shown", json_new_count(r.n - r.shown), out);
	json_print_member("not_shown", json_from_sum(&r.not_shown), out);
	json_begin_list("groups", out);
	for (i = 0; i < r.shown; i++) {
		fill_row_of_rank(&row, a, &r, i);
		json_print_item(json_from_row(&list, &row), !i, out);
	}
	json_end_document(r.shown, out);
	report_free(&r);
}

/* Print a CSV row for a sum. @has: ROW_* bits of the figures that are known. */
static void print_csv_sum_row(const struct column_list *list, const struct answer *a,
			      const char *name, const struct sum *sum, unsigned int has, FILE *out)
{
	struct view_row row;

	fill_sums_row(&row, a, name, sum, 1);
	row.has = has;
	csv_print_row(list, &row, out);
}

/* Print CSV rows for objects that are in no group. */
static void print_csv_note_rows(const struct column_list *list, const struct answer *a, FILE *out)
{
	const struct model *m = &a->model;
	const struct sources *s = &m->sources;
	const struct sum untracked = { .objects = m->sink.summary.untracked };
	const struct sum backing = { .objects = s->backing.objects, .bytes = s->backing.bytes };
	const struct sum unknown_size = { .objects = s->unknown_size };
	const char *overlaps[SOURCES_OVERLAPS];

	if (m->filtered.objects)
		print_csv_sum_row(list, a, "filtered_out", &m->filtered, ROW_SUM, out);
	if (m->undecided.objects)
		print_csv_sum_row(list, a, "undecided", &m->undecided, ROW_SUM, out);
	if (m->sink.summary.coverage_known)
		print_csv_sum_row(list, a, "untracked", &untracked, ROW_OBJECTS, out);
	if (s->backing.objects)
		print_csv_sum_row(list, a, "set_aside", &backing, ROW_OBJECTS | ROW_BYTES, out);
	if (s->unknown_size)
		print_csv_sum_row(list, a, "unknown_size", &unknown_size, ROW_OBJECTS, out);
	sources_find_overlaps(s, overlaps);
	if (*overlaps)
		csv_print_name_row(list, a, "overlap", out);
	csv_print_incomplete(list, a, out);
}

void write_table_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct column_list list;
	struct report r;
	struct view_row row;
	u32 i;

	(void)o;
	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_CSV, 0);
	csv_print_head(&list, out);
	for (i = 0; i < r.shown; i++) {
		fill_row_of_rank(&row, a, &r, i);
		csv_print_row(&list, &row, out);
	}
	if (r.shown < r.n)
		print_csv_sum_row(&list, a, "not_shown", &r.not_shown, ROW_SUM, out);
	print_csv_sum_row(&list, a, "total", &m->total, ROW_SUM, out);
	print_csv_note_rows(&list, a, out);
	report_free(&r);
}

/* Print a TSV row with the sum of the groups from rank @from to rank @to, and their ages. */
static void print_tsv_sum_row(const struct column_list *list, const struct answer *a,
			      const struct report *r, const char *name, u32 from, u32 to, FILE *out)
{
	struct group_totals t = GROUP_TOTALS_NONE;
	struct view_row row;
	u32 i;

	for (i = from; i < to; i++) {
		struct group g = report_get_group(r, i);

		group_totals_add(&t, &g.sum, g.oldest, g.newest);
	}
	fill_sums_row(&row, a, name, &t.sum, 1);
	row.has |= ROW_AGES;
	row.groups = t.groups;
	row.oldest = t.oldest;
	row.newest = t.newest;
	tsv_print_row(list, &row, out);
}

/*
 * Write a table as TSV. Unlike CSV, it has rows of sums that are empty, because the kernel
 * always prints them.
 */
void write_tsv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct column_list list;
	struct report r;
	struct view_row row;
	u32 i;

	report_init(&r, a);
	choose_columns(&list, &r, a, FORMAT_TSV, 0);
	tsv_print_sentence(o->sentence, out);
	tsv_print_head(&list, out);
	for (i = 0; i < r.shown; i++) {
		fill_row_of_rank(&row, a, &r, i);
		tsv_print_row(&list, &row, out);
	}
	print_tsv_sum_row(&list, a, &r, "not_shown", r.shown, r.n, out);
	print_tsv_sum_row(&list, a, &r, "other", r.n, r.n, out);
	print_tsv_sum_row(&list, a, &r, "total", 0, r.n, out);
	tsv_print_notes(a, out);
	report_free(&r);
}
