// SPDX-License-Identifier: GPL-2.0
/* Compute sums of records; mm/owner/sample.c explains why estimates are unbiased. */
#include <math.h>

#include "model/sum.h"

/*
 * Multiply @value by a weight and round down, as the kernel does. Returns false if it
 * overflows.
 */
static bool scale_by_weight(u64 *scaled, u64 value, u64 weight)
{
	u64 fraction = value % WEIGHT_ONE * weight / WEIGHT_ONE;

	return !__builtin_mul_overflow(value / WEIGHT_ONE, weight, scaled) &&
	       !__builtin_add_overflow(*scaled, fraction, scaled);
}

static double square(double v)
{
	return v * v;
}

/*
 * Compute the estimate of one sampled record. Objects are sampled independently of each other,
 * so variances of estimates add up.
 */
static bool sum_from_sample(struct sum *sum, const struct record *rec)
{
	double weight = (double)rec->weight / WEIGHT_ONE, missed = 1 - 1 / weight;

	*sum = (struct sum){
		.records = 1,
		.objects_variance = missed * square(weight),
		.bytes_variance = missed * square(weight * rec->bytes),
	};
	add_thousandths(sum, rec->weight);
	return scale_by_weight(&sum->bytes, rec->bytes, rec->weight) &&
	       scale_by_weight(&sum->held, rec->held, rec->weight);
}

bool sum_from_record(struct sum *sum, const struct record *rec)
{
	if (rec->weight)
		return sum_from_sample(sum, rec);
	*sum = (struct sum){
		.objects = rec->objects,
		.bytes = rec->bytes,
		.held = rec->held,
		.records = rec->records ? rec->records : rec->objects,
		.objects_variance = square(rec->objects_error),
		.bytes_variance = square(rec->bytes_error),
	};
	return true;
}

static void set_variance(struct packed_table *p, u32 row, u32 column, double v)
{
	u64 bits;

	memcpy(&bits, &v, sizeof(bits));
	packed_set(p, row, column, bits);
}

void sum_store(struct packed_table *p, u32 row, const struct sum *sum)
{
	packed_set(p, row, SUM_OBJECTS, sum->objects);
	packed_set(p, row, SUM_BYTES, sum->bytes);
	packed_set(p, row, SUM_WASTE, sum->held - sum->bytes);
	packed_set(p, row, SUM_UNRECORDED, sum->objects - sum->records);
	packed_set(p, row, SUM_THOUSANDTHS, sum->thousandths);
	set_variance(p, row, SUM_OBJECTS_VARIANCE, sum->objects_variance);
	set_variance(p, row, SUM_BYTES_VARIANCE, sum->bytes_variance);
}

void sum_add_to_row(struct packed_table *p, u32 row, const struct sum *sum)
{
	struct sum all;

	/* Most sums are exact: three of the seven columns change. */
	if (!sum_is_estimate(sum) && !sum->thousandths) {
		packed_set_all(p, row, SUM_OBJECTS, 3, (u64[]){
			packed_get(p, row, SUM_OBJECTS) + sum->objects,
			packed_get(p, row, SUM_BYTES) + sum->bytes,
			packed_get(p, row, SUM_WASTE) + sum->held - sum->bytes,
		});
		return;
	}
	all = sum_load(p, row);
	sum_add(&all, sum);
	sum_store(p, row, &all);
}

bool sum_equals(const struct sum *a, const struct sum *b)
{
	return a->objects == b->objects && a->bytes == b->bytes && a->held == b->held &&
	       a->records == b->records;
}

u64 sum_get_waste(const struct sum *sum)
{
	return sum->held > sum->bytes ? sum->held - sum->bytes : 0;
}

/* Returns the square root of a variance, which can be infinite if the input is damaged. */
static u64 compute_standard_error(double variance)
{
	double error = sqrt(variance);

	return error < 0x1p64 ? (u64)error : U64_MAX;
}

u64 sum_objects_error(const struct sum *sum)
{
	return compute_standard_error(sum->objects_variance);
}

u64 sum_bytes_error(const struct sum *sum)
{
	return compute_standard_error(sum->bytes_variance);
}
