/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A column of a view, as rows.c, json.c, csv.c and tsv.c write it. Each view describes its
 * columns in one table of struct column; text, JSON, CSV and TSV are written by walking that
 * table for every row, so no format needs more than one row in memory.
 */
#ifndef OWNERTOP_COLUMN_H
#define OWNERTOP_COLUMN_H

#include "model/answer.h"
#include "model/slope.h"
#include "output/writer.h"

#define ROW_NO_GROUP U32_MAX

/* Bits of view_row.has: figures of a row. Cells of other figures are empty. */
enum {
	ROW_OBJECTS = 1 << 0,
	ROW_BYTES = 1 << 1,
	ROW_HELD = 1 << 2,
	ROW_ERRORS = 1 << 3,
	ROW_AGES = 1 << 4,
	ROW_SUM = ROW_OBJECTS | ROW_BYTES | ROW_HELD | ROW_ERRORS,
};

struct view_row {
	const struct answer *a;
	const char *name;	/* "group", "total", ... */
	u32 rank;		/* rank of the group, from 1; 0: the row is no group */
	u32 id;			/* number of the group, or ROW_NO_GROUP */
	struct group group;
	unsigned int has;	/* ROW_* bits */
	const struct sum *sums;	/* a sum for each dump that the view reads, the oldest first */
	u32 nr_sums;
	u64 groups;		/* number of groups that are summed up in the row */
	u64 oldest;		/* time stamps of the oldest and the newest object */
	u64 newest;
	const struct slope *slopes;	/* view trend: a slope for each measure */
};

/* Fill @row for group number @id; the caller sets its sums and slopes. */
void fill_group_row(struct view_row *row, const struct answer *a, u32 rank, u32 id);
/*
 * Fill @row for sums that belong to no single group, such as the total. @name: name of the row.
 */
void fill_sums_row(struct view_row *row, const struct answer *a, const char *name,
		   const struct sum *sums, u32 nr_sums);

enum cell_type {
	CELL_NONE,		/* the row does not have this cell */
	CELL_UNKNOWN,		/* the input does not tell the value */
	CELL_COUNT,		/* .number, as in the next three types */
	CELL_BYTES,
	CELL_AGE,		/* age in ns */
	CELL_TIME,		/* time stamp in ns */
	CELL_NUMBER,		/* .integer; of a group's field: .by */
	CELL_SHARE,		/* text only: .part of .total in percent */
	CELL_TIMES,		/* text prints .part/.total, other formats .part */
	CELL_CHANGE,		/* text only: .change of .measure */
	CELL_PER_HOUR,		/* .real: change of .measure per hour */
	CELL_FRACTION,		/* .real, from 0 to 1 */
	CELL_WORD,		/* .name, needs no quotes nor escapes */
	CELL_NAME,		/* .name, any bytes */
	CELL_CHAIN,
	CELL_SUMS,		/* JSON only: the sums of the row */
};

struct cell {
	enum cell_type type;
	enum measure measure;
	bool is_exact;		/* JSON leaves out errors of figures that are no estimates */
	union {
		u64 number;
		struct {
			s64 integer;
			const struct owner_group_field *by;	/* may be NULL */
		};
		double real;
		struct text_slice name;
		struct change change;
		struct {
			const struct chain *chain;
			const struct strings *frames;	/* its frames are in these */
		};
		struct {
			u64 part;
			u64 total;
		};
	};
};

/* Bits of column.omit: columns that are left out of a format or of some answers. */
enum {
	COLUMN_AGES = 1 << 0,
	COLUMN_SAMPLED = 1 << 1,	/* useful only if something was sampled */
	COLUMN_RANK = 1 << 2,
	COLUMN_WASTE = 1 << 3,
	COLUMN_SHARE_OF_BYTES = 1 << 4,
	COLUMN_SHARE_OF_HELD = 1 << 5,
	COLUMN_SHARE_OF_WASTE = 1 << 6,
	COLUMN_SHARE_OF_OBJECTS = 1 << 7,
	COLUMN_SHARES = COLUMN_SHARE_OF_BYTES | COLUMN_SHARE_OF_HELD | COLUMN_SHARE_OF_WASTE |
			COLUMN_SHARE_OF_OBJECTS,
	COLUMN_SLABS = 1 << 8,	/* known only in a view by cache */
};

