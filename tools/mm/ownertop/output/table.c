// SPDX-License-Identifier: GPL-2.0
/*
 * For people: the largest groups, and at the end what the rows leave out, so
 * that the figures add up.
 */
#include "output/figure.h"
#include "output/notes.h"
#include "output/rows.h"
#include "output/writer.h"

struct table {
	const struct report *r;
	struct rows rows;
	bool held;		/* show it: it differs from bytes */
	bool ages;		/* show them: a group that is shown has one */
};

static void add_cells(struct table *t, const struct sum *sum, const struct group *g)
{
	const struct report *r = t->r;
	char buf[HUMAN_LEN];

	rows_cell(&t->rows, human_bytes(buf, sum->bytes));
	rows_cell(&t->rows, human_percent(buf, measure_value(sum, r->measure),
					  measure_value(&r->model->total, r->measure)));
	if (t->held)
		rows_cell(&t->rows, human_bytes(buf, sum->held));
	rows_number(&t->rows, sum->objects);
	if (r->model->sampled)
		rows_cell(&t->rows, figure_error(buf, sum, r->measure));
	if (!g)
		return;
	if (t->ages)
		rows_cell(&t->rows, human_age(buf, model_age(r->model, g->oldest)));
	rows_fields(&t->rows);
}

/* The heads of what add_cells() shows. */
static void choose_figures(const struct table *t, const char *figures[7])
{
	u32 n = 0;

	figures[n++] = "BYTES";
	figures[n++] = "%";
	if (t->held)
		figures[n++] = "HELD";
	figures[n++] = "OBJECTS";
	if (t->r->model->sampled)
		figures[n++] = figure_error_head(t->r->measure);
	if (t->ages)
		figures[n++] = "OLDEST";
	figures[n] = NULL;
}

/*
 * Not asked for ages, the kernel tells those that it happens to find: of all groups,
 * or of the few that it has no counters for, which would come and go on a screen.
 */
static bool has_ages(const struct report *r, bool if_all)
{
	u32 n = if_all ? r->model->groups.n : r->shown, known = 0, i;

	for (i = 0; i < n; i++)
		known += model_oldest(r->model, r->order[i]) != TS_UNKNOWN;
	return known && (known == n || !if_all);
}

static void add_other(struct table *t, const char *name, const struct sum *sum)
{
	rows_add_other(&t->rows, name);
	add_cells(t, sum, NULL);
}

void write_table(const struct answer *a, const struct output_options *o, FILE *out)
{
	write_table_to(a, o, out, terminal_of(out));
}

void write_table_to(const struct answer *a, const struct output_options *o, FILE *out, struct terminal term)
{
	const struct model *m = &a->model;
	struct report r;
	struct table t = {
		.r = &r,
		.held = m->total.held != m->total.bytes,
	};
	const char *figures[7];
	u32 hidden, folded, i;

	report_init(&r, a);
	t.ages = has_ages(&r, o->ages_if_all);
	choose_figures(&t, figures);
	rows_begin(&t.rows, m, r.order, r.shown, figures, term, out);
	hidden = r.kept - r.shown;
	folded = m->groups.n - r.kept;
	do {
		for (i = 0; i < r.shown; i++) {
			struct group g = report_group(&r, i);

			rows_add(&t.rows, i + 1, r.order[i]);
			add_cells(&t, &g.sum, &g);
		}
		if (hidden)
			add_other(&t, "rest", &r.not_shown);
		if (folded)
			add_other(&t, "other", &r.other);
		add_other(&t, "total", &m->total);
	} while (rows_again(&t.rows));
	if (hidden)
		fprintf(out, "rest: %u of %u groups%s\n", hidden, m->groups.n,
			o->repeats ? "" : "; --top 0 shows them");
	if (folded)
		fprintf(out, "other: %u groups beyond groups=%u\n", folded, r.kept);
	notes_print(a, term, out);
	report_free(&r);
}
