/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of numbers, each in as many bytes as the largest of its column needs. Most
 * owners hold little, and most dumps have few caches, tasks and chains: a row of
 * 100 bytes takes 30, and a column of zeros nothing.
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
	u64 mask;		/* of the bytes that a number has */
	u32 width;		/* their number */
	u32 at;			/* offset in the row */
};

struct packed {
	char *rows;		/* and room to read a u64 at the last column */
	u32 n;
	u32 cap;
	u32 row_size;
	u32 nr_columns;
	struct packed_column columns[PACKED_COLUMNS_MAX];
};

void packed_init(struct packed *p, u32 nr_columns);
/* Adds a row of zeros and returns its number. */
u32 packed_add(struct packed *p);
/* Makes the column wide enough for @v. */
void packed_widen(struct packed *p, u32 column, u64 v);
void packed_free(struct packed *p);

static inline char *packed_at(const struct packed *p, u32 row, u32 column)
{
	return p->rows + (size_t)row * p->row_size + p->columns[column].at;
}

static inline u64 packed_get(const struct packed *p, u32 row, u32 column)
{
	u64 v;

	memcpy(&v, packed_at(p, row, column), sizeof(v));
	return le64toh(v) & p->columns[column].mask;
}

/* What stands behind the number is read and written as it was. */
static inline void packed_set(struct packed *p, u32 row, u32 column, u64 v)
{
	u64 around;

	if (v & ~p->columns[column].mask)
		packed_widen(p, column, v);
	memcpy(&around, packed_at(p, row, column), sizeof(around));
	around = (le64toh(around) & ~p->columns[column].mask) | v;
	around = htole64(around);
	memcpy(packed_at(p, row, column), &around, sizeof(around));
}

#endif
