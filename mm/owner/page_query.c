// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/page_owner with CONFIG_SLAB_OWNER: each open file can have a
 * sentence, written to it.
 *
 *  - A sentence with mode= and nid= only is a filter: it chooses what is printed of
 *    which pages. Each setting stays until another write sets it. The records keep
 *    page_owner's grammar.
 *  - Any other sentence is answered as by owner/query; it is about pages if it has no
 *    source=.
 */

#define pr_fmt(fmt) "page_owner: " fmt

#include <linux/debugfs.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "page.h"
#include "page_reader.h"
#include "query/query.h"
#include "stacks_file.h"

struct query_file {
	struct owner_query_reader query;		/* its lock protects the rest, too */
	struct owner_sentence former;		/* restored if the next sentence is wrong */
	struct owner_page_reader reader;
};

static struct query_file *get_query_file(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

/* --- Filters ------------------------------------------------------------------ */

#define FILTER_SETTINGS	(BIT(OWNER_SET_MODE) | BIT(OWNER_SET_NID))

static bool is_filter(const struct owner_sentence *s)
{
	return !(s->settings_given & ~FILTER_SETTINGS) &&
	       !(s->fields_used & ~BIT(OWNER_FIELD_NID)) &&
	       s->nr_comparisons <= !!(s->settings_given & BIT(OWNER_SET_NID)) &&
	       !s->nr_group_by;
}

/* Copy the settings that this sentence does not have from the former one. */
static void keep_settings(struct owner_sentence *s, const struct owner_sentence *former)
{
	if (!(s->settings_given & BIT(OWNER_SET_MODE)))
		s->mode = former->mode;
	if (!(s->settings_given & BIT(OWNER_SET_NID)) &&
	    former->settings_given & BIT(OWNER_SET_NID)) {
		s->fields_used = former->fields_used;
		s->nr_comparisons = former->nr_comparisons;
		s->nr_values = former->nr_values;
		memcpy(s->comparisons, former->comparisons, sizeof(s->comparisons));
		memcpy(s->values, former->values, sizeof(s->values));
	}
	s->settings_given |= former->settings_given;
}

/* Refuse a node that has no memory: it is a typo. */
static int check_nodes(const struct owner_sentence *s, char **error_text)
{
	unsigned long long nid;
	unsigned int i;

	for (i = 0; s->settings_given & BIT(OWNER_SET_NID) && i < s->nr_values; i++) {
		for (nid = s->values[i].low; nid <= s->values[i].high; nid++) {
			if (nid < MAX_NUMNODES && node_state(nid, N_MEMORY))
				continue;
			*error_text = kasprintf(GFP_KERNEL,
						"node %llu has no memory: there are %*pbl\n", nid,
						nodemask_pr_args(&node_states[N_MEMORY]));
			return *error_text ? -EINVAL : -ENOMEM;
		}
	}
	return 0;
}

static void apply_filter(struct owner_page_reader *reader, const struct owner_sentence *s)
{
	struct owner_field_values fields = {};
	int nid;

	reader->show_frames = s->mode != OWNER_MODE_HANDLE;
	reader->show_handle = s->mode != OWNER_MODE_STACK;
	nodes_clear(reader->nodes);
	for_each_node(nid) {
		fields.value[OWNER_FIELD_NID].number = nid;
		if (owner_lang_matches(s, &fields))
			node_set(nid, reader->nodes);
	}
}

/* --- The file ------------------------------------------------------------------ */

static int parse_sentence(struct query_file *page_file, const char __user *buf, size_t count)
{
	struct owner_query_reader *query = &page_file->query;
	struct owner_sentence *s = &query->query.sentence;
	bool had_filter = !query->has_sentence || is_filter(&page_file->former);
	int error = owner_query_read_sentence(query, buf, count);

	if (error || !is_filter(s))
		return error;
	error = check_nodes(s, &query->error_text);
	if (error)
		return error;
	if (had_filter)
		keep_settings(s, &page_file->former);
	apply_filter(&page_file->reader, s);
	return 0;
}

static ssize_t page_owner_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	struct query_file *page_file = get_query_file(file);
	struct owner_query_reader *query = &page_file->query;
	int error;

	if (mutex_lock_interruptible(&query->lock))
		return -ERESTARTSYS;
	page_file->former = query->query.sentence;
	owner_query_reset_reader(query);
	error = parse_sentence(page_file, buf, count);
	if (query->error_text)
		pr_err("%s", query->error_text);
	if (error) {
		query->query.sentence = page_file->former;
		kfree(query->error_text);
		query->error_text = NULL;
	} else {
		query->has_sentence = true;
		owner_page_reader_skip_record(&page_file->reader);
		*pos = 0;
	}
	mutex_unlock(&query->lock);
	return error ?: count;
}

static ssize_t page_owner_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct query_file *page_file = get_query_file(file);
	struct owner_query_reader *query = &page_file->query;
	ssize_t result;

	if (mutex_lock_interruptible(&query->lock))
		return -ERESTARTSYS;
	if (!query->has_sentence || is_filter(&query->query.sentence))
		result = owner_page_reader_read(&page_file->reader, buf, count, pos);
	else
		result = owner_query_read_answer(file, buf, count);
	mutex_unlock(&query->lock);
	return result;
}

static loff_t page_owner_llseek(struct file *file, loff_t offset, int whence)
{
	struct query_file *page_file = get_query_file(file);

	mutex_lock(&page_file->query.lock);
	offset = owner_page_reader_seek(&page_file->reader, file, offset, whence);
	mutex_unlock(&page_file->query.lock);
	return offset;
}

static int page_owner_open(struct inode *inode, struct file *file)
{
	int error = owner_query_open(file, sizeof(struct query_file), BIT(OWNER_SOURCE_PAGE));

	if (!error)
		owner_page_reader_init(&get_query_file(file)->reader);
	return error;
}

static int page_owner_release(struct inode *inode, struct file *file)
{
	owner_page_reader_free(&get_query_file(file)->reader);
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

/* Create page_owner and page_owner_stacks/. */
void __init owner_pages_debugfs_init(void)
{
	debugfs_create_file("page_owner", 0600, NULL, NULL, &page_owner_fops);
	owner_page_stacks_debugfs_init();
}
