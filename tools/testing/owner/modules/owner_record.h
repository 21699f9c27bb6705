/* SPDX-License-Identifier: GPL-2.0 */
/* The format of the file that owner_record.c shows, and that ../bench/replay.c reads. */
#ifndef OWNER_RECORD_H
#define OWNER_RECORD_H

/* Frames of a capture: those of __slab_owner_alloc() and of its caller, and the chain's. */
#define RECORD_OWN_FRAMES	2
#define RECORD_FRAMES		(RECORD_OWN_FRAMES + 16)

/**
 * struct record_header - the beginning of the file, before the steps and the captures
 * @captures: number of captures
 * @other_stacks: number of captures on stacks that the walk does not know; they are left out
 * @missed: number of captures that interrupted the recording of others
 */
struct record_header {
	unsigned long captures;
	unsigned long other_stacks;
	unsigned long missed;
};

/**
 * struct record_capture - a capture
 * @slot: where the return address into the caller of __slab_owner_alloc() is
 * @stack: the lowest address of the stack that has the slot
 * @task_words: the first address of the words of the task's stack, if an interrupt has
 *	interrupted it, and runs on its own stack; 0 otherwise
 * @task_stack: the lowest address of the task's stack
 * @count: number of frames that the kernel's unwinder has found
 * @frames: the frames
 *
 * Behind it are the words of the stack from the one below the slot to the end, and the words of the
 * task's stack from @task_words to the end.
 */
struct record_capture {
	unsigned long slot;
	unsigned long stack;
	unsigned long task_words;
	unsigned long task_stack;
	unsigned long count;
	unsigned long frames[RECORD_FRAMES];
};

#endif /* OWNER_RECORD_H */
