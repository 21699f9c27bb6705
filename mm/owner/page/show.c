// SPDX-License-Identifier: GPL-2.0
/* How files print an allocation of pages: the lines before and after its call chain. */

#include <linux/migrate.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/seq_buf.h>

#include "../cgroup.h"
#include "../compat.h"
#include "../escape.h"
#include "page.h"

/**
 * owner_pages_print_head() - print the lines before the call chain
 * @text: where to print
 * @pages: the allocation, between get_online_mems() and put_online_mems()
 */
void owner_pages_print_head(struct seq_buf *text, const struct owner_pages *pages)
{
	const struct page_owner *owner = &pages->owner;
	char comm[OWNER_ESCAPED_COMM];

	owner_escape_name(comm, sizeof(comm), owner->comm, "");
	seq_buf_printf(text, "Page allocated via order %u, mask %#x(%pGg), ", owner->order,
		       owner->gfp_mask, &owner->gfp_mask);
	seq_buf_printf(text, "pid %d, tgid %d (%s), ts %llu ns\n", owner->pid, owner->tgid,
		       comm, owner->ts_nsec);
	seq_buf_printf(text, "PFN 0x%lx type %s Block %lu type %s Flags %pGp\n", pages->pfn,
		       migratetype_names[gfp_migratetype(owner->gfp_mask)],
		       pages->pfn >> pageblock_order,
		       migratetype_names[get_pageblock_migratetype(pages->page)],
		       &pages->page->flags);
}

/**
 * owner_pages_print_tail() - print the lines after the call chain
 * @text: where to print
 * @pages: the allocation, between get_online_mems() and put_online_mems()
 */
void owner_pages_print_tail(struct seq_buf *text, const struct owner_pages *pages)
{
	if (pages->owner.last_migrate_reason != OWNER_PAGE_NOT_MIGRATED)
		seq_buf_printf(text, "Page has been migrated, last migrate reason: %s\n",
			       migrate_reason_names[pages->owner.last_migrate_reason]);
	owner_cgroup_print(text, pages->page);
	if (pages->cache)
		seq_buf_printf(text, "Slab objects of %s: %u owned, %u untracked\n", pages->cache,
			       pages->owned, pages->objects - min(pages->owned, pages->objects));
}
