// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/owner/control: read it to see the rules, write sentences to
 * change them.
 */

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../debugfs.h"
#include "../lang/lang.h"
#include "../page/page.h"
#include "../rules/rules.h"

/* Bytes that one write() can take. */
#define RULES_TEXT_MAX	SZ_64K

/* The error in the text that was written last, empty if there was none. */
static char last_error[OWNER_ERROR_TEXT_SIZE];
/* Guards last_error and serializes writers. */
static DEFINE_MUTEX(control_mutex);

/* Every line that is not a rule is a comment, so the output can be written back. */
static int show_control(struct seq_file *m, void *v)
{
	const char *line, *end;
	int error = owner_rules_show(m);

	if (error)
		return error;
	/* A write that looks up functions, or erases the records of frees, holds it for long. */
	if (mutex_lock_killable(&control_mutex))
		return -EINTR;
	for (line = last_error; *line; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		seq_printf(m, "# %.*s\n", (int)(end - line), line);
	}
	mutex_unlock(&control_mutex);
	return 0;
}

static int open_control(struct inode *inode, struct file *file)
{
	return single_open(file, show_control, NULL);
}

/* Called with control_mutex held. Returns the value of owner_rules_write(). */
static int write_rules_from_user(const char __user *buf, size_t count)
{
	char *text;
	int error;

	if (count > RULES_TEXT_MAX) {
		scnprintf(last_error, sizeof(last_error),
			  "at most %d bytes can be written at once, not %zu\n",
			  RULES_TEXT_MAX, count);
		return -EINVAL;
	}
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = owner_rules_write(text, count, last_error, sizeof(last_error));
	kfree(text);
	return error;
}

/* All sentences of one write() take effect together, or none does. */
static ssize_t write_control(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int error;

	if (mutex_lock_killable(&control_mutex))
		return -EINTR;
	last_error[0] = '\0';
	error = write_rules_from_user(buf, count);
	if (error == -EINVAL)
		pr_err_ratelimited("owner: control: %s", last_error);
	mutex_unlock(&control_mutex);
	return error ?: count;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= open_control,
	.read		= seq_read,
	.write		= write_control,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init control_file_init(void)
{
	if (owner_tracks_anything())
		owner_debugfs_add("control", 0600, &control_fops);
	return 0;
}
late_initcall(control_file_init);
