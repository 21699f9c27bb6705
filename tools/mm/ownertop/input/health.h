/* SPDX-License-Identifier: GPL-2.0 */
/* What went wrong with the inputs: told on stderr, and kept for the output. */
#ifndef OWNERTOP_HEALTH_H
#define OWNERTOP_HEALTH_H

#include <stdbool.h>

#include "base/types.h"

struct health {
	u64 damaged;	/* places where a record or more were lost */
	u32 unread;	/* inputs not read to their end, or empty */
	u32 told;		/* messages about the present input */
	u32 untold;
	bool quiet;		/* nothing is told on stderr */
	char first[128];	/* the first that was, or would have been */
};

/* Damage in the present input; says so, but not more than a screenful. */
void health_damage(struct health *h, const char *input, u64 line,
		   const char *reason);
/* The input could not be read, or not to its end, or had nothing in it. */
void health_unread(struct health *h, const char *input, const char *reason);
/* The present input is over. */
void health_input_done(struct health *h, const char *input);

bool health_complete(const struct health *h);

#endif
