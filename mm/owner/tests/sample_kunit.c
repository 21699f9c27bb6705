// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of sampling: allocations are sampled with the probability that their rate says,
 * and estimates have no bias.
 */

#include <linux/math64.h>
#include <linux/sched.h>

#include "plant.h"
#include "write_rules.h"

#define UNIT	BIT_ULL(32)

/* 2^32 * (1 - exp(-size / 1024)), computed in floating point. A weight is the reciprocal. */
static const struct {
	size_t size;
	u32 probability;
} expected_probabilities[] = {
	{ 1, 4192257 },
	{ 8, 33424008 },
	{ 64, 260218914 },
	{ 512, 1689937949 },
	{ 1024, 2714937127 },
	{ 2048, 3713706681 },
	{ 8192, 4293526506 },
	{ 65536, 4294967295 },
};

static void test_weights(struct kunit *test)
{
	int kilobyte = owner_register_rate(1024, 0);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, owner_register_rate(0, 0), 0);
	KUNIT_EXPECT_EQ(test, owner_register_rate(1, 0), 0);
	KUNIT_EXPECT_EQ(test, owner_register_rate(0, 1), 0);
	KUNIT_EXPECT_EQ(test, owner_sample_weight(0, 77), 1 << OWNER_WEIGHT_SHIFT);
	KUNIT_ASSERT_GT(test, kilobyte, 0);
	KUNIT_EXPECT_EQ(test, owner_register_rate(1024, 0), kilobyte);
	for (i = 0; i < ARRAY_SIZE(expected_probabilities); i++) {
		u64 weight = owner_sample_weight(kilobyte, expected_probabilities[i].size);
		u64 right = div_u64(UNIT << OWNER_WEIGHT_SHIFT,
				    expected_probabilities[i].probability);

		/* Tolerance: one part in 20,000. */
		KUNIT_EXPECT_LE_MSG(test, abs((s64)(weight - right)), right / 20000 + 1,
				    "size %zu", expected_probabilities[i].size);
	}
	/* With sample=1/n the weight does not depend on the size. */
	for (i = 2; i < OWNER_SAMPLE_OBJECTS_MAX; i = i * 5 / 4 + 1) {
		u64 weight, right = (u64)i << OWNER_WEIGHT_SHIFT;
		int number;

		/* A rate is never removed: leave most of the 256 numbers for other tests. */
		if (i > 64 && i % 8)
			continue;
		number = owner_register_rate(0, i);
		KUNIT_ASSERT_GT(test, number, 0);
		weight = owner_sample_weight(number, 64);
		KUNIT_EXPECT_EQ(test, owner_sample_weight(number, 8192), weight);
		KUNIT_EXPECT_LE_MSG(test, abs((s64)(weight - right)), right / 1000,
				    "one of %u", i);
	}
}

/*
 * An exponential distribution has the mean 1 and the standard deviation 1. The squares have
 * the mean 2 and the standard deviation sqrt(20). The bounds are 6 and 8 times the standard
 * deviations of the means: 1 / sqrt(100000) = 0.0032, and sqrt(20 / 100000) = 0.014.
 */
static void test_draws(struct kunit *test)
{
	u64 sum = 0, squares = 0, least = U64_MAX;
	const unsigned int draws = 100000;
	unsigned int i;
	s64 left;

	for (i = 0; i < draws; i++) {
		preempt_disable();
		owner_sample_draw();
		left = this_cpu_read(owner_sample_credit);
		preempt_enable();
		KUNIT_ASSERT_GE(test, left, 0);
		least = min_t(u64, least, left);
		/* Use units of 2^-16, so that the squares fit into 64 bits. */
		sum += left >> 16;
		squares += mul_u64_u64_shr(left, left, 48);
	}
	sum = div_u64(sum * 1000 >> 16, draws);
	squares = div_u64(squares * 1000 >> 16, draws);
	KUNIT_EXPECT_LE_MSG(test, abs((s64)sum - 1000), 20, "mean %llu of 1000", sum);
	KUNIT_EXPECT_LE_MSG(test, abs((s64)squares - 2000), 120, "squares %llu of 2000", squares);
	KUNIT_EXPECT_LT(test, least, UNIT / 1000);
}

