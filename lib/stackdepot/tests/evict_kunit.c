// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: the suite. See evict_kunit.h.
 */

#include <linux/module.h>

#include "../compat.h"
#include "evict_kunit.h"

/* A test is named depot_NAME; its function needs the prefix of a global symbol. */
#define DEPOT_CASE(_name, ...) {				\
	.run_case = stack_depot_test_##_name,			\
	.name = "depot_" #_name,				\
	.module_name = KBUILD_MODNAME,				\
	__VA_ARGS__						\
}

#define DEPOT_CASE_SLOW(_name)	DEPOT_CASE(_name, .attr.speed = KUNIT_SPEED_SLOW)

static struct kunit_case depot_cases[] = {
	DEPOT_CASE(counts),
	DEPOT_CASE(too_deep),
	DEPOT_CASE(find_stack),
	DEPOT_CASE(copy),
	DEPOT_CASE(counted_apart),
	DEPOT_CASE(counted_zero),
	DEPOT_CASE(counted_deepest),
	DEPOT_CASE(counted_bound),
	DEPOT_CASE(late_table),
	DEPOT_CASE(kinds_apart),
	DEPOT_CASE(raw),
	DEPOT_CASE(stale_handle),
	DEPOT_CASE(fetch_bounds),
	DEPOT_CASE(packed),
	DEPOT_CASE(print),
	DEPOT_CASE(reader),
	DEPOT_CASE(kick),
	DEPOT_CASE_SLOW(collision),
	DEPOT_CASE(bound),
	DEPOT_CASE(full_large),
	DEPOT_CASE(data_share),
	DEPOT_CASE(fifth_pool),
	DEPOT_CASE(give),
	DEPOT_CASE(reserve),
	DEPOT_CASE_SLOW(million),
	DEPOT_CASE(memory),
	DEPOT_CASE(link),
	DEPOT_CASE(set_link),
	DEPOT_CASE(nmi),
	DEPOT_CASE(traced),
	DEPOT_CASE(forbidden),
	DEPOT_CASE(contexts),
	DEPOT_CASE_SLOW(stress),
	DEPOT_CASE(taken_back),
	DEPOT_CASE_SLOW(next_counted),
	DEPOT_CASE(cost),
	{ }
};

static int init_depot_suite(struct kunit_suite *suite)
{
	return stack_depot_init_evictable();
}

static struct kunit_suite depot_suite = {
	.name = "stackdepot",
	.suite_init = init_depot_suite,
	.test_cases = depot_cases,
};

kunit_test_suite(depot_suite);

MODULE_DESCRIPTION("KUnit tests of the stack depot");
STACK_DEPOT_IMPORT_KUNIT_NAMESPACE;
MODULE_LICENSE("GPL");
