/* SPDX-License-Identifier: GPL-2.0 */
/* The sums of each function: of its own allocations, and of all allocations in calls of it. */
#ifndef OWNERTOP_FUNCTIONS_H
#define OWNERTOP_FUNCTIONS_H

#include "model/answer.h"

struct function_sums {
	struct sum flat;	/* allocations of the function itself */
	struct sum cum;		/* allocations of the function and of all that it calls */
	u32 first_call;		/* index into functions.calls of its largest caller */
	u32 nr_callers;
	u32 last_group;		/* number of the group that was added last, plus 1 */
};

/* The part of a function's cum that was allocated in calls from one of its callers. */
struct function_call {
	u32 callee;		/* indexes into functions.names */
	u32 caller;
	struct sum sum;
	u32 last_group;
};

struct functions {
	const struct model *m;
	enum measure measure;
	struct strings names;	/* "func" or "func [module]" */
	u32 *of_frames;		/* index into names, by frame number of the model */
	struct function_sums *v;	/* by index into names */
	struct function_call *calls;	/* by callee, the largest first */
	u32 nr_calls;
	u32 calls_cap;
	struct hash_index call_index;
	u32 *order;		/* functions, the largest flat first, then the largest cum */
	u32 n;			/* functions in order */
	u32 shown;
	struct sum not_shown;	/* sum of flat of the functions that are not shown */
};

/* Add up the groups of @a, which are grouped by call chain, for each function. */
void functions_build(struct functions *f, const struct answer *a);
void functions_free(struct functions *f);

#endif
