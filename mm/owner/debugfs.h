/* SPDX-License-Identifier: GPL-2.0 */
/* The files that debugfs.c creates. Each is implemented beside its subject. */
#ifndef _MM_OWNER_DEBUGFS_H
#define _MM_OWNER_DEBUGFS_H

#include <linux/fs.h>

extern const struct file_operations owner_slab_fops;	/* slab_file.c */
extern const struct file_operations owner_stats_fops;	/* stats_file.c */
extern const struct file_operations owner_binaries_fops;
extern const struct file_operations owner_caches_fops;	/* caches_file.c */
extern const struct file_operations owner_top_fops;	/* top_file.c */
extern const struct file_operations owner_control_fops;	/* rules/file.c */
extern const struct file_operations owner_query_fops;	/* query/file.c */

#endif /* _MM_OWNER_DEBUGFS_H */
