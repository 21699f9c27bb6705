// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling without bias.
 *
 * An allocation of size bytes has the cost size * per_byte + per_object, and is sampled with
 * the probability 1 - exp(-cost). Its record keeps the number of the rate, so its weight,
 * 1 / probability, is known even after the rules have changed. The sum of the weights
 * estimates the number of objects, without bias for any mix of sizes.
 *
 * Fixed point: costs and probabilities are in units of 2^-32.
 */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/int_log.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "sample.h"

DEFINE_PER_CPU(s64, owner_sample_credit);

/* ln(2) in units of 2^-32. */
#define LN2	2977044472ULL

/* Convert a binary logarithm to a natural one. Both are in units of 2^-24, as intlog2()'s. */
static u64 log2_to_ln(u32 log2)
{
	return log2 * LN2 >> 32;
}

/* --- Rates ------------------------------------------------------------------- */

/*
 * Rates by number. Number 0 means that all are tracked. A rate that a rule has had is never
 * removed: records may have its number. The mutex of control/change.c serializes writers.
 */
static struct owner_rate rates[OWNER_RATES];
static unsigned int nr_rates = 1;

static struct owner_rate rate_of_bytes(u32 bytes)
{
	return (struct owner_rate){ .per_byte = (1ULL << 32) / bytes };
}

/* The cost is -ln(1 - 1/n): the difference of two logarithms for small n, a series else. */
static struct owner_rate rate_of_objects(u32 n)
{
	u64 one = 1ULL << 32, cost;

	if (n < 16)
		cost = log2_to_ln(intlog2(n) - intlog2(n - 1)) << 8;
	else
		cost = one / n + one / (2ULL * n * n) + one / (3ULL * n * n * n);
	return (struct owner_rate){ .per_object = cost };
}

/**
 * owner_register_rate() - get the number of a rate, which records keep
 * @bytes: mean number of bytes from one sample to the next, at most
 *	OWNER_SAMPLE_BYTES_MAX; 0 or 1 if @objects counts
 * @objects: sample one object in this many, at most OWNER_SAMPLE_OBJECTS_MAX; if both are
 *	0 or 1, all objects are tracked
 *
 * Return: the number, or -ENOSPC if there were OWNER_RATES different rates since boot.
 */
int owner_register_rate(u32 bytes, u32 objects)
{
	struct owner_rate rate;
	unsigned int i;

	if (bytes <= 1 && objects <= 1)
		return 0;
	rate = bytes > 1 ? rate_of_bytes(bytes) : rate_of_objects(objects);
	for (i = 1; i < nr_rates; i++)
		if (rates[i].per_byte == rate.per_byte && rates[i].per_object == rate.per_object)
			return i;
	if (nr_rates == OWNER_RATES)
		return -ENOSPC;
	rates[nr_rates] = rate;
	return nr_rates++;
}

/* Count the rates that have a number. */
unsigned int owner_count_rates(void)
{
	return nr_rates;
}

/**
 * owner_forget_rates() - take back the numbers that were given since
 * @count: result of owner_count_rates(). No rule has had a later rate, so no record has.
 */
void owner_forget_rates(unsigned int count)
{
	nr_rates = count;
}

/* Get a rate as a word, as caches keep it. */
u64 owner_rate_word(unsigned int number)
{
	return (u64)rates[number].per_object << 32 | rates[number].per_byte;
}

/* --- Drawing ---------------------------------------------------------------- */

static DEFINE_PER_CPU(struct rnd_state, random);

/* Draw from an exponential distribution: -ln() of a uniform random number. */
static s64 draw_credit(struct rnd_state *state)
{
	u32 uniform = prandom_u32_state(state) ?: 1;

	return log2_to_ln((32U << 24) - intlog2(uniform)) << 8;
}

/* Seed the random numbers and draw the first credits. */
static int __init owner_sample_init(void)
{
	int cpu;

	prandom_seed_full_state(&random);
	for_each_possible_cpu(cpu)
		per_cpu(owner_sample_credit, cpu) = draw_credit(per_cpu_ptr(&random, cpu));
	return 0;
}
early_initcall(owner_sample_init);

/**
 * owner_sample_draw() - draw a new sample credit for this CPU
 *
 * An interrupt before this finds no credit, too, and its allocation is sampled; an interrupt
 * in between draws from the same state. Both are too rare to matter.
 */
void owner_sample_draw(void)
{
	this_cpu_write(owner_sample_credit, draw_credit(raw_cpu_ptr(&random)));
}

