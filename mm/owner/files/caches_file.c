// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/owner/caches: each cache's objects, tracked or not.
 *
 * Opening the file walks all memory once. seq_file prints all lines again for each larger
 * buffer that it tries.
 */

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>

#include "../debugfs.h"
#include "cache_totals.h"

static int show_caches(struct seq_file *m, void *v)
{
	struct xarray *totals = m->private;
	struct owner_cache_total *total;
	unsigned long index;

	seq_printf(m, "%-23s %10s %10s %10s %12s %12s\n", "# cache", "objects", "tracked",
		   "untracked", "requested", "held");
	xa_for_each(totals, index, total)
		seq_printf(m, "%-23s %10lu %10lu %10lu %12llu %12llu\n", total->name,
			   total->allocated, total->tracked, total->allocated - total->tracked,
			   total->requested, (u64)total->allocated * total->object_size);
	seq_puts(m, "# objects and held: all of the cache; requested: for the tracked ones\n");
	seq_puts(m, "# kmalloc beyond the largest cache and vmalloc are pages: see page_owner\n");
	return 0;
}

static void free_totals(struct xarray *totals)
{
	owner_free_cache_totals(totals);
	kfree(totals);
}

static int open_caches(struct inode *inode, struct file *file)
{
	struct xarray *totals = kmalloc(sizeof(*totals), GFP_KERNEL);
	int error;

	if (!totals)
		return -ENOMEM;
	xa_init(totals);
	error = owner_sum_caches(totals) ?: single_open(file, show_caches, totals);
	if (error)
		free_totals(totals);
	return error;
}

static int release_caches(struct inode *inode, struct file *file)
{
	free_totals(((struct seq_file *)file->private_data)->private);
	return single_release(inode, file);
}

static const struct file_operations caches_fops = {
	.owner		= THIS_MODULE,
	.open		= open_caches,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= release_caches,
};

static int __init caches_file_init(void)
{
	if (slab_owner_wanted())
		owner_debugfs_add("caches", 0400, &caches_fops);
	return 0;
}
late_initcall(caches_file_init);
