/* SPDX-License-Identifier: GPL-2.0 */
/* Cursors: walk all objects that have an owner, source by source. */
#ifndef _MM_OWNER_WALK_H
#define _MM_OWNER_WALK_H

#include <linux/types.h>

#include "record.h"
#include "sample.h"

struct kmem_cache;
struct owner_walk_memo;

/* One object's owner, as a reader sees it. */
struct owner_object {
	const struct kmem_cache *slab_cache;	/* while the walk lasts; else to be compared only */
	const char *cache;
	unsigned int slab_size;		/* bytes the object takes in its slab */
	unsigned int index;		/* in its slab */
	int nid;			/* its memory node, NUMA_NO_NODE if it is on many */
	unsigned long pfn;		/* of its slab */
	const void *address;
	size_t size;			/* bytes that were asked for */
	struct owner_record owner;
};

/* A slab's objects, counted. */
struct owner_slab_usage {
	const struct kmem_cache *cache;	/* to be compared only */
	const char *name;
	unsigned int object_size;	/* bytes each takes */
	unsigned int allocated;
	unsigned int tracked;		/* those that have an owner */
	size_t requested;		/* bytes that those were asked for */
};

/*
 * A walk over the slabs or over the objects that have owners, in order of their
 * addresses. Between owner_cursor_begin() and owner_cursor_end() no cache comes or
 * goes. What the walk found last stays fetchable until it is asked for the next.
 */
struct owner_cursor {
	unsigned long pfn;		/* where the next object is looked for */
	unsigned int index;
	u64 place;			/* where the next area, or call chain, is looked for */
	unsigned long until;		/* in jiffies: then caches may come and go */
	char *cgroup;			/* where that of an object goes, NULL: nobody asks */
	struct kmem_cache *alive;	/* a cache seen on the list since they could */
	struct owner_record held;		/* references to what was found last */
	struct owner_walk_memo *known;	/* what is counted and not found, if anything */
};

/* walk.c */
void owner_cursor_begin(struct owner_cursor *walk);
int owner_cursor_next(struct owner_cursor *walk, struct owner_object *object);
int owner_cursor_next_slab(struct owner_cursor *walk, struct owner_slab_usage *slab);
bool owner_cursor_at(struct owner_cursor *walk, unsigned long pfn, struct owner_slab_usage *slab);
int owner_cursor_rest(struct owner_cursor *walk);
void owner_cursor_release(struct owner_cursor *walk);
void owner_cursor_end(struct owner_cursor *walk);

/* percpu.c */
bool owner_percpu_next(struct owner_cursor *walk, struct owner_object *object);

/* counted.c */
bool owner_chains_count_all(void);
int owner_chains_next(struct owner_cursor *walk, enum owner_counter which,
		       struct owner_estimate *holds);

#endif /* _MM_OWNER_WALK_H */
