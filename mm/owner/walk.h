/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cursor over the objects of one source, in the order of the source's positions. Each source is
 * a struct owner_source_ops:
 *
 * slab/walk.c		slab objects, in order of their addresses
 * page/walk.c		allocations of pages, in order of their page frames
 * slab/percpu_walk.c	per-CPU areas, by bucket of their hash table
 * walk.c		call chains in place of their slab objects; what all sources have in
 *			common: locks, yielding and references
 */
#ifndef _MM_OWNER_WALK_H
#define _MM_OWNER_WALK_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include "lang/kind.h"
#include "owner.h"
#include "page_record.h"
#include "sample.h"

struct kmem_cache;
struct owner_chain_totals;
struct owner_cursor;
struct owner_walk_memo;
struct page;

/**
 * struct owner_object - an object that a cursor has found
 * @kind: slab object, pages or per-CPU area
 * @slab_cache: the cache of a slab object; after owner_cursor_end() it can only be
 *	compared
 * @cache: the cache's name, NULL if there is none; valid until owner_cursor_end()
 * @held: bytes that the object takes
 * @size: bytes that were asked for
 * @index: of a slab object in its slab
 * @nid: memory node, NUMA_NO_NODE for a per-CPU area
 * @span: bytes from @address on that are the object's
 * @pfn: first page frame of the slab or of the pages, 0 for a per-CPU area
 * @address: of the object, NULL if the kernel has no mapping of the pages
 * @owner: the record; of pages and chains only the chain's handle is set
 * @pages: the record of OWNER_KIND_PAGE
 * @counted: of owner_chain_source: what the chain holds
 *
 * The handles stay valid until the cursor moves on or ends: see @ref of
 * struct owner_cursor.
 */
struct owner_object {
	enum owner_kind kind;
	const struct kmem_cache *slab_cache;
	const char *cache;
	size_t held;
	unsigned int index;
	int nid;
	unsigned long pfn;
	const void *address;
	size_t span;
	size_t size;
	struct owner_record owner;
	union {
		struct owner_pages pages;
		struct owner_estimate counted;
	};
};

/**
 * struct owner_source_ops - a source of objects
 * @lock: take the locks that @next needs, NULL if it needs none
 * @unlock: drop these locks, NULL with @lock
 * @next: find the first object at or after @pos of the cursor, store its position in
 *	@found_pos, leave the position behind it in @pos, and references to its handles in
 *	@ref. Call owner_cursor_yield() while no RCU read lock is held. Return 1 if there
 *	is one, 0 if there is none, -ERESTARTSYS after a signal.
 * @seek: set @pos and @end so that @next finds the object that has an address, and perhaps some
 *	beside it, but none before @end as it was. Any address is allowed. Return why there is no
 *	object, NULL if there may be one. NULL if the source cannot tell where an address belongs.
 */
struct owner_source_ops {
	void (*lock)(struct owner_cursor *cursor);
	void (*unlock)(struct owner_cursor *cursor);
	int (*next)(struct owner_cursor *cursor, struct owner_object *object);
	const char *(*seek)(struct owner_cursor *cursor, u64 address);
};

extern const struct owner_source_ops owner_slab_source;
extern const struct owner_source_ops owner_page_source;
extern const struct owner_source_ops owner_percpu_source;
extern const struct owner_source_ops owner_chain_source;

/**
 * struct owner_cursor - a reader's position in a source
 * @ops: the source; set it before owner_cursor_begin(), change it by
 *	owner_cursor_set_source()
 * @pos: where the next object is looked for, as the source encodes it; 0 is the start
 * @end: page frame to stop at, 0 for the end of memory
 * @found_pos: position of the object that was found last
 * @ref: references to the handles of the object that was found last
 * @deadline: in jiffies: when the cursor drops its locks for a moment
 * @listed_cache: a cache that was seen on slab_caches since slab_mutex was taken
 * @cgroup: buffer of OWNER_CGROUP_MAX bytes for the path of the memory cgroup that a
 *	slab object is charged to, NULL if it is not asked for
 * @until_killed: only a signal that kills the task ends the walk, because the walk cannot
 *	be continued
 * @memo: counts records of slab objects that are like records found before, instead
 *	of finding them; NULL to find every object
 * @chains: what owner_chain_source finds
 */
struct owner_cursor {
	const struct owner_source_ops *ops;
	u64 pos;
	unsigned long end;
	u64 found_pos;
	struct owner_record ref;
	unsigned long deadline;
	struct kmem_cache *listed_cache;
	char *cgroup;
	bool until_killed;
	struct owner_walk_memo *memo;
	const struct owner_chain_totals *chains;
};

void owner_cursor_begin(struct owner_cursor *cursor);
void owner_cursor_end(struct owner_cursor *cursor);
void owner_cursor_set_source(struct owner_cursor *cursor, const struct owner_source_ops *ops);
int owner_cursor_next(struct owner_cursor *cursor, struct owner_object *object);
void owner_cursor_put_refs(struct owner_cursor *cursor);

int owner_cursor_yield_slow(struct owner_cursor *cursor);

/**
 * owner_hole_end() - find the end of a hole in memory
 * @pfn: a page frame for which pfn_to_online_page() returns NULL
 *
 * A pageblock can have page frames on both sides of a hole, so a hole may end before the
 * pageblock does.
 *
 * Return: the first page frame behind @pfn that can be online.
 */
static inline unsigned long owner_hole_end(unsigned long pfn)
{
#ifdef CONFIG_SPARSEMEM
	if (!online_section_nr(pfn_to_section_nr(pfn)))
		return ALIGN(pfn + 1, PAGES_PER_SECTION);
	return SUBSECTION_ALIGN_UP(pfn + 1);
#else
	return pfn + 1;
#endif
}

unsigned long owner_folio_frames(const struct page *page, unsigned long pfn);
struct page *owner_page_of_address(u64 address, unsigned long *pfn);
bool owner_object_has_address(const struct owner_object *object, u64 address);

/* Let the next owner_cursor_next() find the object again that was found last. */
static inline void owner_cursor_step_back(struct owner_cursor *cursor)
{
	cursor->pos = cursor->found_pos;
}

/* Is there a signal that ends the walk? */
static inline bool owner_cursor_has_signal(const struct owner_cursor *cursor)
{
	return cursor->until_killed ? fatal_signal_pending(current) : signal_pending(current);
}

/**
 * owner_cursor_yield() - after 20 ms, drop the locks, reschedule and take them again
 * @cursor: has no object: its references are dropped, too
 *
 * Return: 0, -ERESTARTSYS after a signal.
 */
static __always_inline int owner_cursor_yield(struct owner_cursor *cursor)
{
	if (likely(!need_resched() && time_before(jiffies, cursor->deadline)))
		return 0;
	return owner_cursor_yield_slow(cursor);
}

#endif /* _MM_OWNER_WALK_H */
