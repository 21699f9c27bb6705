// SPDX-License-Identifier: GPL-2.0
/* Read how many slabs the caches of a machine have, and how full they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "input/machine_file.h"
#include "input/slabinfo.h"

/*
 * Parse "NAME IN-USE OBJECTS SIZE PER-SLAB PAGES : tunables ... : slabdata ACTIVE SLABS SHARED".
 * Returns false for the lines of the head.
 */
static bool parse_cache_line(const char *line, struct slab_cache *cache)
{
	const char *slabdata = strstr(line, " : slabdata "), *end = strchr(line, ' ');

	if (!slabdata || *line == '#')
		return false;
	cache->name = (struct text_slice){ line, end - line };
	return sscanf(end, "%llu %llu", &cache->in_use, &cache->objects) == 2 &&
	       sscanf(slabdata, " : slabdata %*u %llu", &cache->slabs) == 1;
}

void slabinfo_read_of_dump(const char *dump, struct slabinfo *s)
{
	char *line, *next;

	*s = (struct slabinfo){ .text = machine_file_read(dump, "slabinfo") };
	for (line = s->text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		s->v = grow_array(s->v, s->n, &s->cap, sizeof(*s->v));
		s->n += parse_cache_line(line, &s->v[s->n]);
	}
}

const struct slab_cache *slabinfo_find(const struct slabinfo *s, struct text_slice name)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		if (!text_slice_compare(s->v[i].name, name))
			return &s->v[i];
	return NULL;
}

void slabinfo_free(struct slabinfo *s)
{
	free(s->v);
	free(s->text);
}
