/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MM_OWNER_DEBUGFS_H
#define _MM_OWNER_DEBUGFS_H

#include <linux/fs.h>
#include <linux/types.h>

void owner_debugfs_add(const char *name, umode_t mode, const struct file_operations *fops);

#endif /* _MM_OWNER_DEBUGFS_H */
