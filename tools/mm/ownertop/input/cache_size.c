// SPDX-License-Identifier: GPL-2.0
/* Find the name and the sizes of a slab cache from the path of its alloc_traces. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/cache_size.h"
#include "base/number.h"

#define DEBUG_SLAB "/kernel/debug/slab/"

/* Upper limit of the size of a slab object, 1 TiB: a larger size in an input is damage. */
#define SIZE_MAX_BYTES (1024ULL << 30)

static u64 read_cache_size_file(const char *root, size_t root_len, const char *cache,
				const char *name)
{
	char path[PATH_MAX], buf[32];
	struct text_slice t = { buf, 0 };
	u64 size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/kernel/slab/%s/%s", (int)root_len, root,
		 cache, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	t.len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	return consume_number(&t, &size) || size > SIZE_MAX_BYTES ? 0 : size;
}

/* Parse the size in "kmalloc-64", "kmalloc-cg-2k", "kmalloc-rnd-03-1k" or "dma-kmalloc-8M". */
static u64 parse_size_in_cache_name(const char *name)
{
	const char *dash = strrchr(name, '-');
	struct text_slice t;
	u64 size;

	if (!dash || !strstr(name, "kmalloc-"))
		return 0;
	t = (struct text_slice){ dash + 1, strlen(dash + 1) };
	if (consume_number(&t, &size) || size > SIZE_MAX_BYTES >> 20)
		return 0;
	if (consume_word(&t, "k"))
		size <<= 10;
	else if (consume_word(&t, "M"))
		size <<= 20;
	return t.len ? 0 : size;
}

/*
 * Returns the name of the cache, the directory of @path, if the file is alloc_traces; else an
 * empty text.
 */
static struct text_slice get_cache_directory(const char *path)
{
	const char *file = strrchr(path, '/'), *p;

	if (!file || strncmp(file, "/alloc_traces", strlen("/alloc_traces")))
		return (struct text_slice){ 0 };
	p = file;
	while (p > path && p[-1] != '/')
		p--;
	return (struct text_slice){ p, file - p };
}

void cache_find_name_and_sizes(const char *path, struct cache *cache)
{
	struct text_slice dir = get_cache_directory(path);
	const char *root = strstr(path, DEBUG_SLAB);

	*cache = (struct cache){ 0 };
	if (!dir.len || dir.len >= CACHE_NAME_LEN)
		return;
	memcpy(cache->name, dir.s, dir.len);
	if (root) {
		cache->object_size = read_cache_size_file(path, root - path, cache->name,
							  "object_size");
		cache->held_size = read_cache_size_file(path, root - path, cache->name,
							"slab_size");
	}
	if (!cache->object_size)
		cache->object_size = parse_size_in_cache_name(cache->name);
	if (cache->held_size < cache->object_size)
		cache->held_size = cache->object_size;
}
