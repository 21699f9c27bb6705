/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For people: one row a group with figures and fields, and the group's call
 * chain below it. Which figures is up to the writer.
 */
#ifndef OWNERTOP_ROWS_H
#define OWNERTOP_ROWS_H

#include "model.h"
#include "terminal.h"

struct rows {
	const struct model *m;
	FILE *out;
	struct terminal term;
	struct libscols_table *tb;
	struct libscols_line *row;
	size_t column;		/* the next cell to set in row */
	struct field_list fields;	/* that have a column */
	const struct group **groups;	/* of each row; NULL: none */
	u32 n;
	u32 cap;
};

/*
 * @order: numbers of the groups to show. First come the columns of figures,
 * named by the caller, then those of the fields, then the rows.
 */
void rows_begin(struct rows *t, const struct model *m, const u32 *order, u32 shown,
		struct terminal term, FILE *out);
void rows_figure_column(struct rows *t, const char *name);
void rows_field_columns(struct rows *t);

/* @g: NULL for a row that is no group. */
void rows_add(struct rows *t, const struct group *g);
void rows_cell(struct rows *t, const char *data);
void rows_number(struct rows *t, s64 v);
/* The fields of the row's group. */
void rows_fields(struct rows *t);

/* Prints all and frees it. */
void rows_end(struct rows *t);

#endif
