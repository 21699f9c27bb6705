/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For people: one row a group with figures and fields, and the group's call
 * chain below it. Which figures is up to the writer.
 */
#ifndef OWNERTOP_ROWS_H
#define OWNERTOP_ROWS_H

#include "model/model.h"
#include "output/terminal.h"

#define ROWS_OTHER U32_MAX

/* A rank, figures and all fields. */
#define ROWS_COLUMNS_MAX 32

struct rows {
	const struct model *m;
	FILE *out;
	struct terminal term;
	const char * const *figures;
	struct libscols_table *tb;
	u32 nr_columns;
	size_t widths[ROWS_COLUMNS_MAX];	/* at least */
	struct libscols_line *row;
	size_t column;		/* the next cell to set in row */
	struct group_list fields;	/* that have a column */
	u32 *groups;		/* of each row; ROWS_OTHER: none */
	u32 n;
	u32 cap;
	bool measuring;		/* for now only the widths matter */
	bool measured;
};

/*
 * @order: numbers of the groups to show. @figures: the heads of their columns, NULL
 * behind the last, which stay; those of the fields come after them.
 */
void rows_begin(struct rows *t, const struct model *m, const u32 *order, u32 shown,
		const char * const *figures, struct terminal term, FILE *out);

/* A row that is a group. */
void rows_add(struct rows *t, u32 rank, u32 group);
/* And one that is none, as "total". */
void rows_add_other(struct rows *t, const char *name);
void rows_cell(struct rows *t, const char *data);
void rows_number(struct rows *t, s64 v);
/* The fields of the row's group, if it is one. */
void rows_fields(struct rows *t);

/*
 * Prints all, frees it, and returns false. If rows are too many to be kept, nothing is
 * printed yet but all widths are known: add them once more.
 */
bool rows_again(struct rows *t);

#endif
