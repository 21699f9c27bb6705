/* SPDX-License-Identifier: GPL-2.0 */
/* The call chains that hold most, in the kernel's report of its memory. */
#ifndef _MM_OWNER_OOM_H
#define _MM_OWNER_OOM_H

#include <linux/stackdepot.h>
#include <linux/types.h>

#include "owner.h"

#define OWNER_OOM_ROWS		10

/* A chain is printed if it holds one part in this many of memory. */
#define OWNER_OOM_SHARE		100

/* Chains that are ranked by the depot's counters before the counters of all CPUs are read. */
#define OWNER_OOM_CANDIDATES	32

/* Columns of a line of the report, without the time that printk() adds. */
#define OWNER_OOM_COLUMNS	160

/**
 * struct owner_oom_row - what one call chain holds
 * @stack: handle of the chain, without a reference
 * @objects: number of objects, of records if some are samples, or of pages
 * @bytes: bytes that they occupy
 */
struct owner_oom_row {
	depot_stack_handle_t stack;
	u64 objects;
	u64 bytes;
};

/**
 * struct owner_oom_top - the call chains that hold most
 * @max: number of chains to keep
 * @count: number of chains in @row
 * @row: the chains, the largest first
 */
struct owner_oom_top {
	unsigned int max;
	unsigned int count;
	struct owner_oom_row row[OWNER_OOM_CANDIDATES];
};

/**
 * struct owner_oom_find - a search for the chains that hold most
 * @candidates: the chains that hold most by the depot's counters
 * @top: the chains that hold most by the counters of the depot and of all CPUs
 */
struct owner_oom_find {
	struct owner_oom_top candidates;
	struct owner_oom_top top;
};

extern bool owner_oom_report;

void owner_oom_find(struct owner_oom_find *find, enum owner_counter bytes, u64 least);
void owner_oom_rank(struct owner_oom_top *top, const struct owner_oom_row *row);
void owner_oom_format_row(char *line, size_t size, const struct owner_oom_row *row, u64 memory,
			  const char *unit);

#endif /* _MM_OWNER_OOM_H */
