/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user half of an owner: which code of a program asked for the memory.
 *
 * A rule with user=on gives the objects that it decides a context in place of a task. A
 * context is stored in the depot as the words of the task and one more:
 *
 *	handle			of a user chain, to which the context holds a reference
 *	reason << 32 | serial	why there is no user chain; @serial tells contexts with
 *				OWNER_USER_PENDING apart
 *
 * All objects of an entry share a context, which task_struct keeps meanwhile.
 *
 *	hooks.h		what allocations, changes of the rules and the file slab_owner call
 *	user.c		contexts: begin an entry, end it, read a context
 *	walk.c		walk the user stack; walk_x86.h, walk_arm64.h
 *	resolve.c	addresses -> user chain
 *	cache.c		user stacks whose chain is known
 *	maps.c		code whose place is known, for each mm
 *	binaries.c	the files that user chains name
 *	show.c		print a user chain; owner/binaries
 *
 * A user chain is stored in the depot as one word for each frame, innermost first:
 *
 *	place << 48 | offset	@place is the index of a binary plus 1, or one of the
 *				enum owner_user_place. @offset is that of the return
 *				address in the file, in the vdso, or a reason.
 */
#ifndef _MM_OWNER_USER_H
#define _MM_OWNER_USER_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/gfp_types.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stackdepot_capture.h>
#include <linux/types.h>

#include "../owner.h"
#include "../task.h"
#include "hooks.h"

/* Frames of a user chain, and one more word if a reason ends it. */
#define OWNER_USER_FRAMES		16
#define OWNER_USER_WORDS		(OWNER_USER_FRAMES + 1)

#define OWNER_USER_PLACE_SHIFT		48
#define OWNER_USER_REASON_SHIFT		32
#define OWNER_BINARIES_MAX		4096
#define OWNER_BUILD_ID_MAX		20
#define OWNER_BINARY_NAME_MAX		63

/* Why there is no user chain, or why it ends. Readers of a memory dump know the numbers. */
enum owner_user_reason {
	OWNER_USER_NO_REASON,		/* there is a user chain, and it has all frames */
	OWNER_USER_KERNEL_THREAD,	/* a task without a program */
	OWNER_USER_WORKER,		/* a thread that the kernel runs for a program: io_uring */
	OWNER_USER_EXITING,
	OWNER_USER_EXEC,		/* execve() replaced the program before the walk */
	OWNER_USER_32BIT,
	OWNER_USER_INTERRUPT,
	OWNER_USER_NO_FRAME_POINTERS,	/* a word is not the frame pointer of a caller */
	OWNER_USER_FAULT,		/* the stack, or the code, is not there */
	OWNER_USER_CYCLE,		/* a frame pointer does not point up */
	OWNER_USER_BINARIES_FULL,
	OWNER_USER_NO_MEMORY,		/* the depot is full */
	OWNER_USER_PENDING,		/* the task has not returned to its program yet */
	OWNER_USER_REASONS
};

/* A place that is not a binary: the upper 16 bits of a word of a user chain. */
enum owner_user_place {
	OWNER_USER_PLACE_REASON	= 0xfffd,	/* the last word: enum owner_user_reason */
	OWNER_USER_PLACE_ANON	= 0xfffe,	/* anonymous memory: generated code */
	OWNER_USER_PLACE_VDSO	= 0xffff,
};

static_assert(OWNER_BINARIES_MAX < OWNER_USER_PLACE_REASON);

/**
 * struct owner_binary - a file whose code is in user chains
 * @build_id: its build-id, if @build_id_size is not 0
 * @build_id_size: bytes of the build-id
 * @dev: device of the file
 * @ino: number of the file's inode
 * @generation: tells inodes apart that had this number in turn
 * @name: last component of its path, cut if it is too long
 * @path: its path when it was found, NULL without memory
 * @index: its place in the table
 * @used: the epoch in which it was looked up last
 * @node: of the files with the hash of this one
 */
struct owner_binary {
	u8 build_id[OWNER_BUILD_ID_MAX];
	u32 build_id_size;
	dev_t dev;
	u64 ino;
	u32 generation;
	char name[OWNER_BINARY_NAME_MAX + 1];
	char *path;
	unsigned int index;
	unsigned long used;
	struct hlist_node node;
};

static inline enum owner_user_reason owner_user_word_reason(u64 word)
{
	return word >> OWNER_USER_REASON_SHIFT;
}

static inline u64 owner_user_reason_word(enum owner_user_reason reason)
{
	return (u64)reason << OWNER_USER_REASON_SHIFT;
}

static inline unsigned int owner_user_place(u64 frame)
{
	return frame >> OWNER_USER_PLACE_SHIFT;
}

static inline u64 owner_user_offset(u64 frame)
{
	return frame & ((1ULL << OWNER_USER_PLACE_SHIFT) - 1);
}

static inline u64 owner_user_frame(unsigned int place, u64 offset)
{
	return (u64)place << OWNER_USER_PLACE_SHIFT |
	       (offset & ((1ULL << OWNER_USER_PLACE_SHIFT) - 1));
}

