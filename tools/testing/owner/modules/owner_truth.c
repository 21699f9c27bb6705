// SPDX-License-Identifier: GPL-2.0
/*
 * Plant a known number of objects of known sizes from known call chains. Every reader
 * must report exactly those.
 *
 * /sys/kernel/debug/owner_truth lists them, one line per chain and cache: the cache, the
 * chain's functions in this module with the allocating one first, objects and bytes. It
 * leaves out chains whose objects are freed.
 */

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"

#define PLANTED		24
#define OWN_SIZE	200

/* The objects of one chain, freed when the module is unloaded. */
struct planted_objects {
	struct kmem_cache *cache;	/* NULL for kmalloc() */
	unsigned int objects;
	void *object[PLANTED];
};

static struct kmem_cache *own_cache, *rcu_cache, *accounted_cache;
static struct dentry *truth_file;
static char truth[8192];
static size_t truth_bytes;

static void __printf(1, 2) append_truth_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	truth_bytes += vscnprintf(truth + truth_bytes, sizeof(truth) - truth_bytes, format, args);
	va_end(args);
}

static void keep_object(struct planted_objects *plant, void *object)
{
	if (object)
		plant->object[plant->objects++] = object;
}

/* Prevent a tail call, which would drop the caller's frame from the chain. */
#define RETURN_AFTER_CALL()	barrier()

/* --- process context -------------------------------------------------------- */

static noinline __noclone void *truth_kmalloc(size_t size, gfp_t flags)
{
	void *object = kmalloc(size, flags);

	RETURN_AFTER_CALL();
	return object;
}

static struct planted_objects sized[14];

static noinline void truth_sizes(void)
{
	static const unsigned int sizes[] = {
		8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 5,
	};
	unsigned int i, n;

	BUILD_BUG_ON(ARRAY_SIZE(sizes) != ARRAY_SIZE(sized));
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (n = 0; n < PLANTED; n++)
			keep_object(&sized[i], truth_kmalloc(sizes[i], GFP_KERNEL));
	for (i = 0; i < ARRAY_SIZE(sizes) - 1; i++) {
		/* kmalloc-8 serves 5 and 8 bytes. */
		unsigned int both = i ? 0 : PLANTED;
		const char *unit = sizes[i] < 1024 ? "" : "k";
		unsigned int number = sizes[i] < 1024 ? sizes[i] : sizes[i] / 1024;

		append_truth_line("kmalloc-%u%s truth_kmalloc;%s %u %u\n", number, unit, __func__,
				  PLANTED + both, PLANTED * sizes[i] + both * 5);
	}
}

static struct planted_objects zeroed;

static noinline void truth_other_caller(void)
{
	while (zeroed.objects < PLANTED)
		keep_object(&zeroed, truth_kmalloc(40, GFP_KERNEL | __GFP_ZERO));
	append_truth_line("kmalloc-64 truth_kmalloc;%s %u %u\n", __func__, PLANTED, PLANTED * 40);
}

static struct planted_objects own, own_bulk, by_rcu, pooled, accounted;

static noinline void truth_own_cache(void)
{
	own.cache = own_cache;
	while (own.objects < PLANTED)
		keep_object(&own, kmem_cache_alloc(own_cache, GFP_KERNEL));
	append_truth_line("owner_truth %s %u %u\n", __func__, PLANTED, PLANTED * OWN_SIZE);
}

static noinline void truth_bulk(void)
{
	own_bulk.cache = own_cache;
	kmem_cache_alloc_bulk(own_cache, GFP_KERNEL, PLANTED, own_bulk.object);
	/* Free the last third, from last to first. */
	swap(own_bulk.object[PLANTED - 1], own_bulk.object[PLANTED * 2 / 3]);
	own_bulk.objects = PLANTED * 2 / 3;
	kmem_cache_free_bulk(own_cache, PLANTED / 3, own_bulk.object + own_bulk.objects);
	append_truth_line("owner_truth %s %u %u\n", __func__, PLANTED * 2 / 3,
			  PLANTED * 2 / 3 * OWN_SIZE);
}

/* SLAB_TYPESAFE_BY_RCU: objects are freed at once, their slabs after a grace period. */
static noinline void truth_typesafe(void)
{
	by_rcu.cache = rcu_cache;
	while (by_rcu.objects < PLANTED)
		keep_object(&by_rcu, kmem_cache_alloc(rcu_cache, GFP_KERNEL));
	while (by_rcu.objects > PLANTED / 2)
		kmem_cache_free(rcu_cache, by_rcu.object[--by_rcu.objects]);
	append_truth_line("owner_truth_rcu %s %u %u\n", __func__, PLANTED / 2,
			  PLANTED / 2 * OWN_SIZE);
}

