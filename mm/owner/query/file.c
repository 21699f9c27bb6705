// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/owner/query: write a sentence, read the answer from the same open
 * file.
 *
 * Each open file has its own sentence and answer. The file has no position: a read
 * continues the answer to the sentence that was written last. Groups are summed up when
 * their answer is first read, so they show that moment. Single objects are found as
 * they are read. At its end the answer is freed, while the file stays open. A mark is kept
 * until the next one replaces it, or until the file is closed.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../debugfs.h"
#include "../page/page.h"
#include "query.h"

/* Bytes that one write() can take: a sentence and some comments. */
#define TEXT_MAX	4096

/**
 * struct query_reader - the query of an open file
 * @lock: serializes users of the same open file; guards all that follows
 * @query: the query
 * @error_text: describes the error in the last sentence, NULL if there was none
 * @has_sentence: @query has a sentence to answer
 * @has_answer: the answer has been begun
 * @pos: position in the answer
 * @has_object: an object was found, and may not have been shown yet
 */
struct query_reader {
	struct mutex lock;	/* guards all that follows */
	struct owner_query query;
	char *error_text;
	bool has_sentence;
	bool has_answer;
	loff_t pos;
	bool has_object;
};

/* seq_file iterates over addresses: these two stand for the first and the last lines. */
static char head_lines, tail_lines;

/* Are objects found as they are read? */
static bool is_walking(const struct query_reader *reader)
{
	return reader->has_answer && !reader->query.sentence.nr_group_by;
}

static void *find_group(struct query_reader *reader, loff_t pos)
{
	unsigned int shown = reader->query.nr_shown;

	if (pos <= shown)
		return reader->query.groups[pos - 1];
	return pos == shown + 1 ? &tail_lines : NULL;
}

/* Find the object for position @pos of the answer: objects have the positions from 1 on. */
static void *find_next_object(struct query_reader *reader, loff_t pos)
{
	unsigned int top = reader->query.sentence.top;
	int found = 0;

	if (!top || pos <= top)
		found = owner_query_find_next_match(&reader->query);

	reader->has_object = found > 0;
	if (found < 0)
		return ERR_PTR(found);
	return found ? reader : (void *)&tail_lines;
}

static void *query_start(struct seq_file *m, loff_t *pos)
{
	struct query_reader *reader = m->private;

	if (is_walking(reader)) {
		/* If the first read() could not copy to user memory, the next one starts anew. */
		if (!*pos)
			owner_query_rewind(&reader->query);
		owner_cursor_begin(&reader->query.cursor);
		/* Objects are found by this read(), so measure their ages from now on. */
		owner_query_set_now(&reader->query);
	}
	if (!*pos)
		return &head_lines;
	if (!reader->has_answer || *pos == LLONG_MAX)
		return NULL;
	if (!is_walking(reader))
		return find_group(reader, *pos);
	if (reader->has_object)
		owner_cursor_step_back(&reader->query.cursor);
	return find_next_object(reader, *pos);
}

static void *query_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct query_reader *reader = m->private;

	++*pos;
	if (v == &tail_lines)
		*pos = LLONG_MAX;
	if (v == &tail_lines || !reader->has_answer)
		return NULL;
	if (!is_walking(reader))
		return find_group(reader, *pos);
	/* seq_file asks for the next object after it has shown this one. */
	if (v != &head_lines) {
		struct owner_sum sum = owner_query_object_sum(&reader->query);

		owner_sum_join(&reader->query.total, &sum);
	}
	return find_next_object(reader, *pos);
}

static void query_stop(struct seq_file *m, void *v)
{
	struct query_reader *reader = m->private;

	if (is_walking(reader))
		owner_cursor_end(&reader->query.cursor);
}

static int query_show(struct seq_file *m, void *v)
{
	struct query_reader *reader = m->private;
	struct owner_query *query = &reader->query;

	if (v == &tail_lines)
		owner_query_show_tail(m, query);
	else if (v == reader)
		owner_query_show_object(m, query);
	else if (v != &head_lines)
		owner_query_show_group(m, query, v);
	else if (reader->has_answer)
		owner_query_show_head(m, query);
	else if (reader->error_text)
		seq_puts(m, reader->error_text);
	else if (query->mark && query->sentence.command == OWNER_MARK)
		seq_printf(m, "# marked: to see what grows from now on, write since=mark %s\n",
			   query->sentence.nr_group_by ? "with group= by these fields" :
							 "group=stack.8 top=20");
	else
		seq_puts(m, "# write a sentence, then read: group=stack.8 top=20\n");
	return 0;
}

