// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of an allocation in cycles, in one task, or in two tasks at once.
 *
 * Each pattern reaches its operation through many call chains in turn, and some touch other
 * memory before each operation. Only the operation is between the two readings of the counter,
 * so neither the calls of a chain nor the touched memory are in a figure. Print the smallest and
 * the median mean of 15 rounds to the kernel's log in the format of owner_bench.c, as
 * "owner_bench: PATTERN 0 MIN MEDIAN". The cost of reading the counter is part of a figure, and
 * ends in the difference of two kernels. In a guest with the plugin cache_misses.c, each round is
 * a report of the operations' instructions and misses.
 *
 * With tasks=2 there is a task on each of two CPUs. They begin each round together, and a figure is
 * the mean of both. Their chains are the same ones, or those of each task differ in one frame.
 */

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
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
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "owner_bench.h"
#include "owner_marks.h"

static char *only = "";
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "measure only patterns whose names begin with this text");

#define TASKS_MAX	2

static unsigned int tasks = 1;
module_param(tasks, uint, 0400);
MODULE_PARM_DESC(tasks, "measure in this many tasks at once, each on a CPU of its own: 1 or 2");

static bool own_chains;
module_param(own_chains, bool, 0400);
MODULE_PARM_DESC(own_chains, "let no two tasks have a call chain in common");

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

/* The pattern that is measured, and the cycles of a CPU's operations in this round. */
static const struct bench_pattern *pattern;
static DEFINE_PER_CPU(u64, cycles);

static u16 order[CHAINS_MAX];
static unsigned long touched_memory;
static void *live[TASKS_MAX][LIVE_OBJECTS];
static void __percpu *first_areas[FIRST_AREAS];
static DEFINE_PER_CPU(void *, resized);
static DEFINE_PER_CPU(struct rnd_state, random);

static __always_inline u64 begin_operation(void)
{
	u64 began = read_cycles();

	mark_begin();
	return began;
}

static __always_inline void end_operation(u64 began)
{
	mark_end();
	__this_cpu_add(cycles, read_cycles() - began);
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
	u32 number = prandom_u32_state(raw_cpu_ptr(&random));
	void **object = &live[raw_smp_processor_id()][number % LIVE_OBJECTS];
	size_t size = 16 + number / LIVE_OBJECTS % 497;
	u64 began = begin_operation();

	kfree(*object);
	*object = kmalloc(size, GFP_KERNEL);
	end_operation(began);
}

/* The object has room for both sizes. */
static noinline void resize_object(void)
{
	void *object = raw_cpu_read(resized);
	u64 began = begin_operation();

	object = krealloc(krealloc(object, 40, GFP_KERNEL), 60, GFP_KERNEL);
	end_operation(began);
	raw_cpu_write(resized, object);
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

	raw_cpu_write(cycles, 0);
	for (i = 0; i < pattern->count; i++) {
		touch_memory(pattern->touched);
		CALL(branch_5, order[i % pattern->chains], 0);
	}
}

