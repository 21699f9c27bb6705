// SPDX-License-Identifier: GPL-2.0
/* Keeps what lies in the same memory from being counted twice, or says so. */
#include "output/human.h"
#include "model/sources.h"

/* allocinfo always has both, pages for slab objects and what is in them. */
static bool is_counted_elsewhere(const struct sources *s, const struct record *rec, bool backing)
{
	switch (rec->kind) {
	case KIND_PAGE:
		return s->slabs_listed && (rec->slab_page || backing);
	case KIND_SITE:
		return TEXT_STARTS(rec->stack, " alloc_slab_page ") ||
		       TEXT_STARTS(rec->stack, " pcpu_alloc_pages ");
	default:
		return false;
	}
}

static void take_slab(struct sources *s, const struct record *rec)
{
	const u64 *pages = s->objects[KIND_PAGE];

	if (!rec->summed && !s->slabs_listed) {
		s->slabs_listed = true;
		s->slabs_late = pages[0] || pages[1];
	}
	if (rec->summed && !rec->held)
		s->unsized += rec->objects;
}

bool sources_take(struct sources *s, const struct record *rec, bool backing)
{
	if (is_counted_elsewhere(s, rec, backing)) {
		s->backing.objects += rec->objects;
		s->backing.bytes += rec->bytes;
		return false;
	}
	s->objects[rec->kind][rec->summed] += rec->objects;
	if (rec->kind == KIND_SLAB)
		take_slab(s, rec);
	s->inaccurate += rec->inaccurate;
	return true;
}

/* Pairs of what was read that cover the same memory; NULL behind the last. */
static void find_overlaps(const struct sources *s, const char *overlaps[5])
{
	const u64 *pages = s->objects[KIND_PAGE], *slabs = s->objects[KIND_SLAB];
	bool page = pages[0] || pages[1], slab = slabs[0] || slabs[1];
	unsigned int n = 0;

	if (pages[0] && pages[1])
		overlaps[n++] = "page_owner and page_owner_stacks count the same pages";
	if (slabs[0] && slabs[1])
		overlaps[n++] = "slab_owner and sums of slab objects count the same objects";
	if (page && slab && (!s->slabs_listed || s->slabs_late))
		overlaps[n++] = "slab objects lie in pages that are counted as well";
	if ((page || slab) && s->objects[KIND_SITE][1])
		overlaps[n++] = "allocinfo counts what other inputs count as well";
	overlaps[n] = NULL;
}

bool sources_overlap(const struct sources *s)
{
	const char *overlaps[5];

	find_overlaps(s, overlaps);
	return *overlaps;
}

void sources_print_notes(const struct sources *s, FILE *out)
{
	const char *overlaps[5];
	char buf[HUMAN_LEN];
	unsigned int i;

	find_overlaps(s, overlaps);
	for (i = 0; overlaps[i]; i++)
		fprintf(out, "overlap: %s\n", overlaps[i]);
	if (s->backing.objects)
		fprintf(out, "set aside: %llu allocations, %s: pages whose objects are counted\n",
			s->backing.objects, human_bytes(buf, s->backing.bytes));
	if (s->unsized)
		fprintf(out, "unknown size: %llu objects, counted with 0 bytes\n",
			s->unsized);
	if (s->inaccurate)
		fprintf(out, "inaccurate: %llu places, says the kernel\n",
			s->inaccurate);
	if (s->idle_handles)
		fprintf(out, "handles: %u explained, none counted; read show_handles as well\n",
			s->idle_handles);
}

void sources_print_json(const struct sources *s, FILE *out)
{
	const char *overlaps[5];
	unsigned int i;

	find_overlaps(s, overlaps);
	if (*overlaps) {
		fputs("  \"overlaps\": [", out);
		for (i = 0; overlaps[i]; i++)
			fprintf(out, "%s\"%s\"", i ? ", " : "", overlaps[i]);
		fputs("],\n", out);
	}
	if (s->backing.objects)
		fprintf(out, "  \"set_aside\": {\"objects\": %llu, \"bytes\": %llu},\n",
			s->backing.objects, s->backing.bytes);
	if (s->unsized)
		fprintf(out, "  \"unknown_size\": %llu,\n", s->unsized);
	if (s->inaccurate)
		fprintf(out, "  \"inaccurate\": %llu,\n", s->inaccurate);
	if (s->idle_handles)
		fprintf(out, "  \"idle_handles\": %u,\n", s->idle_handles);
}
