/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What page_owner has of the owner subsystem: mm/page_owner.c sets it up and
 * marks what was allocated before, the rest is here.
 *
 * page.c	the record of each page, written as pages come and go
 * page_walk.c	allocations of pages, walked by readers
 * page_file.c	/sys/kernel/debug/page_owner
 *
 * Without CONFIG_SLAB_OWNER page_owner is as it was before.
 */
#ifndef _MM_OWNER_PAGE_H
#define _MM_OWNER_PAGE_H

#include <linux/page_ext.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct page;
struct seq_buf;
struct seq_file;

/*
 * The record of a page. Each of its handles has a reference, which is dropped
 * when another takes its place: what a page was last is known after it was freed.
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

#ifdef CONFIG_SLAB_OWNER

/* The flags of a page that is allocated and has an owner. */
#define PAGE_OWNER_TRACKED	(BIT(PAGE_EXT_OWNER) | BIT(PAGE_EXT_OWNER_ALLOCATED))

/* How page_owner's own handles are saved: as those of any page. */
#define PAGE_OWNER_DEPOT_FLAGS	(STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET | \
				 STACK_DEPOT_FLAG_COUNT)

bool owner_pages_init(depot_stack_handle_t dummy, depot_stack_handle_t failure);
void owner_pages_debugfs_init(void);

/* So many pages have got this handle, which is held for ever, too: count them. */
void page_owner_get_stacks(depot_stack_handle_t handle, unsigned long pages);

/* The handle in a record of which RCU is read-locked, to be released; 0 if it has gone. */
static inline depot_stack_handle_t page_owner_get_stack(const depot_stack_handle_t *where)
{
	depot_stack_handle_t handle = READ_ONCE(*where);

	return stack_depot_get(handle) ? handle : 0;
}

static inline void page_owner_put_stack(depot_stack_handle_t handle)
{
	stack_depot_put(handle);
}

/* An allocation of pages, as a reader sees it. */
struct owner_pages {
	unsigned long pfn;		/* of the first */
	struct page *page;
	struct page_owner owner;	/* its handle with a reference, until the next is found */
	const char *cache;		/* of slabs that it serves, or NULL; while the walk lasts */
	unsigned int objects;		/* of the slab, in use */
	unsigned int owned;		/* those of them that have owners */
};

#ifdef CONFIG_PAGE_OWNER

/* page.c */
bool owner_pages_wanted(void);
unsigned long owner_page_failures(void);

/* page_walk.c */
bool owner_pages_tracked(void);
bool owner_pages_find(unsigned long *pfn, unsigned long end, struct owner_pages *found);

/* page_show.c */
void owner_pages_print_head(struct seq_buf *text, const struct owner_pages *pages);
void owner_pages_print_tail(struct seq_buf *text, const struct owner_pages *pages);

#else /* CONFIG_PAGE_OWNER */

static inline bool owner_pages_wanted(void)
{
	return false;
}

static inline unsigned long owner_page_failures(void)
{
	return 0;
}

static inline bool owner_pages_tracked(void)
{
	return false;
}

static inline void owner_pages_print_head(struct seq_buf *text, const struct owner_pages *pages)
{
}

static inline void owner_pages_print_tail(struct seq_buf *text, const struct owner_pages *pages)
{
}

#endif /* CONFIG_PAGE_OWNER */

#else /* CONFIG_SLAB_OWNER */

#define PAGE_OWNER_DEPOT_FLAGS	STACK_DEPOT_FLAG_CAN_ALLOC

static inline void page_owner_get_stacks(depot_stack_handle_t handle, unsigned long pages)
{
}

static inline depot_stack_handle_t page_owner_get_stack(const depot_stack_handle_t *where)
{
	return READ_ONCE(*where);
}

static inline void page_owner_put_stack(depot_stack_handle_t handle)
{
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_PAGE_H */
