/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the records are from, as far as that decides whether they may be added
 * up: the same memory can be told of as a page, as the slab objects in it, and
 * as what a place in the source has allocated.
 */
#ifndef OWNERTOP_SOURCES_H
#define OWNERTOP_SOURCES_H

#include "input/record.h"

struct sources {
	/* By kind, and whether they came one by one or as sums of the kernel's. */
	u64 objects[NR_KINDS][2];
	bool slabs_listed;	/* some input has all slab objects */
	bool slabs_late;	/* that was not known when the first pages came */
	struct {
		u64 objects;
		u64 bytes;
	} backing;		/* pages set aside: what is in them is counted */
	u64 unsized;		/* objects of unknown size */
	u64 inaccurate;		/* places whose figures the kernel itself doubts */
};

/*
 * Adds @rec to the account; @backing says that it is a page for slab objects or
 * per-CPU areas, by its call chain. Returns false if it must not be counted, as
 * what is in it is.
 */
bool sources_count(struct sources *s, const struct record *rec, bool backing);

/* Four pairs of sources can overlap; NULL ends the list. */
#define SOURCES_OVERLAPS 5

/* Fills @overlaps with a sentence for each pair of sources that counts memory twice. */
void sources_find_overlaps(const struct sources *s, const char *overlaps[SOURCES_OVERLAPS]);

#endif