/*
 * A column of a view. A format shows the columns that have a name for it, in the order of the
 * table. A column whose position differs between formats is in the table once for each
 * position.
 */
struct column {
	const char *name[NR_FORMATS];
	struct cell (*get)(const struct view_row *row, int arg);
	int arg;
	unsigned int omit;	/* COLUMN_* bit by which the column is left out, or 0 */
	const char *object;	/* JSON: name of the inner object that has the column */
	const char *by_objects;	/* text: name if groups are compared by objects */
};

/*
 * Values of column.arg, besides enum measure: the measure that groups are compared by, or the
 * one beside it.
 */
enum {
	MEASURE_MAIN = NR_MEASURES,
	MEASURE_BESIDE,
};

/* Values of column.arg for a column that shows a sum: of the first or of the last dump. */
enum {
	SUM_FIRST,
	SUM_LAST,
};

/* Functions for column.get that several views use. */
struct cell get_row_name_cell(const struct view_row *row, int arg);
struct cell get_rank_or_name_cell(const struct view_row *row, int arg);
struct cell get_rank_cell(const struct view_row *row, int arg);
struct cell get_groups_cell(const struct view_row *row, int arg);
struct cell get_objects_cell(const struct view_row *row, int which);
struct cell get_bytes_cell(const struct view_row *row, int which);
struct cell get_held_cell(const struct view_row *row, int which);
struct cell get_waste_cell(const struct view_row *row, int which);
struct cell get_records_cell(const struct view_row *row, int which);
struct cell get_objects_error_cell(const struct view_row *row, int which);
struct cell get_bytes_error_cell(const struct view_row *row, int which);
/* Make the cell with the measure that groups are compared by. */
struct cell get_measure_cell(const struct view_row *row, int which);
struct cell get_measure_error_cell(const struct view_row *row, int arg);

/* Print the frames of a call chain in one line, with ";" between them. */
/*
 * Print the functions of the first @most frames of a call chain in one line. A module is named
 * where the chain enters it.
 */
void print_joined_functions(const struct model *m, const struct chain *chain, u32 most, FILE *out);
/*
 * Print the functions of the chains of a group in one line; of a user chain also the frames
 * without names.
 */
void print_joined_chains(const struct model *m, const struct group *g, FILE *out);
/* Print the frames of a group's call chain or user chain with ";" between them. */
void print_chain_field(const struct model *m, const struct group *g, enum owner_field field,
		       FILE *out);

#define COLUMNS_MAX 64

/* The columns of a view that are shown in one format. */
struct column_list {
	struct column v[COLUMNS_MAX];
	const char *name[COLUMNS_MAX];
	char field_names[OWNER_GROUP_FIELDS][32];	/* those of fields to group by */
	u32 n;
};

/* Choose the columns that have a name for @format and no bit in @omit. */
void columns_choose_named(struct column_list *list, const struct answer *a,
			  const struct column *columns, u32 n, enum output_format format,
			  unsigned int omit);
/*
 * Append a column for each field that groups are made by. Text shows caches only if one of the
 * @n groups in @order has one.
 */
void columns_add_group_fields(struct column_list *list, const struct model *m,
			      enum output_format format, const u32 *order, u32 n);

/* A format with a line for each row and a separator between cells: CSV or TSV. */
struct line_format {
	char separator;
	const char *line_end;
	/* Print a cell that is neither a number nor a word. */
	void (*print_cell)(const struct cell *cell, FILE *out);
};

void columns_print_head(const struct column_list *list, const struct line_format *f, FILE *out);
void columns_print_row(const struct column_list *list, const struct line_format *f,
		       const struct view_row *row, FILE *out);

#endif
