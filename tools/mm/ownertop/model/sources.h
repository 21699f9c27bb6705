/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Count the records of each source. An input can list memory as a page, as the slab objects in
 * that page, and as allocations of a source line, so the sources decide which records may be
 * added up.
 */
#ifndef OWNERTOP_SOURCES_H
#define OWNERTOP_SOURCES_H

#include "input/record.h"

struct sources {
	/* objects by kind; [1]: objects that the kernel had already summed up */
	u64 objects[NR_KINDS][2];
	bool slabs_listed;	/* an input lists every slab object */
	bool slabs_late;	/* pages were counted before slabs_listed was set */
	bool only_pages;	/* the sentence excludes slab objects: set no pages aside */
	struct {
		u64 objects;
		u64 bytes;
	} backing;		/* pages that are ignored because the objects in them are counted */
	u64 unknown_size;	/* objects of unknown size */
	u64 inaccurate;		/* source lines whose figures the kernel marks as inaccurate */
};

/*
 * Count @rec under its source. @backing: its call chain allocates pages for slab objects
 * or per-CPU areas. Returns false if the record must be ignored because the objects in
 * that memory are counted.
 */
bool sources_count_record(struct sources *s, const struct record *rec, bool backing);

/*
 * Size of the array for sources_find_overlaps(): four pairs of sources can overlap; NULL ends
 * the list.
 */
#define SOURCES_OVERLAPS 5

/* Fill @overlaps with a sentence for each pair of sources that counts memory twice. */
void sources_find_overlaps(const struct sources *s, const char *overlaps[SOURCES_OVERLAPS]);

#endif
