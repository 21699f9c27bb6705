// SPDX-License-Identifier: GPL-2.0
/* Write rows as CSV, in the form of RFC 4180. */
#include "output/csv.h"

static void print_escaped(struct text_slice t, FILE *out)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		if (t.s[i] == '"')
			putc('"', out);
		putc(t.s[i], out);
	}
}

static void print_frames(const struct cell *cell, FILE *out)
{
	u32 i;

	for (i = 0; i < cell->chain->n; i++) {
		if (i)
			putc(';', out);
		print_escaped(cell->frames->v[cell->chain->frames[i]], out);
	}
}

static void print_csv_cell(const struct cell *cell, FILE *out)
{
	if (cell->type != CELL_NAME && cell->type != CELL_CHAIN)
		return;
	putc('"', out);
	if (cell->type == CELL_NAME)
		print_escaped(cell->name, out);
	else
		print_frames(cell, out);
	putc('"', out);
}

static const struct line_format csv = { ',', "\r\n", print_csv_cell };

void csv_print_head(const struct column_list *list, FILE *out)
{
	columns_print_head(list, &csv, out);
}

void csv_print_row(const struct column_list *list, const struct view_row *row, FILE *out)
{
	columns_print_row(list, &csv, row, out);
}

void csv_print_name_row(const struct column_list *list, const struct answer *a, const char *name,
			FILE *out)
{
	struct view_row row;

	fill_sums_row(&row, a, name, NULL, 0);
	row.has = 0;
	csv_print_row(list, &row, out);
}

void csv_print_incomplete(const struct column_list *list, const struct answer *a, FILE *out)
{
	if (!health_is_complete(&a->health))
		csv_print_name_row(list, a, "incomplete", out);
}
