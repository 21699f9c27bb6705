/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_owner: the record of each page, and the files that show the records.
 *
 * mm/page_owner.c	boot parameter, pages allocated before page_owner, dump_page()
 * page.c		writes the records when pages are allocated, freed and migrated
 * page_find.c		finds allocations and copies their records
 * page_show.c		prints a record, but for its call chain
 * page_reader.c	reads records as text; see page_reader.h for the file page_owner
 * page_stacks_file.c	/sys/kernel/debug/page_owner_stacks
 * walk_page.c		allocations of pages as a source of queries (CONFIG_SLAB_OWNER)
 */
#ifndef _MM_OWNER_PAGE_H
#define _MM_OWNER_PAGE_H

#include <linux/page_ext.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct page;
struct seq_buf;

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

#ifdef CONFIG_PAGE_OWNER

/* page.c */
bool owner_pages_wanted(void);
bool owner_pages_tracked(void);
unsigned long owner_page_failures(void);

/* page_find.c */
bool owner_pages_find_next_tracked(unsigned long *pfn, unsigned long end,
				   struct owner_pages *found);

/* page_show.c */
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

#endif /* _MM_OWNER_PAGE_H */
