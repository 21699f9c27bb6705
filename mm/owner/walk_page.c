// SPDX-License-Identifier: GPL-2.0
/*
 * Walking the allocations of pages.
 *
 * A walk takes no lock of the allocator's: pages come and go under it. What it
 * finds of a page is the record as it stood at one moment, and with a reference
 * to its call chain.
 */

#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../internal.h"
#include "owner.h"
#include "page.h"

/* Is page_owner on? */
bool owner_pages_tracked(void)
{
	return static_branch_unlikely(&page_owner_inited);
}

/*
 * The page at @pfn if it may be allocated; else NULL, and @skip says how many
 * there are of that kind.
 */
static struct page *page_at(unsigned long pfn, unsigned long *skip)
{
	struct page *page = pfn_to_online_page(pfn);

	*skip = 1;
	if (!page) {
		*skip = pageblock_nr_pages - (pfn & (pageblock_nr_pages - 1));
	} else if (PageBuddy(page)) {
		unsigned long order = buddy_order_unsafe(page);

		/* Read without the zone's lock: a free block that just went. */
		if (order <= MAX_PAGE_ORDER)
			*skip = 1UL << order;
		page = NULL;
	}
	return page;
}

/* The record of a page that is allocated, RCU being read-locked; else NULL. */
static struct page_owner *record_of(struct page_ext *ext)
{
	if (!ext || (READ_ONCE(ext->flags) & PAGE_OWNER_TRACKED) != PAGE_OWNER_TRACKED)
		return NULL;
	return page_ext_data(ext, &page_owner_ops);
}

/* Copy the record of the allocation that begins with this page, if one does. */
static bool snapshot(struct page *page, unsigned long pfn, struct owner_pages *found)
{
	struct page_ext *ext = page_ext_get(page);
	struct page_owner *record = record_of(ext), again;
	depot_stack_handle_t handle = 0;

	if (!record)
		goto out;
	/* Whether it changes meanwhile is looked at below. */
	found->owner = data_race(*record);
	if (!IS_ALIGNED(pfn, 1UL << found->owner.order))
		goto out;
	handle = page_owner_get_stack(&found->owner.handle);
	if (!handle)
		goto out;
	/* All of it: the same caller may have freed and allocated. */
	again = data_race(*record);
	if (memcmp(&again, &found->owner, sizeof(again))) {
		page_owner_put_stack(handle);
		handle = 0;
		goto out;
	}
	found->pfn = pfn;
	found->page = page;
	found->cache = NULL;
out:
	page_ext_put(ext);
	return handle;
}

/**
 * owner_pages_find - find the next allocation of pages
 * @pfn: from this page frame on; it is left behind what was looked at
 * @end: where to stop
 * @found: where it is described; page_owner_put_stack() is due for its handle
 *
 * Context: between get_online_mems() and put_online_mems().
 *
 * Return: true if there is one.
 */
bool owner_pages_find(unsigned long *pfn, unsigned long end, struct owner_pages *found)
{
	while (*pfn < end) {
		unsigned long here = *pfn, skip;
		struct page *page = page_at(here, &skip);

		*pfn += skip;
		if (page && snapshot(page, here, found))
			return true;
	}
	return false;
}

/* Whose objects are they, if the pages serve slabs? */
static void describe_slab(struct owner_cursor *walk, struct owner_pages *found)
{
	struct owner_slab_usage slab;

	if (!PageSlab(found->page) || !owner_cursor_at(walk, found->pfn, &slab))
		return;
	found->cache = slab.name;
	found->objects = slab.allocated;
	found->owned = slab.tracked;
}

/* Page frames that are looked at before others get a turn. */
#define WALK_STRETCH	1024

/**
 * owner_pages_next - find the next allocation of pages, and what it serves
 * @walk: between owner_cursor_begin() and owner_cursor_end(), used for pages only
 * @found: where it is described, good until the walk moves on
 *
 * Return: 1 if there is one, 0 if there is none, -ERESTARTSYS if a signal came.
 */
int owner_pages_next(struct owner_cursor *walk, struct owner_pages *found)
{
	owner_cursor_release(walk);
	while (walk->pfn < max_pfn) {
		unsigned long end = min(walk->pfn + WALK_STRETCH, max_pfn);
		int error = owner_cursor_rest(walk);

		if (error)
			return error;
		if (owner_pages_find(&walk->pfn, end, found)) {
			walk->held.stack = found->owner.handle;
			describe_slab(walk, found);
			return 1;
		}
	}
	return 0;
}
