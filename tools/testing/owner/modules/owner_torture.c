// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate and free objects in every way at once, for some seconds or until a signal ends insmod.
 * The module then frees all objects.
 *
 * Each CPU has a thread and two timers that interrupt it, each with its own objects.
 * Their call chains differ in length and path. They free by other functions than they
 * allocated with, and some objects on another CPU.
 *
 * When the module is unloaded, it counts the chains and tasks of these objects that the
 * depot still has. There are none unless a reference was lost.
 */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>

#include "compat.h"

static unsigned int seconds;
module_param(seconds, uint, 0400);
MODULE_PARM_DESC(seconds, "duration of the test (default: until a signal ends insmod)");

#define SLOTS		256
#define HANDED_OVER	64
#define BATCH		8
#define LONGEST_PATH	12
#define PROGRESS	2	/* seconds between two lines in the log */

enum object_kind { KMALLOC, OWN_CACHE, RCU_CACHE, ACCOUNTED, AREA, KINDS };

struct item {
	struct rcu_head rcu;		/* for kfree_rcu(), so the smallest item has this size */
	enum object_kind kind;
};

struct torturer {
	struct rnd_state random;
	struct item *slot[SLOTS];
	void __percpu *area[SLOTS / 8];
	unsigned long allocated, failed, freed;
	depot_stack_handle_t task;
	struct hrtimer timer;
	struct timer_list softly;
	bool stop;
};

static struct kmem_cache *cache[KINDS];
/* Objects on the way from one CPU to another; the CPU that takes one out frees it. */
static struct item *handed_over[HANDED_OVER];

static unsigned int draw_random_number(struct torturer *torturer, unsigned int below)
{
	return prandom_u32_state(&torturer->random) % below;
}

static struct item *alloc_item(struct torturer *torturer, gfp_t flags)
{
	enum object_kind kind = draw_random_number(torturer, AREA);
	struct item *item;

	if (kind == KMALLOC)
		item = kmalloc(sizeof(*item) + (1 << draw_random_number(torturer, 12)), flags);
	else
		item = kmem_cache_alloc(cache[kind], flags);
	if (item)
		item->kind = kind;
	return item;
}

static struct item *alloc_left(struct torturer *torturer, gfp_t flags, unsigned int steps);

static noinline struct item *alloc_right(struct torturer *torturer, gfp_t flags, unsigned int steps)
{
	struct item *item;

	if (!steps)
		item = alloc_item(torturer, flags);
	else if (draw_random_number(torturer, 2))
		item = alloc_left(torturer, flags, steps - 1);
	else
		item = alloc_right(torturer, flags, steps - 1);
	barrier();
	return item;
}

static noinline struct item *alloc_left(struct torturer *torturer, gfp_t flags, unsigned int steps)
{
	struct item *item;

	if (!steps)
		item = alloc_item(torturer, flags);
	else if (draw_random_number(torturer, 2))
		item = alloc_right(torturer, flags, steps - 1);
	else
		item = alloc_left(torturer, flags, steps - 1);
	barrier();
	return item;
}

static void free_item(struct torturer *torturer, struct item *item)
{
	if (!item)
		return;
	torturer->freed++;
	if (item->kind == RCU_CACHE || draw_random_number(torturer, 4))
		/* kfree() accepts objects of any cache. */
		kfree(item);
	else
		kfree_rcu(item, rcu);
}

static void store_item(struct torturer *torturer, struct item **slot, struct item *item)
{
	if (item)
		torturer->allocated++;
	else
		torturer->failed++;
	*slot = item;
}

/* Free the object of a slot, or allocate one. Only one context uses each slot. */
static void fill_or_empty_slot(struct torturer *torturer, struct item **slot, gfp_t flags)
{
	if (*slot) {
		free_item(torturer, *slot);
		*slot = NULL;
	} else {
		store_item(torturer, slot, alloc_left(torturer, flags,
						      draw_random_number(torturer, 4)));
	}
}

static noinline void alloc_and_free_bulk(struct torturer *torturer)
{
	enum object_kind kind = OWN_CACHE + draw_random_number(torturer, 2);
	void *items[BATCH];
	int n = kmem_cache_alloc_bulk(cache[kind], GFP_KERNEL, BATCH, items) ? BATCH : 0;

	torturer->allocated += n;
	torturer->failed += BATCH - n;
	/* Swap two objects, so that the bulk free builds several detached freelists. */
	if (n)
		swap(items[0], items[n - 1]);
	kmem_cache_free_bulk(cache[kind], n, items);
	torturer->freed += n;
}