/* As CALL(). */
#define CALL_ROUND(site)					\
do {								\
	run_round();						\
	asm volatile("# round of task " #site : : : "memory");	\
} while (0)

static noinline void run_round_below_trunk(unsigned int frames)
{
	if (frames)
		run_round_below_trunk(frames - 1);
	else if (own_chains && raw_smp_processor_id())
		CALL_ROUND(1);
	else
		CALL_ROUND(0);
	barrier();
}

/*
 * A slab with a sampled object costs more until it is freed. Hold a slab's worth of objects
 * before each round, so that each uses another slab.
 */
#define OBJECTS_OF_SLAB		64

static void *held[TASKS_MAX][WARM_UPS + ROUNDS][OBJECTS_OF_SLAB];

static void alloc_held_objects(unsigned int task, unsigned int round)
{
	unsigned int i;

	for (i = 0; i < OBJECTS_OF_SLAB; i++)
		held[task][round][i] = kmalloc(64, GFP_KERNEL);
}

static void free_held_objects(unsigned int task)
{
	unsigned int round, i;

	for (round = 0; round < WARM_UPS + ROUNDS; round++)
		for (i = 0; i < OBJECTS_OF_SLAB; i++)
			kfree(held[task][round][i]);
}

/* Put the numbers of the chains into an order that no prefetcher can guess. */
static void shuffle_chains(struct rnd_state *state)
{
	unsigned int i, j;

	for (i = 0; i < pattern->chains; i++) {
		j = prandom_u32_state(state) % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static int compare_values(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Wait until all tasks are here. */
static void meet_tasks(void)
{
	static atomic_t arrived;
	unsigned int all = roundup(atomic_inc_return(&arrived), tasks);

	while ((int)(atomic_read(&arrived) - all) < 0) {
		cpu_relax();
		cond_resched();
	}
}

/* The mean of the operations of all tasks in this round, in hundredths of a cycle. */
static u64 read_mean(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < tasks; i++)
		sum += per_cpu(cycles, i);
	return div_u64(sum * 100, pattern->count * tasks);
}

static void print_means(u64 means[ROUNDS])
{
	u64 least, median;

	sort(means, ROUNDS, sizeof(*means), compare_values, NULL);
	least = means[0];
	median = means[ROUNDS / 2];
	pr_info("owner_bench: %s 0 %llu.%02llu %llu.%02llu\n", pattern->name, least / 100,
		least % 100, median / 100, median % 100);
}

/* The first task chooses the pattern and reads the cycles while the others wait. */
static void measure_pattern(unsigned int task, const struct bench_pattern *next)
{
	u64 means[ROUNDS];
	unsigned int i;

	/* Each kernel runs the same numbers. */
	prandom_seed_state(raw_cpu_ptr(&random), 37 + task);
	if (!task) {
		pattern = next;
		shuffle_chains(raw_cpu_ptr(&random));
	}
	for (i = 0; i < WARM_UPS + ROUNDS; i++) {
		alloc_held_objects(task, i);
		cond_resched();
		meet_tasks();
		run_round_below_trunk(TRUNK_FRAMES);
		mark_report();
		meet_tasks();
		if (!task)
			means[i % ROUNDS] = read_mean();
		if (i < WARM_UPS)
			msleep(WARM_UP_MS);
	}
	free_held_objects(task);
	if (!task)
		print_means(means);
	meet_tasks();
}

static struct completion done[TASKS_MAX];

static void alloc_live_objects(void)
{
	unsigned int i, task;

	for (task = 0; task < tasks; task++) {
		for (i = 0; i < LIVE_OBJECTS; i++)
			live[task][i] = kmalloc(16 + i % 497, GFP_KERNEL);
		per_cpu(resized, task) = kmalloc(64, GFP_KERNEL);
	}
	for (i = 0; i < FIRST_AREAS; i++)
		first_areas[i] = __alloc_percpu(AREA_SIZE, 8);
}

static void free_live_objects(void)
{
	unsigned int i, task;

	for (task = 0; task < tasks; task++) {
		for (i = 0; i < LIVE_OBJECTS; i++)
			kfree(live[task][i]);
		kfree(per_cpu(resized, task));
	}
	for (i = 0; i < FIRST_AREAS; i++)
		free_percpu(first_areas[i]);
}

/* The task runs on the CPU whose number is its own. */
static int measure_in_kthread(void *number)
{
	unsigned int i, task = (unsigned long)number;

	if (!task)
		alloc_live_objects();
	meet_tasks();
	for (i = 0; i < ARRAY_SIZE(patterns); i++)
		if (strstarts(patterns[i].name, only))
			measure_pattern(task, &patterns[i]);
	complete(&done[task]);
	return 0;
}

static int __init owner_time_init(void)
{
	struct task_struct *task[TASKS_MAX];
	unsigned int i;

	for (i = 0; i < TASKS_MAX; i++)
		init_completion(&done[i]);
	if (!tasks || tasks > TASKS_MAX || !cpu_online(tasks - 1)) {
		pr_err("owner_time: tasks=%u: there are 1 to %u, each with an online CPU\n", tasks,
		       TASKS_MAX);
		return -EINVAL;
	}
	touched_memory = __get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(TOUCHED_MAX));
	if (!touched_memory)
		return -ENOMEM;
	for (i = 0; i < tasks; i++) {
		task[i] = kthread_create_on_cpu(measure_in_kthread, (void *)(unsigned long)i, i,
						"owner_time/%u");
		if (IS_ERR(task[i]))
			goto stop;
	}
	for (i = 0; i < tasks; i++)
		wake_up_process(task[i]);
	for (i = 0; i < tasks; i++)
		wait_for_completion(&done[i]);
	return 0;
stop:
	free_pages(touched_memory, get_order(TOUCHED_MAX));
	while (i--)
		kthread_stop(task[i]);
	return -ENOMEM;
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
