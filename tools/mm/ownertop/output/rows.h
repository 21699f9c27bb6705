/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write rows as text for people: a table whose columns are aligned, with the call chain of each
 * group below its row.
 */
#ifndef OWNERTOP_ROWS_H
#define OWNERTOP_ROWS_H

#include "output/column.h"
#include "output/terminal.h"

struct aligned_rows {
	const struct model *m;
	const struct column_list *columns;
	FILE *out;
	struct terminal term;
	struct libscols_table *tb;
	bool one_line;		/* the call chain of a group is at the end of its row */
	size_t line_width;	/* width of the columns, if one_line */
	size_t widths[COLUMNS_MAX];	/* minimum widths, found by measuring */
	struct row_owner {
		u32 id;		/* group of the row, or ROW_NO_GROUP */
		const char *name;
	} *owners;		/* by number of the row in tb */
	u32 n;
	u32 cap;
	bool measuring;		/* first pass: rows only widen columns, nothing is printed */
	bool measured;
};

/* Is each group one line with its call chain at the end? */
bool rows_are_lines(const struct model *m, const struct output_options *o);
/* Begin a table of aligned rows. It uses @columns until rows_end_table() returns false. */
void rows_begin_table(struct aligned_rows *t, const struct model *m,
		      const struct column_list *columns, const struct output_options *o,
		      FILE *out);
void rows_add_row(struct aligned_rows *t, const struct view_row *row);

/*
 * End a table: print its rows and free them. Returns true if there were too many rows to keep:
 * nothing is printed yet, but the widths are known. Then add all rows and call rows_end_table()
 * again.
 */
bool rows_end_table(struct aligned_rows *t);

#endif
