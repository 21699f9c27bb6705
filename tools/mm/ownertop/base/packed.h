/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of numbers in which a column is as wide as its largest number needs. Most groups
 * are small, and most dumps have few caches, tasks and chains: a row that would take 100
 * bytes as a struct takes 30, and a column of zeros takes none.
 */
#ifndef OWNERTOP_PACKED_H
#define OWNERTOP_PACKED_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/types.h"

#define PACKED_COLUMNS_MAX 32

struct packed_column {
	u64 mask;		/* mask of the bits that fit into the column */
	u32 width;		/* bytes of the column in a row */
	u32 at;			/* offset of the column in a row */
};

struct packed_table {
	char *rows;		/* padded, so that a u64 at the last column is read and written */
	u32 n;
	u32 cap;
	u32 row_size;
	u32 nr_columns;
	struct packed_column columns[PACKED_COLUMNS_MAX];
};

void packed_init(struct packed_table *p, u32 nr_columns);
/* Add a row of zeros to the table. Returns the number of the row. */
u32 packed_add_row(struct packed_table *p);
/* Make @column of the table wide enough for the value @v. */
void packed_widen_column(struct packed_table *p, u32 column, u64 v);
void packed_free(struct packed_table *p);

static inline char *packed_locate(const struct packed_table *p, u32 row, u32 column)
{
	return p->rows + (size_t)row * p->row_size + p->columns[column].at;
}

/* Let the CPU fetch a row. */
static inline void packed_expect_row(const struct packed_table *p, u32 row)
{
	__builtin_prefetch(p->rows + (size_t)row * p->row_size, 1);
}

static inline u64 packed_get(const struct packed_table *p, u32 row, u32 column)
{
	u64 v;

	memcpy(&v, packed_locate(p, row, column), sizeof(v));
	return le64toh(v) & p->columns[column].mask;
}

/*
 * Store @v in a row. The u64 that is read and written may reach into the next column or row,
 * whose bytes are kept.
 */
static inline void packed_set(struct packed_table *p, u32 row, u32 column, u64 v)
{
	u64 word;

	if (v & ~p->columns[column].mask)
		packed_widen_column(p, column, v);
	memcpy(&word, packed_locate(p, row, column), sizeof(word));
	word = (le64toh(word) & ~p->columns[column].mask) | v;
	word = htole64(word);
	memcpy(packed_locate(p, row, column), &word, sizeof(word));
}

/*
 * Store @n columns of a row. Each u64 that is written reaches into the columns behind it, so they
 * are written in their order and not read between: the CPU would wait for a read of bytes from
 * several writes.
 */
static inline void packed_set_all(struct packed_table *p, u32 row, u32 column, u32 n, const u64 *v)
{
	const struct packed_column *c = &p->columns[column];
	u64 word, behind;
	char *to, *end;
	u32 i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++)
		if (v[i] & ~c[i].mask)
			packed_widen_column(p, column + i, v[i]);
	to = p->rows + (size_t)row * p->row_size;
	end = to + c[n - 1].at + c[n - 1].width;
	memcpy(&behind, end, sizeof(behind));
#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		word = htole64(v[i]);
		memcpy(to + c[i].at, &word, sizeof(word));
	}
	memcpy(end, &behind, sizeof(behind));
}

#endif