static noinline void resize_item(struct torturer *torturer, struct item **slot)
{
	struct item *item;

	if (!*slot || (*slot)->kind != KMALLOC)
		return;
	item = krealloc(*slot, sizeof(*item) + draw_random_number(torturer, 3000), GFP_KERNEL);
	if (item)
		*slot = item;
}

static void exchange_item_with_shared_slot(struct torturer *torturer, struct item **slot)
{
	struct item *item = xchg(&handed_over[draw_random_number(torturer, HANDED_OVER)], *slot);

	*slot = item;
}

static noinline void alloc_or_free_percpu_area(struct torturer *torturer, void __percpu **area)
{
	if (*area)
		free_percpu(*area);
	*area = *area ? NULL : __alloc_percpu(8 << draw_random_number(torturer, 4), 8);
}

static void run_random_step(struct torturer *torturer)
{
	/* The first two slots belong to the timers. */
	struct item **slot = &torturer->slot[2 + draw_random_number(torturer, SLOTS - 2)];

	switch (draw_random_number(torturer, 16)) {
	case 0:
		return alloc_and_free_bulk(torturer);
	case 1:
		return resize_item(torturer, slot);
	case 2:
	case 3:
		return exchange_item_with_shared_slot(torturer, slot);
	case 4:
		return alloc_or_free_percpu_area(torturer, torturer->area +
						 draw_random_number(torturer, SLOTS / 8));
	}
	if (*slot) {
		free_item(torturer, *slot);
		*slot = NULL;
	} else {
		store_item(torturer, slot, alloc_right(torturer, GFP_KERNEL,
						       draw_random_number(torturer, LONGEST_PATH)));
	}
}

/* The timers use the thread's random state without a lock: a race only adds randomness. */
static enum hrtimer_restart fill_or_empty_slot_in_hrtimer(struct hrtimer *timer)
{
	struct torturer *torturer = container_of(timer, struct torturer, timer);

	fill_or_empty_slot(torturer, &torturer->slot[0], GFP_ATOMIC);
	hrtimer_forward_now(timer, ns_to_ktime(200 * NSEC_PER_USEC));
	return READ_ONCE(torturer->stop) ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

static void fill_or_empty_slot_in_timer(struct timer_list *timer)
{
	struct torturer *torturer = container_of(timer, struct torturer, softly);

	fill_or_empty_slot(torturer, &torturer->slot[1], GFP_ATOMIC);
	if (!READ_ONCE(torturer->stop))
		mod_timer(timer, jiffies + 1);
}

static int run_torture(void *data)
{
	struct torturer *torturer = data;
	unsigned int i;

	hrtimer_setup(&torturer->timer, fill_or_empty_slot_in_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED);
	hrtimer_start(&torturer->timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED);
	timer_setup(&torturer->softly, fill_or_empty_slot_in_timer, TIMER_PINNED);
	mod_timer(&torturer->softly, jiffies + 1);

	for (i = 0; !kthread_should_stop(); i++) {
		run_random_step(torturer);
		if (!(i % 64))
			cond_resched();
	}
	WRITE_ONCE(torturer->stop, true);
	hrtimer_cancel(&torturer->timer);
	timer_shutdown_sync(&torturer->softly);
	for (i = 0; i < SLOTS; i++)
		free_item(torturer, torturer->slot[i]);
	for (i = 0; i < SLOTS / 8; i++)
		free_percpu(torturer->area[i]);
	torturer->task = READ_ONCE(current->owner_task);
	return 0;
}

static bool create_caches(void)
{
	cache[OWN_CACHE] = kmem_cache_create("torture", 200, 0, SLAB_NO_MERGE, NULL);
	cache[RCU_CACHE] = kmem_cache_create("torture_rcu", 72, 0,
					     SLAB_NO_MERGE | SLAB_TYPESAFE_BY_RCU, NULL);
	cache[ACCOUNTED] = kmem_cache_create("torture_acct", 56, 0,
					     SLAB_NO_MERGE | SLAB_ACCOUNT, NULL);
	return cache[OWN_CACHE] && cache[RCU_CACHE] && cache[ACCOUNTED];
}

static void destroy_caches(void)
{
	enum object_kind kind;

	for (kind = OWN_CACHE; kind < AREA; kind++)
		kmem_cache_destroy(cache[kind]);
}

/*
 * Chains of torture_init() do not count, whose text was freed: the files and the arrays of
 * records of its caches take memory that stays.
 */
static bool is_own_chain(depot_stack_handle_t handle)
{
	unsigned long frame;
	unsigned int i;

	for (i = 0; (frame = stack_depot_frame(handle, i)) != 0; i++)
		if (within_module(frame, THIS_MODULE))
			return true;
	return false;
}

/* Count the call chains of the threads and timers that the depot has, and print them if asked. */
static unsigned int count_own_chains(bool print)
{
	depot_stack_handle_t handle;
	unsigned int i, count = 0;
	unsigned long frame;
	u64 position = 0;

	while ((handle = stack_depot_next_counted(&position)) != 0) {
		if (is_own_chain(handle)) {
			count++;
			for (i = 0; print && (frame = stack_depot_frame(handle, i)) != 0; i++)
				pr_info("left: %pS\n", (void *)frame);
		}
		stack_depot_put(handle);
	}
	return count;
}

/* Handles, without references, of the threads. */
static depot_stack_handle_t tasks[NR_CPUS];

/* Count the threads that the depot still has. */
static unsigned int count_own_tasks(void)
{
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		if (!stack_depot_get(tasks[i]))
			continue;
		count++;
		stack_depot_put(tasks[i]);
	}
	return count;
}

