/* SPDX-License-Identifier: GPL-2.0 */
/* Records, in the form that the readers of all formats hand to a sink. */
#ifndef OWNERTOP_RECORD_H
#define OWNERTOP_RECORD_H

#include <xxhash.h>

#include "lang/lang.h"
#include "base/text.h"
#include "base/types.h"

/*
 * Values of the field "kind": the kernel's sources of records, and the source lines of
 * /proc/allocinfo, which allocate both pages and slab objects.
 */
enum record_kind {
	KIND_SLAB = OWNER_KIND_SLAB,
	KIND_PAGE = OWNER_KIND_PAGE,
	KIND_PERCPU = OWNER_KIND_PERCPU,
	KIND_SITE = OWNER_KINDS,
	NR_KINDS
};

/* Largest valid pid: the kernel keeps a pid in an int. */
#define PID_MAX 0x7fffffff

/* Values of a record's field that no input contains: the input does not tell the field. */
#define PID_UNKNOWN (-PID_MAX - 2LL)
#define TS_UNKNOWN U64_MAX
#define SIZE_UNKNOWN U64_MAX
#define NID_UNKNOWN (-2)
#define HANDLE_UNKNOWN 0

/*
 * Per-CPU areas belong to no cache. This name is shown where others have the name of their
 * cache.
 */
#define PERCPU_NAME "percpu"

/* The beginning of a line with a frame of the user chain. */
#define USER_LINE " user "

/* The weight 1 in units of record.weight: the kernel prints weights with three decimals. */
#define WEIGHT_ONE 1000

/*
 * A record as a reader hands it to a sink: one object with its owner, or the sum of all
 * objects with the same owner if the kernel added them up. The texts point into the
 * reader's buffer and are valid only during the call.
 */
struct record {
	enum record_kind kind;
	bool summed;		/* a sum that the kernel made, not one object */
	bool slab_page;		/* a page whose record says that it holds slab objects */
	bool inaccurate;	/* the kernel marks the figures as inaccurate */
	bool cgroup_known;	/* the input has cgroups: an empty one means no cgroup */
	bool task_cgroup_known;	/* the input has cgroups of tasks */
	bool user_known;	/* the input has user chains: an empty one means none */
	u64 objects;
	u64 bytes;		/* bytes that the callers requested */
	u64 held;		/* bytes that the allocator took for them */
	u64 weight;		/* of a sample: the objects it represents, * WEIGHT_ONE; or 0 */
	u64 records;		/* samples that a sum was estimated from; 0: it is exact */
	u64 objects_error;	/* standard errors of the estimate */
	u64 bytes_error;
	u64 ts;			/* ns since boot at allocation; in a sum, of the oldest object */
	u64 span;		/* in a sum: ns from the oldest object to the youngest */
	u64 each_size;		/* in a sum: bytes requested for each object, if all are equal */
	u64 each_held;		/* in a sum: bytes taken for each object, if all are equal */
	s64 nid;
	u64 handle;		/* depot handle of the call chain */
	s64 pid;
	s64 tgid;
	struct text_slice comm;
	struct text_slice printed_comm;	/* as it stands in a header, before it is decoded */
	struct text_slice printed_ts;	/* the digits of ts in a header; empty: it has none */
	struct text_slice cache;	/* name of the cache; empty: not a slab object */
	struct text_slice cgroup;	/* name or path of the cgroup; empty: see cgroup_known */
	struct text_slice task_cgroup;	/* path of the task's cgroup; see task_cgroup_known */
	struct text_slice mask;	/* "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)"; empty: unknown */
	struct text_slice stack;	/* lines of the call chain, the allocator first */
	u64 stack_hash;		/* record_hash_stack(stack), or 0: not computed */
	struct text_slice user;	/* lines " user FRAME" of the user chain, the innermost first */

	/*
	 * The text of the record, for outputs that copy it; the stack and the user chain are
	 * between pfn and tail.
	 */
	u32 order;
	struct text_slice header;
	struct text_slice pfn;
	struct text_slice tail;
};

/* A record of which no field is known. No text in it is NULL. */
#define RECORD_UNKNOWN ((struct record){ \
	.ts = TS_UNKNOWN, \
	.each_size = SIZE_UNKNOWN, \
	.each_held = SIZE_UNKNOWN, \
	.nid = NID_UNKNOWN, \
	.pid = PID_UNKNOWN, \
	.tgid = PID_UNKNOWN, \
	.comm.s = "", \
	.cache.s = "", \
	.cgroup.s = "", \
	.task_cgroup.s = "", \
	.mask.s = "", \
	.stack.s = "", \
	.user.s = "", \
})

/* Returns the hash of the text of a chain, which the sink recognises it by; never 0. */
static inline u64 record_hash_stack(struct text_slice stack)
{
	u64 hash = XXH3_64bits(stack.s, stack.len);

	return hash + !hash;
}

#endif
