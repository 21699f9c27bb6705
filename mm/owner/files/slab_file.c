// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/slab_owner: a record for each slab object and each per-CPU area
 * that has an owner, in page_owner's grammar, so that the tools for page_owner read it.
 */

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>

#include "../frame.h"
#include "../slab/show.h"
#include "../user/hooks.h"
#include "../walk.h"
#include "stacks_file.h"

/*
 * A file position is the position of a cursor. AREA_BIT is set for per-CPU areas, which
 * follow the slab objects.
 */
#define AREA_BIT	BIT_ULL(62)

struct slab_reader {
	struct owner_cursor cursor;
	struct owner_object object;
};

/* Find the next object, and set @pos to its position. */
static void *find_next_object(struct slab_reader *reader, loff_t *pos)
{
	struct owner_cursor *cursor = &reader->cursor;
	int found = owner_cursor_next(cursor, &reader->object);

	if (!found && cursor->ops == &owner_slab_source) {
		owner_cursor_set_source(cursor, &owner_percpu_source);
		found = owner_cursor_next(cursor, &reader->object);
	}
	/* If the task was killed, the file has not ended. */
	if (found < 0)
		return ERR_PTR(found);
	if (!found)
		return NULL;
	*pos = cursor->found_pos;
	if (cursor->ops == &owner_percpu_source)
		*pos |= AREA_BIT;
	return reader;
}

static void *slab_owner_start(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;
	struct owner_cursor *cursor = &reader->cursor;

	cursor->ops = *pos & AREA_BIT ? &owner_percpu_source : &owner_slab_source;
	cursor->pos = *pos & ~AREA_BIT;
	owner_cursor_begin(cursor);
	return find_next_object(reader, pos);
}

static void *slab_owner_next(struct seq_file *m, void *v, loff_t *pos)
{
	/* seq_file wants a position past this object even if there is no other. */
	++*pos;
	return find_next_object(m->private, pos);
}

static void slab_owner_stop(struct seq_file *m, void *v)
{
	struct slab_reader *reader = m->private;

	owner_cursor_end(&reader->cursor);
}

static int slab_owner_show(struct seq_file *m, void *v)
{
	struct slab_reader *reader = v;

	owner_show_object(m, &reader->object);
	owner_chain_show(m, reader->object.owner.stack);
	owner_user_show_lines(m, reader->object.owner.task);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations slab_owner_sops = {
	.start	= slab_owner_start,
	.next	= slab_owner_next,
	.stop	= slab_owner_stop,
	.show	= slab_owner_show,
};

/*
 * Only a signal that kills the task ends the search for the next record. If other signals did, the
 * next read() would begin this search anew, and never end if they came faster than it ends:
 * seq_file does not keep the position of start() if nothing was read before, or after a seek.
 */
static int slab_owner_open(struct inode *inode, struct file *file)
{
	struct slab_reader *reader = __seq_open_private(file, &slab_owner_sops, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->cursor.until_killed = true;
	return 0;
}

static const struct file_operations slab_owner_fops = {
	.owner		= THIS_MODULE,
	.open		= slab_owner_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static int __init slab_file_init(void)
{
	if (!slab_owner_wanted())
		return 0;
	debugfs_create_file("slab_owner", 0400, NULL, NULL, &slab_owner_fops);
	owner_slab_stacks_debugfs_init();
	return 0;
}
late_initcall(slab_file_init);
