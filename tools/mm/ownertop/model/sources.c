// SPDX-License-Identifier: GPL-2.0
/* Find memory that several sources of records list, so that it is not counted twice. */
#include "model/sources.h"

/*
 * Is a record in memory that another source counts? allocinfo lists both the slab objects and
 * the pages that hold them.
 */
static bool record_is_in_other_source(const struct sources *s, const struct record *rec,
				      bool backing)
{
	switch (rec->kind) {
	case KIND_PAGE:
		return s->slabs_listed && !s->only_pages && (rec->slab_page || backing);
	case KIND_SITE:
		return TEXT_STARTS(rec->stack, " alloc_slab_page ") ||
		       TEXT_STARTS(rec->stack, " pcpu_alloc_pages ");
	default:
		return false;
	}
}

static void count_slab_objects(struct sources *s, const struct record *rec)
{
	const u64 *pages = s->objects[KIND_PAGE];

	if (!rec->summed && !s->slabs_listed) {
		s->slabs_listed = true;
		s->slabs_late = pages[0] || pages[1];
	}
	if (rec->summed && !rec->held)
		s->unknown_size += rec->objects;
}

bool sources_count_record(struct sources *s, const struct record *rec, bool backing)
{
	if (record_is_in_other_source(s, rec, backing)) {
		s->backing.objects += rec->objects;
		s->backing.bytes += rec->bytes;
		return false;
	}
	s->objects[rec->kind][rec->summed] += rec->objects;
	if (rec->kind == KIND_SLAB)
		count_slab_objects(s, rec);
	s->inaccurate += rec->inaccurate;
	return true;
}

void sources_find_overlaps(const struct sources *s, const char *overlaps[SOURCES_OVERLAPS])
{
	const u64 *pages = s->objects[KIND_PAGE], *slabs = s->objects[KIND_SLAB];
	bool page = pages[0] || pages[1], slab = slabs[0] || slabs[1];
	unsigned int n = 0;

	if (pages[0] && pages[1])
		overlaps[n++] = "page_owner and page_owner_stacks count the same pages";
	if (slabs[0] && slabs[1])
		overlaps[n++] = "slab_owner and sums of slab objects count the same objects";
	if (page && slab && !s->only_pages && (!s->slabs_listed || s->slabs_late))
		overlaps[n++] = "slab objects lie in pages that are counted as well";
	if ((page || slab) && s->objects[KIND_SITE][1])
		overlaps[n++] = "allocinfo counts what other inputs count as well";
	overlaps[n] = NULL;
}
