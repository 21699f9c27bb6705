/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evictable stack traces: saved with STACK_DEPOT_FLAG_GET, and freed when the last reference
 * is dropped. <linux/stackdepot.h> includes this file.
 */
#ifndef _LINUX_STACKDEPOT_EVICTABLE_H
#define _LINUX_STACKDEPOT_EVICTABLE_H

#ifndef _LINUX_STACKDEPOT_H
#error "Include <linux/stackdepot.h> instead"
#endif

#include <linux/compiler.h>
#include <linux/stackdepot/locks.h>
#include <linux/types.h>

/* Odd, and random. Written once, before the first stack trace is hashed. */
extern u64 stack_depot_hash_key;

/*
 * Mix the next frame of a stack trace into its hash. The hash is a polynomial in the random key:
 * nobody can choose stack traces that have one hash.
 */
static __always_inline u64 stack_depot_mix_frame(u64 hash, unsigned long frame)
{
	return (hash + frame) * stack_depot_hash_key;
}

/* The hash of a stack trace. */
static __always_inline u64 stack_depot_hash_frames(const unsigned long *frames, unsigned int count)
{
	unsigned int i;
	u64 hash = 0;

	for (i = 0; i < count; i++)
		hash = stack_depot_mix_frame(hash, frames[i]);
	return hash;
}

/**
 * stack_depot_copy - Copy a stack trace out of stack depot
 *
 * @handle:	Stack depot handle; if it was saved with STACK_DEPOT_FLAG_GET, the
 *		caller has a reference to it
 * @entries:	Array to copy the frames to; NULL if @max is 0
 * @max:	Number of elements of @entries
 *
 * Context: Any context.
 *
 * Return: Number of frames of the stack trace, which may exceed @max; 0 if @handle is 0
 */
unsigned int stack_depot_copy(depot_stack_handle_t handle, unsigned long *entries,
			      unsigned int max);

/**
 * stack_depot_match - Compare a stack trace with frames
 *
 * @handle:	Stack depot handle, as for stack_depot_copy()
 * @entries:	Frames
 * @nr_entries:	Number of frames
 *
 * Context: Any context.
 *
 * Return: Number of frames of the stack trace if they are the first of @entries, otherwise 0
 */
unsigned int stack_depot_match(depot_stack_handle_t handle, const unsigned long *entries,
			       unsigned int nr_entries);

/**
 * stack_depot_frame - Read one frame of a stack trace
 *
 * @handle:	Stack depot handle, as for stack_depot_copy()
 * @index:	Index of the frame; 0 is the innermost
 *
 * Context: Any context.
 *
 * Return: The frame; 0 if the stack trace has no frame of this index
 */
unsigned long stack_depot_frame(depot_stack_handle_t handle, unsigned int index);

/**
 * stack_depot_find - Look up a stack trace without taking a reference
 *
 * @entries:	Pointer to the stack trace
 * @nr_entries:	Number of frames in the stack
 * @depot_flags: Flags as given when the stack trace was saved; STACK_DEPOT_FLAG_GET is
 *		implied
 *
 * Writes no memory that CPUs share. The stack trace may be evicted at any time, but
 * its handle is not reused before the caller's RCU-sched read-side critical section
 * ends. A caller that keeps the handle for longer calls stack_depot_get() within it,
 * or knows by other means that someone keeps a reference.
 *
 * Context: Any context, including NMI, within rcu_read_lock_sched().
 *
 * Return: Handle of the stack trace; 0 if it is not in stack depot, or no one has a
 *	   reference to it any more
 */
depot_stack_handle_t stack_depot_find(const unsigned long *entries, unsigned int nr_entries,
				      depot_flags_t depot_flags);

/**
 * stack_depot_get - Take a reference to a stack trace by its handle
 *
 * @handle:	Stack depot handle saved with STACK_DEPOT_FLAG_GET, possibly stale
 *
 * A reader calls this with a handle that it read from an object whose holder may
 * drop its reference concurrently. The reader must read the handle and call this
 * function in one RCU read-side critical section, and the holder must remove the
 * handle from the object before it drops its reference. If this function succeeds
 * then, the stack trace is the one that the holder saved.
 *
 * A handle kept for longer is refused if its stack trace has been evicted, unless
 * the memory was reused a multiple of 2^STACK_DEPOT_EXTRA_BITS times since.
 *
 * Context: Any context.
 *
 * Return: true if a reference was taken, to be dropped by stack_depot_put();
 *	   false if the stack trace is evicted, or was saved without
 *	   STACK_DEPOT_FLAG_GET
 */
