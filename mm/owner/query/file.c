// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/owner/query: a sentence is written, the answer is read from
 * the same open file.
 *
 * Each open file has a sentence and an answer of its own. It is a conversation
 * and has no position: what is read is what has not been read of the answer to
 * what was written last. Groups are added up when their answer is first read,
 * and show that moment; single objects are looked for as they are read.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../debugfs.h"
#include "query.h"

/* A sentence, and some comment. */
#define TEXT_MAX	4096

/* --- The answer ---------------------------------------------------------------- */

/* What stands before and after groups and objects, for seq_file. */
static char head, tail;

static bool walks(const struct query_reader *reader)
{
	return reader->answering && !reader->query.sentence.nr_group_by;
}

static void *group_at(struct query_reader *reader, loff_t pos)
{
	unsigned int shown = owner_query_shown(&reader->query);

	if (pos <= shown)
		return reader->query.groups[pos - 1];
	return pos == shown + 1 ? &tail : NULL;
}

static void *next_object(struct query_reader *reader)
{
	int found = owner_query_next(&reader->query);

	reader->pending = found > 0;
	if (found < 0)
		return ERR_PTR(found);
	return found ? reader : (void *)&tail;
}

static void *query_start(struct seq_file *m, loff_t *pos)
{
	struct query_reader *reader = m->private;

	if (walks(reader)) {
		owner_cursor_begin(&reader->query.walk);
		/* They are looked for as they are read: ages are as of now. */
		reader->query.now = owner_now();
	}
	if (!*pos)
		return &head;
	if (!reader->answering || *pos == LLONG_MAX)
		return NULL;
	if (!walks(reader))
		return group_at(reader, *pos);
	if (reader->pending)
		owner_query_step_back(&reader->query);
	return next_object(reader);
}

static void *query_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct query_reader *reader = m->private;

	++*pos;
	if (v == &tail)
		*pos = LLONG_MAX;
	if (v == &tail || !reader->answering)
		return NULL;
	if (!walks(reader))
		return group_at(reader, *pos);
	/* What is left behind has been shown. */
	if (v != &head) {
		struct owner_sum sum = owner_query_object_sum(&reader->query);

		owner_query_add(&reader->query.total, &sum);
	}
	return next_object(reader);
}

static void query_stop(struct seq_file *m, void *v)
{
	struct query_reader *reader = m->private;

	if (walks(reader))
		owner_cursor_end(&reader->query.walk);
}

static int query_show(struct seq_file *m, void *v)
{
	struct query_reader *reader = m->private;
	struct owner_query *query = &reader->query;

	if (v == &tail)
		owner_query_show_tail(m, query);
	else if (v == reader)
		owner_query_show_object(m, query);
	else if (v != &head)
		owner_query_show_group(m, query, v);
	else if (reader->answering)
		owner_query_show_head(m, query);
	else
		seq_puts(m, reader->said ?: "# write a sentence, then read: group=stack.8 top=20\n");
	return 0;
}

static const struct seq_operations query_sops = {
	.start	= query_start,
	.next	= query_next,
	.stop	= query_stop,
	.show	= query_show,
};

/* --- The file ------------------------------------------------------------------ */

/* Back to where nothing has been asked; the sentence stays until there is another. */
void owner_query_forget(struct query_reader *reader)
{
	owner_query_free(&reader->query);
	kfree(reader->said);
	reader->said = NULL;
	reader->answering = false;
	reader->pending = false;
	reader->pos = 0;
}

/**
 * owner_query_understand - understand what is written to an open file
 * @reader: that of the file, locked, and what was asked before forgotten
 * @buf: a sentence
 * @count: of @buf
 *
 * Return: 0, -EINVAL if @reader->said says what is wrong, other errors.
 */
int owner_query_understand(struct query_reader *reader, const char __user *buf, size_t count)
{
	char *text;
	int error;

	if (count > TEXT_MAX) {
		reader->said = kasprintf(GFP_KERNEL, "at most %d bytes can be written, not %zu\n",
					 TEXT_MAX, count);
		return reader->said ? -EINVAL : -ENOMEM;
	}
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = owner_query_parse(&reader->query, text, count, &reader->said);
	kfree(text);
	return error;
}

static ssize_t query_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;
	int error;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	owner_query_forget(reader);
	error = owner_query_understand(reader, buf, count);
	if (reader->said)
		pr_err("query: %s", reader->said);
	reader->asked = !error;
	mutex_unlock(&reader->lock);
	return error ?: count;
}

static int answer(struct query_reader *reader)
{
	struct owner_query *query = &reader->query;
	int error;

	if (query->sentence.nr_group_by)
		error = owner_query_add_up(query);
	else
		error = owner_query_prepare(query);
	if (error)
		owner_query_free(query);
	else
		reader->answering = true;
	return error;
}

/* What has not been read yet of the answer; the file's reader is locked. */
ssize_t owner_query_answer(struct file *file, char __user *buf, size_t count)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;
	int error = 0;

	if (reader->asked && !reader->answering)
		error = answer(reader);
	return error ?: seq_read(file, buf, count, &reader->pos);
}

static ssize_t query_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;
	ssize_t result;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	result = owner_query_answer(file, buf, count);
	mutex_unlock(&reader->lock);
	return result;
}

/**
 * owner_query_open - give an open file a reader
 * @file: the file
 * @size: of what begins with its struct query_reader
 * @sources: a bit for each enum owner_source that it reads if nothing else is said
 */
int owner_query_open(struct file *file, size_t size, unsigned int sources)
{
	struct query_reader *reader = __seq_open_private(file, &query_sops, size);

	if (!reader)
		return -ENOMEM;
	mutex_init(&reader->lock);
	reader->query.sources = sources;
	return 0;
}

static int query_open(struct inode *inode, struct file *file)
{
	return owner_query_open(file, sizeof(struct query_reader),
				BIT(OWNER_SOURCE_SLAB) | BIT(OWNER_SOURCE_PERCPU)) ?:
	       stream_open(inode, file);
}

int owner_query_release(struct inode *inode, struct file *file)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;

	owner_query_forget(reader);
	mutex_destroy(&reader->lock);
	return seq_release_private(inode, file);
}

const struct file_operations owner_query_fops = {
	.owner		= THIS_MODULE,
	.open		= query_open,
	.read		= query_read,
	.write		= query_write,
	.release	= owner_query_release,
};
