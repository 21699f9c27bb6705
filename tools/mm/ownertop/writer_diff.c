// SPDX-License-Identifier: GPL-2.0
/* What grew between two dumps, for people and programs. */
#include "csv.h"
#include "growth.h"
#include "human.h"
#include "json.h"
#include "notes.h"
#include "rows.h"
#include "writer.h"

/* Nothing at all is not the same as little: "-" stands where a group is not. */
static const char *amount(char buf[HUMAN_LEN], const struct sum *sum, enum sort_by sort)
{
	return sum->objects ? human_figure(buf, sort_value(sum, sort), sort) : "-";
}

static void add_row(struct rows *rows, const char *rank, const struct pair *p,
		    enum sort_by sort, const struct group *g)
{
	/* The other figure of the two that matter. */
	enum sort_by other = sort == SORT_OBJECTS ? SORT_BYTES : SORT_OBJECTS;
	char buf[HUMAN_LEN];

	rows_add(rows, g);
	rows_cell(rows, rank);
	rows_cell(rows, human_change(buf, pair_change(p, sort), sort));
	rows_cell(rows, amount(buf, &p->before, sort));
	rows_cell(rows, amount(buf, &p->after, sort));
	rows_cell(rows, human_change(buf, pair_change(p, other), other));
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

void write_diff(const struct answer *a, FILE *out)
{
	enum sort_by sort = a->options->sort;
	char rank[HUMAN_LEN];
	struct growth g;
	struct rows rows;
	u32 i;

	growth_init(&g, a);
	rows_begin(&rows, &a->model, g.order, g.shown, terminal_of(out),
		   out);
	rows_figure_column(&rows, "GROWTH");
	rows_figure_column(&rows, "OLD");
	rows_figure_column(&rows, "NEW");
	rows_figure_column(&rows, sort == SORT_OBJECTS ? "BYTES" : "OBJECTS");
	rows_field_columns(&rows);
	for (i = 0; i < g.shown; i++) {
		struct pair p = growth_pair(&g, g.order[i]);

		snprintf(rank, sizeof(rank), "%u", i + 1);
		add_row(&rows, rank, &p, sort, &a->model.groups[g.order[i]]);
		rows_fields(&rows);
	}
	if (g.shown < g.n)
		add_row(&rows, "rest", &g.not_shown, sort, NULL);
	add_row(&rows, "total", &g.total, sort, NULL);
	rows_end(&rows);
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

void write_diff_json(const struct answer *a, FILE *out)
{
	struct growth g;
	u32 i;

	growth_init(&g, a);
	json_begin(a, out);
	fprintf(out, "  \"appeared\": %u,\n  \"gone\": %u,\n  \"unchanged\": %u,\n",
		g.appeared, g.gone, g.unchanged);
	fputs("  \"total\": {", out);
	json_pair(&g.total, out);
	fprintf(out, "},\n  \"groups_not_shown\": %u,\n  \"not_shown\": {", g.n - g.shown);
	json_pair(&g.not_shown, out);
	fputs("},\n  \"groups\": [", out);
	for (i = 0; i < g.shown; i++) {
		struct pair p = growth_pair(&g, g.order[i]);

		fprintf(out, "%s\n    {\"rank\": %u, ", i ? "," : "", i + 1);
		json_pair(&p, out);
		json_fields(&a->model, &a->model.groups[g.order[i]], out);
		putc('}', out);
	}
	fputs(g.shown ? "\n  ]\n}\n" : "]\n}\n", out);
	growth_free(&g);
}

static void csv_pair(const struct answer *a, const struct pair *p, const struct group *g,
		     FILE *out)
{
	fprintf(out, ",%llu,%llu,%llu,%llu,%llu,%llu", p->before.objects, p->before.bytes,
		p->before.held, p->after.objects, p->after.bytes, p->after.held);
	csv_fields(&a->model, g, out);
}

void write_diff_csv(const struct answer *a, FILE *out)
{
	struct growth g;
	u32 i;

	growth_init(&g, a);
	fputs("row,rank,old_objects,old_bytes,old_held,new_objects,new_bytes,new_held", out);
	csv_field_names(&a->model, out);
	for (i = 0; i < g.shown; i++) {
		struct pair p = growth_pair(&g, g.order[i]);

		fprintf(out, "group,%u", i + 1);
		csv_pair(a, &p, &a->model.groups[g.order[i]], out);
	}
	if (g.shown < g.n) {
		fputs("not_shown,", out);
		csv_pair(a, &g.not_shown, NULL, out);
	}
	fputs("total,", out);
	csv_pair(a, &g.total, NULL, out);
	if (!health_complete(&a->health)) {
		fputs("incomplete,,,,,,,", out);
		csv_fields(&a->model, NULL, out);
	}
	growth_free(&g);
}
