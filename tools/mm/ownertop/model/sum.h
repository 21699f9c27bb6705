/* SPDX-License-Identifier: GPL-2.0 */
/* What records add up to. Of those that were sampled it is an estimate, as the kernel's. */
#ifndef OWNERTOP_SUM_H
#define OWNERTOP_SUM_H

#include "base/packed.h"
#include "input/record.h"

struct sum {
	u64 objects;
	u64 thousandths;	/* of one more */
	u64 bytes;
	u64 held;
	u64 records;		/* that objects were estimated from; as many if all are known */
	double objects_variance;
	double bytes_variance;
};

/* Columns that a sum takes in rows of packed numbers; the others come after them. */
enum {
	SUM_OBJECTS,
	SUM_BYTES,
	SUM_HELD,
	SUM_UNRECORDED,		/* objects beyond the records */
	SUM_THOUSANDTHS,
	SUM_OBJECTS_VARIANCE,	/* as the bits of a double: those of 0 are 0 */
	SUM_BYTES_VARIANCE,
	SUM_COLUMNS
};

/* Of one record; false if it is too much. */
bool sum_of(struct sum *sum, const struct record *rec);
void sum_add(struct sum *to, const struct sum *sum);
/* Would the sum of the two be too much? */
bool sum_overflows(const struct sum *a, const struct sum *b);
/* As far as is shown; variances depend on the order that they were added up in. */
bool sum_same(const struct sum *a, const struct sum *b);

void sum_put(struct packed *p, u32 row, const struct sum *sum);

static inline double sum_variance(const struct packed *p, u32 row, u32 column)
{
	u64 bits = packed_get(p, row, column);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Inline: who looks at one figure of it does not get the others. */
static inline struct sum sum_get(const struct packed *p, u32 row)
{
	u64 objects = packed_get(p, row, SUM_OBJECTS);

	return (struct sum){
		.objects = objects,
		.thousandths = packed_get(p, row, SUM_THOUSANDTHS),
		.bytes = packed_get(p, row, SUM_BYTES),
		.held = packed_get(p, row, SUM_HELD),
		.records = objects - packed_get(p, row, SUM_UNRECORDED),
		.objects_variance = sum_variance(p, row, SUM_OBJECTS_VARIANCE),
		.bytes_variance = sum_variance(p, row, SUM_BYTES_VARIANCE),
	};
}

/* What was not sampled is no estimate. */
bool sum_is_estimate(const struct sum *sum);
/* The standard errors: two estimates of three are nearer to the truth than that. */
u64 sum_objects_error(const struct sum *sum);
u64 sum_bytes_error(const struct sum *sum);

#endif