/**
 * owner_is_sampled() - spend credit for an allocation, and draw again if it is a sample
 * @number: number of the rate
 * @size: requested bytes
 *
 * Return: true if the allocation is tracked.
 */
bool owner_is_sampled(unsigned int number, size_t size)
{
	if (!number)
		return true;
	if (!owner_sample_spend(owner_rate_word(number), size))
		return false;
	owner_sample_draw();
	return true;
}

/* --- Estimating -------------------------------------------------------------- */

/* Returns 1 - exp(-cost), the probability that a sample is drawn, in units of 2^-32. */
static u32 compute_probability(u64 cost)
{
	unsigned int doublings = 0;
	u64 p;

	/* At larger costs the probability is 1 to the last bit. */
	cost = min(cost, 23ULL << 32);
	/* Halve the cost until three terms of the series of exp(-cost) are exact enough. */
	while (cost >> 26) {
		cost >>= 1;
		doublings++;
	}
	p = cost - (cost * cost >> 33) + mul_u64_u64_shr(cost * cost, cost, 64) / 6;
	/* Double the cost: sampled by its first half or by its second half. */
	while (doublings--)
		p = 2 * p - (p * p >> 32);
	return clamp(p, 1ULL, (u64)U32_MAX);
}

/* The probability that an allocation of this rate and size is sampled. */
static u32 sampling_probability(unsigned int number, size_t size)
{
	u64 rate = owner_rate_word(number);

	return compute_probability(size * (u32)rate + (rate >> 32));
}

/**
 * owner_sample_weight() - compute how many objects a record stands for, its own included
 * @number: number of the rate at which the object was sampled, 0 if it was not
 * @size: requested bytes
 *
 * Return: the weight, in units of 2^-OWNER_WEIGHT_SHIFT.
 */
u64 owner_sample_weight(unsigned int number, size_t size)
{
	if (!number)
		return 1 << OWNER_WEIGHT_SHIFT;
	return div64_u64(1ULL << (32 + OWNER_WEIGHT_SHIFT), sampling_probability(number, size));
}

/* Add @objects, and @fraction in units of 2^-OWNER_WEIGHT_SHIFT. */
static void add_objects(struct owner_estimate *estimate, u64 objects, u64 fraction)
{
	fraction += estimate->fraction;
	estimate->objects += objects + (fraction >> OWNER_WEIGHT_SHIFT);
	estimate->fraction = fraction & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0);
}

/* owner_estimate_add() for sampled records. */
void owner_estimate_add_sample(struct owner_estimate *estimate, u64 n, unsigned int number,
			       size_t size, size_t held)
{
	u64 weight = owner_sample_weight(number, size), missed, variance;
	u64 bytes = mul_u64_u64_shr(weight, size, OWNER_WEIGHT_SHIFT);

	add_objects(estimate, n * (weight >> OWNER_WEIGHT_SHIFT),
		    n * (weight & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0)));
	estimate->bytes += n * bytes;
	estimate->held += n * mul_u64_u64_shr(weight, held, OWNER_WEIGHT_SHIFT);
	/* Samples are independent of one another, so their variances add up. */
	missed = (1ULL << 32) - sampling_probability(number, size);
	variance = mul_u64_u64_shr(weight, weight, OWNER_WEIGHT_SHIFT + 8);
	variance = mul_u64_u64_shr(variance, missed, 32);
	estimate->objects_variance = size_add(estimate->objects_variance, size_mul(n, variance));
	variance = mul_u64_u64_shr(size_mul(bytes, bytes), missed, 32);
	estimate->bytes_variance = size_add(estimate->bytes_variance, size_mul(n, variance));
}

/* Add estimate @more to @estimate. */
void owner_estimate_join(struct owner_estimate *estimate, const struct owner_estimate *more)
{
	estimate->records += more->records;
	add_objects(estimate, more->objects, more->fraction);
	estimate->bytes += more->bytes;
	estimate->held += more->held;
	estimate->objects_variance = size_add(estimate->objects_variance, more->objects_variance);
	estimate->bytes_variance = size_add(estimate->bytes_variance, more->bytes_variance);
}

/* Standard error of the number of objects: two thirds of all estimates are at most that wrong. */
u64 owner_estimate_objects_error(const struct owner_estimate *estimate)
{
	return int_sqrt64(estimate->objects_variance) >> 4;
}

/* Standard error of the requested bytes. */
u64 owner_estimate_bytes_error(const struct owner_estimate *estimate)
{
	return int_sqrt64(estimate->bytes_variance);
}