/* --- Estimates ------------------------------------------------------------------ */

/* Number of estimates, and number of allocations for each. */
#define RUNS		200
#define POPULATION	20000

/**
 * struct estimate_runs - repeated estimates of one number
 * @truth: the number that is estimated
 * @sum: sum of the estimates
 * @squares: sum of the squares of the differences between estimates and @truth
 * @variances: sum of the variances that were reported with the estimates
 * @rounded: sum of the numbers of records whose bytes were rounded down
 */
struct estimate_runs {
	u64 truth;
	u64 sum;
	u64 squares;
	u64 variances;
	u64 rounded;
};

static void add_estimate_to_runs(struct estimate_runs *runs, u64 estimate, u64 error)
{
	s64 difference = estimate - runs->truth;

	runs->sum += estimate;
	runs->squares += difference * difference;
	runs->variances += error * error;
}

/*
 * Check that neither the sum of the estimates nor their reported errors are wrong by more
 * than five standard deviations. Correct code exceeds one of these bounds in one of a
 * million checks.
 *
 * The standard deviation of one estimate is @made, so that of the sum of independent ones is
 * made * sqrt(RUNS), which is the root of the sum of squares. A bias of 0.4 * made exceeds
 * five times that: 1.4% of the truth for the least exact estimate here. Estimates are nearly
 * normal, so the standard deviation of @made itself is made / sqrt(2 * RUNS) = made / 20.
 *
 * The bytes of a sampled record are rounded down, so a sum of bytes may be too small by one
 * byte for each record.
 */
static_assert(2 * RUNS == 20 * 20);

static void expect_unbiased_estimates(struct kunit *test, const char *what,
				      const struct estimate_runs *runs)
{
	s64 bias = div64_s64((s64)(div_u64(runs->sum, RUNS) - runs->truth) * 10000, runs->truth);
	u64 made = int_sqrt64(div_u64(runs->squares, RUNS));
	u64 reported = int_sqrt64(div_u64(runs->variances, RUNS));
	u64 allowed = 5 * int_sqrt64(runs->squares) + runs->rounded;

	kunit_info(test, "%s: the mean of %u runs is off by %lld in 10000, %llu allowed; error %llu, reported %llu",
		   what, RUNS, bias, div64_u64(allowed * 10000, runs->truth * RUNS), made,
		   reported);
	KUNIT_EXPECT_LE_MSG(test, abs((s64)(runs->sum - runs->truth * RUNS)), allowed,
			    "%s", what);
	KUNIT_EXPECT_LE_MSG(test, abs((s64)(reported - made)), made / 4, "%s", what);
}

/* Return a size from 2 to 4096 bytes for object @i; small sizes are frequent. */
static size_t choose_nth_size(unsigned int i)
{
	return (8UL << i % 10) - i % 7;
}

static void estimate_random_sample(int number, struct estimate_runs *objects,
				   struct estimate_runs *bytes)
{
	struct owner_estimate estimate = {};
	unsigned int i;

	for (i = 0; i < POPULATION; i++)
		if (owner_is_sampled(number, choose_nth_size(i)))
			owner_estimate_add(&estimate, 1, number, choose_nth_size(i),
					   choose_nth_size(i));
	add_estimate_to_runs(objects, estimate.objects, owner_estimate_objects_error(&estimate));
	add_estimate_to_runs(bytes, estimate.bytes, owner_estimate_bytes_error(&estimate));
	bytes->rounded += estimate.records;
}

static void check_estimates_at_rate(struct kunit *test, const char *what, int number)
{
	struct estimate_runs objects = { .truth = POPULATION }, bytes = {};
	unsigned int i;

	KUNIT_ASSERT_GT(test, number, 0);
	for (i = 0; i < POPULATION; i++)
		bytes.truth += choose_nth_size(i);
	for (i = 0; i < RUNS; i++) {
		estimate_random_sample(number, &objects, &bytes);
		cond_resched();
	}
	kunit_info(test, "at %s:", what);
	expect_unbiased_estimates(test, "objects", &objects);
	expect_unbiased_estimates(test, "bytes", &bytes);
}

