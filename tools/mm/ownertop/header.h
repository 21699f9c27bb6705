/* SPDX-License-Identifier: GPL-2.0 */
/* The first line of a record: "Page|Slab object allocated via order 0, ...". */
#ifndef OWNERTOP_HEADER_H
#define OWNERTOP_HEADER_H

#include "record.h"

/* Does a record begin here? */
bool header_begins(struct text t);
/* Is it a page's? If not, it is a slab object's. */
bool header_is_page(struct text t);

/*
 * Fills @rec from the header that @t begins with, and sets @end behind its
 * newline. Returns NULL, or what is wrong with it.
 */
const char *header_parse(struct text t, u64 page_size, struct record *rec,
			 const char **end);

#endif
