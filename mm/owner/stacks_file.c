// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/slab_owner_stacks and page_owner_stacks: what each call chain
 * holds.
 *
 * show_stacks		chains, with what they hold
 * show_handles		the same by handle: small, to be read again and again
 * show_stacks_handles	which chain a handle stands for, to be read once
 * count_threshold	chains that hold fewer objects, or pages, are left out of
 *			the files that say how many
 *
 * Each is made when it is opened.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>
#include <linux/xarray.h>

#include "owner.h"

/* What a file shows of a chain. */
#define SHOW_FRAMES	BIT(0)
#define SHOW_HANDLE	BIT(1)
#define SHOW_TOTALS	BIT(2)
#define SHOW_PAGES	BIT(3)		/* the totals are of pages */

struct stacks_reader {
	struct xarray totals;
	unsigned long show;
};

static u64 count_threshold, page_threshold;

/* A position is the handle from which on the next chain is looked for. */
static void *stacks_start(struct seq_file *m, loff_t *pos)
{
	struct stacks_reader *reader = m->private;
	unsigned long handle = *pos;

	return xa_find(&reader->totals, &handle, U32_MAX, XA_PRESENT);
}

static void *stacks_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct owner_chain_total *total = v;

	*pos = (loff_t)total->stack + 1;
	return stacks_start(m, pos);
}

static void stacks_stop(struct seq_file *m, void *v)
{
}

static int stacks_show(struct seq_file *m, void *v)
{
	struct stacks_reader *reader = m->private;
	struct owner_chain_total *total = v;
	unsigned long *entries;
	unsigned int count, i;
	u64 threshold;

	threshold = reader->show & SHOW_PAGES ? READ_ONCE(page_threshold) :
						READ_ONCE(count_threshold);
	if (reader->show & SHOW_TOTALS && total->sum.estimate.objects < threshold)
		return 0;
	if (reader->show & SHOW_FRAMES) {
		count = stack_depot_fetch(total->stack, &entries);
		for (i = 0; i < count; i++)
			seq_printf(m, " %pS\n", (void *)entries[i]);
	}
	if (reader->show & SHOW_HANDLE)
		seq_printf(m, "handle: %u\n", total->stack);
	if ((reader->show & (SHOW_TOTALS | SHOW_PAGES)) == (SHOW_TOTALS | SHOW_PAGES))
		seq_printf(m, "nr_base_pages: %llu\n", total->sum.estimate.objects);
	else if (reader->show & SHOW_TOTALS)
		seq_printf(m, "nr_objects: %llu\nnr_bytes: %llu\n", total->sum.estimate.objects,
			   total->sum.estimate.bytes);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations stacks_sops = {
	.start	= stacks_start,
	.next	= stacks_next,
	.stop	= stacks_stop,
	.show	= stacks_show,
};

static int stacks_open(struct inode *inode, struct file *file)
{
	struct stacks_reader *reader;
	int error;

	reader = __seq_open_private(file, &stacks_sops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->show = (unsigned long)inode->i_private;
	xa_init(&reader->totals);
	if (reader->show & SHOW_PAGES)
		error = owner_total_pages(&reader->totals);
	else
		error = owner_total_chains(&reader->totals);
	if (error) {
		owner_free_chains(&reader->totals);
		seq_release_private(inode, file);
	}
	return error;
}

static int stacks_release(struct inode *inode, struct file *file)
{
	struct stacks_reader *reader = ((struct seq_file *)file->private_data)->private;

	owner_free_chains(&reader->totals);
	return seq_release_private(inode, file);
}

static const struct file_operations stacks_fops = {
	.owner		= THIS_MODULE,
	.open		= stacks_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= stacks_release,
};

static int threshold_get(void *data, u64 *value)
{
	*value = READ_ONCE(*(u64 *)data);
	return 0;
}

static int threshold_set(void *data, u64 value)
{
	WRITE_ONCE(*(u64 *)data, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(count_threshold_fops, threshold_get, threshold_set, "%llu\n");
/* page_owner's has never had an end of line. */
DEFINE_DEBUGFS_ATTRIBUTE(page_threshold_fops, threshold_get, threshold_set, "%llu");

static void create_files(struct dentry *dir, unsigned long pages)
{
	debugfs_create_file("show_stacks", 0400, dir,
			    (void *)(SHOW_FRAMES | SHOW_TOTALS | pages), &stacks_fops);
	debugfs_create_file("show_handles", 0400, dir,
			    (void *)(SHOW_HANDLE | SHOW_TOTALS | pages), &stacks_fops);
	debugfs_create_file("show_stacks_handles", 0400, dir,
			    (void *)(SHOW_FRAMES | SHOW_HANDLE | pages), &stacks_fops);
}

void __init owner_stacks_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("slab_owner_stacks", NULL);

	create_files(dir, 0);
	debugfs_create_file_unsafe("count_threshold", 0600, dir, &count_threshold,
				   &count_threshold_fops);
}

void __init owner_page_stacks_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("page_owner_stacks", NULL);

	create_files(dir, SHOW_PAGES);
	debugfs_create_file_unsafe("count_threshold", 0600, dir, &page_threshold,
				   &page_threshold_fops);
}
