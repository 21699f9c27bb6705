// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/slab_owner_stacks: what each call chain holds in slabs and per-CPU areas. */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../totals.h"
#include "../walk.h"
#include "stacks_file.h"

static u64 count_threshold;

static void show_objects(struct seq_file *m, const struct owner_chain_total *total)
{
	seq_put_decimal_ull(m, "nr_objects: ", total->estimate.objects);
	seq_put_decimal_ull(m, "\nnr_bytes: ", total->estimate.bytes);
	seq_putc(m, '\n');
}

static const struct owner_stacks_ops slab_stacks_ops = {
	.kind		= OWNER_KIND_SLAB,
	.uncounted	= &owner_percpu_source,
	.show_total	= show_objects,
	.threshold	= &count_threshold,
};

DEFINE_DEBUGFS_ATTRIBUTE(count_threshold_fops, owner_stacks_threshold_get,
			 owner_stacks_threshold_set, "%llu\n");

void __init owner_slab_stacks_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("slab_owner_stacks", NULL);

	owner_stacks_create_files(dir, &slab_stacks_ops);
	debugfs_create_file_unsafe("count_threshold", 0600, dir, &count_threshold,
				   &count_threshold_fops);
}
