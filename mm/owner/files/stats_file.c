// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/owner/stats: how much is tracked, losses and slow captures. */

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "../capture.h"
#include "../debugfs.h"
#include "../page/page.h"
#include "../record.h"
#include "../slab/object.h"
#include "../slab/percpu.h"
#include "../slab/records.h"
#include "../totals.h"
#include "../user/user.h"

static const char * const loss_names[] = {
	[OWNER_LOST_NMI]	= "lost_nmi",
	[OWNER_LOST_EARLY]	= "lost_early",
	[OWNER_LOST_VECTOR]	= "lost_no_records",
	[OWNER_LOST_STACK]	= "lost_no_stack",
	[OWNER_LOST_TASK]	= "degraded_no_task",
	[OWNER_LOST_FRAMES]	= "degraded_shorter",
	[OWNER_LOST_CHAIN]	= "degraded_no_stack",
};

static_assert(ARRAY_SIZE(loss_names) == OWNER_LOSS_REASONS);

static long read_slow_captures(void)
{
	unsigned int cpu;
	long sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(owner_slow_captures, cpu);
	return sum;
}

static int show_stats(struct seq_file *m, void *v)
{
	struct stack_depot_capture_counts unwind;
	struct owner_records_counts records;
	unsigned long hundredths;
	struct owner_chain_totals totals = {};
	struct owner_estimate tracked = {};
	unsigned int i;
	int error;

	error = owner_collect_chains(&totals, OWNER_KIND_SLAB, NULL);
	for (i = 0; i < totals.count; i++) {
		owner_estimate_join(&tracked, &totals.total[i].estimate);
		cond_resched();
	}
	owner_free_chain_totals(&totals);
	if (error)
		return error;
	seq_printf(m, "tracked: %llu\n",
		   tracked.objects + (tracked.fraction >> (OWNER_WEIGHT_SHIFT - 1)));
	seq_printf(m, "samples: %ld\n", owner_read_samples());
	seq_printf(m, "percpu: %ld\n", atomic_long_read(&owner_percpu_areas));
	owner_records_read_counts(&records);
	hundredths = records.slots ? div64_long(records.bytes * 100, records.slots) : 0;
	seq_printf(m, "slabs: %ld\n", records.slabs);
	seq_printf(m, "slots: %ld\n", records.slots);
	seq_printf(m, "bytes: %ld\n", records.bytes);
	seq_printf(m, "bytes_per_slot: %lu.%02lu\n", hundredths / 100, hundredths % 100);
	for (i = 0; i < OWNER_LOSS_REASONS; i++)
		seq_printf(m, "%s: %ld\n", loss_names[i], owner_read_losses(i));
	seq_printf(m, "slow: %ld\n", read_slow_captures());
	owner_user_show_counts(m);
	seq_printf(m, "page_failures: %lu\n", owner_page_failures());
	stack_depot_read_capture_counts(&unwind);
	seq_printf(m, "unwind_learned: %lu\n", unwind.learned);
	seq_printf(m, "unwind_walked: %lu\n", unwind.walked);
	seq_printf(m, "unwind_slow: %lu\n", unwind.slow);
	seq_printf(m, "unwind_verified: %lu\n", unwind.verified);
	seq_printf(m, "unwind_different: %lu\n", unwind.different);
	return 0;
}

static int open_stats(struct inode *inode, struct file *file)
{
	return single_open(file, show_stats, NULL);
}

static const struct file_operations stats_fops = {
	.owner		= THIS_MODULE,
	.open		= open_stats,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init stats_file_init(void)
{
	if (owner_tracks_anything())
		owner_debugfs_add("stats", 0400, &stats_fops);
	return 0;
}
late_initcall(stats_file_init);
