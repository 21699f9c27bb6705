// SPDX-License-Identifier: GPL-2.0
/* The part of a cursor that all sources share: locks, yielding and references. */

#include <linux/align.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kasan.h>
#include <linux/log2.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "record.h"
#include "totals.h"
#include "walk.h"

/* Longest time to hold the locks of a source: 20 ms. */
#define LOCKED_JIFFIES	max(HZ / 50, 1)

/**
 * owner_cursor_put_refs() - drop the references to the object that was found last
 * @cursor: the cursor
 */
void owner_cursor_put_refs(struct owner_cursor *cursor)
{
	owner_record_put_refs(&cursor->ref);
	cursor->ref.handle_pair = 0;
}

/**
 * owner_cursor_begin() - take the locks of the cursor's source
 * @cursor: its @ops and @pos say what to read from where
 *
 * Context: process context, may sleep.
 */
void owner_cursor_begin(struct owner_cursor *cursor)
{
	if (cursor->ops->lock)
		cursor->ops->lock(cursor);
	cursor->deadline = jiffies + LOCKED_JIFFIES;
	cursor->ref.handle_pair = 0;
}

/**
 * owner_cursor_end() - drop the locks and the references of a cursor
 * @cursor: between owner_cursor_begin() and here; it keeps its position
 */
void owner_cursor_end(struct owner_cursor *cursor)
{
	owner_cursor_put_refs(cursor);
	if (cursor->ops->unlock)
		cursor->ops->unlock(cursor);
}

/**
 * owner_cursor_set_source() - continue at the start of another source
 * @cursor: between owner_cursor_begin() and owner_cursor_end()
 * @ops: the other source
 */
void owner_cursor_set_source(struct owner_cursor *cursor, const struct owner_source_ops *ops)
{
	owner_cursor_end(cursor);
	cursor->ops = ops;
	cursor->pos = 0;
	cursor->end = 0;
	owner_cursor_begin(cursor);
}

/* Slow path of owner_cursor_yield(): drop the locks, let other tasks run, lock again. */
int owner_cursor_yield_slow(struct owner_cursor *cursor)
{
	if (owner_cursor_has_signal(cursor))
		return cursor->until_killed ? -EINTR : -ERESTARTSYS;
	owner_cursor_end(cursor);
	cond_resched();
	owner_cursor_begin(cursor);
	return 0;
}

/**
 * owner_cursor_next() - find the next object
 * @cursor: between owner_cursor_begin() and owner_cursor_end()
 * @object: filled if there is one
 *
 * Return: 1 if there is one, 0 if there is none, -ERESTARTSYS after a signal, -EINTR if the task is
 *	killed and @cursor->until_killed.
 */
int owner_cursor_next(struct owner_cursor *cursor, struct owner_object *object)
{
	owner_cursor_put_refs(cursor);
	return cursor->ops->next(cursor, object);
}

/**
 * owner_folio_frames() - count the page frames of a folio, for a search that steps over it
 * @page: an online page. It can be freed meanwhile, its folio can be split, and other folios can
 *	be allocated there
 * @pfn: its page frame
 *
 * Return: the number of page frames of the large folio that begins at @page, or 1. At one moment
 *	since the call, these page frames were all of one folio.
 */
unsigned long owner_folio_frames(const struct page *page, unsigned long pfn)
{
	const struct page *last;
	unsigned long frames;
	unsigned int order;

	if (!PageHead(page))
		return 1;
	/* In the second page, which may have another meaning by now: any value up to 255. */
	order = data_race(compound_order((struct page *)page));
	if (order > ilog2(MAX_FOLIO_NR_PAGES))
		return 1;
	frames = 1UL << order;
	if (!IS_ALIGNED(pfn, frames))
		return 1;
	/*
	 * Is the last page in the folio that begins at @page? When a folio is freed, and when it is
	 * split, its last page leaves it before any page of it is freed: so all of them are, still
	 * or again.
	 */
	last = pfn_to_online_page(pfn + frames - 1);
	return last && compound_head(last) == page ? frames : 1;
}

/**
 * owner_page_of_address() - find the page that the kernel maps at an address
 * @address: any number
 * @pfn: set to the page frame, if there is one
 *
 * Context: the caller keeps memory from being removed.
 *
 * Return: the page; NULL if the address is not in the kernel's mapping of all memory.
 */
struct page *owner_page_of_address(u64 address, unsigned long *pfn)
{
	const void *at = kasan_reset_tag((void *)(unsigned long)address);

	if (address > ULONG_MAX || !virt_addr_valid(at))
		return NULL;
	*pfn = page_to_pfn(virt_to_page(at));
	return pfn_to_online_page(*pfn);
}

static bool is_within(const void *start, size_t span, u64 address)
{
	const void *at = kasan_reset_tag((void *)(unsigned long)address);

	return (unsigned long)at - (unsigned long)kasan_reset_tag(start) < span;
}

/* Find a CPU's copy of a per-CPU area, from the address that the allocator gives its hook. */
static const void *find_copy(const void *area, unsigned int cpu)
{
#ifdef CONFIG_SMP
	return area + ((unsigned long)__per_cpu_start - (unsigned long)pcpu_base_addr +
		       per_cpu_offset(cpu));
#else
	return area;
#endif
}

/**
 * owner_object_has_address() - is an address inside an object?
 * @object: found by a cursor
 * @address: any number; of a per-CPU area, that of any CPU's copy
 *
 * Return: true if it is.
 */
bool owner_object_has_address(const struct owner_object *object, u64 address)
{
	unsigned int cpu;

	if (!object->address || address > ULONG_MAX)
		return false;
	if (object->kind != OWNER_KIND_PERCPU)
		return is_within(object->address, object->span, address);
	for_each_possible_cpu(cpu)
		if (is_within(find_copy(object->address, cpu), object->span, address))
			return true;
	return false;
}

static int next_chain(struct owner_cursor *cursor, struct owner_object *object)
{
	const struct owner_chain_total *total = &cursor->chains->total[cursor->pos];
	int error = owner_cursor_yield(cursor);

	if (error)
		return error;
	if (cursor->pos == cursor->chains->count)
		return 0;
	cursor->found_pos = cursor->pos++;
	*object = (struct owner_object){
		.kind = OWNER_KIND_SLAB,
		.owner.stack = total->stack,
		.counted = total->estimate,
	};
	return 1;
}

const struct owner_source_ops owner_chain_source = {
	.next	= next_chain,
};
