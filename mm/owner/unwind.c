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
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "owner.h"
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

bool owner_is_allocator(unsigned long ip)
{
	unsigned int i;

	/* The call may be the last instruction of the function. */
	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		if (ip - 1 - (unsigned long)allocators[i] < size_of(i))
			return true;
	return false;
}

#ifndef CONFIG_UNWINDER_ORC

/* Frames of our own and of the unwinder, and allocators, before the first that counts. */
#define LEADING	16

/* What unwind_orc.c says of it. */
unsigned int owner_unwind(unsigned long *entries, unsigned int depth,
			  struct owner_caller caller)
{
	unsigned long all[LEADING + OWNER_DEPTH_MAX];
	unsigned int count, first;

	count = stack_trace_save(all, min(depth + LEADING, ARRAY_SIZE(all)), 0);
	count = filter_irq_stacks(all, count);
	for (first = 0; first < min(count, LEADING); first++)
		if (all[first] == caller.ip)
			break;
	/* A tracer has put another address there: better our own frames than none. */
	if (first == min(count, LEADING))
		first = 0;
	while (first < min(count, LEADING) && owner_is_allocator(all[first]))
		first++;
	count = min(count - first, depth);
	memcpy(entries, all + first, count * sizeof(*entries));
	return count;
}

#endif /* CONFIG_UNWINDER_ORC */
