// SPDX-License-Identifier: GPL-2.0
/*
 * The table as CSV. The first column says what a row is, so that totals and
 * what is missing can stand in the same file as the groups.
 */
#include "output/csv.h"
#include "ask/known.h"
#include "model/report.h"
#include "output/writer.h"

static void print_group(const struct report *r, u32 rank, FILE *out)
{
	struct group g = report_group(r, rank);

	fprintf(out, "group,%u,%llu,%llu,%llu,", rank + 1,
		g.sum.objects, g.sum.bytes, g.sum.held);
	print_ts(g.oldest, "", out);
	putc(',', out);
	print_ts(g.newest, "", out);
	csv_estimate(r->model, &g.sum, out);
	csv_fields(r->model, &g, out);
}

/* Of a row that is no group. */
static void end_row(const struct model *m, const struct sum *sum, FILE *out)
{
	csv_estimate(m, sum, out);
	csv_fields(m, NULL, out);
}

static void print_sum(const struct model *m, const char *row, const struct sum *sum,
		      FILE *out)
{
	fprintf(out, "%s,,%llu,%llu,%llu,,", row, sum->objects, sum->bytes, sum->held);
	end_row(m, sum, out);
}

void write_table_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	const struct sources *from = &m->sources;
	const char *overlaps[SOURCES_OVERLAPS];
	struct report r;
	u32 i;

	(void)o;
	report_init(&r, a);
	fputs("row,rank,objects,bytes,held,oldest_ns,newest_ns", out);
	csv_estimate_names(m, "", out);
	csv_field_names(m, out);
	for (i = 0; i < r.shown; i++)
		print_group(&r, i, out);
	if (r.shown < r.kept)
		print_sum(m, "not_shown", &r.not_shown, out);
	if (r.kept < m->groups.n)
		print_sum(m, "other", &r.other, out);
	print_sum(m, "total", &m->total, out);
	if (m->filtered.objects)
		print_sum(m, "filtered_out", &m->filtered, out);
	if (m->undecided.objects)
		print_sum(m, "undecided", &m->undecided, out);
	if (m->sink.summary.coverage_known) {
		fprintf(out, "untracked,,%llu,,,,", m->sink.summary.untracked);
		end_row(m, NULL, out);
	}
	if (from->backing.objects) {
		fprintf(out, "set_aside,,%llu,%llu,,,", from->backing.objects,
			from->backing.bytes);
		end_row(m, NULL, out);
	}
	if (from->unsized) {
		fprintf(out, "unknown_size,,%llu,,,,", from->unsized);
		end_row(m, NULL, out);
	}
	sources_find_overlaps(from, overlaps);
	if (*overlaps) {
		fputs("overlap,,,,,,", out);
		end_row(m, NULL, out);
	}
	if (!health_complete(&a->health)) {
		fputs("incomplete,,,,,,", out);
		end_row(m, NULL, out);
	}
	report_free(&r);
}
