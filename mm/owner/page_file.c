// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/page_owner: a record for each allocation of pages.
 *
 * A read gives one record at most, and the position is the page frame from which
 * on the next is looked for. Each open file may have a sentence:
 *
 *  - mode= and nid= choose what is shown of which pages. Each holds until it is
 *    said again, and the records look as they always do.
 *  - Any other sentence is answered as in the file owner/query, of pages if it
 *    does not name other sources.
 */

#define pr_fmt(fmt) "page_owner: " fmt

#include <linux/debugfs.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/uaccess.h>

#include "../internal.h"
#include "cgroup.h"
#include "page.h"
#include "query/query.h"
#include "stacks_file.h"

struct page_reader {
	struct owner_query_reader query;	/* its lock guards what follows */
	struct owner_sentence former;	/* in force again if the next is wrong */
	struct seq_buf record;		/* what was found last... */
	size_t room;
	size_t read;			/* ... and how much of it has been read */
};

/* --- A record, as text ------------------------------------------------------- */

static void print_record(struct seq_buf *text, const struct owner_pages *pages,
			 enum owner_mode mode)
{
	unsigned long *frames;
	unsigned int i, count = 0;

	seq_buf_clear(text);
	owner_pages_print_head(text, pages);
	if (mode != OWNER_MODE_HANDLE)
		count = stack_depot_fetch(pages->owner.handle, &frames);
	for (i = 0; i < count; i++)
		seq_buf_printf(text, " %pS\n", (void *)frames[i]);
	if (mode != OWNER_MODE_STACK)
		seq_buf_printf(text, "handle: %u\n", pages->owner.handle);
	owner_pages_print_tail(text, pages);
	seq_buf_puts(text, "\n");
}

/* --- Reading records ---------------------------------------------------------- */

/* mode= and nid=, and nothing else. */
#define PLAIN_SETTINGS	(BIT(OWNER_SET_MODE) | BIT(OWNER_SET_NID))

static bool is_plain(const struct owner_sentence *s)
{
	return !(s->settings_given & ~PLAIN_SETTINGS) && !(s->fields_used & ~BIT(OWNER_FIELD_NID)) &&
	       s->nr_comparisons <= !!(s->settings_given & BIT(OWNER_SET_NID)) && !s->nr_group_by;
}

static bool is_wanted(struct page_reader *reader, const struct owner_pages *pages)
{
	struct owner_field_values fields = {};

	fields.value[OWNER_FIELD_NID].number = page_to_nid(pages->page);
	return owner_lang_matches(&reader->query.query.sentence, &fields);
}

/* Page frames that are looked at before others get a turn. */
#define READ_STRETCH	4096

/*
 * Find the next record that is asked for: 1, and put_online_mems() is due; 0 if there is
 * none; -ERESTARTSYS.
 */
static int find_record(struct page_reader *reader, loff_t *pos, struct owner_pages *found)
{
	unsigned long pfn = *pos ?: min_low_pfn;
	bool success = false;

	while (!success && pfn < max_pfn) {
		unsigned long end = min(pfn + READ_STRETCH, max_pfn);

		if (signal_pending(current))
			return -ERESTARTSYS;
		get_online_mems();
		success = owner_pages_find(&pfn, end, found);
		if (success && reader->query.has_sentence && !is_wanted(reader, found)) {
			page_owner_put_stack(found->owner.handle);
			success = false;
		}
		if (success)
			break;
		put_online_mems();
		cond_resched();
	}
	if (success)
		*pos = pfn;
	return success;
}

#define RECORD_MAX	SZ_64K

