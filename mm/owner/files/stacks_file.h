/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The directories slab_owner_stacks and page_owner_stacks. stacks_file.c implements
 * their files; slab_stacks_file.c and page_stacks_file.c say where the figures come
 * from and how they are printed.
 */
#ifndef _MM_OWNER_STACKS_FILE_H
#define _MM_OWNER_STACKS_FILE_H

#include <linux/types.h>

#include "../lang/kind.h"

struct dentry;
struct owner_chain_total;
struct owner_source_ops;
struct seq_file;

/**
 * struct owner_stacks_ops - one directory
 * @kind: of the objects or pages
 * @uncounted: a source of further objects, or NULL
 * @show_total: print what a chain holds
 * @threshold: chains that hold fewer objects or pages are left out of the files that
 *	print totals
 */
struct owner_stacks_ops {
	enum owner_kind kind;
	const struct owner_source_ops *uncounted;
	void (*show_total)(struct seq_file *m, const struct owner_chain_total *total);
	u64 *threshold;
};

void owner_stacks_create_files(struct dentry *dir, const struct owner_stacks_ops *ops);
int owner_stacks_threshold_get(void *threshold, u64 *value);
int owner_stacks_threshold_set(void *threshold, u64 value);

void owner_slab_stacks_debugfs_init(void);
void owner_page_stacks_debugfs_init(void);

#endif /* _MM_OWNER_STACKS_FILE_H */
