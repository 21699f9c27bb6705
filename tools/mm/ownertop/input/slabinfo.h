/* SPDX-License-Identifier: GPL-2.0 */
/* Read how many slabs the caches of a machine have, and how full they are. */
#ifndef OWNERTOP_SLABINFO_H
#define OWNERTOP_SLABINFO_H

#include "base/text.h"
#include "base/types.h"

struct slab_cache {
	struct text_slice name;
	u64 in_use;	/* objects that are allocated */
	u64 objects;	/* objects that the slabs have room for */
	u64 slabs;
};

struct slabinfo {
	struct slab_cache *v;
	u32 n;		/* 0: unknown */
	u32 cap;
	char *text;	/* the names point into it */
};

/*
 * Read the slabinfo of the machine of a dump: that of its snapshot, if @dump is in one, or of this
 * machine if @dump is NULL. @s has no caches if it is unknown, as only root may read it.
 */
void slabinfo_read_of_dump(const char *dump, struct slabinfo *s);
/* Returns the cache called @name, or NULL. */
const struct slab_cache *slabinfo_find(const struct slabinfo *s, struct text_slice name);
void slabinfo_free(struct slabinfo *s);

#endif
