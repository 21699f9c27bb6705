/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contracts between the rooms of the owner subsystem.
 *
 * stack.c	a call chain, and a task, become handles
 * slab.c	the record beside each slab object: written by SLUB's hooks,
 *		walked by readers
 * debugfs.c	the files a person reads
 */
#ifndef _MM_OWNER_H
#define _MM_OWNER_H

#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

/* Frames kept of a call chain. */
#define OWNER_DEPTH		64

/* The unit of a record's time, 2^23 ns or 8.4 ms: 32 bits last 417 days. */
#define OWNER_TIME_SHIFT	23

/* Why an object reads "untracked". */
enum owner_loss {
	OWNER_LOST_CONTEXT,	/* allocated in NMI */
	OWNER_LOST_EARLY,	/* allocated before the slab allocator was up */
	OWNER_LOST_VECTOR,	/* no memory for the slab's vector */
	OWNER_LOST_STACK,	/* the depot did not take the call chain */
	OWNER_LOST_TASK,	/* the depot did not take the task */
	OWNER_LOSS_REASONS
};

extern atomic_long_t owner_losses[OWNER_LOSS_REASONS];

static inline void owner_lost(enum owner_loss reason)
{
	atomic_long_inc(&owner_losses[reason]);
}

/* A task as it was when it allocated. */
struct owner_task {
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/* stack.c */
void owner_stack_init(void);
depot_stack_handle_t owner_stack_capture(unsigned long ip, gfp_t flags);
depot_stack_handle_t owner_task_capture(gfp_t flags);
bool owner_get(struct slab_owner *owner);
void owner_put(const struct slab_owner *owner);
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task);

/* One object's owner, as a reader sees it. */
struct owner_object {
	const char *cache;
	unsigned int slab_size;		/* bytes the object takes in its slab */
	unsigned int index;		/* in its slab */
	unsigned long pfn;		/* of its slab */
	const void *address;
	struct slab_owner owner;
};

/*
 * A walk over the slab objects that have owners, in order of their addresses.
 * Between slab_walk_begin() and slab_walk_end() no cache comes or goes. What
 * the walk found last stays fetchable until it is asked for the next.
 */
struct slab_walk {
	unsigned long pfn;		/* where the next object is looked for */
	unsigned int index;
	struct kmem_cache *known;	/* a cache seen on the list in this walk */
	struct slab_owner held;		/* references to what was found last */
};

/* slab.c */
void slab_walk_begin(struct slab_walk *walk);
int slab_walk_next(struct slab_walk *walk, struct owner_object *object);
void slab_walk_end(struct slab_walk *walk);

#endif /* _MM_OWNER_H */
