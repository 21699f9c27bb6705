/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call chains. The raw text of a chain is parsed and cut to the frames that are shown,
 * and the result is interned: equal chains have the same number.
 */
#ifndef OWNERTOP_STACKS_H
#define OWNERTOP_STACKS_H

#include "lang/lang.h"
#include "model/chains.h"
#include "names/globs.h"
#include "names/known.h"
#include "names/frame.h"
#include "names/names.h"
#include "base/strings.h"

/* Selection of the frames of a chain that are shown. */
struct chain_options {
	struct globs skip;	/* leading frames that match are left out: the allocator */
	struct globs hide;	/* any frame that matches is left out */
	struct known_owners known;	/* chains that match are replaced by one frame */
	u32 depth;		/* limit of the frames that are shown; 0: all */
	bool outermost;		/* show the last frames, not the first */
	bool full;		/* ignore skip */
	bool by_function;	/* frames are functions, without offsets and source lines */
};

/* The result of parsing the call chain of a record. */
struct parsed_chain {
	u32 chain;		/* number in stacks.chains */
	u32 module;		/* index into stacks.modules */
	u32 func : 30;		/* the caller of the allocator: index into stacks.funcs */
	u32 backing : 1;	/* the chain allocates pages for slabs or per-CPU areas */
	u32 known : 1;		/* the chain is of a known owner */
	u32 syscall;		/* the system call: index into stacks.funcs, 0: none */
	u32 matched;		/* bit n: comparison n, of functions or modules, holds */
	u32 group;		/* for the model: the group of the last record with the chain */
};

/* No record with the chain is in a group. */
#define GROUP_NONE U32_MAX

struct stacks {
	const struct chain_options *options;
	const struct owner_sentence *sentence;	/* its comparisons of functions and modules */
	struct frame_names *names;	/* to look up frames; NULL: show frames as they are */

	struct strings frames;
	struct frame_info *info;	/* parallel to frames */
	u32 info_cap;

	struct strings modules;
	struct strings funcs;	/* "name", "name [module]" and system calls; number 0 is empty */
	unsigned char *judged;	/* by function: do skip and hide match it? 0: not known yet */
	u32 judged_cap;

	struct chains chains;
	bool *known_matched;	/* by known owner: a chain or function matches it */

	struct parsed_slot *slots;	/* each chain that was parsed, by the hash of its text */
	u32 nr_parsed;
	u32 slot_mask;
	u32 *scratch;		/* frames of the chain that is being parsed */
	u32 scratch_cap;
};

void stacks_init(struct stacks *st, const struct chain_options *options,
		 const struct owner_sentence *sentence);
/*
 * Parse a call chain, unless its text was parsed before, and intern the frames that are shown.
 * @raw: its lines, each with a leading space; @hash: the hash of @raw, never 0. Returns NULL if a
 * frame is malformed. The result is valid until the next call.
 */
struct parsed_chain *stacks_parse_chain(struct stacks *st, struct text_slice raw, u64 hash);
/* Let the CPU fetch what is known of the chain with this hash. */
void stacks_expect_chain(const struct stacks *st, u64 hash);
/* Returns the module of a frame: index into stacks.modules, 0: none. */
u32 stacks_get_frame_module(const struct stacks *st, u32 frame);
/*
 * Hash a chain by its functions: chains that differ in offsets only have equal hashes, also
 * those of another build of the kernel.
 */
u64 stacks_hash_functions(const struct stacks *st, const struct chain *chain);
/* Intern the name of a frame's function, as "func" or "func [module]". */
u32 stacks_intern_function(struct strings *names, const struct frame *f);
/*
 * Intern the names of the functions of all frames: all call sites in a function share one.
 * Returns their numbers in @names, by frame; to be freed.
 */
u32 *stacks_intern_functions_of_frames(const struct stacks *st, struct strings *names);

/* Free the tables that only the interning of chains needs. No chain may be interned afterwards. */
void stacks_finish(struct stacks *st);
void stacks_free(struct stacks *st);

#endif
