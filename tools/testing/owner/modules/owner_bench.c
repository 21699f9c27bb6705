// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of an allocation.
 *
 * Run each operation in a loop with interrupts off, after a warm-up, from call
 * chains of several depths. Print the smallest and the median result to the
 * kernel's log as "owner_bench: OPERATION CHAIN MIN MEDIAN", for one operation
 * including the instructions of the loop. In a guest that counts instructions
 * the time stamp counter advances by one per instruction, so the unit is
 * instructions; on architectures without it the unit is nanoseconds.
 */

#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "owner_bench.h"

static char *only = "";
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "measure only operations whose names begin with this text");

/* Number of operations in one measurement. */
#define ROUNDS		256
#define WARM_UPS	4
#define REPEATS		9

/* Interrupts are off, so an allocation must not sleep. */
#define FLAGS		(GFP_NOWAIT | __GFP_NOWARN)

#define CACHE_SIZE	200

static struct kmem_cache *cache;
static void *objects[ROUNDS];

/*
 * PAIRS: free each object before the next is allocated. BATCH: allocate all, then free
 * all. BULK: allocate all with one call and free all with one call.
 */
enum alloc_pattern { PAIRS, BATCH, BULK };

static __always_inline void run_kmalloc(enum alloc_pattern way, size_t size, gfp_t flags)
{
	unsigned int i;

	if (way == PAIRS) {
		for (i = 0; i < ROUNDS; i++)
			kfree(kmalloc(size, flags));
		return;
	}
	for (i = 0; i < ROUNDS; i++)
		objects[i] = kmalloc(size, flags);
	for (i = 0; i < ROUNDS; i++)
		kfree(objects[i]);
}

/* The sizes are constants, as in most callers, so kmalloc() is inlined. */
#define KMALLOC(name, size, flags)						\
static noinline void kmalloc_##name(enum alloc_pattern way)				\
{										\
	run_kmalloc(way, size, flags);						\
}

KMALLOC(8, 8, FLAGS)
KMALLOC(16, 16, FLAGS)
KMALLOC(32, 32, FLAGS)
KMALLOC(64, 64, FLAGS)
KMALLOC(128, 128, FLAGS)
KMALLOC(256, 256, FLAGS)
KMALLOC(512, 512, FLAGS)
KMALLOC(1024, 1024, FLAGS)
KMALLOC(2048, 2048, FLAGS)
KMALLOC(4096, 4096, FLAGS)
KMALLOC(8192, 8192, FLAGS)
KMALLOC(account, 64, FLAGS | __GFP_ACCOUNT)

static noinline void cache_200(enum alloc_pattern way)
{
	unsigned int i;

	switch (way) {
	case PAIRS:
		for (i = 0; i < ROUNDS; i++)
			kmem_cache_free(cache, kmem_cache_alloc(cache, FLAGS));
		break;
	case BATCH:
		for (i = 0; i < ROUNDS; i++)
			objects[i] = kmem_cache_alloc(cache, FLAGS);
		for (i = 0; i < ROUNDS; i++)
			kmem_cache_free(cache, objects[i]);
		break;
	case BULK:
		if (kmem_cache_alloc_bulk(cache, FLAGS, ROUNDS, objects))
			kmem_cache_free_bulk(cache, ROUNDS, objects);
		break;
	}
}

static __always_inline void run_page_pairs(unsigned int order)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		free_pages(__get_free_pages(FLAGS, order), order);
}

#define PAGES(order)								\
static noinline void pages_##order(enum alloc_pattern way)				\
{										\
	run_page_pairs(order);							\
}

PAGES(0)
PAGES(1)
PAGES(2)
PAGES(3)
PAGES(4)

/* The allocator serves one page to two call sites in turn, and two sites free it. */
static noinline unsigned long alloc_page_at_first_site(void)
{
	unsigned long page = __get_free_page(FLAGS);

	barrier();
	return page;
}

static noinline unsigned long alloc_page_at_second_site(void)
{
	unsigned long page = __get_free_page(FLAGS);

	barrier();
	return page;
}

static noinline void free_page_at_first_site(unsigned long page)
{
	free_page(page);
	barrier();
}

static noinline void free_page_at_second_site(unsigned long page)
{
	free_page(page);
	barrier();
}

static noinline void run_page_pairs_at_two_sites(enum alloc_pattern way)
{
	unsigned int i;

	for (i = 0; i < ROUNDS / 2; i++) {
		free_page_at_first_site(alloc_page_at_first_site());
		free_page_at_second_site(alloc_page_at_second_site());
	}
}

struct bench_operation {
	const char *name;
	void (*run)(enum alloc_pattern way);
	enum alloc_pattern way;
};

/*
 * With sampling, a slab that has a sampled object costs a few more instructions until
 * it is freed. A loop of pairs uses one slab only, and would show that cost if the slab
 * happened to have a sample. Hold a slab's worth of kmalloc-64 objects before each
 * measurement, so that each uses another slab.
 */
#define OBJECTS_OF_SLAB		64

static void *held[4096 + (WARM_UPS + REPEATS) * OBJECTS_OF_SLAB];
static unsigned int nr_held;

static void alloc_held_objects(unsigned int count)
{
	while (count--)
		held[nr_held++] = kmalloc(64, GFP_KERNEL);
}

