/* SPDX-License-Identifier: GPL-2.0 */
/* Captures of slab objects that left the fast path, counted by reason. */
#ifndef _MM_OWNER_SLOW_H
#define _MM_OWNER_SLOW_H

#include <linux/percpu-defs.h>

/* Why the slow path captured. Of several reasons, the first one is counted. */
enum owner_slow {
	OWNER_SLOW_VERIFY,	/* chains are compared with those of the kernel's unwinder */
	OWNER_SLOW_KFENCE,	/* the object is in a page of KFENCE */
	OWNER_SLOW_BUSY,	/* the CPU cache is in use, or not allocated yet */
	OWNER_SLOW_RULE,	/* the rules must be evaluated */
	OWNER_SLOW_SAMPLE,	/* the object is a sample */
	OWNER_SLOW_RECORDS,	/* the slab has no records yet, or none of frees */
	OWNER_SLOW_FREES,	/* the slab has records of frees that the rule does not ask for */
	OWNER_SLOW_STALE,	/* the object has a record already */
	OWNER_SLOW_TASK,	/* the CPU has no reference to the task that can be taken */
	OWNER_SLOW_USER,	/* the first object of an entry, or no context can be taken */
	OWNER_SLOW_TICK,	/* the first capture of the CPU in a tick reorders the call tree */
	OWNER_SLOW_CHAIN,	/* the CPU did not find the chain, or a reference to it */
	OWNER_SLOW_REASONS
};

/* Counted by each CPU for itself, in the slow path. */
DECLARE_PER_CPU(long[OWNER_SLOW_REASONS], owner_slow_captures);

#endif /* _MM_OWNER_SLOW_H */