/* Room for a record, or for one that is larger than what there is. */
static int make_room(struct page_reader *reader)
{
	size_t room = reader->room ? reader->room * 2 : PAGE_SIZE;
	char *buffer;

	if (room > RECORD_MAX)
		return -ENOMEM;
	buffer = kvmalloc(room, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	kvfree(reader->record.buffer);
	seq_buf_init(&reader->record, buffer, room);
	reader->room = room;
	return 0;
}

static int next_record(struct page_reader *reader, loff_t *pos)
{
	enum owner_mode mode = reader->query.query.sentence.mode;
	struct owner_pages found;
	int error, result = find_record(reader, pos, &found);

	if (result <= 0)
		return result;
	error = reader->room ? 0 : make_room(reader);
	while (!error) {
		print_record(&reader->record, &found, mode);
		if (!seq_buf_has_overflowed(&reader->record))
			break;
		error = make_room(reader);
	}
	put_online_mems();
	page_owner_put_stack(found.owner.handle);
	reader->read = 0;
	return error ?: 1;
}

static ssize_t read_record(struct page_reader *reader, char __user *buf, size_t count, loff_t *pos)
{
	struct seq_buf *record = &reader->record;
	int result;

	if (reader->read == seq_buf_used(record)) {
		seq_buf_clear(record);
		reader->read = 0;
		result = next_record(reader, pos);
		if (result <= 0) {
			seq_buf_clear(record);
			return result;
		}
	}
	count = min(count, seq_buf_used(record) - reader->read);
	if (copy_to_user(buf, record->buffer + reader->read, count))
		return -EFAULT;
	reader->read += count;
	return count;
}

/* --- The file ------------------------------------------------------------------ */

static struct page_reader *reader_of(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

static void forget_record(struct page_reader *reader)
{
	reader->read = seq_buf_used(&reader->record);
}

/* What is not said now is as it was said before. */
static void keep_settings(struct owner_sentence *s, const struct owner_sentence *former)
{
	if (!(s->settings_given & BIT(OWNER_SET_MODE)))
		s->mode = former->mode;
	if (!(s->settings_given & BIT(OWNER_SET_NID)) && former->settings_given & BIT(OWNER_SET_NID)) {
		s->fields_used = former->fields_used;
		s->nr_comparisons = former->nr_comparisons;
		s->nr_values = former->nr_values;
		memcpy(s->comparisons, former->comparisons, sizeof(s->comparisons));
		memcpy(s->values, former->values, sizeof(s->values));
	}
	s->settings_given |= former->settings_given;
}

/* As a list of nodes is given in order to find pages, nodes without any are a mistake. */
static int check_nodes(const struct owner_sentence *s, char **said)
{
	unsigned long long nid;
	unsigned int i;

	for (i = 0; s->settings_given & BIT(OWNER_SET_NID) && i < s->nr_values; i++) {
		for (nid = s->values[i].low; nid <= s->values[i].high; nid++) {
			if (nid < MAX_NUMNODES && node_state(nid, N_MEMORY))
				continue;
			*said = kasprintf(GFP_KERNEL, "node %llu has no memory: there are %*pbl\n",
					  nid, nodemask_pr_args(&node_states[N_MEMORY]));
			return *said ? -EINVAL : -ENOMEM;
		}
	}
	return 0;
}

static int understand(struct page_reader *reader, const char __user *buf, size_t count)
{
	struct owner_query_reader *query = &reader->query;
	struct owner_sentence *s = &query->query.sentence;
	bool was_plain = !query->has_sentence || is_plain(&reader->former);
	int error = owner_query_read_sentence(query, buf, count);

	if (error || !is_plain(s))
		return error;
	error = check_nodes(s, &query->error_text);
	if (!error && was_plain)
		keep_settings(s, &reader->former);
	return error;
}

static ssize_t page_owner_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	struct page_reader *reader = reader_of(file);
	struct owner_query_reader *query = &reader->query;
	int error;

	if (mutex_lock_interruptible(&query->lock))
		return -ERESTARTSYS;
	reader->former = query->query.sentence;
	owner_query_reset_reader(query);
	error = understand(reader, buf, count);
	if (query->error_text)
		pr_err("%s", query->error_text);
	if (error) {
		query->query.sentence = reader->former;
		kfree(query->error_text);
		query->error_text = NULL;
	} else {
		query->has_sentence = true;
		forget_record(reader);
		*pos = 0;
	}
	mutex_unlock(&query->lock);
	return error ?: count;
}

static ssize_t page_owner_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct page_reader *reader = reader_of(file);
	struct owner_query_reader *query = &reader->query;
	ssize_t result;

	if (mutex_lock_interruptible(&query->lock))
		return -ERESTARTSYS;
	if (!query->has_sentence || is_plain(&query->query.sentence))
		result = read_record(reader, buf, count, pos);
	else
		result = owner_query_read_answer(file, buf, count);
	mutex_unlock(&query->lock);
	return result;
}

/* To a page frame. */
static loff_t page_owner_llseek(struct file *file, loff_t offset, int whence)
{
	struct page_reader *reader = reader_of(file);

	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	mutex_lock(&reader->query.lock);
	forget_record(reader);
	file->f_pos = offset;
	mutex_unlock(&reader->query.lock);
	return offset;
}

static int page_owner_open(struct inode *inode, struct file *file)
{
	struct page_reader *reader;
	int error = owner_query_open(file, sizeof(*reader), BIT(OWNER_SOURCE_PAGE));

	if (!error)
		seq_buf_init(&reader_of(file)->record, NULL, 0);
	return error;
}

static int page_owner_release(struct inode *inode, struct file *file)
{
	kvfree(reader_of(file)->record.buffer);
	return owner_query_release(inode, file);
}

static const struct file_operations page_owner_fops = {
	.owner		= THIS_MODULE,
	.open		= page_owner_open,
	.read		= page_owner_read,
	.write		= page_owner_write,
	.llseek		= page_owner_llseek,
	.release	= page_owner_release,
};

void __init owner_pages_debugfs_init(void)
{
	debugfs_create_file("page_owner", 0600, NULL, NULL, &page_owner_fops);
	owner_page_stacks_debugfs_init();
}