bool stack_depot_get(depot_stack_handle_t handle);

/**
 * stack_depot_get_many - Take a number of references at once
 *
 * @handle:	Stack depot handle saved with STACK_DEPOT_FLAG_GET, possibly stale
 * @n:		Number of references
 *
 * Context: Any context.
 *
 * Return: As stack_depot_get(); either all references are taken or none
 */
bool stack_depot_get_many(depot_stack_handle_t handle, unsigned int n);

/**
 * stack_depot_put_many - Drop a number of references at once
 *
 * @handle:	Stack depot handle saved with STACK_DEPOT_FLAG_GET
 * @n:		Number of references
 *
 * Context: Any context.
 */
void stack_depot_put_many(depot_stack_handle_t handle, unsigned int n);

/**
 * stack_depot_save_linked - Save words, the last of which can be a link
 *
 * @words:	At least four words. The last one is the handle of another record, saved with
 *		STACK_DEPOT_FLAG_GET and to which the caller has a reference; or a number of more
 *		than 32 bits, which is no link
 * @nr:		Number of words
 * @gfp:	As for stack_depot_save_flags()
 * @flags:	0 or STACK_DEPOT_FLAG_CAN_ALLOC
 *
 * The record takes a reference to the linked one, and drops it when it is freed. The linked
 * record must not have a link that leads back.
 *
 * Context: As stack_depot_save_flags().
 *
 * Return: Handle with a reference, 0 if there is no room
 */
depot_stack_handle_t stack_depot_save_linked(unsigned long *words, unsigned int nr, gfp_t gfp,
					     depot_flags_t flags);

/**
 * stack_depot_set_link - Replace the last word of a record that has no link
 *
 * @handle:	From stack_depot_save_linked(), with a reference; no other caller saves equal
 *		words or replaces the word meanwhile
 * @word:	As the last word of stack_depot_save_linked()
 *
 * Context: Any context.
 */
void stack_depot_set_link(depot_stack_handle_t handle, unsigned long word);

/**
 * stack_depot_count_evictable - Estimate how many evictable records there are
 *
 * Context: Any context.
 *
 * Return: the number of records, of which some may come and go meanwhile
 */
unsigned long stack_depot_count_evictable(void);

/**
 * stack_depot_peek - Find the next record of a kind, without a reference
 *
 * @pos:	Position to continue from, initially 0; moved behind the result
 * @flag:	STACK_DEPOT_FLAG_COUNT or STACK_DEPOT_FLAG_DATA: the flag of the records
 * @handle:	Set to a handle without a reference, or to 0 at the end of a pool
 *
 * Takes no lock, waits for nothing and writes no memory that CPUs share. The record has a
 * reference of somebody else, and may be freed at any time: call stack_depot_is_in_use() after
 * reading it.
 *
 * Context: Any context, including NMI, within rcu_read_lock_sched().
 *
 * Return: false at the end of the depot
 */
bool stack_depot_peek(u64 *pos, depot_flags_t flag, depot_stack_handle_t *handle);

/**
 * stack_depot_is_in_use - Check that a record still has a reference
 *
 * @handle:	Stack depot handle that was valid once, possibly stale
 *
 * A record that is freed within an RCU-sched read-side critical section is not reused before
 * its end. If this returns true, the frames and the counters that the caller has read in the
 * section are those of @handle.
 *
 * Context: Any context, including NMI, within rcu_read_lock_sched().
 */
bool stack_depot_is_in_use(depot_stack_handle_t handle);

#ifdef CONFIG_STACKDEPOT
/* Tell readers of a memory dump the version of stack_depot_format. */
void stack_depot_save_vmcoreinfo(void);
#else
static inline void stack_depot_save_vmcoreinfo(void)
{
}
#endif

#endif /* _LINUX_STACKDEPOT_EVICTABLE_H */
