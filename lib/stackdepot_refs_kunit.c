// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the CPU cache: no reference is lost or counted twice, and each is to the right
 * words.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/smp.h>
#include <linux/stackdepot_capture.h>
#include <linux/stackdepot_refs.h>
#include <linux/string.h>

#define WORDS	5

/* Return how many references a handle has after CPU caches gave back theirs. */
static unsigned int count_handle_references(depot_stack_handle_t handle)
{
	stack_depot_cpu_caches_flush();
	return refcount_read(&__stack_depot_get_stack_record(handle)->count);
}

/* Intern words as a capture does: take a reference of the CPU cache if it keeps some. */
static depot_stack_handle_t intern_through_cpu_cache(unsigned long *words, unsigned int count)
{
	depot_stack_handle_t handle, taken = 0;
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;

	rcu_read_lock_sched();
	handle = stack_depot_find(words, count, STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA);
	cpu = stack_depot_cpu_acquire();
	if (cpu) {
		ref = stack_depot_find_ref(cpu, handle);
		if (!ref || !stack_depot_can_take_ref(ref))
			ref = stack_depot_refill_ref(cpu, handle);
		if (ref) {
			ref->references--;
			taken = ref->handle;
		}
		stack_depot_cpu_release(cpu);
	}
	rcu_read_unlock_sched();
	return taken ?: stack_depot_save_flags(words, count, GFP_KERNEL,
					       STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA |
					       STACK_DEPOT_FLAG_CAN_ALLOC);
}

static depot_stack_handle_t intern_test_words(unsigned long *words)
{
	return intern_through_cpu_cache(words, WORDS);
}

static void put_handle(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (!cpu)
		return stack_depot_put(handle);
	stack_depot_put_ref(cpu, handle);
	stack_depot_cpu_release(cpu);
}

/* Take and put many batches of references to one handle, and flush in between. */
static void test_references(struct kunit *test)
{
	unsigned long words[WORDS] = { 1, 2, 3, 4, (unsigned long)test };
	depot_stack_handle_t handle = intern_test_words(words);
	unsigned int i;

	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	for (i = 1; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, intern_test_words(words), handle);
		if (i == 333)
			KUNIT_EXPECT_EQ(test, count_handle_references(handle), 334);
	}
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1000);
	for (i = 1; i < 1000; i++)
		put_handle(handle);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	put_handle(handle);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(handle));
}

/* More handles than a CPU cache has slots for, so that they evict one another. */
#define MANY	3000

static void test_many(struct kunit *test)
{
	unsigned long words[WORDS] = { 5, 6, 7, (unsigned long)test };
	depot_stack_handle_t *handles = kunit_kcalloc(test, MANY, sizeof(*handles), GFP_KERNEL);
	unsigned long *found;
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	for (j = 0; j < 3; j++) {
		for (i = 0; i < MANY; i++) {
			depot_stack_handle_t handle;

			words[WORDS - 1] = i;
			handle = intern_test_words(words);
			KUNIT_ASSERT_NE(test, handle, 0);
			if (j)
				KUNIT_ASSERT_EQ(test, handle, handles[i]);
			handles[i] = handle;
			KUNIT_ASSERT_EQ(test, stack_depot_fetch(handle, &found), WORDS);
			KUNIT_ASSERT_EQ(test, memcmp(found, words, sizeof(words)), 0);
		}
	}
	stack_depot_cpu_caches_flush();
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test,
				refcount_read(&__stack_depot_get_stack_record(handles[i])->count),
				3);
		for (j = 0; j < 3; j++)
			put_handle(handles[i]);
	}
	stack_depot_cpu_caches_flush();
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_FALSE(test, stack_depot_get(handles[i]));
}

/* Words that are a prefix of other words have a handle of their own. */
static void test_prefix(struct kunit *test)
{
	unsigned long words[WORDS] = { 9, 8, 7, 6, (unsigned long)test };
	depot_stack_handle_t whole = intern_test_words(words);
	depot_stack_handle_t part = intern_through_cpu_cache(words, WORDS - 1);

	KUNIT_EXPECT_NE(test, whole, part);
	KUNIT_EXPECT_EQ(test, intern_test_words(words), whole);
	put_handle(whole);
	put_handle(whole);
	put_handle(part);
}

static void put_handle_100_times(void *handle)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		put_handle(*(depot_stack_handle_t *)handle);
}

/* Take references on one CPU and put them on other CPUs in interrupts. */
static void test_other_cpus(struct kunit *test)
{
	unsigned long words[WORDS] = { 3, 1, 4, 1, (unsigned long)test };
	depot_stack_handle_t handle = 0;
	unsigned int i;

	for (i = 0; i < 100 * num_online_cpus() + 1; i++)
		handle = intern_test_words(words);
	KUNIT_ASSERT_NE(test, handle, 0);
	on_each_cpu(put_handle_100_times, &handle, true);
	KUNIT_EXPECT_EQ(test, count_handle_references(handle), 1);
	put_handle(handle);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(handle));
}

static int init_refs_suite(struct kunit_suite *suite)
{
	return stack_depot_capture_init();
}

static struct kunit_case refs_cases[] = {
	KUNIT_CASE(test_references),
	KUNIT_CASE(test_many),
	KUNIT_CASE(test_prefix),
	KUNIT_CASE(test_other_cpus),
	{}
};

static struct kunit_suite refs_suite = {
	.name = "stackdepot_refs",
	.suite_init = init_refs_suite,
	.test_cases = refs_cases,
};

kunit_test_suite(refs_suite);
