// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of an allocation in cycles.
 *
 * Each pattern reaches its operation through many call chains in turn, and some touch other
 * memory before each operation. Only the operation is between the two readings of the counter,
 * so neither the calls of a chain nor the touched memory are in a figure. Print the smallest and
 * the median mean of 15 rounds to the kernel's log in the format of owner_bench.c, as
 * "owner_bench: PATTERN 0 MIN MEDIAN". The cost of reading the counter is part of a figure, and
 * ends in the difference of two kernels. In a guest with the plugin cache_misses.c, each round is
 * a report of the operations' instructions and misses.
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "owner_bench.h"
#include "owner_marks.h"

static char *only = "";
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "measure only patterns whose names begin with this text");

/* Chains are learned in these rounds, and in the time after each of them. */
#define WARM_UPS	8
#define WARM_UP_MS	5
#define ROUNDS		15

/* Each of six frames decides two bits of a chain's number. */
#define CHAINS_MAX	4096
/* Frames that all chains begin with. A chain has more than 16 frames. */
#define TRUNK_FRAMES	8

#define TOUCHED_MAX	SZ_1M
#define CACHE_LINE	64
#define LIVE_OBJECTS	65536
/* Profiling does not count areas in the first chunk of per-CPU memory: fill it with these. */
#define FIRST_AREAS	2048
#define AREA_SIZE	64

struct bench_pattern {
	const char *name;
	void (*run)(void);
	unsigned int chains;
	/* Operations of a round. */
	unsigned int count;
	/* Bytes of other memory that are touched before each operation. */
	unsigned int touched;
};

/* The pattern that is measured, and the cycles of its operations in this round. */
static const struct bench_pattern *pattern;
static u64 cycles;

static u16 order[CHAINS_MAX];
static unsigned long touched_memory;
static void *live[LIVE_OBJECTS];
static void *resized;
static void __percpu *first_areas[FIRST_AREAS];
static struct rnd_state random;

static __always_inline u64 begin_operation(void)
{
	u64 began = read_cycles();

	mark_begin();
	return began;
}

static __always_inline void end_operation(u64 began)
{
	mark_end();
	cycles += read_cycles() - began;
}

static noinline void run_pair(void)
{
	u64 began = begin_operation();

	kfree(kmalloc(64, GFP_KERNEL));
	end_operation(began);
}

static noinline void run_pairs_of_four_caches(void)
{
	u64 began = begin_operation();

	kfree(kmalloc(32, GFP_KERNEL));
	kfree(kmalloc(64, GFP_KERNEL));
	kfree(kmalloc(128, GFP_KERNEL));
	kfree(kmalloc(256, GFP_KERNEL));
	end_operation(began);
}

/* Replace one of the live objects by one of another size, from 16 to 512 bytes. */
static noinline void replace_object(void)
{
	u32 number = prandom_u32_state(&random);
	void **object = &live[number % LIVE_OBJECTS];
	size_t size = 16 + number / LIVE_OBJECTS % 497;
	u64 began = begin_operation();

	kfree(*object);
	*object = kmalloc(size, GFP_KERNEL);
	end_operation(began);
}

/* The object has room for both sizes. */
static noinline void resize_object(void)
{
	u64 began = begin_operation();

	resized = krealloc(krealloc(resized, 40, GFP_KERNEL), 60, GFP_KERNEL);
	end_operation(began);
}

static noinline void run_percpu_pair(void)
{
	u64 began = begin_operation();

	free_percpu(__alloc_percpu(AREA_SIZE, 8));
	end_operation(began);
}

static noinline void run_page_pair(void)
{
	u64 began = begin_operation();

	free_page(__get_free_page(GFP_KERNEL));
	end_operation(began);
}

static const struct bench_pattern patterns[] = {
	{ "pair-1", run_pair, 1, 16384 },
	{ "pair-16", run_pair, 16, 16384 },
	{ "pair-1024", run_pair, 1024, 16384 },
	{ "pair-4096", run_pair, 4096, 16384 },
	{ "pair-16+64K", run_pair, 16, 4096, SZ_64K },
	{ "pair-16+768K", run_pair, 16, 1024, SZ_512K + SZ_256K },
	{ "pair-1024+768K", run_pair, 1024, 1024, SZ_512K + SZ_256K },
	{ "churn-1024", replace_object, 1024, 16384 },
	{ "caches-16", run_pairs_of_four_caches, 16, 16384 },
	{ "krealloc-16", resize_object, 16, 16384 },
	{ "percpu-16", run_percpu_pair, 16, 4096 },
	{ "page-16", run_page_pair, 16, 16384 },
	{ "page-1024+768K", run_page_pair, 1024, 1024, SZ_512K + SZ_256K },
};