static noinline void truth_accounted(void)
{
	accounted.cache = accounted_cache;
	while (accounted.objects < PLANTED)
		keep_object(&accounted, kmem_cache_alloc(accounted_cache, GFP_KERNEL));
	while (accounted.objects > PLANTED - 5)
		kmem_cache_free(accounted_cache, accounted.object[--accounted.objects]);
	append_truth_line("owner_truth_acct %s %u %u\n", __func__, PLANTED - 5,
			  (PLANTED - 5) * OWN_SIZE);
}

struct deferred {
	struct rcu_head rcu;
	char more[100];
};

static struct planted_objects after_rcu, twice, resized, moved, copies;

static noinline void truth_kfree_rcu(void)
{
	while (after_rcu.objects < PLANTED)
		keep_object(&after_rcu, kmalloc(sizeof(struct deferred), GFP_KERNEL));
	while (after_rcu.objects > PLANTED / 3) {
		struct deferred *deferred = after_rcu.object[--after_rcu.objects];

		kfree_rcu(deferred, rcu);
	}
	/* kfree_rcu() frees after a grace period. Files show the objects until then. */
	kvfree_rcu_barrier();
	append_truth_line("kmalloc-128 %s %u %zu\n", __func__, PLANTED / 3,
			  PLANTED / 3 * sizeof(struct deferred));
}

static noinline void truth_kfree_bulk(void)
{
	struct planted_objects all = {};

	while (all.objects < PLANTED)
		keep_object(&all, truth_kmalloc(70, GFP_KERNEL));
	kfree_bulk(all.objects, all.object);
}

/* truth_second() gets the objects that truth_first() has freed, and owns them. */
static noinline void truth_first(void)
{
	while (twice.objects < PLANTED)
		keep_object(&twice, kmalloc(300, GFP_KERNEL));
	while (twice.objects)
		kfree(twice.object[--twice.objects]);
}

static noinline void truth_second(void)
{
	while (twice.objects < PLANTED)
		keep_object(&twice, kmalloc(310, GFP_KERNEL));
	append_truth_line("kmalloc-512 %s %u %u\n", __func__, PLANTED, PLANTED * 310);
}

/* krealloc() in place: the resizing chain owns the object, at its new size. */
static noinline void truth_shrink(void)
{
	while (resized.objects < PLANTED)
		keep_object(&resized, krealloc(truth_kmalloc(1000, GFP_KERNEL), 700, GFP_KERNEL));
	append_truth_line("kmalloc-1k %s %u %u\n", __func__, PLANTED, PLANTED * 700);
}

/* krealloc() that moves the object. */
static noinline void truth_grow(void)
{
	while (moved.objects < PLANTED)
		keep_object(&moved, krealloc(truth_kmalloc(60, GFP_KERNEL), 180, GFP_KERNEL));
	append_truth_line("kmalloc-192 %s %u %u\n", __func__, PLANTED, PLANTED * 180);
}

static noinline void truth_copy(void)
{
	while (copies.objects < PLANTED)
		keep_object(&copies, kstrdup("as long as these words", GFP_KERNEL));
	append_truth_line("kmalloc-32 %s %u %zu\n", __func__, PLANTED,
			  PLANTED * sizeof("as long as these words"));
}

#define RESERVE		7

static mempool_t pool;

/* The creator of a mempool owns its reserve and the array that lists the reserve. */
static noinline void truth_pool(void)
{
	mempool_init_kmalloc_pool(&pool, RESERVE, 130);
	while (pooled.objects < PLANTED)
		keep_object(&pooled, mempool_alloc(&pool, GFP_KERNEL));
	append_truth_line("kmalloc-192 %s %u %u\n", __func__, PLANTED + RESERVE,
			  (PLANTED + RESERVE) * 130);
	append_truth_line("kmalloc-64 %s 1 %zu\n", __func__, RESERVE * sizeof(void *));
}

static void __percpu *area[PLANTED];

static noinline void truth_percpu(void)
{
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		area[i] = __alloc_percpu(40, 8);
	/* An area that is freed and allocated again belongs to the second caller. */
	for (i = 0; i < PLANTED / 2; i++)
		free_percpu(area[i]);
	for (i = 0; i < PLANTED / 4; i++)
		area[i] = __alloc_percpu(40, 8);
	append_truth_line("percpu %s %u %u\n", __func__, PLANTED * 3 / 4,
			  PLANTED * 3 / 4 * 40 * num_possible_cpus());
}

static void *large;

