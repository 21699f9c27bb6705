/* SPDX-License-Identifier: GPL-2.0 */
/* The call chains that hold most, in the kernel's report of its memory. */
#ifndef _MM_OWNER_OOM_H
#define _MM_OWNER_OOM_H

#include <linux/types.h>

#include "../totals.h"

#define OWNER_OOM_ROWS		10

/* A chain is printed if it holds one part in this many of memory. */
#define OWNER_OOM_SHARE		100

/* Columns of a line of the report, without the time that printk() adds. */
#define OWNER_OOM_COLUMNS	160

/**
 * struct owner_oom_find - a search for the chains that hold most
 * @candidates: the chains that hold most by the depot's counters
 * @top: the chains that hold most by the counters of the depot and of all CPUs
 * @step_ns: nanoseconds that each of the three rankings may take, 0: any number
 * @deadline: the time of local_clock() at which the step ends
 * @is_cut: a step has ended early, and @top may lack chains
 */
struct owner_oom_find {
	struct owner_ranking candidates;
	struct owner_ranking top;
	u64 step_ns;
	u64 deadline;
	bool is_cut;
};

u64 owner_oom_step_ns(void);
void owner_oom_find(struct owner_oom_find *find, enum owner_counter bytes, u64 least);
void owner_oom_format_row(char *line, size_t size, const struct owner_ranked_chain *row, u64 memory,
			  const char *unit);

#endif /* _MM_OWNER_OOM_H */
