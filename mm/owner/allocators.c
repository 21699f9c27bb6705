// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that allocate for their callers.
 *
 * A short chain should not spend its frames on allocators: the caller of kmemdup()
 * owns the copy. Chains leave these functions out at their start. owner_allocators= on the
 * boot line adds functions.
 */

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mempool.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sort.h>
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
	pcpu_alloc_noprof,
};

/*
 * Functions by name, because they are static or not in each kernel. The configuration decides
 * which functions of the page allocator and of SLUB exist; a missing one matches no address.
 */
static const char * const named_allocators[] = {
	"krealloc_noprof",
	"krealloc_node_align_noprof",
	"kvrealloc_noprof",
	"kvrealloc_node_align_noprof",
	"mempool_kvmalloc",
	"kmem_cache_alloc_from_sheaf_noprof",
	"_kmalloc_nolock_noprof",
	"__kmalloc_flags_noprof",
	"post_alloc_hook",
	"prep_new_page",
	"get_page_from_freelist",
	"__alloc_pages_slowpath",
	"__alloc_pages_direct_compact",
	"__alloc_pages_may_oom",
	"__alloc_pages_noprof",
	"__alloc_frozen_pages_noprof",
	"__folio_alloc_noprof",
	"alloc_pages_noprof",
	"alloc_pages_mpol_noprof",
	"alloc_pages_mpol",
	"alloc_pages_node_noprof",
	"alloc_pages_nolock_noprof",
	"alloc_frozen_pages_noprof",
	"alloc_frozen_pages_nolock_noprof",
	"alloc_pages_bulk_noprof",
	"alloc_pages_bulk_array_mempolicy_noprof",
	"alloc_pages_bulk_mempolicy_noprof",
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
};

/* GCC appends these to the name of a function whose copy it has specialized. */
static const char *const copy_suffixes[] __initconst = {
	"", ".constprop.0", ".isra.0",
};

/* Further functions, from owner_allocators= on the boot line. */
#define EXTRA_ALLOCATORS	32

static const char *extra_allocators[EXTRA_ALLOCATORS] __ro_after_init;
static unsigned int nr_extra_allocators __ro_after_init;
static char extra_text[1024] __ro_after_init;

/* --- Addresses of these functions --------------------------------------------------- */

struct allocator_range {
	unsigned long start;
	unsigned long size;
};

/* In the order of their addresses. The first one begins at 0 and is empty. */
static struct allocator_range ranges[1 + ARRAY_SIZE(allocators) +
				     (ARRAY_SIZE(named_allocators) + EXTRA_ALLOCATORS) *
				     ARRAY_SIZE(copy_suffixes)] __ro_after_init;
static unsigned int nr_ranges __ro_after_init = 1;

static int __init compare_ranges(const void *a, const void *b)
{
	const struct allocator_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void __init add_allocator_range(unsigned long start)
{
	unsigned long size, offset;

	if (start && kallsyms_lookup_size_offset(start, &size, &offset))
		ranges[nr_ranges++] = (struct allocator_range){ start, size };
}

/* Add the function @name and its copies. Return false if the kernel image has none of them. */
static bool __init add_named_allocator(const char *name)
{
	unsigned int i, before = nr_ranges;
	char symbol[KSYM_NAME_LEN];

	for (i = 0; i < ARRAY_SIZE(copy_suffixes); i++) {
		scnprintf(symbol, sizeof(symbol), "%s%s", name, copy_suffixes[i]);
		add_allocator_range(kallsyms_lookup_name(symbol));
	}
	return nr_ranges > before;
}

/**
 * owner_allocators_init() - look up the addresses of functions that allocate for their callers
 *
 * Idempotent.
 *
 * Context: the boot, while one CPU runs.
 */
void __init owner_allocators_init(void)
{
	unsigned int i;

	if (nr_ranges > 1)
		return;
	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		add_allocator_range((unsigned long)allocators[i]);
	for (i = 0; i < ARRAY_SIZE(named_allocators); i++)
		add_named_allocator(named_allocators[i]);
	for (i = 0; i < nr_extra_allocators; i++)
		if (!add_named_allocator(extra_allocators[i]))
			pr_err("owner_allocators=%s: the kernel image has no function of this name\n",
			       extra_allocators[i]);
	sort(ranges, nr_ranges, sizeof(*ranges), compare_ranges, NULL);
}

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
	/* slab_owner= may stand before this on the boot line. */
	nr_ranges = 1;
	owner_allocators_init();
	return 0;
}
early_param("owner_allocators", parse_extra_allocators);

/**
 * owner_is_allocator() - test whether a function allocates for its caller
 * @ip: return address in the function
 *
 * Return: true if it does, so that its caller owns the object.
 */
bool owner_is_allocator(unsigned long ip)
{
	const struct allocator_range *range = ranges;
	unsigned int n, half;

	/* If the call is the function's last instruction, @ip is behind the function. */
	ip--;
	/* Without branches, which processors could not predict. */
	for (n = nr_ranges; n > 1; n -= half) {
		half = n / 2;
		range += range[half].start <= ip ? half : 0;
	}
	return ip - range->start < range->size;
}

/**
 * owner_first_shown_frame() - find the first frame that is not the allocator's own
 * @stack: handle of the chain, referenced by the caller
 * @count: number of its frames
 *
 * Return: the frame's index, 0 if all frames are the allocator's.
 */
unsigned int owner_first_shown_frame(depot_stack_handle_t stack, unsigned int count)
{
	unsigned int first = 0;

	while (first < count && owner_is_allocator(stack_depot_frame(stack, first)))
		first++;
	return first < count ? first : 0;
}
