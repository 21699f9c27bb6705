/* SPDX-License-Identifier: GPL-2.0 */
/* What any reader hands to the model: one live allocation. */
#ifndef OWNERTOP_RECORD_H
#define OWNERTOP_RECORD_H

#include "text.h"
#include "types.h"

enum kind {
	KIND_PAGE,
	KIND_SLAB,
	NR_KINDS
};

struct record {
	enum kind kind;
	u64 bytes;		/* what the caller asked for */
	u64 held;		/* what the allocator gave for it */
	u64 ts;		/* ns since boot, at allocation */
	s64 pid;
	s64 tgid;
	struct text comm;
	struct text cache;	/* empty: not a slab object */
	struct text stack;	/* raw lines, nearest to the allocation first */
};

#endif
