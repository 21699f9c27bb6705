// SPDX-License-Identifier: GPL-2.0
/* Lists of patterns for the names of functions, and the list of the allocator's functions. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "names/globs.h"

void globs_add(struct globs *globs, const char *glob, size_t len)
{
	globs->v = grow_array(globs->v, globs->n, &globs->cap, sizeof(*globs->v));
	globs->v[globs->n++] = xstrndup(glob, len);
}

bool globs_read_file(struct globs *globs, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool ok;

	if (!f)
		return false;
	while (getline(&line, &size, f) >= 0) {
		char *start = line + strspn(line, " \t");
		size_t len = strcspn(start, "#\r\n");

		while (len && isblank((unsigned char)start[len - 1]))
			len--;
		if (len)
			globs_add(globs, start, len);
	}
	ok = !ferror(f);
	free(line);
	fclose(f);
	return ok;
}

void globs_print(const struct globs *globs, FILE *out)
{
	u32 i;

	for (i = 0; i < globs->n; i++)
		fprintf(out, "%s\n", globs->v[i]);
}

static bool glob_matches(const char *glob, const char *name)
{
	/*
	 * Compare the first letters of pattern and name before calling fnmatch(), which takes
	 * much longer to see that they differ.
	 */
	if (*glob != *name && !strchr("*?[\\", *glob))
		return false;
	return !fnmatch(glob, name, 0);
}

/*
 * Match a function with a list of patterns. This runs once for each distinct frame of a dump,
 * so a linear search is fast enough.
 */
bool globs_match_function(const struct globs *globs, struct text_slice func)
{
	struct text_slice stem = frame_stem(func);
	char *name, *stem_name;
	bool found = false;
	u32 i;

	if (!globs->n)
		return false;
	name = xstrndup(func.s, func.len);
	stem_name = xstrndup(stem.s, stem.len);
	for (i = 0; i < globs->n && !found; i++)
		found = glob_matches(globs->v[i], stem_name) ||
			glob_matches(globs->v[i], name);
	free(name);
	free(stem_name);
	return found;
}

/*
 * Patterns of the allocator's functions, matched with stems, which have neither "_noprof" nor
 * ".isra.0". Some of these functions are inlined and appear only with --vmlinux. A wildcard
 * must not match a function outside the allocator: "kmalloc_*" would match kmalloc_reserve() of
 * the network stack, and "folio_alloc*" would match folio_alloc_buffers() of the buffer cache.
 */
static const char * const allocator_functions[] = {
	/* functions that capture the call chain */
	"save_stack", "save_stack_trace*", "__save_stack_trace", "stack_trace_save*",
	"stack_depot_save*", "set_track*", "set_page_owner", "__set_page_owner",
	"slab_owner_alloc", "owner_percpu_alloc", "kasan_save_*", "__kasan_kmalloc*",
	"__kasan_slab_alloc", "kmemleak_alloc*",
	/* page allocator */
	"post_alloc_hook", "prep_new_page", "get_page_from_freelist",
	"__alloc_pages*", "alloc_pages*", "__alloc_frozen_pages*",
	"alloc_frozen_pages*", "folio_alloc", "folio_alloc_mpol",
	"__folio_alloc", "__folio_alloc_node", "vma_alloc_folio", "vma_alloc_zeroed_movable_folio",
	"filemap_alloc_folio", "pagetable_alloc", "__get_free_page*",
	"get_free_page*", "get_zeroed_page", "page_frag_alloc*",
	"__page_frag_alloc*", "__page_frag_cache_*", "alloc_contig_*",
	"__alloc_contig_*",
	/* slab allocator */
	"allocate_slab", "new_slab", "alloc_slab_page", "___slab_alloc",
	"__slab_alloc", "__slab_alloc_node", "slab_alloc*", "slab_post_alloc_hook",
	"alloc_slab_obj_exts", "memcg_alloc_slab_cgroups", "kmem_cache_alloc*",
	"__kmem_cache_alloc*", "kmem_cache_prefill_sheaf", "refill_sheaf",
	"refill_objects", "alloc_full_sheaf", "alloc_from_pcs",
	"__pcs_replace_empty_main",
	/* kmalloc() and its variants */
	"kmalloc", "kmalloc_node", "kmalloc_trace", "kmalloc_node_trace",
	"kmalloc_large*", "kmalloc_order*", "kmalloc_array*", "__kmalloc*",
	"___kmalloc*", "__do_kmalloc*", "__do_krealloc", "kzalloc*", "kcalloc*",
	"krealloc*", "kmemdup*", "kstrdup*", "kstrndup", "kasprintf",
	"kvasprintf*", "memdup_user*", "vmemdup_user", "strndup_user",
	"kvmalloc*", "__kvmalloc*", "kvrealloc*", "kvmemdup", "kvzalloc*",
	"devm_kmalloc*", "devm_krealloc*", "devm_kmemdup*", "devm_kstrdup*",
	"devm_kasprintf", "devm_kvasprintf", "mempool_alloc*", "mempool_kmalloc",
	"seq_buf_alloc",
	/* vmalloc() */
	"vmalloc*", "__vmalloc*", "vzalloc*", "vm_area_alloc_pages",
	"__get_vm_area_node", "alloc_vmap_area",
	/* per-CPU allocator */
	"pcpu_alloc*", "pcpu_create_chunk", "pcpu_populate_chunk",
	"pcpu_mem_zalloc", "__alloc_percpu*",
};

void globs_add_allocator_name_patterns(struct globs *globs)
{
	size_t i;

	for (i = 0; i < sizeof(allocator_functions) / sizeof(*allocator_functions); i++)
		globs_add(globs, allocator_functions[i], strlen(allocator_functions[i]));
}

void globs_free(struct globs *globs)
{
	while (globs->n)
		free(globs->v[--globs->n]);
	free(globs->v);
	*globs = (struct globs){ 0 };
}
