// SPDX-License-Identifier: GPL-2.0
/* Rows as CSV, in the form of RFC 4180. */
#include "output/csv.h"

static void print_quoted(struct text t, FILE *out)
{
	size_t i;

	putc('"', out);
	for (i = 0; i < t.len; i++) {
		if (t.s[i] == '"')
			putc('"', out);
		putc(t.s[i], out);
	}
	putc('"', out);
}

void csv_head(const struct column_list *list, FILE *out)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		fprintf(out, "%s%s", i ? "," : "", list->name[i]);
	fputs("\r\n", out);
}

void csv_row(const struct column_list *list, const struct row *row, FILE *out)
{
	u32 i;

	for (i = 0; i < list->n; i++) {
		struct cell cell = list->v[i].get(row, list->v[i].arg);

		if (i)
			putc(',', out);
		if (cell_print(&cell, out))
			continue;
		if (cell.type == CELL_NAME)
			print_quoted(cell.name, out);
		if (cell.type == CELL_CHAIN) {
			putc('"', out);
			chain_print(&row->a->model, cell.chain, out);
			putc('"', out);
		}
	}
	fputs("\r\n", out);
}

void csv_row_of_name(const struct column_list *list, const struct answer *a, const char *name,
		     FILE *out)
{
	struct row row;

	row_of_sums(&row, a, name, NULL, 0);
	row.has = 0;
	csv_row(list, &row, out);
}

void csv_incomplete(const struct column_list *list, const struct answer *a, FILE *out)
{
	if (!health_complete(&a->health))
		csv_row_of_name(list, a, "incomplete", out);
}