static void test_estimates(struct kunit *test)
{
	check_estimates_at_rate(test, "256", owner_register_rate(256, 0));
	check_estimates_at_rate(test, "1/8", owner_register_rate(0, 8));
}

static void estimate_cache_objects(const struct kmem_cache *cache, struct owner_estimate *estimate)
{
	struct owner_object object;
	struct owner_cursor cursor = { .ops = &owner_slab_source };

	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &object) > 0)
		if (object.slab_cache == cache)
			owner_estimate_add(estimate, 1, owner_record_rate(&object.owner),
					   object.size, object.held);
	owner_cursor_end(&cursor);
}

/*
 * Number of objects in the test of one cache; two rates sample one half of them each. With KASAN's
 * tags, 4,000 objects take longer than KUnit's limit of 300 s.
 */
#define OBJECTS		(IS_ENABLED(CONFIG_KASAN_SW_TAGS) ? 1000 : 4000)

static void test_objects(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	struct estimate_runs bytes = { .truth = OBJECTS * PLANTED_SIZE };
	void **objects = kunit_kcalloc(test, OBJECTS, sizeof(*objects), GFP_KERNEL);
	unsigned int i, run;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	for (run = 0; run < RUNS; run++) {
		struct owner_estimate estimate = {};

		KUNIT_ASSERT_EQ(test, write_rules("sample=512 if cache == owner_kunit"), 0);
		for (i = 0; i < OBJECTS / 2; i++)
			objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_EQ(test, write_rules("sample=1/2 if cache == owner_kunit"), 0);
		for (; i < OBJECTS; i++)
			objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		estimate_cache_objects(cache, &estimate);
		for (i = 0; i < OBJECTS; i++)
			kmem_cache_free(cache, objects[i]);
		KUNIT_EXPECT_LT(test, estimate.records, OBJECTS / 2);
		add_estimate_to_runs(&bytes, estimate.bytes, owner_estimate_bytes_error(&estimate));
		bytes.rounded += estimate.records;
	}
	expect_unbiased_estimates(test, "bytes", &bytes);
	/* sample=all tracks each object again. */
	KUNIT_ASSERT_EQ(test, write_rules("sample=all if cache == owner_kunit"), 0);
	objects[0] = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, find_object_record(objects[0]));
	KUNIT_EXPECT_EQ(test, owner_record_rate(find_object_record(objects[0])), 0);
	kmem_cache_free(cache, objects[0]);
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	kmem_cache_destroy(cache);
}

/* A slab without a sample gets no records. */
static void test_slab_without_samples(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, find_slab_records(object));
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
	cache = create_test_cache(test, 0);
	KUNIT_ASSERT_EQ(test, write_rules("track=off if cache == owner_kunit"), 0);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	/* An object without an owner has no record of its free, also with free=on. */
	KUNIT_EXPECT_EQ(test, cache->owner_rate, OWNER_RATE_NEVER);
	KUNIT_EXPECT_NULL(test, find_slab_records(object));
	kmem_cache_free(cache, object);
	/* A change of the rules takes effect at once. */
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	KUNIT_EXPECT_EQ(test, cache->owner_rate, OWNER_RATE_ALL);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, find_object_record(object));
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

static struct kunit_case owner_sample_cases[] = {
	KUNIT_CASE(test_weights),
	KUNIT_CASE(test_draws),
	KUNIT_CASE_SLOW(test_estimates),
	KUNIT_CASE_SLOW(test_objects),
	KUNIT_CASE(test_slab_without_samples),
	{}
};

static struct kunit_suite owner_sample_suite = {
	.name = "owner_sample",
	.init = require_slab_owner,
	.test_cases = owner_sample_cases,
};

kunit_test_suite(owner_sample_suite);
