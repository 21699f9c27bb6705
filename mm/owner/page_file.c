// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/page_owner without CONFIG_SLAB_OWNER: all records, in order. */

#define pr_fmt(fmt) "page_owner: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "page.h"
#include "page_reader.h"
#include "stacks_file.h"

struct plain_file {
	struct mutex lock;		/* protects reader */
	struct owner_page_reader reader;
};

static int page_owner_open(struct inode *inode, struct file *file)
{
	struct plain_file *plain = kzalloc(sizeof(*plain), GFP_KERNEL);

	if (!plain)
		return -ENOMEM;
	mutex_init(&plain->lock);
	owner_page_reader_init(&plain->reader);
	file->private_data = plain;
	return 0;
}

static ssize_t page_owner_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct plain_file *plain = file->private_data;
	ssize_t result;

	if (mutex_lock_interruptible(&plain->lock))
		return -ERESTARTSYS;
	result = owner_page_reader_read(&plain->reader, buf, count, pos);
	mutex_unlock(&plain->lock);
	return result;
}

static ssize_t page_owner_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	pr_err("this kernel understands no sentences: they need CONFIG_SLAB_OWNER\n");
	return -EOPNOTSUPP;
}

static loff_t page_owner_llseek(struct file *file, loff_t offset, int whence)
{
	struct plain_file *plain = file->private_data;

	mutex_lock(&plain->lock);
	offset = owner_page_reader_seek(&plain->reader, file, offset, whence);
	mutex_unlock(&plain->lock);
	return offset;
}

static int page_owner_release(struct inode *inode, struct file *file)
{
	struct plain_file *plain = file->private_data;

	owner_page_reader_free(&plain->reader);
	mutex_destroy(&plain->lock);
	kfree(plain);
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

/* Create page_owner and page_owner_stacks/. */
void __init owner_pages_debugfs_init(void)
{
	debugfs_create_file("page_owner", 0400, NULL, NULL, &page_owner_fops);
	owner_page_stacks_debugfs_init();
}
