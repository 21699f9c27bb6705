// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/page_owner: all records, in order. Words that are written to an open file
 * choose how it shows them: "mode=handle nid=0,2". Sentences about pages are for owner/query.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../page/page.h"
#include "page_reader.h"
#include "stacks_file.h"

struct page_file {
	struct mutex lock;		/* protects reader */
	struct owner_page_reader reader;
};

static int page_owner_open(struct inode *inode, struct file *file)
{
	struct page_file *page_file = kzalloc(sizeof(*page_file), GFP_KERNEL);

	if (!page_file)
		return -ENOMEM;
	mutex_init(&page_file->lock);
	owner_page_reader_init(&page_file->reader);
	file->private_data = page_file;
	return 0;
}

static ssize_t page_owner_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct page_file *page_file = file->private_data;
	ssize_t result;

	if (mutex_lock_interruptible(&page_file->lock))
		return -ERESTARTSYS;
	result = owner_page_reader_read(&page_file->reader, buf, count, pos);
	mutex_unlock(&page_file->lock);
	return result;
}

/* The language has these names, too, but page_owner also exists without it. */
static const char * const mode_names[] = {
	[OWNER_MODE_STACK]		= "stack",
	[OWNER_MODE_HANDLE]		= "handle",
	[OWNER_MODE_STACK_HANDLE]	= "stack_handle",
};

static int parse_filter_word(const char *word, struct owner_page_filter *filter)
{
	size_t length;
	int result;

	length = str_has_prefix(word, "mode=");
	if (length) {
		result = sysfs_match_string(mode_names, word + length);
		if (result >= 0)
			filter->mode = result;
		return result;
	}
	length = str_has_prefix(word, "nid=");
	if (!length || nodelist_parse(word + length, filter->nodes))
		return -EINVAL;
	/* A node without memory is a mistake of the writer: no page would be shown. */
	return nodes_empty(filter->nodes) || !nodes_subset(filter->nodes, node_states[N_MEMORY]) ?
	       -EINVAL : 0;
}

/* Longest text: a mode, and each node with a comma */
#define FILTER_SIZE_MAX		(32 + 6 * MAX_NUMNODES)

/* If one word is wrong, the filter stays as it was. */
static ssize_t page_owner_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	struct page_file *page_file = file->private_data;
	struct owner_page_filter filter;
	char *text, *rest, *word;
	int result = 0;

	if (count > FILTER_SIZE_MAX)
		return -EINVAL;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&page_file->lock);
	filter = page_file->reader.filter;
	for (rest = text; result >= 0 && (word = strsep(&rest, " \t\n"));)
		if (*word)
			result = parse_filter_word(word, &filter);
	if (result >= 0)
		page_file->reader.filter = filter;
	mutex_unlock(&page_file->lock);
	kfree(text);
	return result < 0 ? result : count;
}

static loff_t page_owner_llseek(struct file *file, loff_t offset, int whence)
{
	struct page_file *page_file = file->private_data;

	mutex_lock(&page_file->lock);
	offset = owner_page_reader_seek(&page_file->reader, file, offset, whence);
	mutex_unlock(&page_file->lock);
	return offset;
}

static int page_owner_release(struct inode *inode, struct file *file)
{
	struct page_file *page_file = file->private_data;

	owner_page_reader_free(&page_file->reader);
	mutex_destroy(&page_file->lock);
	kfree(page_file);
	return 0;
}

static const struct file_operations page_owner_fops = {
	.owner		= THIS_MODULE,
	.open		= page_owner_open,
	.read		= page_owner_read,
	.write		= page_owner_write,
	.llseek		= page_owner_llseek,
	.release	= page_owner_release,
};

/*
 * Create page_owner and page_owner_stacks/. Secure Boot lets nobody read files that can be written.
 * Root can open this one for writing.
 */
void __init owner_pages_debugfs_init(void)
{
	debugfs_create_file("page_owner", 0400, NULL, NULL, &page_owner_fops);
	owner_page_stacks_debugfs_init();
}
