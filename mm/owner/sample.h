/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sampling: which allocations are tracked, and how many objects each record stands for.
 *
 * SLUB includes this header: owner_sample_spend() is on its fast path.
 */
#ifndef _MM_OWNER_SAMPLE_H
#define _MM_OWNER_SAMPLE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "owner.h"

/**
 * struct owner_rate - what an allocation costs
 * @per_byte: cost of each requested byte
 * @per_object: cost of the allocation
 *
 * A CPU draws its sample credit from an exponential distribution with the mean 2^32.
 * Each allocation spends its cost; the one that makes the credit negative is sampled.
 * The distribution has no memory: each byte is sampled with the same probability,
 * independent of earlier allocations.
 *
 * A kmem_cache keeps its rate as one 64-bit word: @per_object in the upper half.
 */
struct owner_rate {
	u32 per_byte;
	u32 per_object;
};

/* The rate, as a word, of a cache whose allocations are all tracked. */
#define OWNER_RATE_ALL		0ULL
/* The rate of a cache that is not tracked: one sample in 2^32 objects does no harm. */
#define OWNER_RATE_NEVER	BIT_ULL(32)

DECLARE_PER_CPU(s64, owner_sample_credit);

/* Spend the cost of one allocation. @rate is not OWNER_RATE_ALL. Return: sampled? */
static __always_inline bool owner_sample_spend(u64 rate, size_t size)
{
	return this_cpu_sub_return(owner_sample_credit, size * (u32)rate + (rate >> 32)) < 0;
}

/* Number of different rates: owner_record_rate() has 8 bits. */
#define OWNER_RATES		256

/**
 * struct owner_estimate - what records stand for
 * @records: number of records
 * @objects: number of objects, sampled or not
 * @fraction: of one more object, in units of 2^-OWNER_WEIGHT_SHIFT
 * @bytes: requested bytes
 * @held: bytes that the objects occupy
 * @objects_variance: variance of @objects in units of 2^-8
 * @bytes_variance: variance of @bytes
 *
 * If no record was sampled, these are exact counts and the variances are 0.
 */
struct owner_estimate {
	u64 records;
	u64 objects;
	u32 fraction;
	u64 bytes;
	u64 held;
	u64 objects_variance;
	u64 bytes_variance;
};

int owner_register_rate(u32 bytes, u32 objects);
unsigned int owner_count_rates(void);
void owner_forget_rates(unsigned int count);
u64 owner_rate_word(unsigned int number);
u64 owner_sample_weight(unsigned int number, size_t size);
void owner_sample_draw(void);
bool owner_is_sampled(unsigned int number, size_t size);
void owner_estimate_add_sample(struct owner_estimate *estimate, u64 n, unsigned int number,
			       size_t size, size_t held);
void owner_estimate_join(struct owner_estimate *estimate, const struct owner_estimate *more);
u64 owner_estimate_objects_error(const struct owner_estimate *estimate);
u64 owner_estimate_bytes_error(const struct owner_estimate *estimate);

/**
 * owner_estimate_add() - add records, and the objects that they stand for
 * @estimate: the estimate to add to
 * @n: number of records
 * @number: number of their rate, 0 if they were not sampled
 * @size: requested bytes of each
 * @held: bytes that each occupies
 */
static inline void owner_estimate_add(struct owner_estimate *estimate, u64 n, unsigned int number,
				      size_t size, size_t held)
{
	estimate->records += n;
	if (unlikely(number))
		return owner_estimate_add_sample(estimate, n, number, size, held);
	estimate->objects += n;
	estimate->bytes += n * size;
	estimate->held += n * held;
}

#endif /* _MM_OWNER_SAMPLE_H */
