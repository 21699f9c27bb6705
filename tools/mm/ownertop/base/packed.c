// SPDX-License-Identifier: GPL-2.0
/* Keep numbers in a table in which a column is as wide as its largest number needs. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/packed.h"

void packed_init(struct packed_table *p, u32 nr_columns)
{
	*p = (struct packed_table){ .nr_columns = nr_columns };
}

static void resize_rows(struct packed_table *p, u32 rows)
{
	p->cap = rows;
	p->rows = xrealloc(p->rows, (size_t)rows * p->row_size + sizeof(u64));
}

u32 packed_add_row(struct packed_table *p)
{
	if (p->n == p->cap)
		resize_rows(p, p->cap ? p->cap * 2 : 64);
	memset(p->rows + (size_t)p->n * p->row_size, 0, p->row_size);
	return p->n++;
}

static u32 count_bytes_of_number(u64 v)
{
	u32 n = 0;

	for (; v; v >>= 8)
		n++;
	return n;
}

/*
 * Make room for the value @v in @column. Rows grow in place: the last row is moved first, so
 * that no row is overwritten.
 */
void packed_widen_column(struct packed_table *p, u32 column, u64 v)
{
	struct packed_column *c = &p->columns[column];
	u32 width = count_bytes_of_number(v), more = width - c->width;
	u32 old_size = p->row_size, head = c->at + c->width, i;

	p->row_size += more;
	resize_rows(p, p->cap);
	for (i = p->n; i--;) {
		char *from = p->rows + (size_t)i * old_size;
		char *to = p->rows + (size_t)i * p->row_size;

		memmove(to + head + more, from + head, old_size - head);
		memset(to + head, 0, more);
		memmove(to, from, head);
	}
	c->width = width;
	c->mask = U64_MAX >> (64 - 8 * width);
	for (i = column + 1; i < p->nr_columns; i++)
		p->columns[i].at += more;
}

void packed_free(struct packed_table *p)
{
	free(p->rows);
}
