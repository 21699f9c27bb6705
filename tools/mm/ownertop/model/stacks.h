/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the raw text of a call chain to the number of its prefix: the first
 * frames that are neither the allocator's own nor hidden.
 */
#ifndef OWNERTOP_STACKS_H
#define OWNERTOP_STACKS_H

#include "lang/lang.h"
#include "names/globs.h"
#include "names/names.h"
#include "base/strings.h"

/* What is kept of a chain. */
struct chain_rules {
	struct globs skip;	/* left out at the allocation's end */
	struct globs hide;	/* left out anywhere */
	u32 depth;		/* so many frames are kept; 0: all */
	bool full;		/* nothing is left out at the allocation's end */
};

/* What a record's call chain comes to. */
struct parsed_chain {
	u32 chain;		/* index into stacks.chains */
	u32 module;	/* index into stacks.modules */
	u32 func;	/* that called the allocator: index into stacks.funcs */
	u32 matched;	/* a bit for each comparison of functions or modules that it meets */
	bool backing;	/* of pages: they are for slab objects or per-CPU areas */
};

struct chain {
	u32 *frames;	/* indexes into stacks.frames */
	u32 n;
};

struct stacks {
	const struct chain_rules *rules;
	const struct owner_sentence *sentence;	/* what is asked of functions and modules */
	struct names *names;	/* that frames are looked up in; NULL: as they are */

	struct strings frames;
	struct frame_info *info;	/* parallel to frames */
	u32 info_cap;

	struct strings modules;
	struct strings funcs;	/* "name", and "name [module]"; the first is for none */

	struct chain *chains;
	u32 nr_chains;
	u32 chains_cap;
	struct index chain_index;

	struct seen_stack *seen;
	u32 *scratch;
	u32 scratch_cap;
};

void stacks_init(struct stacks *st, const struct chain_rules *rules,
		 const struct owner_sentence *sentence);
/* @raw: lines, each with a leading space. Returns false if one is damaged. */
bool stacks_parse(struct stacks *st, struct text raw, struct parsed_chain *owner);
/* Index into stacks.modules; 0: the frame is in none. */
u32 stacks_frame_module(const struct stacks *st, u32 frame);
void stacks_free(struct stacks *st);

#endif
