/* SPDX-License-Identifier: GPL-2.0 */
/* Sums of records. A sum of sampled records is an estimate, computed as in mm/owner. */
#ifndef OWNERTOP_SUM_H
#define OWNERTOP_SUM_H

#include "base/packed.h"
#include "input/record.h"

struct sum {
	u64 objects;
	u64 thousandths;	/* thousandths of an object, below WEIGHT_ONE */
	u64 bytes;
	u64 held;
	u64 records;		/* records of the estimate; without samples equal to objects */
	double objects_variance;
	double bytes_variance;
};

/* The columns of a sum in a row of struct packed_table. Other columns of the row follow them. */
enum {
	SUM_OBJECTS,
	SUM_BYTES,
	SUM_WASTE,		/* held - bytes modulo 2^64: 0 for pages, which takes no space */
	SUM_UNRECORDED,		/* objects - records: 0 unless sampled */
	SUM_THOUSANDTHS,
	SUM_OBJECTS_VARIANCE,	/* the bits of a double; 0.0 has no bit set, so it takes no space */
	SUM_BYTES_VARIANCE,
	SUM_COLUMNS
};

/* Compute the sum of one record. Returns false if it overflows. */
bool sum_from_record(struct sum *sum, const struct record *rec);

static inline void add_thousandths(struct sum *sum, u64 thousandths)
{
	sum->thousandths += thousandths;
	sum->objects += sum->thousandths / WEIGHT_ONE;
	sum->thousandths %= WEIGHT_ONE;
}

static inline void sum_add(struct sum *to, const struct sum *sum)
{
	to->objects += sum->objects;
	if (sum->thousandths)
		add_thousandths(to, sum->thousandths);
	to->bytes += sum->bytes;
	to->held += sum->held;
	to->records += sum->records;
	to->objects_variance += sum->objects_variance;
	to->bytes_variance += sum->bytes_variance;
}

/*
 * Does the addition of two sums overflow? >= leaves room for the object that the thousandths of two
 * sums can add up to.
 */
static inline bool sum_overflows(const struct sum *a, const struct sum *b)
{
	return b->objects >= U64_MAX - a->objects || b->bytes > U64_MAX - a->bytes ||
	       b->held > U64_MAX - a->held || b->records > U64_MAX - a->records;
}

/*
 * Are two sums equal? Variances are not compared: they are rounded, so they depend on the order
 * of addition.
 */
bool sum_equals(const struct sum *a, const struct sum *b);

void sum_store(struct packed_table *p, u32 row, const struct sum *sum);
/* Add @sum to the sum in a row of a table. */
void sum_add_to_row(struct packed_table *p, u32 row, const struct sum *sum);

static inline double sum_variance(const struct packed_table *p, u32 row, u32 column)
{
	u64 bits = packed_get(p, row, column);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/*
 * Read a sum from a row of a table. It is inline, so that the compiler drops the figures that a
 * caller does not use.
 */
static inline struct sum sum_load(const struct packed_table *p, u32 row)
{
	u64 objects = packed_get(p, row, SUM_OBJECTS), bytes = packed_get(p, row, SUM_BYTES);

	return (struct sum){
		.objects = objects,
		.thousandths = packed_get(p, row, SUM_THOUSANDTHS),
		.bytes = bytes,
		.held = bytes + packed_get(p, row, SUM_WASTE),
		.records = objects - packed_get(p, row, SUM_UNRECORDED),
		.objects_variance = sum_variance(p, row, SUM_OBJECTS_VARIANCE),
		.bytes_variance = sum_variance(p, row, SUM_BYTES_VARIANCE),
	};
}

/* Returns held - bytes, or 0 if that is negative. */
u64 sum_get_waste(const struct sum *sum);
/* Is the sum an estimate, because at least one of its records was sampled? */
static inline bool sum_is_estimate(const struct sum *sum)
{
	return sum->objects != sum->records || sum->objects_variance > 0 ||
	       sum->bytes_variance > 0;
}

/*
 * Get the standard error of an estimate, of its objects or of its requested bytes: the true
 * value is within one standard error with a probability of 68%.
 */
u64 sum_objects_error(const struct sum *sum);
u64 sum_bytes_error(const struct sum *sum);

#endif
