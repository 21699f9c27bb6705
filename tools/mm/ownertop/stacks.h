/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the raw text of a call chain to the number of its prefix: the first
 * frames that are not the allocator's own.
 */
#ifndef OWNERTOP_STACKS_H
#define OWNERTOP_STACKS_H

#include "names.h"
#include "skip.h"
#include "strings.h"

/* What a record's call chain comes to. */
struct owner {
	u32 chain;		/* index into stacks.chains */
	u32 module;	/* index into stacks.modules */
};

struct chain {
	u32 *frames;	/* indexes into stacks.frames */
	u32 n;
};

struct stacks {
	const struct skip_list *skip;
	u32 depth;		/* 0: all frames */
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

void stacks_init(struct stacks *st, const struct skip_list *skip, u32 depth);
/* @raw: lines, each with a leading space. Returns false if one is damaged. */
bool stacks_owner(struct stacks *st, struct text raw, struct owner *owner);
void stacks_free(struct stacks *st);

#endif
