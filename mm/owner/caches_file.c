// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/owner/caches: each cache's objects, tracked or not. */

#include <linux/fs.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "totals.h"

static int show_caches(struct seq_file *m, void *v)
{
	struct owner_cache_total *total;
	struct xarray totals;
	unsigned long cache;
	int error;

	xa_init(&totals);
	error = owner_sum_caches(&totals);
	if (error)
		goto out;
	seq_printf(m, "%-23s %10s %10s %10s %12s %12s\n", "# cache", "objects", "tracked",
		   "untracked", "requested", "held");
	xa_for_each(&totals, cache, total)
		seq_printf(m, "%-23s %10lu %10lu %10lu %12llu %12llu\n", total->name,
			   total->allocated, total->tracked, total->allocated - total->tracked,
			   total->requested, (u64)total->allocated * total->object_size);
	seq_puts(m, "# objects and held: all of the cache; requested: for the tracked ones\n");
	seq_puts(m, "# kmalloc beyond the largest cache and vmalloc are pages: see page_owner\n");
out:
	owner_free_cache_totals(&totals);
	return error;
}

static int open_caches(struct inode *inode, struct file *file)
{
	return single_open(file, show_caches, NULL);
}

const struct file_operations owner_caches_fops = {
	.owner		= THIS_MODULE,
	.open		= open_caches,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};
