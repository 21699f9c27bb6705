// SPDX-License-Identifier: GPL-2.0
/*
 * Creates the debugfs files:
 *
 * slab_owner		a record for each slab object and per-CPU area that has an owner
 * slab_owner_stacks/	what each call chain holds in slabs and per-CPU areas
 * owner/top		the call chains that hold most, in tables
 * owner/stats		how much is tracked, losses and slow captures
 * owner/caches		each cache's objects, tracked or not
 * owner/binaries	the files that user chains name
 * owner/control	the rules
 * owner/query		answers a sentence that is written to it
 *
 * page_file.c creates page_owner; page_stacks_file.c creates page_owner_stacks/.
 */

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/slab_owner.h>

#include "debugfs.h"
#include "page.h"
#include "query/query.h"
#include "stacks_file.h"

static int __init owner_debugfs_init(void)
{
	struct dentry *dir;

	if (!slab_owner_wanted() && !owner_pages_tracked())
		return 0;
	owner_query_watch_modules();
	dir = debugfs_create_dir("owner", NULL);
	debugfs_create_file("top", 0400, dir, NULL, &owner_top_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &owner_stats_fops);
	debugfs_create_file("control", 0600, dir, NULL, &owner_control_fops);
	debugfs_create_file("query", 0600, dir, NULL, &owner_query_fops);
	if (!slab_owner_wanted())
		return 0;
	debugfs_create_file("slab_owner", 0400, NULL, NULL, &owner_slab_fops);
	debugfs_create_file("caches", 0400, dir, NULL, &owner_caches_fops);
	debugfs_create_file("binaries", 0400, dir, NULL, &owner_binaries_fops);
	owner_slab_stacks_debugfs_init();
	return 0;
}
late_initcall(owner_debugfs_init);
