/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the raw text of a call chain to the number of its prefix: the first
 * frames that are neither the allocator's own nor hidden.
 */
#ifndef OWNERTOP_STACKS_H
#define OWNERTOP_STACKS_H

#include "globs.h"
#include "names.h"
#include "strings.h"

/* What is kept of a chain, and which chains; no globs: nothing is asked. */
struct chain_rules {
	struct globs skip;	/* left out at the allocation's end */
	struct globs hide;	/* left out anywhere */
	struct globs focus;	/* a chain must have one of these */
	struct globs ignore;	/* a chain must have none of these */
	u32 depth;		/* so many frames are kept; 0: all */
};

/* What a record's call chain comes to. */
struct owner {
	u32 chain;		/* index into stacks.chains */
	u32 module;	/* index into stacks.modules */
	bool passes;	/* what focus and ignore ask */
};

struct chain {
	u32 *frames;	/* indexes into stacks.frames */
	u32 n;
};

struct stacks {
	const struct chain_rules *rules;
	struct names *names;	/* that frames are looked up in; NULL: as they are */

	struct strings frames;
	struct frame_info *info;	/* parallel to frames */
	u32 info_cap;

	struct strings modules;

	struct chain *chains;
	u32 nr_chains;
	u32 chains_cap;
	struct index chain_index;

	struct seen_stack *seen;
	u32 *scratch;
	u32 scratch_cap;
};

void stacks_init(struct stacks *st, const struct chain_rules *rules);
/* @raw: lines, each with a leading space. Returns false if one is damaged. */
bool stacks_owner(struct stacks *st, struct text raw, struct owner *owner);
/* Index into stacks.modules; 0: the frame is in none. */
u32 stacks_frame_module(const struct stacks *st, u32 frame);
void stacks_free(struct stacks *st);

#endif
