// SPDX-License-Identifier: GPL-2.0
/*
 * Walking the allocations of pages.
 */

#include <linux/memblock.h>
#include <linux/mm.h>

#include "page.h"
#include "walk.h"

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
