// SPDX-License-Identifier: GPL-2.0
/*
 * The files of slab_owner_stacks and page_owner_stacks: what each call chain holds.
 *
 * show_stacks		the frames of each chain, with totals
 * show_handles		the handle of each chain, with totals: small, to be read often
 * show_stacks_handles	the frames and the handle of each chain, to be read once
 * count_threshold	chains that hold fewer objects or pages are left out of the
 *			files with totals
 *
 * Opening a file collects the totals, so one open file shows one moment.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>

#include "../frame.h"
#include "../totals.h"
#include "stacks_file.h"

/* Parts of a chain that a file shows. */
#define SHOW_FRAMES	BIT(0)
#define SHOW_HANDLE	BIT(1)
#define SHOW_TOTALS	BIT(2)

struct stacks_reader {
	const struct owner_stacks_ops *ops;
	struct owner_chain_totals totals;
	unsigned int show;
};

static void *stacks_start(struct seq_file *m, loff_t *pos)
{
	struct stacks_reader *reader = m->private;

	return *pos < reader->totals.count ? &reader->totals.total[*pos] : NULL;
}

static void *stacks_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return stacks_start(m, pos);
}

static void stacks_stop(struct seq_file *m, void *v)
{
}

static int stacks_show(struct seq_file *m, void *v)
{
	struct stacks_reader *reader = m->private;
	struct owner_chain_total *total = v;

	if (reader->show & SHOW_TOTALS &&
	    total->estimate.objects < READ_ONCE(*reader->ops->threshold))
		return 0;
	if (reader->show & SHOW_FRAMES)
		owner_chain_show(m, total->stack);
	/* There can be 100,000 chains, and seq_printf() takes its time. */
	if (reader->show & SHOW_HANDLE) {
		seq_put_decimal_ull(m, "handle: ", total->stack);
		seq_putc(m, '\n');
	}
	if (reader->show & SHOW_TOTALS)
		reader->ops->show_total(m, total);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations stacks_sops = {
	.start	= stacks_start,
	.next	= stacks_next,
	.stop	= stacks_stop,
	.show	= stacks_show,
};

static int open_reader(struct inode *inode, struct file *file, unsigned int show)
{
	struct stacks_reader *reader;
	int error;

	reader = __seq_open_private(file, &stacks_sops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->ops = inode->i_private;
	reader->show = show;
	error = owner_collect_chains(&reader->totals, reader->ops->kind,
				     reader->ops->uncounted);
	if (error) {
		owner_free_chain_totals(&reader->totals);
		seq_release_private(inode, file);
	}
	return error;
}

static int open_stacks(struct inode *inode, struct file *file)
{
	return open_reader(inode, file, SHOW_FRAMES | SHOW_TOTALS);
}

static int open_handles(struct inode *inode, struct file *file)
{
	return open_reader(inode, file, SHOW_HANDLE | SHOW_TOTALS);
}

static int open_stacks_handles(struct inode *inode, struct file *file)
{
	return open_reader(inode, file, SHOW_FRAMES | SHOW_HANDLE);
}

static int release_reader(struct inode *inode, struct file *file)
{
	struct stacks_reader *reader = ((struct seq_file *)file->private_data)->private;

	owner_free_chain_totals(&reader->totals);
	return seq_release_private(inode, file);
}

#define STACKS_FOPS(name)				\
static const struct file_operations name##_fops = {	\
	.owner		= THIS_MODULE,			\
	.open		= open_##name,			\
	.read		= seq_read,			\
	.llseek		= seq_lseek,			\
	.release	= release_reader,		\
}

STACKS_FOPS(stacks);
STACKS_FOPS(handles);
STACKS_FOPS(stacks_handles);

int owner_stacks_threshold_get(void *threshold, u64 *value)
{
	*value = READ_ONCE(*(u64 *)threshold);
	return 0;
}

int owner_stacks_threshold_set(void *threshold, u64 value)
{
	WRITE_ONCE(*(u64 *)threshold, value);
	return 0;
}

/**
 * owner_stacks_create_files() - create the files of a directory, but for count_threshold
 * @dir: the directory
 * @ops: its operations, which must stay
 */
void __init owner_stacks_create_files(struct dentry *dir, const struct owner_stacks_ops *ops)
{
	debugfs_create_file("show_stacks", 0400, dir, (void *)ops, &stacks_fops);
	debugfs_create_file("show_handles", 0400, dir, (void *)ops, &handles_fops);
	debugfs_create_file("show_stacks_handles", 0400, dir, (void *)ops, &stacks_handles_fops);
}
