// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/page_owner_stacks: how many pages each call chain holds. */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../compat.h"
#include "../totals.h"
#include "stacks_file.h"

static u64 count_threshold;

static void show_pages(struct seq_file *m, const struct owner_chain_total *total)
{
	seq_put_decimal_ull(m, "nr_base_pages: ", total->estimate.objects);
	seq_putc(m, '\n');
}

static const struct owner_stacks_ops page_stacks_ops = {
	.kind		= OWNER_KIND_PAGE,
	.show_total	= show_pages,
	.threshold	= &count_threshold,
};

DEFINE_DEBUGFS_ATTRIBUTE(count_threshold_fops, owner_stacks_threshold_get,
			 owner_stacks_threshold_set, OWNER_THRESHOLD_FORMAT);

void __init owner_page_stacks_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("page_owner_stacks", NULL);

	owner_stacks_create_files(dir, &page_stacks_ops);
	debugfs_create_file_unsafe("count_threshold", 0600, dir, &count_threshold,
				   &count_threshold_fops);
}
