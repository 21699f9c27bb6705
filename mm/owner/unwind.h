/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walk the running stack.
 *
 * unwind.c	leaves allocators out; walks with the kernel's unwinder without ORC
 * unwind_orc.c	walks on x86, and makes recipes by which a chain is recognized
 */
#ifndef _MM_OWNER_UNWIND_H
#define _MM_OWNER_UNWIND_H

#include <linux/types.h>

#include "owner.h"

unsigned int owner_unwind(unsigned long *entries, unsigned int depth,
			  struct owner_caller caller);
bool owner_is_allocator(unsigned long ip);

/**
 * struct owner_unwind_counts - statistics of the walk on x86
 * @learned: return addresses that were looked up in the ORC tables
 * @slow: chains that the kernel's unwinder had to walk
 * @verified: chains that were compared with the kernel's unwinder: owner.verify=1
 * @different: compared chains that were not equal
 */
struct owner_unwind_counts {
	unsigned long learned;
	unsigned long slow;
	unsigned long verified;
	unsigned long different;
};

#ifdef CONFIG_OWNER_UNWIND_ORC
void owner_unwind_init(void);
void owner_unwind_read_counts(struct owner_unwind_counts *counts);
#else
static inline void owner_unwind_init(void)
{
}

static inline void owner_unwind_read_counts(struct owner_unwind_counts *counts)
{
	*counts = (struct owner_unwind_counts){};
}
#endif

/* Maximum number of frames that stack_trace_save() returns before the chain's first one. */
#ifdef CONFIG_OWNER_UNWIND_ORC
#define OWNER_LEADING		0
#else
#define OWNER_LEADING		16
#endif

#ifdef CONFIG_OWNER_UNWIND_ORC

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#define OWNER_RECIPE_WORDS	20
#define OWNER_RECIPE_BPS	4

/**
 * struct owner_chain_recipe - by which a chain is recognized without a walk
 * @generation: owner_unwind_generation when the recipe was made
 * @span: number of bytes from the caller's frame on that the recipe looks at
 * @nr_bps: number of @bp, a multiple of 2: the last one can be there twice
 * @nr_words: number of @word, a multiple of 2: the last one can be there twice
 * @bp_at: positions of the saved BPs that the walk followed
 * @word_at: positions of the return addresses
 * @entry_bp_at: position of the saved BP that points to the system call entry's frame
 * @entry_ip: return address in that frame; 0 if the recipe has no such BP
 * @bp: values of the BPs, relative to the caller's frame
 * @word: the return addresses
 *
 * Positions are relative to the caller's frame. A walk depends only on these words and on
 * constants of the return addresses: if all words are equal, a walk would find the same
 * chain.
 *
 * With CONFIG_RANDOMIZE_KSTACK_OFFSET, the function that a system call enters has a frame
 * of a random size. A saved BP leads from there to the entry's frame, whose distance from
 * the stack's end is constant. The recipe keeps that frame apart, in @entry_bp_at and
 * @entry_ip.
 */
struct owner_chain_recipe {
	unsigned int generation;
	u16 span;
	u8 nr_bps;
	u8 nr_words;
	u16 bp_at[OWNER_RECIPE_BPS];
	u16 word_at[OWNER_RECIPE_WORDS];
	u16 entry_bp_at;
	unsigned long entry_ip;
	unsigned long bp[OWNER_RECIPE_BPS];
	unsigned long word[OWNER_RECIPE_WORDS];
};

/* Bytes of a saved BP and of the return address above it. */
#define OWNER_CALLERS_SP	(2 * sizeof(long))

/* Incremented when the text of an address goes away: older recipes are invalid. */
extern unsigned int owner_unwind_generation;

/* Enabled by owner.verify=1. */
DECLARE_STATIC_KEY_FALSE(owner_unwind_verify_key);

void owner_unwind_compare(const unsigned long *entries, unsigned int count, unsigned int depth,
			  struct owner_caller caller, bool keep_allocators);

/* Read a word of a caller's frame. Callers do not run meanwhile. KASAN must not check it. */
static __no_sanitize_or_inline unsigned long owner_stack_word(unsigned long address)
{
	return *(const unsigned long *)address;
}

/* True if the stack begins with the system call entry that the recipe has. */
static __no_sanitize_address __always_inline
bool owner_recipe_entry_matches(const struct owner_chain_recipe *recipe, unsigned long frame)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long bp = (unsigned long)regs - OWNER_CALLERS_SP;

	return owner_stack_word(frame + recipe->entry_bp_at) == bp &&
	       bp - frame >= recipe->span &&
	       owner_stack_word((unsigned long)regs - sizeof(long)) == recipe->entry_ip &&
	       user_mode(regs);
}

/* True if a walk from @caller would find the chain that the recipe was made for. */
static __no_sanitize_address __always_inline
bool owner_recipe_recognizes_chain(const struct owner_chain_recipe *recipe,
				   struct owner_caller caller)
{
	/* Compare the first frames first: they differ most often. i is negative, from the ends. */
	const unsigned long *word = recipe->word + recipe->nr_words;
	const u16 *word_at = recipe->word_at + recipe->nr_words;
	unsigned long frame = (unsigned long)caller.frame;
	long i;

	if (recipe->generation != READ_ONCE(owner_unwind_generation))
		return false;
	if (frame - (unsigned long)task_stack_page(current) > THREAD_SIZE - recipe->span)
		return false;
	for (i = 0; i < recipe->nr_bps; i += 2)
		if (owner_stack_word(frame + recipe->bp_at[i]) - frame != recipe->bp[i] ||
		    owner_stack_word(frame + recipe->bp_at[i + 1]) - frame != recipe->bp[i + 1])
			return false;
	for (i = -(long)recipe->nr_words; i; i += 2)
		if (owner_stack_word(frame + word_at[i]) != word[i] ||
		    owner_stack_word(frame + word_at[i + 1]) != word[i + 1])
			return false;
	return !recipe->entry_ip || owner_recipe_entry_matches(recipe, frame);
}

static __always_inline bool owner_unwind_verifying(void)
{
	return static_branch_unlikely(&owner_unwind_verify_key);
}

#else

struct owner_chain_recipe {
};

static inline bool owner_unwind_verifying(void)
{
	return false;
}

static inline void owner_unwind_compare(const unsigned long *entries, unsigned int count,
					unsigned int depth, struct owner_caller caller,
					bool keep_allocators)
{
}

#endif /* CONFIG_OWNER_UNWIND_ORC */

/* Per-CPU room for a walk: the kernel's stack is too small. */
struct owner_unwind_buffer {
	unsigned long frames[OWNER_DEPTH_MAX + OWNER_LEADING];
	struct owner_chain_recipe recipe;
};

struct owner_unwind_buffer *owner_unwind_buffer_get(void);
void owner_unwind_buffer_put(void);
unsigned int owner_unwind_chain(struct owner_unwind_buffer *buffer, unsigned int depth,
				struct owner_caller caller, bool keep_allocators);

#endif /* _MM_OWNER_UNWIND_H */
