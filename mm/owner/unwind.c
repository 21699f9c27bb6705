// SPDX-License-Identifier: GPL-2.0
/*
 * Which frames of a call chain count.
 *
 * A chain that is cut at a few frames must not spend them on the allocator: who
 * calls kmemdup() owns the copy. Functions that allocate for their callers are
 * known by their addresses and left out, as long as they stand in front.
 */

#include <linux/kallsyms.h>
#include <linux/mempool.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "unwind.h"

static const void * const allocators[] = {
	__kmalloc_noprof,
	__kmalloc_node_noprof,
	__kmalloc_node_track_caller_noprof,
	__kmalloc_cache_noprof,
	__kmalloc_cache_node_noprof,
	__kvmalloc_node_noprof,
	kmem_cache_alloc_noprof,
	kmem_cache_alloc_lru_noprof,
	kmem_cache_alloc_node_noprof,
	kmem_cache_alloc_bulk_noprof,
	krealloc_noprof,
	kvrealloc_noprof,
	kmemdup_noprof,
	kmemdup_array,
	kmemdup_nul,
	kvmemdup,
	memdup_user,
	memdup_user_nul,
	vmemdup_user,
	kstrdup,
	kstrdup_const,
	kstrndup,
	strndup_user,
	kasprintf,
	kvasprintf,
	kvasprintf_const,
	mempool_alloc_noprof,
	mempool_alloc_slab,
	mempool_kmalloc,
	mempool_kvmalloc,
	pcpu_alloc_noprof,
};

/* How long they are: looked up when first asked for, which can be early in boot. */
static unsigned long sizes[ARRAY_SIZE(allocators)];

static unsigned long size_of(unsigned int i)
{
	unsigned long size = READ_ONCE(sizes[i]), offset;

	if (!size && kallsyms_lookup_size_offset((unsigned long)allocators[i], &size, &offset))
		WRITE_ONCE(sizes[i], size);
	return size;
}

/*
 * The page allocator's. Some of them are static, and which of them there are
 * depends on the configuration; one that is not found is as good as not called.
 */
static const char * const page_allocators[] = {
	"post_alloc_hook",
	"prep_new_page",
	"get_page_from_freelist",
	"__alloc_pages_slowpath",
	"__alloc_pages_slowpath.constprop.0",
	"__alloc_pages_direct_compact",
	"__alloc_pages_may_oom",
	"__alloc_pages_noprof",
	"__folio_alloc_noprof",
	"alloc_pages_noprof",
	"alloc_pages_mpol_noprof",
	"alloc_pages_bulk_noprof",
	"alloc_pages_bulk_array_mempolicy_noprof",
	"alloc_pages_exact_noprof",
	"alloc_pages_exact_nid_noprof",
	"folio_alloc_noprof",
	"folio_alloc_mpol_noprof",
	"vma_alloc_folio_noprof",
	"get_free_pages_noprof",
	"get_zeroed_page_noprof",
	"___kmalloc_large_node",
	"__kmalloc_large_node_noprof",
	"__kmalloc_large_noprof",
};

/* Where they stand: looked up when first asked for. */
static struct {
	unsigned long start;
	unsigned long size;
} places[ARRAY_SIZE(page_allocators)];

static bool is_in_place(unsigned int i, unsigned long ip)
{
	/* Pairs with the release below: who sees a size may use the start. */
	unsigned long size = smp_load_acquire(&places[i].size), start, offset;

	if (!size) {
		start = kallsyms_lookup_name(page_allocators[i]);
		/* What is not there takes no address that anything has. */
		if (!start || !kallsyms_lookup_size_offset(start, &size, &offset))
			size = 1;
		WRITE_ONCE(places[i].start, start);
		/* Pairs with the acquire above. */
		smp_store_release(&places[i].size, size);
	}
	return ip - READ_ONCE(places[i].start) < size;
}

bool owner_is_allocator(unsigned long ip)
{
	unsigned int i;

	/* The call may be the last instruction of the function. */
	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		if (ip - 1 - (unsigned long)allocators[i] < size_of(i))
			return true;
	for (i = 0; i < ARRAY_SIZE(page_allocators); i++)
		if (is_in_place(i, ip - 1))
			return true;
	return false;
}

/* --- Room for walks ----------------------------------------------------------- */

/* A task's, a softirq's, a hardirq's; whoever comes amid those with a walk does without. */
#define WALKS	3

struct walks {
	unsigned int used;
	struct owner_unwind_buffer walk[WALKS];
};

/* Of no use to others: what interrupts takes the next, and is done with it before. */
static DEFINE_PER_CPU(struct walks, walks);

/**
 * owner_unwind_buffer_get - take room for a walk
 *
 * Return: room of this CPU, until owner_unwind_buffer_put() and with preemption off till then;
 *	NULL if there is none, and nothing to end.
 */
struct owner_unwind_buffer *owner_unwind_buffer_get(void)
{
	unsigned int i;

	preempt_disable();
	i = this_cpu_inc_return(walks.used) - 1;
	if (likely(i < WALKS))
		return this_cpu_ptr(&walks.walk[i]);
	owner_unwind_buffer_put();
	return NULL;
}

void owner_unwind_buffer_put(void)
{
	this_cpu_dec(walks.used);
	preempt_enable();
}

#ifndef CONFIG_OWNER_UNWIND_ORC

/* What unwind_orc.c says of it. */
unsigned int owner_unwind_chain(struct owner_unwind_buffer *walk, unsigned int depth,
			      struct owner_caller caller, bool keep_allocators)
{
	unsigned long *frames = walk->frames;
	unsigned int count, first;

	count = stack_trace_save(frames, depth + OWNER_LEADING, 0);
	count = filter_irq_stacks(frames, count);
	for (first = 0; first < min(count, OWNER_LEADING); first++)
		if (frames[first] == caller.ip)
			break;
	/* A tracer has put another address there: better our own frames than none. */
	if (first == min(count, OWNER_LEADING))
		first = 0;
	while (!keep_allocators && first < min(count, OWNER_LEADING) && owner_is_allocator(frames[first]))
		first++;
	count = min(count - first, depth);
	memmove(frames, frames + first, count * sizeof(*frames));
	return count;
}

unsigned int owner_unwind(unsigned long *entries, unsigned int depth,
			  struct owner_caller caller)
{
	struct owner_unwind_buffer *walk = owner_unwind_buffer_get();
	unsigned int count;

	if (!walk)
		return 0;
	count = owner_unwind_chain(walk, depth, caller, false);
	memcpy(entries, walk->frames, count * sizeof(*entries));
	owner_unwind_buffer_put();
	return count;
}

#endif /* CONFIG_OWNER_UNWIND_ORC */
