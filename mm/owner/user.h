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
 * A user chain is stored in the depot as one word for each frame, innermost first:
 *
 *	place << 48 | offset	@place is the index of a binary plus 1, or one of the
 *				enum owner_user_place. @offset is that of the return
 *				address in the file, in the vdso, or a reason.
 */
#ifndef _MM_OWNER_USER_H
#define _MM_OWNER_USER_H

#include <linux/build_bug.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

#include "owner.h"
#include "task.h"

#define OWNER_CONTEXT_WORDS		(OWNER_TASK_WORDS + 1)

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
	OWNER_USER_NOT_ASKED,		/* no rule with user=on decided */
	OWNER_USER_KERNEL_THREAD,	/* a task without a program */
	OWNER_USER_WORKER,		/* a thread that the kernel runs for a program: io_uring */
	OWNER_USER_EXITING,
	OWNER_USER_EXEC,		/* the program was replaced before it could be asked */
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
 * @name: last component of its path, cut if it is too long
 * @path: its path when it was found, NULL without memory
 */
struct owner_binary {
	u8 build_id[OWNER_BUILD_ID_MAX];
	u32 build_id_size;
	dev_t dev;
	u64 ino;
	char name[OWNER_BINARY_NAME_MAX + 1];
	char *path;
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

#endif /* _MM_OWNER_USER_H */
