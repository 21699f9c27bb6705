// SPDX-License-Identifier: GPL-2.0
/*
 * Find allocations of pages, and copy their records.
 *
 * The reader takes no lock of the page allocator: pages are allocated and freed
 * while it looks at them. Each copy is the record as it was at one moment, and
 * holds a reference to the record's call chain.
 */

#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/string.h>

#include "../../internal.h"
#include "../compat.h"
#include "../walk.h"
#include "page.h"

/*
 * Return the page at @pfn if it may be allocated, else NULL. @step is the number
 * of page frames that the reader can step over.
 */
static struct page *get_used_page(unsigned long pfn, unsigned long *step)
{
	struct page *page = pfn_to_online_page(pfn);
	unsigned long order;

	*step = 1;
	if (!page) {
		*step = owner_hole_end(pfn) - pfn;
		return NULL;
	}
	if (!PageBuddy(page))
		return page;
	/* Read without zone->lock: the block may have been allocated since. */
	order = buddy_order_unsafe(page);
	if (order <= MAX_PAGE_ORDER)
		*step = 1UL << order;
	return NULL;
}

/* Copy the record of a page. Return false if the page is not tracked. */
static bool copy_if_tracked(const struct page_ext *ext, const struct page_owner *record,
			    struct page_owner *copy)
{
	/* Pairs with record_pages_alloc(): a reader that sees the flags sees the record. */
	if ((smp_load_acquire(&ext->flags) & PAGE_OWNER_TRACKED) != PAGE_OWNER_TRACKED)
		return false;
	/* The record may change while it is copied. */
	*copy = data_race(*record);
	/*
	 * Read the flags again only after the copy: they are clear while the record is
	 * written, so of two equal copies the first is the record of one allocation.
	 */
	smp_rmb();
	return true;
}

/*
 * Copy the record of the allocation that begins with @page, and take a reference to
 * its chain. Return false if no tracked allocation begins there, or it changed meanwhile.
 */
static bool copy_page_record(struct page *page, unsigned long pfn, struct owner_pages *found)
{
	struct page_ext *ext = page_ext_get(page);
	depot_stack_handle_t handle = 0;
	struct page_owner *record, now;

	if (!ext)
		goto out;
	record = page_ext_data(ext, &page_owner_ops);
	if (!copy_if_tracked(ext, record, &found->owner))
		goto out;
	if (!IS_ALIGNED(pfn, 1UL << found->owner.order))
		goto out;
	handle = page_owner_get_stack(&found->owner.handle);
	if (!handle)
		goto out;
	/* Compare all fields: the pages may have been allocated again by the same chain. */
	if (!copy_if_tracked(ext, record, &now) || memcmp(&now, &found->owner, sizeof(now))) {
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
 * owner_pages_find_next_tracked() - find the next tracked allocation of pages
 * @pfn: first page frame to look at; advanced past the frames that were looked at
 * @end: page frame to stop at
 * @found: filled with the allocation; the caller drops its reference to the chain
 *	with page_owner_put_stack()
 *
 * Context: between get_online_mems() and put_online_mems().
 *
 * Return: true if there is one.
 */
bool owner_pages_find_next_tracked(unsigned long *pfn, unsigned long end, struct owner_pages *found)
{
	while (*pfn < end) {
		unsigned long here = *pfn, step;
		struct page *page = get_used_page(here, &step);

		*pfn += step;
		if (page && copy_page_record(page, here, found)) {
			/* All its records are of one allocation: the one that was copied. */
			step = owner_folio_frames(page, here);
			if (step == 1UL << found->owner.order)
				*pfn = here + step;
			return true;
		}
	}
	return false;
}
