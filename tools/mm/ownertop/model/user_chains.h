/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user's halves of call chains: which code of a program asked for the memory. The raw text
 * is parsed, frames get names (names/binaries.h), and the result is interned.
 */
#ifndef OWNERTOP_USER_CHAINS_H
#define OWNERTOP_USER_CHAINS_H

#include "base/strings.h"
#include "lang/lang.h"
#include "model/chains.h"
#include "names/binaries.h"

/* Selection of the user frames that are shown. */
struct user_chain_options {
	u32 depth;		/* limit of the frames that are shown; 0: all */
	bool by_function;	/* frames are functions, without offsets */
	bool if_any;		/* show the field only if an object has a user chain */
};

/* The result of parsing the user chain of a record. */
struct parsed_user_chain {
	u32 chain;		/* number in user_chains.chains; 0: the record has none */
	u32 file;		/* the program, number in user_chains.files; 0: none */
	u32 func;		/* the first function of the program, number in user_chains.funcs */
	u32 matched;		/* bit n: comparison n, of binaries or functions, holds */
	bool functions_unknown;	/* it has frames, and none of them has a name */
};

/* The objects that a program asked for. */
struct file_count {
	u64 objects;
	u64 bytes;
	u64 held;
};

struct user_chains {
	const struct user_chain_options *options;
	const struct owner_sentence *sentence;	/* its comparisons of binaries and functions */
	struct binaries *binaries;	/* to look up functions; NULL: show frames as they are */

	struct strings lines;	/* frames as they are in the input */
	struct user_frame_info *info;	/* by number of the line */
	u32 info_cap;
	struct strings frames;	/* frames as they are shown */
	struct strings funcs;	/* number 0 is empty */
	struct strings files;	/* number 0 is empty */
	struct chains chains;	/* number 0 has no frames */
	struct parsed_user_slot *parsed;	/* the last chains that were parsed, or NULL */

	struct file_count *counts;	/* by number of the file, of the objects counted so far */
	u32 nr_counts;
	u32 counts_cap;
};

void user_chains_init(struct user_chains *u, const struct user_chain_options *options,
		      const struct owner_sentence *sentence, struct binaries *binaries);
/*
 * Parse a user chain and intern the frames that are shown. @raw: its lines, each beginning with
 * USER_LINE. Returns false if a frame is malformed.
 */
bool user_chains_parse(struct user_chains *u, struct text_slice raw,
		       struct parsed_user_chain *parsed);

/* Parse the user chain of a record, which most records do not have. */
static inline bool user_chains_parse_if_any(struct user_chains *u, struct text_slice raw,
					    struct parsed_user_chain *parsed)
{
	*parsed = (struct parsed_user_chain){ 0 };
	return !raw.len || user_chains_parse(u, raw, parsed);
}

/*
 * Intern the names of the functions of all frames, as "user func [file]", or "user FRAME" if it
 * has no name: no function of the kernel is called so. Returns their numbers in @names, by frame;
 * to be freed.
 */
u32 *user_chains_intern_functions_of_frames(const struct user_chains *u, struct strings *names);

/* Add objects to those that the program with the number @file asked for. */
void user_chains_count(struct user_chains *u, u32 file, const struct file_count *more);
/* Forget what was counted. */
void user_chains_clear_counts(struct user_chains *u);
/* Free the tables that only the interning of chains needs. No chain may be interned afterwards. */
void user_chains_finish(struct user_chains *u);
void user_chains_free(struct user_chains *u);

#endif
