// SPDX-License-Identifier: GPL-2.0
/*
 * What an allocation costs whose call chain begins in user space.
 *
 * Each byte written to /proc/owner_bench is a system call, and a pair of kmalloc()
 * and kfree() that is measured alone. Where CONFIG_RANDOMIZE_KSTACK_OFFSET is in
 * use each of them finds the same chain somewhere else. What they cost goes to
 * the kernel's log when the module goes, as owner_bench.c has it, but for the
 * mean, which stands where that has the median: what is rare and dear counts.
 */

#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

#include "owner_bench.h"

/* Calls that are not counted: what is met first is dear. */
#define WARM_UPS	1024

static unsigned long calls;
static u64 least = U64_MAX, sum;

static ssize_t measure(struct file *file, const char __user *buf, size_t count, loff_t *pos)
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

static const struct proc_ops ops = { .proc_write = measure };

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

MODULE_DESCRIPTION("What an allocation costs, from user space on");
MODULE_LICENSE("GPL");