struct file;
struct mm_struct;
struct owner_user_maps;
struct seq_file;

/**
 * struct owner_user_raw - a user stack as addresses
 * @count: number of addresses
 * @reason: why the walk ended, OWNER_USER_NO_REASON if it reached the outermost frame or has
 *	all frames that are kept
 * @begins: a bit for each address that is not a return address: where the task entered the
 *	kernel, where signals interrupted it, and what ends their handlers
 * @frame: the addresses, innermost first
 */
struct owner_user_raw {
	u32 count;
	u32 reason;
	u32 begins;
	unsigned long frame[OWNER_USER_FRAMES];
};

/**
 * struct owner_user_range - addresses whose code has one place
 * @start: the first of them
 * @size: number of addresses
 * @word: a word of a user chain: that of @start
 */
struct owner_user_range {
	unsigned long start;
	unsigned long size;
	u64 word;
};

static inline bool owner_user_range_has(const struct owner_user_range *range,
					unsigned long address)
{
	return address - range->start < range->size;
}

/* Only @word of a file or of the vdso has an offset. */
static inline u64 owner_user_range_word(const struct owner_user_range *range,
					unsigned long address)
{
	switch (owner_user_place(range->word)) {
	case OWNER_USER_PLACE_ANON:
	case OWNER_USER_PLACE_REASON:
		return range->word;
	default:
		return range->word + (address - range->start);
	}
}

#ifdef CONFIG_SLAB_OWNER_USER

/* user.c */
unsigned int owner_user_fetch(depot_stack_handle_t handle, u64 frames[OWNER_USER_WORDS]);
long owner_user_read_count(enum owner_user_reason reason);

extern const char * const owner_user_reason_names[OWNER_USER_REASONS];

/* walk.c */
bool owner_user_walk(struct owner_user_raw *raw);
bool owner_user_is_32bit(void);

/* resolve.c */
depot_stack_handle_t owner_user_intern_chain(enum owner_user_reason *reason);
depot_stack_handle_t owner_user_intern_known(const struct owner_user_raw *raw, gfp_t flags);

/* cache.c */
int owner_user_cache_init(void);
depot_stack_handle_t owner_user_cache_find(const struct owner_user_raw *raw,
					   unsigned long maps_id);
void owner_user_cache_clear(void);
void owner_user_cache_add(const struct owner_user_raw *raw, unsigned long maps_id,
			  depot_stack_handle_t chain);

/* maps.c */
struct owner_user_maps *owner_user_alloc_maps(void);
struct owner_user_maps *owner_user_get_maps(struct mm_struct *mm, struct owner_user_maps *made);
void owner_user_put_maps(struct owner_user_maps *maps);
unsigned long owner_user_maps_id(const struct owner_user_maps *maps);
unsigned long owner_user_current_maps_id(void);
bool owner_user_find_places(const struct owner_user_raw *raw,
			    unsigned long words[OWNER_USER_WORDS], unsigned long *maps_id);
void owner_user_add_range(struct owner_user_maps *maps, const struct owner_user_range *range);

/* binaries.c */
extern struct owner_binary **owner_binaries;
extern unsigned int owner_nr_binaries;

int owner_binaries_init(void);
unsigned int owner_binaries_drop(void);
unsigned long owner_binaries_epoch(void);
int owner_binaries_lock(void);
void owner_binaries_unlock(int lock);
int owner_binary_intern(struct file *file);
const struct owner_binary *owner_binary_of(u64 frame);

/*
 * Return the delay of the next drop, from the delay of the last one and from how many files it
 * dropped. A drop makes each program resolve its stacks again: wait longer after one that drops
 * few.
 */
static inline unsigned int owner_binaries_next_delay(unsigned int delay, unsigned int dropped)
{
	return dropped >= OWNER_BINARIES_MAX / 16 ? 1 : min(delay * 2, 1024U);
}

/* Return the number of places of the table that were ever used. */
static inline unsigned int owner_count_binaries(void)
{
	/* Pairs with add_binary(). */
	return smp_load_acquire(&owner_nr_binaries);
}

/* Return the file at a place of the table, NULL if there is none. */
static inline const struct owner_binary *owner_binary_at(unsigned int index)
{
	/* Pairs with add_binary(). */
	return smp_load_acquire(&owner_binaries[index]);
}

/* show.c */
extern const struct file_operations owner_binaries_fops;

void owner_user_show_frame(struct seq_file *m, u64 frame);
void owner_user_show_counts(struct seq_file *m);

#else /* CONFIG_SLAB_OWNER_USER */

static inline unsigned int owner_user_fetch(depot_stack_handle_t handle,
					    u64 frames[OWNER_USER_WORDS])
{
	return 0;
}

static inline const struct owner_binary *owner_binary_of(u64 frame)
{
	return NULL;
}

static inline void owner_user_show_frame(struct seq_file *m, u64 frame)
{
}

static inline void owner_user_show_counts(struct seq_file *m)
{
}

#endif /* CONFIG_SLAB_OWNER_USER */

#endif /* _MM_OWNER_USER_H */
