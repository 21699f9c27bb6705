/* SPDX-License-Identifier: GPL-2.0 */
/* What any reader hands to the model: live allocations that have all of this in common. */
#ifndef OWNERTOP_RECORD_H
#define OWNERTOP_RECORD_H

#include "text.h"
#include "types.h"

enum kind {
	KIND_PAGE,
	KIND_SLAB,
	KIND_PERCPU,	/* an area of which each CPU has its own */
	KIND_SITE,	/* a place in the source: its pages and slab objects */
	NR_KINDS
};

/* Kept in an int by the kernel. */
#define PID_MAX 0x7fffffff

/* For formats that do not say. */
#define PID_UNKNOWN (-PID_MAX - 2LL)
#define TS_UNKNOWN U64_MAX

struct record {
	enum kind kind;
	bool summed;		/* the kernel added it up, it is not one allocation */
	bool slab_page;		/* a page with slab objects in it, as the input says */
	bool inaccurate;	/* the kernel doubts the figures */
	u64 objects;
	u64 bytes;		/* what the callers asked for */
	u64 held;		/* what the allocator gave for them */
	u64 ts;		/* ns since boot, at allocation */
	s64 pid;
	s64 tgid;
	struct text comm;
	struct text cache;	/* empty: not a slab object */
	struct text stack;	/* raw lines, nearest to the allocation first */

	/* As it was read, for output that shows it; the stack stands in between. */
	u32 order;
	struct text header;
	struct text pfn;
	struct text tail;
};

#endif
