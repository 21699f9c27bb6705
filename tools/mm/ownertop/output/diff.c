// SPDX-License-Identifier: GPL-2.0
/* What grew between two dumps, for people and programs. */
#include "output/csv.h"
#include "model/growth.h"
#include "output/figure.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/rows.h"
#include "output/writer.h"

/* Nothing at all is not the same as little: "-" stands where a group is not. */
static const char *amount(char buf[HUMAN_LEN], const struct sum *sum, enum measure sort)
{
	return sum->objects ? figure_text(buf, measure_value(sum, sort), sort) : "-";
}

/* At most so much: what is in both dumps was sampled once. */
static const char *error(char buf[HUMAN_LEN], const struct pair *p, enum measure sort)
{
	struct sum both = p->before;

	sum_add(&both, &p->after);
	return figure_error(buf, &both, sort);
}

static void add_cells(struct rows *rows, const struct pair *p, enum measure sort)
{
	enum measure other = measure_beside(sort);
	char buf[HUMAN_LEN];

	rows_cell(rows, figure_change(buf, pair_change(p, sort), sort));
	if (rows->m->sampled)
		rows_cell(rows, error(buf, p, sort));
	rows_cell(rows, amount(buf, &p->before, sort));
	rows_cell(rows, amount(buf, &p->after, sort));
	rows_cell(rows, figure_change(buf, pair_change(p, other), other));
	rows_fields(rows);
}

/* The heads of what add_cells() shows. */
static void choose_figures(const struct model *m, enum measure sort, const char *figures[6])
{
	u32 n = 0;

	figures[n++] = "GROWTH";
	if (m->sampled)
		figures[n++] = figure_error_head(sort);
	figures[n++] = "OLD";
	figures[n++] = "NEW";
	figures[n++] = sort == MEASURE_OBJECTS ? "BYTES" : "OBJECTS";
	figures[n] = NULL;
}

static void add_other(struct rows *rows, const char *name, const struct pair *p,
		      enum measure sort)
{
	rows_add_other(rows, name);
	add_cells(rows, p, sort);
}

static void print_time(const struct dump *old, const struct dump *new, FILE *out)
{
	char buf[HUMAN_LEN];

	if (new->newest > old->newest)
		fprintf(out, "time: %s between the newest records of the two\n",
			human_age(buf, new->newest - old->newest));
	else
		fputs("time: NEW has no later record than OLD: swapped, or a reboot between?\n",
		      out);
}

static void print_notes(const struct growth *g, FILE *out)
{
	const struct answer *a = g->a;

	if (g->shown < g->n)
		fprintf(out, "rest: %u of %u groups that changed; --top 0 shows them\n",
			g->n - g->shown, g->n);
	fprintf(out, "groups: %u new, %u gone, %u changed, %u as before\n", g->appeared,
		g->gone, g->n - g->appeared - g->gone, g->unchanged);
	print_time(&a->dumps.v[0], &a->dumps.v[1], out);
	notes_print(a, terminal_of(out), out);
}

void write_diff(const struct answer *a, const struct output_options *o, FILE *out)
{
	enum measure sort = a->view.measure;
	const char *figures[6];
	struct growth g;
	struct rows rows;
	u32 i;

	(void)o;
	growth_init(&g, a);
	choose_figures(&a->model, sort, figures);
	rows_begin(&rows, &a->model, g.order, g.shown, figures, terminal_of(out), out);
	do {
		for (i = 0; i < g.shown; i++) {
			struct pair p = growth_pair(&g, g.order[i]);

			rows_add(&rows, i + 1, g.order[i]);
			add_cells(&rows, &p, sort);
		}
		if (g.shown < g.n)
			add_other(&rows, "rest", &g.not_shown, sort);
		add_other(&rows, "total", &g.total, sort);
	} while (rows_again(&rows));
	print_notes(&g, out);
	growth_free(&g);
}

static void json_pair(const struct pair *p, FILE *out)
{
	fputs("\"old\": {", out);
	json_sum(&p->before, out);
	fputs("}, \"new\": {", out);
	json_sum(&p->after, out);
	putc('}', out);
}

void write_diff_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct growth g;
	u32 i;

	growth_init(&g, a);
	json_begin(a, o, out);
	fprintf(out, "  \"appeared\": %u,\n  \"gone\": %u,\n  \"unchanged\": %u,\n",
		g.appeared, g.gone, g.unchanged);
	fputs("  \"total\": {", out);
	json_pair(&g.total, out);
	fprintf(out, "},\n  \"groups_not_shown\": %u,\n  \"not_shown\": {", g.n - g.shown);
	json_pair(&g.not_shown, out);
	fputs("},\n  \"groups\": [", out);
	for (i = 0; i < g.shown; i++) {
		struct pair p = growth_pair(&g, g.order[i]);

		json_group_begin(i, out);
		json_pair(&p, out);
		json_group_end(&a->model, g.order[i], out);
	}
	json_end(g.shown, out);
	growth_free(&g);
}

static void csv_pair(const struct answer *a, const struct pair *p, const struct group *g,
		     FILE *out)
{
	fprintf(out, ",%llu,%llu,%llu,%llu,%llu,%llu", p->before.objects, p->before.bytes,
		p->before.held, p->after.objects, p->after.bytes, p->after.held);
	csv_estimate(&a->model, &p->before, out);
	csv_estimate(&a->model, &p->after, out);
	csv_fields(&a->model, g, out);
}

void write_diff_csv(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct growth g;
	u32 i;

	(void)o;
	growth_init(&g, a);
	fputs("row,rank,old_objects,old_bytes,old_held,new_objects,new_bytes,new_held", out);
	csv_estimate_names(&a->model, "old_", out);
	csv_estimate_names(&a->model, "new_", out);
	csv_field_names(&a->model, out);
	for (i = 0; i < g.shown; i++) {
		struct group group = model_group(&a->model, g.order[i]);
		struct pair p = growth_pair(&g, g.order[i]);

		fprintf(out, "group,%u", i + 1);
		csv_pair(a, &p, &group, out);
	}
	if (g.shown < g.n) {
		fputs("not_shown,", out);
		csv_pair(a, &g.not_shown, NULL, out);
	}
	fputs("total,", out);
	csv_pair(a, &g.total, NULL, out);
	if (!health_complete(&a->health)) {
		fputs("incomplete,,,,,,,", out);
		csv_estimate(&a->model, NULL, out);
		csv_estimate(&a->model, NULL, out);
		csv_fields(&a->model, NULL, out);
	}
	growth_free(&g);
}
