// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of an allocation whose call chain begins at a system call.
 *
 * Each write to /proc/owner_bench measures one pair of kmalloc() and kfree(). With
 * CONFIG_RANDOMIZE_KSTACK_OFFSET the chain is at another stack depth each time. The
 * exit function prints the result in the format of owner_bench.c, with the mean in
 * the place of the median, because a mean includes rare and expensive calls.
 */

#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

#include "owner_bench.h"

/* The first calls are not counted, because the slow path serves new chains. */
#define WARM_UPS	1024

static unsigned long calls;
static u64 least = U64_MAX, sum;

static ssize_t measure_pair(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	unsigned long flags;
	u64 took;

	local_irq_save(flags);
	took = now();
	kfree(kmalloc(64, GFP_NOWAIT | __GFP_NOWARN));
	took = now() - took;
	local_irq_restore(flags);
	if (++calls > WARM_UPS) {
		least = min(least, took);
		sum += took;
	}
	return count;
}

static const struct proc_ops ops = { .proc_write = measure_pair };

static int __init bench_init(void)
{
	return proc_create("owner_bench", 0200, NULL, &ops) ? 0 : -ENOMEM;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	u64 mean = calls > WARM_UPS ? sum * 100 / (calls - WARM_UPS) : 0;

	remove_proc_entry("owner_bench", NULL);
	pr_info("owner_bench: kmalloc-64-calls 0 %llu.00 %llu.%02llu\n", least, mean / 100,
		mean % 100);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Measure the cost of an allocation by a system call");
MODULE_LICENSE("GPL");
