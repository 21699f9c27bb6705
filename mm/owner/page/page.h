/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_owner: the hooks and readers of records. The record is in ../page_record.h.
 *
 * mm/page_owner.c	boot parameter, pages allocated before page_owner, dump_page()
 * page.c		writes the records when pages are allocated, freed and migrated
 * find.c		finds allocations and copies their records
 * show.c		prints a record, but for its call chain
 * walk.c		the source of pages for a cursor
 */
#ifndef _MM_OWNER_PAGE_H
#define _MM_OWNER_PAGE_H

#include <linux/page_ext.h>
#include <linux/refcount.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include "../page_record.h"

struct seq_buf;

/* Flags of a page that is allocated and has an owner. */
#define PAGE_OWNER_TRACKED	(BIT(PAGE_EXT_OWNER) | BIT(PAGE_EXT_OWNER_ALLOCATED))

/* Chains of mm/page_owner.c are evictable and counted, like those of any page. */
#define PAGE_OWNER_DEPOT_FLAGS	(STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET | \
				 STACK_DEPOT_FLAG_COUNT)

/* For mm/page_owner.c */
bool owner_pages_init(depot_stack_handle_t dummy, depot_stack_handle_t failure);
void owner_pages_debugfs_init(void);
void page_owner_get_stacks(depot_stack_handle_t handle, unsigned long pages);

/**
 * page_owner_get_stack() - take a reference to a handle in a record
 * @handle: address of the handle; RCU is read-locked since before it was read
 *
 * Return: the handle, for page_owner_put_stack(); 0 if its chain has been evicted.
 */
static inline depot_stack_handle_t page_owner_get_stack(const depot_stack_handle_t *handle)
{
	depot_stack_handle_t seen = READ_ONCE(*handle);

	return stack_depot_get(seen) ? seen : 0;
}

static inline void page_owner_put_stack(depot_stack_handle_t handle)
{
	stack_depot_put(handle);
}

/**
 * page_owner_put_stack_oops() - drop a reference in dump_page()
 * @handle: from page_owner_get_stack(); can be 0
 *
 * An oops may have interrupted the depot, which takes a lock to free a chain. If others
 * have dropped theirs meanwhile, this reference is kept, and so is the chain.
 *
 * Return: false if the reference is kept.
 */
static inline bool page_owner_put_stack_oops(depot_stack_handle_t handle)
{
	struct stack_record *chain = handle ? __stack_depot_get_stack_record(handle) : NULL;

	return !chain || refcount_dec_not_one(&chain->count);
}

#ifdef CONFIG_PAGE_OWNER

/* page.c */
bool owner_pages_wanted(void);
bool owner_pages_tracked(void);
unsigned long owner_page_failures(void);

/* find.c */
bool owner_pages_find_next_tracked(unsigned long *pfn, unsigned long end,
				   struct owner_pages *found);

/* show.c */
void owner_pages_print_head(struct seq_buf *text, const struct owner_pages *pages);
void owner_pages_print_tail(struct seq_buf *text, const struct owner_pages *pages);

#else /* CONFIG_PAGE_OWNER */

static inline bool owner_pages_wanted(void)
{
	return false;
}

static inline bool owner_pages_tracked(void)
{
	return false;
}

static inline unsigned long owner_page_failures(void)
{
	return 0;
}

static inline void owner_pages_print_head(struct seq_buf *text, const struct owner_pages *pages)
{
}

static inline void owner_pages_print_tail(struct seq_buf *text, const struct owner_pages *pages)
{
}

#endif /* CONFIG_PAGE_OWNER */

/* Does the boot line ask for owners of slab objects or of pages? */
static inline bool owner_tracks_anything(void)
{
	return slab_owner_wanted() || owner_pages_tracked();
}

#endif /* _MM_OWNER_PAGE_H */
