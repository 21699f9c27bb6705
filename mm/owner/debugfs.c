// SPDX-License-Identifier: GPL-2.0
/*
 * The files a person reads:
 *
 * /sys/kernel/debug/slab_owner		a record for each object that has an owner
 * /sys/kernel/debug/owner/stats	what was not tracked, and why
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>

#include "owner.h"

/*
 * A position in the file is a position in the walk: the page frame in the upper
 * bits, one more than the index of the object just shown in the lower.
 */
#define INDEX_BITS	16
#define INDEX_MASK	GENMASK(INDEX_BITS - 1, 0)

struct slab_reader {
	struct slab_walk walk;
	struct owner_object object;
};

static void *slab_owner_step(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;
	int found = slab_walk_next(&reader->walk, &reader->object);

	/* A signal is not the end of the file. */
	if (found <= 0)
		return ERR_PTR(found);
	*pos = (loff_t)reader->object.pfn << INDEX_BITS | reader->object.index;
	return reader;
}

static void *slab_owner_start(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;

	slab_walk_begin(&reader->walk);
	reader->walk.pfn = *pos >> INDEX_BITS;
	reader->walk.index = *pos & INDEX_MASK;
	return slab_owner_step(m, pos);
}

static void *slab_owner_next(struct seq_file *m, void *v, loff_t *pos)
{
	/* seq_file wants a position past this object even if there is no other. */
	++*pos;
	return slab_owner_step(m, pos);
}

static void slab_owner_stop(struct seq_file *m, void *v)
{
	struct slab_reader *reader = m->private;

	slab_walk_end(&reader->walk);
}

/* One record in page_owner's grammar, so that its tools read it as well. */
static int slab_owner_show(struct seq_file *m, void *v)
{
	struct slab_reader *reader = v;
	struct owner_object *object = &reader->object;
	struct slab_owner *owner = &object->owner;
	struct owner_task task = { .comm = "?" };
	unsigned long *entries;
	unsigned int count, i;

	owner_task_fetch(owner->task, &task);
	seq_printf(m, "Slab object allocated via order 0, size %u, slab %u, cache %s, pid %d, tgid %d (%s), ts %llu ns\n",
		   owner->size, object->slab_size, object->cache, task.pid, task.tgid,
		   task.comm, (u64)owner->time << OWNER_TIME_SHIFT);
	seq_printf(m, "PFN 0x%lx object %p index %u\n",
		   object->pfn, object->address, object->index);
	count = stack_depot_fetch(owner->stack, &entries);
	for (i = 0; i < count; i++)
		seq_printf(m, " %pS\n", (void *)entries[i]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations slab_owner_sops = {
	.start	= slab_owner_start,
	.next	= slab_owner_next,
	.stop	= slab_owner_stop,
	.show	= slab_owner_show,
};

static int slab_owner_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &slab_owner_sops, sizeof(struct slab_reader));
}

static const struct file_operations slab_owner_fops = {
	.owner		= THIS_MODULE,
	.open		= slab_owner_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static const char * const loss_names[] = {
	[OWNER_LOST_CONTEXT]	= "nmi",
	[OWNER_LOST_EARLY]	= "early",
	[OWNER_LOST_VECTOR]	= "no_vector",
	[OWNER_LOST_STACK]	= "no_stack",
	[OWNER_LOST_TASK]	= "no_task",
};

static_assert(ARRAY_SIZE(loss_names) == OWNER_LOSS_REASONS);

static int stats_show(struct seq_file *m, void *v)
{
	unsigned int i;

	for (i = 0; i < OWNER_LOSS_REASONS; i++)
		seq_printf(m, "lost_%s: %ld\n", loss_names[i],
			   atomic_long_read(&owner_losses[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int __init owner_debugfs_init(void)
{
	struct dentry *dir;

	if (!static_branch_unlikely(&slab_owner_key))
		return 0;
	debugfs_create_file("slab_owner", 0400, NULL, NULL, &slab_owner_fops);
	dir = debugfs_create_dir("owner", NULL);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	return 0;
}
late_initcall(owner_debugfs_init);
