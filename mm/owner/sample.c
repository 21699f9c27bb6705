// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling without bias.
 *
 * An allocation of size bytes is sampled with the probability 1 - exp(-cost), its
 * cost being size * per_byte + per_object. A record keeps the number of the rate
 * that it was sampled at, so that what it stands for, 1 / probability, is known
 * also after the rules changed. The sum of that over the records is an estimate
 * of all that was allocated, and is right on average, whatever the sizes are.
 *
 * Fixed point: a cost and a probability are in units of 2^-32.
 */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/int_log.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "sample.h"

DEFINE_PER_CPU(s64, owner_sample_credit);

/* ln(2) in units of 2^-32. */
#define LN2	2977044472ULL

/* Both in units of 2^-24, as intlog2() has it. */
static u64 to_ln(u32 log2)
{
	return log2 * LN2 >> 32;
}

/* --- Rates ------------------------------------------------------------------- */

/*
 * By their numbers, for ever: some record may have one. The first is all. Added
 * to by who changes the rules, who keeps others from doing so meanwhile.
 */
static struct owner_rate rates[OWNER_RATES];
static unsigned int nr_rates = 1;

static struct owner_rate rate_of_bytes(u32 bytes)
{
	return (struct owner_rate){ .per_byte = (1ULL << 32) / bytes };
}

/* -ln(1 - 1/n): by its series where that is short, else by what is left of a logarithm. */
static struct owner_rate rate_of_objects(u32 n)
{
	u64 one = 1ULL << 32, cost;

	if (n < 16)
		cost = to_ln(intlog2(n) - intlog2(n - 1)) << 8;
	else
		cost = one / n + one / (2ULL * n * n) + one / (3ULL * n * n * n);
	return (struct owner_rate){ .per_object = cost };
}

/**
 * owner_rate_number - the number of a rate, for records to keep
 * @bytes: so many from one sample to the next on average, at most OWNER_SAMPLE_BYTES_MAX
 * @objects: or one object in so many, at most OWNER_SAMPLE_OBJECTS_MAX; both are 0 or 1
 *	if all are sampled
 *
 * Return: the number, or -ENOSPC if there have been too many different ones.
 */
int owner_rate_number(u32 bytes, u32 objects)
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

/* A rate by its number, as caches keep it. */
u64 owner_rate_word(unsigned int number)
{
	return (u64)rates[number].per_object << 32 | rates[number].per_byte;
}

/* --- Choosing ---------------------------------------------------------------- */

static DEFINE_PER_CPU(struct rnd_state, random);

/* From an exponential distribution: -ln() of what is evenly distributed. */
static s64 draw(struct rnd_state *state)
{
	u32 uniform = prandom_u32_state(state) ?: 1;

	return to_ln((32U << 24) - intlog2(uniform)) << 8;
}

/* Before anything is sampled. */
void __init owner_sample_init(void)
{
	int cpu;

	prandom_seed_full_state(&random);
	for_each_possible_cpu(cpu)
		per_cpu(owner_sample_credit, cpu) = draw(per_cpu_ptr(&random, cpu));
}

/**
 * owner_sample_draw - draw when the next sample is, after this one
 *
 * An interrupt before it finds nothing left either, and what that allocates is
 * sampled; one amid draws of the same state. Both are too seldom to matter.
 */
void owner_sample_draw(void)
{
	this_cpu_write(owner_sample_credit, draw(raw_cpu_ptr(&random)));
}

/**
 * owner_is_sampled - is an allocation to have an owner, of those at a rate?
 * @number: of the rate
 * @size: bytes that were asked for
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

/* 1 - exp(-cost), in 2^-32. */
static u32 probability(u64 cost)
{
	unsigned int doublings = 0;
	u64 p;

	/* More is certain to the last bit. */
	cost = min(cost, 23ULL << 32);
	/* Where the third power is the last that counts. */
	while (cost >> 26) {
		cost >>= 1;
		doublings++;
	}
	p = cost - (cost * cost >> 33) + mul_u64_u64_shr(cost * cost, cost, 64) / 6;
	/* Twice the cost: neither the first half nor the second spares it. */
	while (doublings--)
		p = 2 * p - (p * p >> 32);
	return clamp(p, 1ULL, (u64)U32_MAX);
}

static u32 probability_of(unsigned int number, size_t size)
{
	u64 rate = owner_rate_word(number);

	return probability(size * (u32)rate + (rate >> 32));
}

/**
 * owner_weight - how many objects a record stands for, itself included
 * @number: of the rate at which it was sampled
 * @size: bytes that were asked for
 *
 * Return: in units of 2^-OWNER_WEIGHT_SHIFT
 */
u64 owner_weight(unsigned int number, size_t size)
{
	if (!number)
		return 1 << OWNER_WEIGHT_SHIFT;
	return div64_u64(1ULL << (32 + OWNER_WEIGHT_SHIFT), probability_of(number, size));
}

static void add_objects(struct owner_estimate *estimate, u64 objects, u64 fraction)
{
	fraction += estimate->fraction;
	estimate->objects += objects + (fraction >> OWNER_WEIGHT_SHIFT);
	estimate->fraction = fraction & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0);
}

/* What owner_estimate_add() does for those that were sampled. */
void owner_estimate_add_sample(struct owner_estimate *estimate, u64 n, unsigned int number,
			       size_t size, size_t held)
{
	u64 weight = owner_weight(number, size), missed, variance;
	u64 bytes = mul_u64_u64_shr(weight, size, OWNER_WEIGHT_SHIFT);

	add_objects(estimate, n * (weight >> OWNER_WEIGHT_SHIFT),
		    n * (weight & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0)));
	estimate->bytes += n * bytes;
	estimate->held += n * mul_u64_u64_shr(weight, held, OWNER_WEIGHT_SHIFT);
	/* Each is there or not, on its own: variances add up. */
	missed = (1ULL << 32) - probability_of(number, size);
	variance = mul_u64_u64_shr(weight, weight, OWNER_WEIGHT_SHIFT + 8);
	variance = mul_u64_u64_shr(variance, missed, 32);
	estimate->objects_variance = size_add(estimate->objects_variance, size_mul(n, variance));
	variance = mul_u64_u64_shr(size_mul(bytes, bytes), missed, 32);
	estimate->bytes_variance = size_add(estimate->bytes_variance, size_mul(n, variance));
}

void owner_estimate_join(struct owner_estimate *estimate, const struct owner_estimate *more)
{
	estimate->records += more->records;
	add_objects(estimate, more->objects, more->fraction);
	estimate->bytes += more->bytes;
	estimate->held += more->held;
	estimate->objects_variance = size_add(estimate->objects_variance, more->objects_variance);
	estimate->bytes_variance = size_add(estimate->bytes_variance, more->bytes_variance);
}

/* The standard errors: two estimates of three are nearer to the truth than that. */
u64 owner_objects_error(const struct owner_estimate *estimate)
{
	return int_sqrt64(estimate->objects_variance) >> 4;
}

u64 owner_bytes_error(const struct owner_estimate *estimate)
{
	return int_sqrt64(estimate->bytes_variance);
}
