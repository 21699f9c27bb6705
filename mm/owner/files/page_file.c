// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/page_owner: all records, in order, as in Linux 6.12. Sentences about
 * pages are written to owner/query.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/slab.h>

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
	.llseek		= page_owner_llseek,
	.release	= page_owner_release,
};

/* Create page_owner and page_owner_stacks/. */
void __init owner_pages_debugfs_init(void)
{
	debugfs_create_file("page_owner", 0400, NULL, NULL, &page_owner_fops);
	owner_page_stacks_debugfs_init();
}
