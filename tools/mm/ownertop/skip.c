// SPDX-License-Identifier: GPL-2.0
/* Which functions belong to the allocator. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "alloc.h"
#include "frame.h"
#include "skip.h"

/*
 * Matched against a function's stem, so neither "_noprof" nor ".isra.0" is
 * written here. A glob is used only where no caller's name can match it: that
 * excludes "kmalloc_*" (kmalloc_reserve is the network's) and "folio_alloc*"
 * (folio_alloc_buffers is the buffer cache's).
 */
static const char * const builtin[] = {
	/* capture of the chain itself */
	"save_stack", "save_stack_trace*", "stack_trace_save*",
	"stack_depot_save*", "set_track*", "__set_page_owner",
	"slab_owner_alloc", "percpu_owner_alloc", "kasan_save_*", "__kasan_kmalloc*",
	"__kasan_slab_alloc", "kmemleak_alloc*",
	/* pages */
	"post_alloc_hook", "prep_new_page", "get_page_from_freelist",
	"__alloc_pages*", "alloc_pages*", "__alloc_frozen_pages*",
	"alloc_frozen_pages*", "folio_alloc", "folio_alloc_mpol",
	"__folio_alloc", "vma_alloc_folio", "__get_free_page*",
	"get_free_page*", "get_zeroed_page", "page_frag_alloc*",
	"__page_frag_alloc*", "__page_frag_cache_*", "alloc_contig_*",
	"__alloc_contig_*",
	/* slab */
	"allocate_slab", "new_slab", "alloc_slab_page", "___slab_alloc",
	"__slab_alloc", "slab_alloc*", "slab_post_alloc_hook",
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

static void add(struct skip_list *list, const char *glob, size_t len)
{
	list->globs = grow(list->globs, list->n, &list->cap,
			   sizeof(*list->globs));
	list->globs[list->n++] = xstrndup(glob, len);
}

void skip_builtin(struct skip_list *list)
{
	size_t i;

	for (i = 0; i < NR_BUILTIN; i++)
		add(list, builtin[i], strlen(builtin[i]));
}

bool skip_read(struct skip_list *list, const char *path)
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
			add(list, start, len);
	}
	ok = !ferror(f);
	free(line);
	fclose(f);
	return ok;
}

void skip_print(const struct skip_list *list, FILE *out)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		fprintf(out, "%s\n", list->globs[i]);
}

static bool glob_matches(const char *glob, const char *name)
{
	/* Most globs fall at the first letter, which fnmatch() sees late. */
	if (*glob != *name && !strchr("*?[\\", *glob))
		return false;
	return !fnmatch(glob, name, 0);
}

/* Called once for each distinct frame of a dump: a linear search is enough. */
bool skip_matches(const struct skip_list *list, struct text func)
{
	struct text stem = frame_stem(func);
	char *full, *cut;
	bool found = false;
	u32 i;

	if (!list->n)
		return false;
	full = xstrndup(func.s, func.len);
	cut = xstrndup(stem.s, stem.len);
	for (i = 0; i < list->n && !found; i++)
		found = glob_matches(list->globs[i], cut) ||
			glob_matches(list->globs[i], full);
	free(full);
	free(cut);
	return found;
}

void skip_free(struct skip_list *list)
{
	while (list->n)
		free(list->globs[--list->n]);
	free(list->globs);
	*list = (struct skip_list){ 0 };
}
