/* SPDX-License-Identifier: GPL-2.0 */
/* What records add up to. */
#ifndef OWNERTOP_SUM_H
#define OWNERTOP_SUM_H

#include "packed.h"
#include "record.h"

struct sum {
	u64 objects;
	u64 bytes;
	u64 held;
};

/* Columns that a sum takes in rows of packed numbers; the others come after them. */
enum {
	SUM_OBJECTS,
	SUM_BYTES,
	SUM_HELD,
	SUM_COLUMNS
};

/* Of one record. */
struct sum sum_of(const struct record *rec);
void sum_add(struct sum *to, const struct sum *sum);
/* Would the sum of the two be too much? */
bool sum_overflows(const struct sum *a, const struct sum *b);
bool sum_same(const struct sum *a, const struct sum *b);

void sum_put(struct packed *p, u32 row, const struct sum *sum);

/* Inline: who looks at one figure of it does not get the others. */
static inline struct sum sum_get(const struct packed *p, u32 row)
{
	return (struct sum){
		.objects = packed_get(p, row, SUM_OBJECTS),
		.bytes = packed_get(p, row, SUM_BYTES),
		.held = packed_get(p, row, SUM_HELD),
	};
}

#endif
