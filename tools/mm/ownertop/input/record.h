/* SPDX-License-Identifier: GPL-2.0 */
/* What any reader hands to the model: live allocations that have all of this in common. */
#ifndef OWNERTOP_RECORD_H
#define OWNERTOP_RECORD_H

#include "lang/lang.h"
#include "base/text.h"
#include "base/types.h"

enum kind {
	KIND_SLAB = OWNER_SOURCE_SLAB,
	KIND_PAGE = OWNER_SOURCE_PAGE,
	KIND_PERCPU = OWNER_SOURCE_PERCPU,	/* an area of which each CPU has its own */
	KIND_SITE = OWNER_SOURCES,	/* a place in the source: its pages and slab objects */
	NR_KINDS
};

/* Kept in an int by the kernel. */
#define PID_MAX 0x7fffffff

/* For formats that do not say. */
#define PID_UNKNOWN (-PID_MAX - 2LL)
#define TS_UNKNOWN U64_MAX
#define SIZE_UNKNOWN U64_MAX
#define NID_UNKNOWN (-2)
#define HANDLE_UNKNOWN 0

/* The name per-CPU areas have in place of a cache's, which they are in none of. */
#define PERCPU_NAME "percpu"

/* The kernel prints three decimals. */
#define WEIGHT_ONE 1000

struct record {
	enum kind kind;
	bool summed;		/* the kernel added it up, it is not one allocation */
	bool slab_page;		/* a page with slab objects in it, as the input says */
	bool inaccurate;	/* the kernel doubts the figures */
	bool charge_told;	/* what is in no cgroup is charged to none */
	u64 objects;
	u64 bytes;		/* what the callers asked for */
	u64 held;		/* what the allocator gave for them */
	u64 weight;		/* sampled: objects it stands for, in units of 1/WEIGHT_ONE; or 0 */
	u64 records;		/* the kernel estimated objects from so many; 0: they are all */
	u64 objects_error;	/* standard errors of that */
	u64 bytes_error;
	u64 ts;		/* ns since boot, at allocation; of several, that of the oldest */
	u64 later;		/* so much later the newest of several was allocated */
	u64 size;		/* what each of several was asked for, and held, */
	u64 slab;		/* if all are alike */
	s64 nid;
	u64 handle;		/* of the call chain */
	s64 pid;
	s64 tgid;
	struct text comm;
	struct text cache;	/* empty: not a slab object */
	struct text cgroup;	/* that it is charged to: a name, or a path */
	struct text gfp;	/* names of the flags, "|" between them */
	struct text stack;	/* raw lines, nearest to the allocation first */

	/* As it was read, for output that shows it; the stack stands in between. */
	u32 order;
	struct text header;
	struct text pfn;
	struct text tail;
};

/* Nothing is told yet, and no text is NULL. */
#define RECORD_UNTOLD ((struct record){ \
	.ts = TS_UNKNOWN, \
	.size = SIZE_UNKNOWN, \
	.slab = SIZE_UNKNOWN, \
	.nid = NID_UNKNOWN, \
	.pid = PID_UNKNOWN, \
	.tgid = PID_UNKNOWN, \
	.comm.s = "", \
	.cache.s = "", \
	.cgroup.s = "", \
	.gfp.s = "", \
	.stack.s = "", \
})

#endif