/* A large kmalloc() allocates pages, which slab_owner does not track. */
static noinline void truth_large(void)
{
	large = kmalloc(3 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
	RETURN_AFTER_CALL();
}

/* --- other contexts ----------------------------------------------------------- */

static struct planted_objects in_softirq, in_hardirq, in_thread, elsewhere;

static noinline void truth_softirq(struct tasklet_struct *unused)
{
	while (in_softirq.objects < PLANTED)
		keep_object(&in_softirq, kmalloc(50, GFP_ATOMIC));
}

static DECLARE_TASKLET(truth_tasklet, truth_softirq);

static noinline void truth_hardirq(struct irq_work *unused)
{
	while (in_hardirq.objects < PLANTED)
		keep_object(&in_hardirq, kmalloc(51, GFP_ATOMIC));
}

/* The thread exits, and its objects keep its name. */
static noinline int truth_thread(void *done)
{
	while (in_thread.objects < PLANTED)
		keep_object(&in_thread, kmalloc(52, GFP_KERNEL));
	kthread_complete_and_exit(done, 0);
}

static noinline long truth_on_cpu(void *unused)
{
	while (elsewhere.objects < PLANTED)
		keep_object(&elsewhere, kmalloc(53, GFP_KERNEL));
	return 0;
}

static void plant_in_other_contexts(void)
{
	/* On PREEMPT_RT interrupts cannot allocate; the work runs in a thread there. */
	struct irq_work hard = IRQ_WORK_INIT(truth_hardirq);
	DECLARE_COMPLETION_ONSTACK(done);

	tasklet_schedule(&truth_tasklet);
	tasklet_kill(&truth_tasklet);
	append_truth_line("kmalloc-64 truth_softirq %u %u\n", PLANTED, PLANTED * 50);

	irq_work_queue(&hard);
	irq_work_sync(&hard);
	append_truth_line("kmalloc-64 truth_hardirq %u %u\n", PLANTED, PLANTED * 51);

	if (!IS_ERR(kthread_run(truth_thread, &done, "truth/planter")))
		wait_for_completion(&done);
	append_truth_line("kmalloc-64 truth_thread %u %u\n", PLANTED, PLANTED * 52);

	/* Allocate on the last CPU. Unloading the module frees on another CPU. */
	work_on_cpu(cpumask_last(cpu_online_mask), truth_on_cpu, NULL);
	while (elsewhere.objects > PLANTED / 4)
		kfree(elsewhere.object[--elsewhere.objects]);
	append_truth_line("kmalloc-64 truth_on_cpu %u %u\n", PLANTED / 4, PLANTED / 4 * 53);
}

/* --- the module ------------------------------------------------------------- */

static void free_planted_objects(struct planted_objects *plant)
{
	while (plant->objects) {
		void *object = plant->object[--plant->objects];

		if (plant->cache)
			kmem_cache_free(plant->cache, object);
		else
			kfree(object);
	}
}

static void destroy_caches(void)
{
	kmem_cache_destroy(own_cache);
	kmem_cache_destroy(rcu_cache);
	kmem_cache_destroy(accounted_cache);
}

static int truth_show(struct seq_file *m, void *v)
{
	seq_puts(m, truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(truth);

static int __init truth_init(void)
{
	own_cache = kmem_cache_create("owner_truth", OWN_SIZE, 0, SLAB_NO_MERGE, NULL);
	rcu_cache = kmem_cache_create("owner_truth_rcu", OWN_SIZE, 0,
				      SLAB_NO_MERGE | SLAB_TYPESAFE_BY_RCU, NULL);
	accounted_cache = kmem_cache_create("owner_truth_acct", OWN_SIZE, 0,
					    SLAB_NO_MERGE | SLAB_ACCOUNT, NULL);
	if (!own_cache || !rcu_cache || !accounted_cache) {
		destroy_caches();
		return -ENOMEM;
	}

	truth_sizes();
	truth_other_caller();
	truth_own_cache();
	truth_bulk();
	truth_typesafe();
	truth_accounted();
	truth_kfree_rcu();
	truth_kfree_bulk();
	truth_first();
	truth_second();
	truth_shrink();
	truth_grow();
	truth_copy();
	truth_pool();
	truth_percpu();
	truth_large();
	plant_in_other_contexts();
	truth_file = debugfs_create_file("owner_truth", 0400, NULL, NULL, &truth_fops);
	return 0;
}
module_init(truth_init);

static void __exit truth_exit(void)
{
	unsigned int i;

	debugfs_remove(truth_file);
	for (i = 0; i < ARRAY_SIZE(sized); i++)
		free_planted_objects(&sized[i]);
	free_planted_objects(&zeroed);
	free_planted_objects(&own);
	free_planted_objects(&own_bulk);
	free_planted_objects(&by_rcu);
	free_planted_objects(&accounted);
	free_planted_objects(&after_rcu);
	free_planted_objects(&twice);
	free_planted_objects(&resized);
	free_planted_objects(&moved);
	free_planted_objects(&copies);
	while (pooled.objects)
		mempool_free(pooled.object[--pooled.objects], &pool);
	mempool_exit(&pool);
	for (i = 0; i < PLANTED; i++)
		if (i < PLANTED / 4 || i >= PLANTED / 2)
			free_percpu(area[i]);
	kfree(large);
	free_planted_objects(&in_softirq);
	free_planted_objects(&in_hardirq);
	free_planted_objects(&in_thread);
	free_planted_objects(&elsewhere);
	destroy_caches();
}
module_exit(truth_exit);

MODULE_DESCRIPTION("Plant objects with known owners");
MODULE_LICENSE("GPL");
