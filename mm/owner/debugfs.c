// SPDX-License-Identifier: GPL-2.0
/*
 * The debugfs directory owner/:
 *
 * top		the call chains that hold most, in tables
 * stats	how much is tracked, losses and slow captures
 * caches	each cache's objects, tracked or not
 * binaries	the files that user chains name
 * control	the rules
 * query	answers a sentence that is written to it
 *
 * Rooms that have a file add it in a late_initcall().
 */

#include <linux/debugfs.h>
#include <linux/init.h>

#include "debugfs.h"

static struct dentry *directory __initdata;

/**
 * owner_debugfs_add() - add a file to the directory owner/, in an initcall
 * @name: name of the file
 * @mode: permissions of the file
 * @fops: operations of the file
 */
void __init owner_debugfs_add(const char *name, umode_t mode, const struct file_operations *fops)
{
	if (!directory)
		directory = debugfs_create_dir("owner", NULL);
	debugfs_create_file(name, mode, directory, NULL, fops);
}