/* Statements of different text keep the compiler from merging calls, and from tail calls. */
#define CALL(fn, path, site)					\
do {								\
	fn(path);						\
	asm volatile("# call site " #site : : : "memory");	\
} while (0)

static noinline void end_chain(unsigned int path)
{
	pattern->run();
	barrier();
}

static noinline void branch_end(unsigned int path)
{
	CALL(end_chain, path, 0);
}

/*
 * DEFINE_BRANCH() - define a frame of a chain whose return address is one of four
 *
 * Chains that differ in other bits of @path have the same return address here.
 */
#define DEFINE_BRANCH(level, next)				\
static noinline void branch_##level(unsigned int path)		\
{								\
	switch (path >> 2 * (level) & 3) {			\
	case 0:							\
		CALL(branch_##next, path, 0);			\
		break;						\
	case 1:							\
		CALL(branch_##next, path, 1);			\
		break;						\
	case 2:							\
		CALL(branch_##next, path, 2);			\
		break;						\
	default:						\
		CALL(branch_##next, path, 3);			\
	}							\
}

DEFINE_BRANCH(0, end)
DEFINE_BRANCH(1, 0)
DEFINE_BRANCH(2, 1)
DEFINE_BRANCH(3, 2)
DEFINE_BRANCH(4, 3)
DEFINE_BRANCH(5, 4)

static void touch_memory(unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i += CACHE_LINE)
		READ_ONCE(*(unsigned long *)(touched_memory + i));
}

static noinline void run_round(void)
{
	unsigned int i;

	cycles = 0;
	for (i = 0; i < pattern->count; i++) {
		touch_memory(pattern->touched);
		CALL(branch_5, order[i % pattern->chains], 0);
	}
}

static noinline void run_round_below_trunk(unsigned int frames)
{
	if (frames)
		run_round_below_trunk(frames - 1);
	else
		run_round();
	barrier();
}

/*
 * A slab with a sampled object costs more until it is freed. Hold a slab's worth of objects
 * before each round, so that each uses another slab.
 */
#define OBJECTS_OF_SLAB		64

static void *held[(WARM_UPS + ROUNDS) * OBJECTS_OF_SLAB];
static unsigned int nr_held;

static void alloc_held_objects(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS_OF_SLAB; i++)
		held[nr_held++] = kmalloc(64, GFP_KERNEL);
}

static void free_held_objects(void)
{
	while (nr_held)
		kfree(held[--nr_held]);
}

/* Put the numbers of the chains into an order that no prefetcher can guess. */
static void shuffle_chains(void)
{
	unsigned int i, j;

	for (i = 0; i < pattern->chains; i++) {
		j = prandom_u32_state(&random) % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static int compare_values(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void measure_pattern(void)
{
	u64 means[ROUNDS], least, median;
	unsigned int i;

	/* Each kernel runs the same numbers. */
	prandom_seed_state(&random, 37);
	shuffle_chains();
	for (i = 0; i < WARM_UPS + ROUNDS; i++) {
		alloc_held_objects();
		cond_resched();
		run_round_below_trunk(TRUNK_FRAMES);
		mark_report();
		means[i % ROUNDS] = div_u64(cycles * 100, pattern->count);
		if (i < WARM_UPS)
			msleep(WARM_UP_MS);
	}
	free_held_objects();
	sort(means, ROUNDS, sizeof(*means), compare_values, NULL);
	least = means[0];
	median = means[ROUNDS / 2];
	pr_info("owner_bench: %s 0 %llu.%02llu %llu.%02llu\n", pattern->name, least / 100,
		least % 100, median / 100, median % 100);
}

static DECLARE_COMPLETION(done);

static void alloc_live_objects(void)
{
	unsigned int i;

	for (i = 0; i < LIVE_OBJECTS; i++)
		live[i] = kmalloc(16 + i % 497, GFP_KERNEL);
	for (i = 0; i < FIRST_AREAS; i++)
		first_areas[i] = __alloc_percpu(AREA_SIZE, 8);
	resized = kmalloc(64, GFP_KERNEL);
}

static void free_live_objects(void)
{
	unsigned int i;

	for (i = 0; i < LIVE_OBJECTS; i++)
		kfree(live[i]);
	for (i = 0; i < FIRST_AREAS; i++)
		free_percpu(first_areas[i]);
	kfree(resized);
}

static int measure_in_kthread(void *unused)
{
	unsigned int i;

	alloc_live_objects();
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		pattern = &patterns[i];
		if (strstarts(pattern->name, only))
			measure_pattern();
	}
	complete(&done);
	return 0;
}

static int __init owner_time_init(void)
{
	struct task_struct *task;

	touched_memory = __get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(TOUCHED_MAX));
	if (!touched_memory)
		return -ENOMEM;
	task = kthread_run(measure_in_kthread, NULL, "owner_time");
	if (IS_ERR(task)) {
		free_pages(touched_memory, get_order(TOUCHED_MAX));
		return PTR_ERR(task);
	}
	wait_for_completion(&done);
	return 0;
}
module_init(owner_time_init);

static void __exit owner_time_exit(void)
{
	free_live_objects();
	free_pages(touched_memory, get_order(TOUCHED_MAX));
}
module_exit(owner_time_exit);

MODULE_DESCRIPTION("Measure the cost of an allocation in cycles");
MODULE_LICENSE("GPL");
