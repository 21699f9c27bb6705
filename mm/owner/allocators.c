// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that allocate for their callers.
 *
 * A chain of few frames must not spend them on the allocator: the caller of kmemdup()
 * owns the copy. Chains leave these functions out at their start. owner_allocators= on the
 * boot line adds functions.
 */

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mempool.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "capture.h"

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

/* Sizes of these functions. Looked up on first use, which can be early in boot. */
static unsigned long allocator_sizes[ARRAY_SIZE(allocators)];

static unsigned long get_allocator_function_size(unsigned int i)
{
	unsigned long size = READ_ONCE(allocator_sizes[i]), offset;

	if (!size && kallsyms_lookup_size_offset((unsigned long)allocators[i], &size, &offset))
		WRITE_ONCE(allocator_sizes[i], size);
	return size;
}

/*
 * Functions of the page allocator, and a hook of SLUB, by name because some are static. The
 * configuration decides which of them exist; a missing one matches no address.
 */
static const char * const named_allocators[] = {
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
	/* With CONFIG_SLUB_TINY, GCC does not inline these two. */
	"slab_alloc_node",
	"slab_post_alloc_hook",
	/* See track_new_caller(). */
	"__slab_owner_alloc_depth1",
};

/* Further functions, from owner_allocators= on the boot line. */
#define EXTRA_ALLOCATORS	32

static const char *extra_allocators[EXTRA_ALLOCATORS] __ro_after_init;
static unsigned int nr_extra_allocators __ro_after_init;
static char extra_text[1024] __ro_after_init;

static int __init parse_extra_allocators(char *str)
{
	char *names = extra_text, *name;

	if (!str || strscpy(extra_text, str, sizeof(extra_text)) < 0) {
		pr_err("owner_allocators= takes names of functions, %zu characters at most\n",
		       sizeof(extra_text) - 1);
		*extra_text = '\0';
		return 0;
	}
	while ((name = strsep(&names, ","))) {
		if (!*name)
			continue;
		if (nr_extra_allocators == EXTRA_ALLOCATORS) {
			pr_err("owner_allocators= takes %d functions: '%s' and what follows is ignored\n",
			       EXTRA_ALLOCATORS, name);
			break;
		}
		extra_allocators[nr_extra_allocators++] = name;
	}
	return 0;
}
early_param("owner_allocators", parse_extra_allocators);

/* Chains were captured before: a misspelled name has changed none of them. */
static int __init check_extra_allocators(void)
{
	unsigned int i;

	for (i = 0; i < nr_extra_allocators; i++)
		if (!kallsyms_lookup_name(extra_allocators[i]))
			pr_err("owner_allocators=%s: the kernel image has no function of this name\n",
			       extra_allocators[i]);
	return 0;
}
late_initcall(check_extra_allocators);

#define NAMED_ALLOCATORS	(ARRAY_SIZE(named_allocators) + EXTRA_ALLOCATORS)

static const char *get_allocator_name(unsigned int i)
{
	return i < ARRAY_SIZE(named_allocators) ? named_allocators[i] :
						 extra_allocators[i - ARRAY_SIZE(named_allocators)];
}

/* Addresses of the functions that have names. Looked up on first use. */
static struct {
	unsigned long start;
	unsigned long size;
} named_allocator_ranges[NAMED_ALLOCATORS];

static bool is_in_named_allocator(unsigned int i, unsigned long ip)
{
	/* Pairs with smp_store_release() below: the start was written before the size. */
	unsigned long size = smp_load_acquire(&named_allocator_ranges[i].size), start, offset;

	if (!size) {
		start = kallsyms_lookup_name(get_allocator_name(i));
		/* A missing function gets address 0 and size 1, which match no return address. */
		if (!start || !kallsyms_lookup_size_offset(start, &size, &offset))
			size = 1;
		WRITE_ONCE(named_allocator_ranges[i].start, start);
		/* Pairs with smp_load_acquire() above. */
		smp_store_release(&named_allocator_ranges[i].size, size);
	}
	return ip - READ_ONCE(named_allocator_ranges[i].start) < size;
}

/**
 * owner_is_allocator() - test whether a function allocates for its caller
 * @ip: return address in the function
 *
 * Return: true if it does, so that its caller owns the object.
 */
bool owner_is_allocator(unsigned long ip)
{
	unsigned int i;

	/* ip - 1: if the call is the function's last instruction, @ip is behind the function. */
	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		if (ip - 1 - (unsigned long)allocators[i] < get_allocator_function_size(i))
			return true;
	for (i = 0; i < ARRAY_SIZE(named_allocators) + nr_extra_allocators; i++)
		if (is_in_named_allocator(i, ip - 1))
			return true;
	return false;
}
