/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call chain, cheaply.
 *
 * unwind.c	which frames count, and the walk where nothing faster is known
 * unwind_orc.c	the walk on x86
 */
#ifndef _MM_OWNER_UNWIND_H
#define _MM_OWNER_UNWIND_H

#include <linux/types.h>

#include "owner.h"

unsigned int owner_unwind(unsigned long *entries, unsigned int depth,
			  struct owner_caller caller);

/* Is this return address in a function that allocates for its caller? */
bool owner_is_allocator(unsigned long ip);

/* What the walk on x86 has met. */
struct owner_unwind_counts {
	unsigned long learned;		/* addresses looked up, not remembered */
	unsigned long slow;		/* chains left to the kernel's own unwinder */
	unsigned long verified;		/* chains walked by both, with owner.verify=1 */
	unsigned long different;	/* and not found equal */
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

/* Frames before a chain, of our own and of the unwinder, and allocators: room for them. */
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

/*
 * By what a chain is known again without walking it: the return addresses where
 * they stood, and the saved BPs that the walk went by. All else that it goes by is
 * a constant of the addresses, so where these stand again, it would find the same.
 * Positions are from the caller's frame on, and so are the values of BPs.
 *
 * But with CONFIG_RANDOMIZE_KSTACK_OFFSET the function that a system call enters
 * has a frame of another size each time. The walk goes by a BP from there to the
 * frame that is always the same distance below the stack's end: what there is of
 * that one is kept by itself.
 */
#define OWNER_RECIPE_WORDS	20
#define OWNER_RECIPE_BPS	4

struct owner_recipe {
	unsigned int generation;	/* of what is known of addresses */
	u16 span;			/* bytes that it looks at, from the caller's frame on */
	u8 nr_bps;			/* both are multiples of 2: the last one may */
	u8 nr_words;			/* stand there twice */
	u16 bp_at[OWNER_RECIPE_BPS];
	u16 word_at[OWNER_RECIPE_WORDS];
	u16 entry_bp_at;		/* of the BP that leads to the entry's frame */
	unsigned long entry_ip;		/* its return address; 0: no BP leads there */
	unsigned long bp[OWNER_RECIPE_BPS];
	unsigned long word[OWNER_RECIPE_WORDS];
};

/* What a frame has above the place where it saved BP. */
#define OWNER_CALLERS_SP	(2 * sizeof(long))

/* Another number than before: what was known of some address is no longer true. */
extern unsigned int owner_unwind_generation;

/* Said with owner.verify=1. */
DECLARE_STATIC_KEY_FALSE(owner_unwind_verify_key);

void owner_unwind_compare(const unsigned long *entries, unsigned int count, unsigned int depth,
			  struct owner_caller caller, bool keep_allocators);

/* Stack slots of our callers: they stand still meanwhile, and are of no concern to KASAN. */
static __no_sanitize_or_inline unsigned long owner_stack_word(unsigned long address)
{
	return *(const unsigned long *)address;
}

/* Does the chain begin where user space entered the kernel, as the recipe's does? */
static __no_sanitize_address __always_inline
bool owner_recipe_entry_matches(const struct owner_recipe *recipe, unsigned long frame)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long bp = (unsigned long)regs - OWNER_CALLERS_SP;

	return owner_stack_word(frame + recipe->entry_bp_at) == bp &&
	       bp - frame >= recipe->span &&
	       owner_stack_word((unsigned long)regs - sizeof(long)) == recipe->entry_ip &&
	       user_mode(regs);
}

/* Would a walk from here find the chain that the recipe is of? */
static __no_sanitize_address __always_inline
bool owner_recipe_matches(const struct owner_recipe *recipe, struct owner_caller caller)
{
	/* Counted up to 0, so that chains which differ near their beginning do so soon. */
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

struct owner_recipe {
};

static inline bool owner_unwind_verifying(void)
{
	return false;
}

static inline void owner_unwind_compare(const unsigned long *entries, unsigned int count,
					unsigned int depth, struct owner_caller caller, bool keep_allocators)
{
}

#endif /* CONFIG_OWNER_UNWIND_ORC */

/*
 * A walk takes more room than the kernel's stack has to spare: it has some of this
 * CPU's.
 */
struct owner_unwind_buffer {
	unsigned long frames[OWNER_DEPTH_MAX + OWNER_LEADING];
	struct owner_recipe recipe;
};

struct owner_unwind_buffer *owner_unwind_buffer_get(void);
void owner_unwind_buffer_put(void);
unsigned int owner_unwind_chain(struct owner_unwind_buffer *walk, unsigned int depth,
			      struct owner_caller caller, bool keep_allocators);

#endif /* _MM_OWNER_UNWIND_H */
