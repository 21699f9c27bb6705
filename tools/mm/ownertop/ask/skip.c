// SPDX-License-Identifier: GPL-2.0
/* Which functions belong to the allocator. */
#include "ask/skip.h"

/*
 * Matched against a function's stem, so neither "_noprof" nor ".isra.0" is
 * written here. Some are inlined, and seen only with --vmlinux. A glob is used
 * only where no caller's name can match it: that excludes "kmalloc_*"
 * (kmalloc_reserve is the network's) and "folio_alloc*" (folio_alloc_buffers is
 * the buffer cache's).
 */
static const char * const builtin[] = {
	/* capture of the chain itself */
	"save_stack", "save_stack_trace*", "__save_stack_trace", "stack_trace_save*",
	"stack_depot_save*", "set_track*", "set_page_owner", "__set_page_owner",
	"slab_owner_alloc", "owner_percpu_alloc", "kasan_save_*", "__kasan_kmalloc*",
	"__kasan_slab_alloc", "kmemleak_alloc*",
	/* pages */
	"post_alloc_hook", "prep_new_page", "get_page_from_freelist",
	"__alloc_pages*", "alloc_pages*", "__alloc_frozen_pages*",
	"alloc_frozen_pages*", "folio_alloc", "folio_alloc_mpol",
	"__folio_alloc", "__folio_alloc_node", "vma_alloc_folio", "vma_alloc_zeroed_movable_folio",
	"filemap_alloc_folio", "pagetable_alloc", "__get_free_page*",
	"get_free_page*", "get_zeroed_page", "page_frag_alloc*",
	"__page_frag_alloc*", "__page_frag_cache_*", "alloc_contig_*",
	"__alloc_contig_*",
	/* slab */
	"allocate_slab", "new_slab", "alloc_slab_page", "___slab_alloc",
	"__slab_alloc", "__slab_alloc_node", "slab_alloc*", "slab_post_alloc_hook",
	"alloc_slab_obj_exts", "memcg_alloc_slab_cgroups", "kmem_cache_alloc*",
	"__kmem_cache_alloc*", "kmem_cache_prefill_sheaf", "refill_sheaf",
	"refill_objects", "alloc_full_sheaf", "alloc_from_pcs",
	"__pcs_replace_empty_main",
	/* kmalloc and its relatives */
	"kmalloc", "kmalloc_node", "kmalloc_trace", "kmalloc_node_trace",
	"kmalloc_large*", "kmalloc_order*", "kmalloc_array*", "__kmalloc*",
	"___kmalloc*", "__do_kmalloc*", "__do_krealloc", "kzalloc*", "kcalloc*",
	"krealloc*", "kmemdup*", "kstrdup*", "kstrndup", "kasprintf",
	"kvasprintf*", "memdup_user*", "vmemdup_user", "strndup_user",
	"kvmalloc*", "__kvmalloc*", "kvrealloc*", "kvmemdup", "kvzalloc*",
	"devm_kmalloc*", "devm_krealloc*", "devm_kmemdup*", "devm_kstrdup*",
	"devm_kasprintf", "devm_kvasprintf", "mempool_alloc*", "mempool_kmalloc",
	"seq_buf_alloc",
	/* vmalloc */
	"vmalloc*", "__vmalloc*", "vzalloc*", "vm_area_alloc_pages",
	"__get_vm_area_node", "alloc_vmap_area",
	/* per CPU */
	"pcpu_alloc*", "pcpu_create_chunk", "pcpu_populate_chunk",
	"pcpu_mem_zalloc", "__alloc_percpu*",
};

#define NR_BUILTIN (sizeof(builtin) / sizeof(*builtin))

void skip_builtin(struct globs *globs)
{
	size_t i;

	for (i = 0; i < NR_BUILTIN; i++)
		globs_add(globs, builtin[i], strlen(builtin[i]));
}
