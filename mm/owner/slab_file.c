// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/slab_owner: a record for each slab object and each per-CPU area
 * that has an owner, in page_owner's grammar, so that the tools for page_owner read it.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>

#include "debugfs.h"
#include "report.h"
#include "walk.h"

/*
 * A file position encodes where the cursor is: the page frame in the upper bits, one
 * more than the index of the object just shown in the lower bits. After the last slab
 * it is a position among per-CPU areas, marked by AREA_BIT.
 */
#define INDEX_BITS	16
#define INDEX_MASK	GENMASK(INDEX_BITS - 1, 0)
#define AREA_BIT	BIT_ULL(62)

struct slab_reader {
	struct owner_cursor walk;
	struct owner_object object;
};

static void *slab_owner_step(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;
	struct owner_cursor *walk = &reader->walk;
	int found = *pos & AREA_BIT ? 0 : owner_cursor_next(walk, &reader->object);

	if (found > 0) {
		*pos = (loff_t)reader->object.pfn << INDEX_BITS | reader->object.index;
		return reader;
	}
	/* A signal is not the end of the file. */
	if (found < 0)
		return ERR_PTR(found);
	if (!owner_percpu_next(walk, &reader->object))
		return NULL;
	/* seq_file adds one, which gives the position to continue from. */
	*pos = AREA_BIT | (walk->place - 1);
	return reader;
}

static void *slab_owner_start(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;

	owner_cursor_begin(&reader->walk);
	reader->walk.pfn = *pos >> INDEX_BITS;
	reader->walk.index = *pos & INDEX_MASK;
	reader->walk.place = *pos & AREA_BIT ? *pos & ~AREA_BIT : 0;
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

	owner_cursor_end(&reader->walk);
}

static int slab_owner_show(struct seq_file *m, void *v)
{
	struct slab_reader *reader = v;
	unsigned long *entries;
	unsigned int count, i;

	owner_show_object(m, &reader->object);
	count = stack_depot_fetch(reader->object.owner.stack, &entries);
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

const struct file_operations owner_slab_fops = {
	.owner		= THIS_MODULE,
	.open		= slab_owner_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};
