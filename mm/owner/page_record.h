/* SPDX-License-Identifier: GPL-2.0 */
/* The record of a page, as mm/page_owner.c and page/ keep it and as readers get it. */
#ifndef _MM_OWNER_PAGE_RECORD_H
#define _MM_OWNER_PAGE_RECORD_H

#include <linux/gfp_types.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct page;

/*
 * The record of a page. Each handle holds a reference, which is dropped when another
 * handle replaces it: the last owner of a free page stays known.
 */
struct page_owner {
	unsigned short order;
	short last_migrate_reason;
	gfp_t gfp_mask;
	depot_stack_handle_t handle;
	depot_stack_handle_t free_handle;
	u64 ts_nsec;
	u64 free_ts_nsec;
	char comm[TASK_COMM_LEN];
	pid_t pid;
	pid_t tgid;
	pid_t free_pid;
	pid_t free_tgid;
};

/**
 * struct owner_pages - an allocation of pages, copied for a reader
 * @pfn: page frame of the first page
 * @page: the first page; it can be freed at any time
 * @owner: its record; @owner.handle has a reference
 * @cache: name of the slab cache that the pages serve, or NULL
 * @objects: slab objects in the pages
 * @owned: slab objects that have owners
 */
struct owner_pages {
	unsigned long pfn;
	struct page *page;
	struct page_owner owner;
	const char *cache;
	unsigned int objects;
	unsigned int owned;
};

#endif /* _MM_OWNER_PAGE_RECORD_H */
