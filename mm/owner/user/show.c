// SPDX-License-Identifier: GPL-2.0
/*
 * Print user chains: a token for each frame, and one for the reason why there is no more. Also
 * /sys/kernel/debug/owner/binaries: the files that they name.
 */

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab_owner.h>
#include <linux/types.h>
#include <linux/kdev_t.h>

#include "../debugfs.h"
#include "../escape.h"
#include "user.h"

const char * const owner_user_reason_names[OWNER_USER_REASONS] = {
	[OWNER_USER_NO_REASON]		= "not-asked",
	[OWNER_USER_KERNEL_THREAD]	= "kernel-thread",
	[OWNER_USER_WORKER]		= "user-worker",
	[OWNER_USER_EXITING]		= "exiting",
	[OWNER_USER_EXEC]		= "exec",
	[OWNER_USER_32BIT]		= "32-bit",
	[OWNER_USER_INTERRUPT]		= "interrupt",
	[OWNER_USER_NO_FRAME_POINTERS]	= "no-frame-pointers",
	[OWNER_USER_FAULT]		= "fault",
	[OWNER_USER_CYCLE]		= "cycle",
	[OWNER_USER_BINARIES_FULL]	= "binaries-full",
	[OWNER_USER_NO_MEMORY]		= "no-memory",
	[OWNER_USER_PENDING]		= "pending",
};

/* Print the build-id of a file, or its device and inode. */
static void show_id(struct seq_file *m, const struct owner_binary *binary)
{
	if (binary->build_id_size)
		seq_printf(m, "%*phN", (int)binary->build_id_size, binary->build_id);
	else
		seq_printf(m, "%u:%u:%llu", MAJOR(binary->dev), MINOR(binary->dev), binary->ino);
}

/* Print the name of a file as one word. */
static void show_name(struct seq_file *m, const char *name)
{
	size_t room, length;
	char *buf;

	room = seq_get_buf(m, &buf);
	length = room ? owner_escape_name(buf, room, name, " ,;") : 0;
	seq_commit(m, length < room ? length : -1);
}

/**
 * owner_user_show_frame() - print a word of a user chain as one token
 * @m: the file
 * @frame: the word
 */
void owner_user_show_frame(struct seq_file *m, u64 frame)
{
	const struct owner_binary *binary = owner_binary_of(frame);
	u64 offset = owner_user_offset(frame);

	if (binary) {
		show_name(m, binary->name);
		seq_printf(m, "+0x%llx@", offset);
		show_id(m, binary);
		return;
	}
	switch (owner_user_place(frame)) {
	case OWNER_USER_PLACE_VDSO:
		seq_printf(m, "[vdso]+0x%llx", offset);
		break;
	case OWNER_USER_PLACE_ANON:
		seq_puts(m, "[anon]");
		break;
	default:
		seq_printf(m, "(%s)", owner_user_reason_names[min(offset, OWNER_USER_REASONS - 1)]);
	}
}

/**
 * owner_user_show_lines() - print the user chain of an owner, one frame in a line
 * @m: the file
 * @task: the handle of the task or of the context, with a reference, or 0
 */
void owner_user_show_lines(struct seq_file *m, depot_stack_handle_t task)
{
	u64 frames[OWNER_USER_WORDS];
	unsigned int i, count = owner_user_fetch(task, frames);

	for (i = 0; i < count; i++) {
		seq_puts(m, " user ");
		owner_user_show_frame(m, frames[i]);
		seq_putc(m, '\n');
	}
}

/**
 * owner_user_show_counts() - print how often there was a user chain, and why there was none
 * @m: the file
 */
void owner_user_show_counts(struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "user_known: %ld\n", owner_user_read_count(OWNER_USER_NO_REASON));
	for (i = OWNER_USER_NO_REASON + 1; i < OWNER_USER_REASONS; i++)
		seq_printf(m, "user_%s: %ld\n", owner_user_reason_names[i],
			   owner_user_read_count(i));
}

/* --- owner/binaries ------------------------------------------------------------ */

/* Find the first file at @pos or behind, and set @pos to its place. */
static void *find_next_binary(loff_t *pos)
{
	const struct owner_binary *binary;

	for (; *pos < owner_count_binaries(); ++*pos) {
		binary = owner_binary_at(*pos);
		if (binary)
			return (void *)binary;
	}
	return NULL;
}

static void *binaries_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	rcu_read_lock();
	return find_next_binary(pos);
}

static void *binaries_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return find_next_binary(pos);
}

static void binaries_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int binaries_show(struct seq_file *m, void *v)
{
	const struct owner_binary *binary = v;

	show_id(m, binary);
	seq_putc(m, ' ');
	show_name(m, binary->path ?: binary->name);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations binaries_sops = {
	.start	= binaries_start,
	.next	= binaries_next,
	.stop	= binaries_stop,
	.show	= binaries_show,
};

static int open_binaries(struct inode *inode, struct file *file)
{
	return seq_open(file, &binaries_sops);
}

const struct file_operations owner_binaries_fops = {
	.owner		= THIS_MODULE,
	.open		= open_binaries,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static int __init user_debugfs_init(void)
{
	if (slab_owner_wanted())
		owner_debugfs_add("binaries", 0400, &owner_binaries_fops);
	return 0;
}
late_initcall(user_debugfs_init);
