// SPDX-License-Identifier: GPL-2.0
/*
 * For people: the largest groups, and at the end what the rows leave out, so
 * that the figures add up.
 */
#include "human.h"
#include "notes.h"
#include "rows.h"
#include "writer.h"

struct table {
	const struct report *r;
	struct rows rows;
	bool held;		/* show it: it differs from bytes */
};

static void add_columns(struct table *t)
{
	rows_figure_column(&t->rows, "BYTES");
	rows_figure_column(&t->rows, "%");
	if (t->held)
		rows_figure_column(&t->rows, "HELD");
	rows_figure_column(&t->rows, "OBJECTS");
	rows_figure_column(&t->rows, "OLDEST");
	rows_field_columns(&t->rows);
}

static void add_row(struct table *t, const char *rank, const struct sum *sum,
		    const struct group *g)
{
	const struct report *r = t->r;
	char buf[HUMAN_LEN];

	rows_add(&t->rows, g);
	rows_cell(&t->rows, rank);
	rows_cell(&t->rows, human_bytes(buf, sum->bytes));
	rows_cell(&t->rows, human_percent(buf, sort_value(sum, r->sort),
					  sort_value(&r->model->total, r->sort)));
	if (t->held)
		rows_cell(&t->rows, human_bytes(buf, sum->held));
	rows_number(&t->rows, sum->objects);
}

static void add_group(struct table *t, u32 rank)
{
	const struct group *g = report_group(t->r, rank);
	char buf[HUMAN_LEN];

	snprintf(buf, sizeof(buf), "%u", rank + 1);
	add_row(t, buf, &g->sum, g);
	rows_cell(&t->rows, human_age(buf, model_age(t->r->model, g)));
	rows_fields(&t->rows);
}

void write_table(const struct answer *a, FILE *out)
{
	write_table_to(a, out, terminal_of(out));
}

void write_table_to(const struct answer *a, FILE *out, struct terminal term)
{
	const struct model *m = &a->model;
	struct report r;
	struct table t = {
		.r = &r,
		.held = m->total.held != m->total.bytes,
	};
	u32 hidden, i;

	report_init(&r, a);
	rows_begin(&t.rows, m, r.order, r.shown, term, out);
	add_columns(&t);
	for (i = 0; i < r.shown; i++)
		add_group(&t, i);
	hidden = m->nr_groups - r.shown;
	if (hidden)
		add_row(&t, "rest", &r.not_shown, NULL);
	add_row(&t, "total", &m->total, NULL);
	rows_end(&t.rows);
	if (hidden)
		fprintf(out, "rest: %u of %u groups; --top 0 shows them\n",
			hidden, m->nr_groups);
	notes_print(a, term, out);
	report_free(&r);
}