static void free_held_objects(unsigned int count)
{
	while (count--)
		kfree(held[--nr_held]);
}

static const struct bench_operation operations[] = {
	{ "kmalloc-8", kmalloc_8, PAIRS },
	{ "kmalloc-8-batch", kmalloc_8, BATCH },
	{ "kmalloc-16", kmalloc_16, PAIRS },
	{ "kmalloc-16-batch", kmalloc_16, BATCH },
	{ "kmalloc-32", kmalloc_32, PAIRS },
	{ "kmalloc-32-batch", kmalloc_32, BATCH },
	{ "kmalloc-64", kmalloc_64, PAIRS },
	{ "kmalloc-64-batch", kmalloc_64, BATCH },
	{ "kmalloc-128", kmalloc_128, PAIRS },
	{ "kmalloc-128-batch", kmalloc_128, BATCH },
	{ "kmalloc-256", kmalloc_256, PAIRS },
	{ "kmalloc-256-batch", kmalloc_256, BATCH },
	{ "kmalloc-512", kmalloc_512, PAIRS },
	{ "kmalloc-512-batch", kmalloc_512, BATCH },
	{ "kmalloc-1024", kmalloc_1024, PAIRS },
	{ "kmalloc-1024-batch", kmalloc_1024, BATCH },
	{ "kmalloc-2048", kmalloc_2048, PAIRS },
	{ "kmalloc-2048-batch", kmalloc_2048, BATCH },
	{ "kmalloc-4096", kmalloc_4096, PAIRS },
	{ "kmalloc-4096-batch", kmalloc_4096, BATCH },
	{ "kmalloc-8192", kmalloc_8192, PAIRS },
	{ "kmalloc-8192-batch", kmalloc_8192, BATCH },
	{ "account-64", kmalloc_account, PAIRS },
	{ "account-64-batch", kmalloc_account, BATCH },
	{ "cache-200", cache_200, PAIRS },
	{ "cache-200-batch", cache_200, BATCH },
	{ "cache-200-bulk", cache_200, BULK },
	{ "pages-0", pages_0, PAIRS },
	{ "pages-1", pages_1, PAIRS },
	{ "pages-2", pages_2, PAIRS },
	{ "pages-3", pages_3, PAIRS },
	{ "pages-4", pages_4, PAIRS },
	{ "pages-in-turn", run_page_pairs_at_two_sites, PAIRS },
};

static const unsigned int chains[] = { 0, 8, 24 };

static noinline u64 time_operation_once(const struct bench_operation *operation)
{
	unsigned long flags;
	u64 began, ended;

	local_irq_save(flags);
	began = now();
	operation->run(operation->way);
	ended = now();
	local_irq_restore(flags);
	return ended - began;
}

static int compare_values(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static noinline void measure_operation(const struct bench_operation *operation, unsigned int chain)
{
	u64 results[REPEATS], min, median;
	unsigned int i, each = operation->way == PAIRS ? OBJECTS_OF_SLAB : 0;

	for (i = 0; i < WARM_UPS + REPEATS; i++) {
		alloc_held_objects(each);
		results[i % REPEATS] = time_operation_once(operation);
	}
	free_held_objects(i * each);
	sort(results, REPEATS, sizeof(*results), compare_values, NULL);
	min = results[0] * 100 / ROUNDS;
	median = results[REPEATS / 2] * 100 / ROUNDS;
	pr_info("owner_bench: %s %u %llu.%02llu %llu.%02llu\n", operation->name, chain,
		min / 100, min % 100, median / 100, median % 100);
}

static unsigned int frames;

static noinline void count_stack_frames(enum alloc_pattern way)
{
	unsigned long entries[64];

	frames = stack_trace_save(entries, ARRAY_SIZE(entries), 0);
}

/* Print the number of frames in the call chain of an operation. */
static noinline void print_frame_count(const struct bench_operation *operation, unsigned int chain)
{
	time_operation_once(operation);
	pr_info("owner_bench: frames %u %u.00 %u.00\n", chain, frames, frames);
}

static const struct bench_operation frame_counter = { "frames", count_stack_frames, PAIRS };

typedef void (*measure_fn)(const struct bench_operation *operation, unsigned int chain);

/* Call @fn below @deeper more frames. */
static noinline void measure_below_extra_frames(unsigned int deeper, measure_fn fn,
						const struct bench_operation *operation,
						unsigned int chain)
{
	if (deeper)
		measure_below_extra_frames(deeper - 1, fn, operation, chain);
	else
		fn(operation, chain);
	/* Prevent a tail call, which would drop this frame. */
	barrier();
}

static int bench_init(void)
{
	unsigned int i, j;

	cache = kmem_cache_create("owner_bench", CACHE_SIZE, 0, SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	alloc_held_objects(4096);
	for (j = 0; j < ARRAY_SIZE(chains); j++) {
		measure_below_extra_frames(chains[j], print_frame_count, &frame_counter, chains[j]);
		for (i = 0; i < ARRAY_SIZE(operations); i++) {
			if (!strstarts(operations[i].name, only))
				continue;
			measure_below_extra_frames(chains[j], measure_operation, &operations[i],
						   chains[j]);
			cond_resched();
		}
	}
	return 0;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	free_held_objects(nr_held);
	kmem_cache_destroy(cache);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Measure the cost of an allocation");
MODULE_LICENSE("GPL");