/*
 * Wait for the end of the test, and print how many objects were freed until then. The caller
 * of the guest waits for these lines: there is none if nothing was freed meanwhile.
 */
static void wait_and_report_progress(const struct torturer *torturers)
{
	time64_t began = ktime_get_seconds(), next = began + PROGRESS, now;
	unsigned long freed, reported = 0;
	unsigned int cpu;

	while (!msleep_interruptible(1000)) {
		now = ktime_get_seconds();
		if (seconds && now >= began + seconds)
			return;
		if (now < next)
			continue;
		next = now + PROGRESS;
		freed = 0;
		for_each_possible_cpu(cpu)
			freed += READ_ONCE(torturers[cpu].freed);
		if (freed != reported)
			pr_info("torture: %lu pairs in %lld s\n", freed, now - began);
		reported = freed;
	}
}

static int __init torture_init(void)
{
	unsigned long allocated = 0, failed = 0;
	struct task_struct **thread;
	struct torturer *torturers;
	unsigned int cpu, i;
	int error = -ENOMEM;

	torturers = kvcalloc(nr_cpu_ids, sizeof(*torturers), GFP_KERNEL);
	thread = kcalloc(nr_cpu_ids, sizeof(*thread), GFP_KERNEL);
	if (!torturers || !thread || !create_caches())
		goto out;

	for_each_online_cpu(cpu) {
		prandom_seed_state(&torturers[cpu].random, cpu + 1);
		thread[cpu] = kthread_run_on_cpu(run_torture, &torturers[cpu], cpu, "torture/%u");
		if (IS_ERR(thread[cpu]))
			thread[cpu] = NULL;
	}
	wait_and_report_progress(torturers);
	pr_info("torture: %u chains in use\n", count_own_chains(false));
	for_each_possible_cpu(cpu) {
		if (thread[cpu])
			kthread_stop(thread[cpu]);
		tasks[cpu] = torturers[cpu].task;
		allocated += torturers[cpu].allocated;
		failed += torturers[cpu].failed;
	}
	for (i = 0; i < HANDED_OVER; i++)
		kfree(handed_over[i]);
	/* SLUB can keep what kfree_rcu() got until it has more. */
	kvfree_rcu_barrier();
	pr_info("torture: %lu objects allocated, %lu not, all freed\n", allocated, failed);
	error = 0;
out:
	destroy_caches();
	kfree(thread);
	kvfree(torturers);
	return error;
}
module_init(torture_init);

/*
 * torture_init() has freed all objects. Tasks are freed soon after they exit, and a CPU
 * gives its references back a second after it has used them: look again for ten seconds.
 */
static void __exit torture_exit(void)
{
	unsigned int chains, owners, tries = 100;

	kvfree_rcu_barrier();
	rcu_barrier();
	do {
		msleep(100);
		chains = count_own_chains(tries == 1);
		owners = count_own_tasks();
	} while ((chains || owners) && --tries);
	pr_info("torture: %u chains and %u tasks left in the depot\n", chains, owners);
}
module_exit(torture_exit);

MODULE_DESCRIPTION("Allocate and free objects in every way at once");
MODULE_LICENSE("GPL");
