// SPDX-License-Identifier: GPL-2.0
/* Walking the allocations of pages. A position is a page frame. */

#include <linux/memblock.h>
#include <linux/mm.h>

#include "../slab/walk.h"
#include "page.h"

/* If the pages serve a slab, say which cache it belongs to and how much of it is tracked. */
static void fill_slab_usage(struct owner_cursor *cursor, struct owner_pages *pages)
{
	struct owner_slab_usage usage;

	if (!PageSlab(pages->page) || !owner_slab_get_usage(cursor, pages->pfn, &usage))
		return;
	pages->cache = usage.name;
	pages->objects = usage.allocated;
	pages->owned = usage.tracked;
}

static void fill_object(struct owner_object *object)
{
	const struct owner_pages *pages = &object->pages;

	object->kind = OWNER_KIND_PAGE;
	object->slab_cache = NULL;
	object->cache = pages->cache;
	object->held = PAGE_SIZE << pages->owner.order;
	object->index = 0;
	object->nid = page_to_nid(pages->page);
	object->pfn = pages->pfn;
	object->address = PageHighMem(pages->page) ? NULL : page_address(pages->page);
	object->size = PAGE_SIZE << pages->owner.order;
	object->span = object->held;
	object->owner = (struct owner_record){ .stack = pages->owner.handle };
}

/* Look at that many page frames before the next owner_cursor_yield(). */
#define FRAMES_PER_YIELD	1024

static int next_pages(struct owner_cursor *cursor, struct owner_object *object)
{
	unsigned long pfn = cursor->pos;
	bool found = false;
	int error = 0;

	while (!found && pfn < (cursor->end ?: max_pfn)) {
		unsigned long end = min(pfn + FRAMES_PER_YIELD, cursor->end ?: max_pfn);

		error = owner_cursor_yield(cursor);
		if (error)
			break;
		found = owner_pages_find_next_tracked(&pfn, end, &object->pages);
	}
	cursor->pos = pfn;
	if (found) {
		cursor->found_pos = object->pages.pfn;
		cursor->ref.stack = object->pages.owner.handle;
		fill_slab_usage(cursor, &object->pages);
		fill_object(object);
	}
	return error ?: found;
}

/* Look only where an allocation can begin that has the page of an address. */
static const char *seek_pages(struct owner_cursor *cursor, u64 address)
{
	unsigned long pfn;
	struct page *page = owner_page_of_address(address, &pfn);
	unsigned long searched = cursor->end, first;

	cursor->pos = searched;
	cursor->end = max(searched, 1UL);
	if (!page)
		return "no address of a page";
	/* Pages of an allocation that is no folio do not lead to the first of them. */
	first = min(page_to_pfn(compound_head(page)), ALIGN_DOWN(pfn, MAX_ORDER_NR_PAGES));
	cursor->pos = max(first, searched);
	cursor->end = max(pfn + 1, searched);
	return NULL;
}

/* With the locks of the slab source, for the usage of slabs. */
const struct owner_source_ops owner_page_source = {
	.lock	= owner_lock_caches_and_memory,
	.unlock	= owner_unlock_caches_and_memory,
	.next	= next_pages,
	.seek	= seek_pages,
};