static const struct seq_operations query_sops = {
	.start	= query_start,
	.next	= query_next,
	.stop	= query_stop,
	.show	= query_show,
};

/* Free the answer and the error text. The reader keeps its sentence. */
static void reset_reader(struct query_reader *reader)
{
	owner_query_reset(&reader->query);
	kfree(reader->error_text);
	reader->error_text = NULL;
	reader->has_answer = false;
	reader->has_object = false;
	reader->pos = 0;
}

/* Returns -EINVAL if it has set reader->error_text. */
static int read_sentence(struct query_reader *reader, const char __user *buf, size_t count)
{
	char *text;
	int error;

	if (count > TEXT_MAX) {
		reader->error_text = kasprintf(GFP_KERNEL,
					       "at most %d bytes can be written, not %zu\n",
					       TEXT_MAX, count);
		return reader->error_text ? -EINVAL : -ENOMEM;
	}
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = owner_query_parse(&reader->query, text, count, &reader->error_text);
	kfree(text);
	return error;
}

static void print_error(const struct query_reader *reader)
{
	if (reader->error_text)
		pr_err_ratelimited("query: %s", reader->error_text);
}

/* Let the next read() say why there is no answer, and no mark. */
static void explain_shortage(struct query_reader *reader)
{
	const struct owner_query *query = &reader->query;

	if (!query->short_of)
		return;
	reader->error_text = kasprintf(GFP_KERNEL,
				       "no memory for more than %u groups, as %s: name fewer fields in group=, use 'if', or let a task read that may have more memory\n",
				       query->short_at, query->short_of);
	print_error(reader);
}

static ssize_t query_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;
	bool is_mark;
	int error;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	reset_reader(reader);
	error = read_sentence(reader, buf, count);
	print_error(reader);
	is_mark = !error && reader->query.sentence.command == OWNER_MARK;
	if (is_mark)
		error = owner_query_set_mark(&reader->query);
	if (is_mark && error == -ENOMEM)
		explain_shortage(reader);
	reader->has_sentence = !error && !is_mark;
	mutex_unlock(&reader->lock);
	return error ?: count;
}

static int begin_answer(struct query_reader *reader)
{
	struct owner_query *query = &reader->query;
	int error;

	if (query->sentence.nr_group_by)
		error = owner_query_sum_groups(query);
	else
		error = owner_query_prepare(query);
	reader->has_answer = !error;
	/* After a signal, keep the groups found so far: the next read() continues the walk. */
	if (!error || error == -ERESTARTSYS)
		return error;
	if (error == -ENOMEM)
		explain_shortage(reader);
	reader->has_sentence = !reader->error_text;
	owner_query_reset(query);
	return error;
}

static ssize_t query_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;
	ssize_t result = 0;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	if (reader->has_sentence && !reader->has_answer)
		result = begin_answer(reader);
	if (!result) {
		result = seq_read(file, buf, count, &reader->pos);
		/* Nobody reads the answer again: from now on seq_file's position is LLONG_MAX. */
		if (!result && count)
			owner_query_reset(&reader->query);
	}
	mutex_unlock(&reader->lock);
	return result;
}

static int query_open(struct inode *inode, struct file *file)
{
	struct query_reader *reader = __seq_open_private(file, &query_sops, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	mutex_init(&reader->lock);
	return stream_open(inode, file);
}

static int query_release(struct inode *inode, struct file *file)
{
	struct query_reader *reader = ((struct seq_file *)file->private_data)->private;

	reset_reader(reader);
	owner_query_free_mark(&reader->query);
	mutex_destroy(&reader->lock);
	return seq_release_private(inode, file);
}

static const struct file_operations query_fops = {
	.owner		= THIS_MODULE,
	.open		= query_open,
	.read		= query_read,
	.write		= query_write,
	.release	= query_release,
};

static int __init query_file_init(void)
{
	if (!owner_tracks_anything())
		return 0;
	owner_query_watch_modules();
	owner_debugfs_add("query", 0600, &query_fops);
	return 0;
}
late_initcall(query_file_init);
