// SPDX-License-Identifier: GPL-2.0
/* What leaks: growth per hour over many dumps, for people and programs. */
#include <math.h>

#include "output/csv.h"
#include "output/figure.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"
#include "model/slope.h"
#include "output/writer.h"

static const char *rate(char buf[HUMAN_LEN], double per_hour, enum measure sort)
{
	struct change c = { llround(fabs(per_hour)), per_hour < 0 };

	/* One in two hours is not none. */
	if (sort == MEASURE_OBJECTS && fabs(per_hour) < 10) {
		snprintf(buf, HUMAN_LEN, "%+.1f", per_hour);
		return buf;
	}
	return figure_change(buf, c, sort);
}

static void add_cells(struct rows *rows, const struct trend *t, u32 group)
{
	const struct answer *a = t->a;
	enum measure sort = a->view.measure, other = measure_beside(sort);
	struct slope s = trend_slope(t, group, sort);
	struct sum last = trend_sum(t, group, a->dumps.n - 1);
	/* Cut, not rounded: 1.00 is a line, and 0.999 is not. But 0.75 may be 0.7499...9. */
	double hundredths = floor(s.r2 * 100 + 0.000001);
	char buf[HUMAN_LEN];

	rows_cell(rows, rate(buf, s.per_hour, sort));
	rows_cell(rows, figure_text(buf, measure_value(&last, sort), sort));
	rows_cell(rows, rate(buf, trend_slope(t, group, other).per_hour, other));
	snprintf(buf, sizeof(buf), "%u/%u", s.up, a->dumps.n - 1);
	rows_cell(rows, buf);
	snprintf(buf, sizeof(buf), "%.2f", hundredths / 100);
	rows_cell(rows, s.r2_known ? buf : "-");
	rows_fields(rows);
}

static void print_notes(const struct trend *t, FILE *out)
{
	const struct answer *a = t->a;
	char buf[HUMAN_LEN];

	if (t->shown < t->n)
		fprintf(out, "rest: %u of %u groups that changed; --top 0 shows them\n",
			t->n - t->shown, t->n);
	if (t->unchanged)
		fprintf(out, "unchanged: %u groups\n", t->unchanged);
	fprintf(out, "time: %s between the first and the last of %u dumps\n",
		human_age(buf, t->a->dump_ns[a->dumps.n - 1]), a->dumps.n);
	fputs("UP: times a dump had more than the one before; R2: 1.00 is steady growth\n", out);
	notes_print(a, terminal_of(out), out);
}

void write_trend(const struct answer *a, const struct output_options *o, FILE *out)
{
	static const char * const figures[2][6] = {
		{ "BYTES/H", "NOW", "OBJECTS/H", "UP", "R2", NULL },
		{ "OBJECTS/H", "NOW", "BYTES/H", "UP", "R2", NULL },
	};
	struct trend t;
	struct rows rows;
	u32 i;

	(void)o;
	trend_init(&t, a);
	rows_begin(&rows, &a->model, t.order, t.shown,
		   figures[a->view.measure == MEASURE_OBJECTS], terminal_of(out), out);
	do {
		for (i = 0; i < t.shown; i++) {
			rows_add(&rows, i + 1, t.order[i]);
			add_cells(&rows, &t, t.order[i]);
		}
		rows_add_other(&rows, "total");
		add_cells(&rows, &t, TREND_TOTAL);
	} while (rows_again(&rows));
	print_notes(&t, out);
	trend_free(&t);
}

static void json_slopes(const struct trend *t, u32 group, FILE *out)
{
	struct slope s = trend_slope(t, group, t->a->view.measure);
	u32 i;

	for (i = 0; i < NR_MEASURES; i++)
		fprintf(out, "\"%s_per_hour\": %.15g, ", measure_name(i),
			trend_slope(t, group, i).per_hour);
	fprintf(out, "\"up\": %u, \"down\": %u, \"r2\": ", s.up, s.down);
	if (s.r2_known)
		fprintf(out, "%.15g", s.r2);
	else
		fputs("null", out);
	fputs(", \"dumps\": [", out);
	for (i = 0; i < t->a->dumps.n; i++) {
		struct sum sum = trend_sum(t, group, i);

		fputs(i ? ", {" : "{", out);
		json_sum(&sum, out);
		putc('}', out);
	}
	putc(']', out);
}

void write_trend_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend t;
	u32 i;

	trend_init(&t, a);
	json_begin(a, o, out);
	fputs("  \"dumps\": [", out);
	for (i = 0; i < a->dumps.n; i++) {
		const char *path = a->dumps.v[i].path;

		fprintf(out, "%s\n    {\"after_ns\": %llu, \"path\": ", i ? "," : "",
			a->dump_ns[i]);
		json_string((struct text){ path, strlen(path) }, out);
		putc('}', out);
	}
	fputs("\n  ],\n  \"total\": {", out);
	json_slopes(&t, TREND_TOTAL, out);
	fprintf(out, "},\n  \"groups_not_shown\": %u,\n  \"unchanged\": %u,\n  \"groups\": [",
		t.n - t.shown, t.unchanged);
	for (i = 0; i < t.shown; i++) {
		json_group_begin(i, out);
		json_slopes(&t, t.order[i], out);
		json_group_end(&a->model, t.order[i], out);
	}
	json_end(t.shown, out);
	trend_free(&t);
}

static void csv_slopes(const struct trend *t, u32 group, FILE *out)
{
	const struct model *m = &t->a->model;
	struct slope s = trend_slope(t, group, t->a->view.measure);
	struct sum last = trend_sum(t, group, t->a->dumps.n - 1);
	struct group g;

	fprintf(out, "%.15g,%.15g,%.15g,%u,%u,",
		trend_slope(t, group, MEASURE_OBJECTS).per_hour,
		trend_slope(t, group, MEASURE_BYTES).per_hour,
		trend_slope(t, group, MEASURE_HELD).per_hour, s.up, s.down);
	if (s.r2_known)
		fprintf(out, "%.15g", s.r2);
	fprintf(out, ",%llu,%llu,%llu", last.objects, last.bytes, last.held);
	csv_estimate(m, &last, out);
	if (group != TREND_TOTAL)
		g = model_group(m, group);
	csv_fields(m, group == TREND_TOTAL ? NULL : &g, out);
}

void write_trend_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct trend t;
	u32 i;

	(void)o;
	trend_init(&t, a);
	fputs("row,rank,objects_per_hour,bytes_per_hour,held_per_hour,up,down,r2", out);
	fputs(",objects,bytes,held", out);
	csv_estimate_names(&a->model, "", out);
	csv_field_names(&a->model, out);
	for (i = 0; i < t.shown; i++) {
		fprintf(out, "group,%u,", i + 1);
		csv_slopes(&t, t.order[i], out);
	}
	fputs("total,,", out);
	csv_slopes(&t, TREND_TOTAL, out);
	if (!health_complete(&a->health)) {
		fputs("incomplete,,,,,,,,,,", out);
		csv_estimate(&a->model, NULL, out);
		csv_fields(&a->model, NULL, out);
	}
	trend_free(&t);
}
