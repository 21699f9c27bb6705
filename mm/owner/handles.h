/* SPDX-License-Identifier: GPL-2.0 */
/*
 * References to handles, which each CPU keeps ready: what is done for each capture.
 *
 * A hot call chain is captured and dropped on many CPUs at once. Were each of
 * these counted in the depot's record, its cache line would go from CPU to CPU.
 * So a CPU takes references from the depot many at a time, gives them out one by
 * one, and keeps those that come back. While it keeps one the words stay in the
 * depot where they are, so it can compare them there and need not search.
 *
 * Which of them to compare with is a hint: a wrong one costs a search.
 *
 * What a CPU keeps is touched by that CPU only, with preemption off. It takes it
 * out meanwhile: an interrupt that finds nothing does without, at the depot.
 */
#ifndef _MM_OWNER_HANDLES_H
#define _MM_OWNER_HANDLES_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/randomize_kstack.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>

#include "record.h"
#include "unwind.h"

/* Handles that a CPU keeps references to, and hints. */
#define SPARE_BITS	10
#define HINT_BITS	12
#define TASK_HINT_BITS	8

/* References taken from the depot, or given back to it, at a time. */
#define HANDLES_BATCH	64

struct cached_ref {
	depot_stack_handle_t handle;	/* 0: none is kept here */
	u16 references;			/* to it: at least one */
	u16 count;			/* of its words, 0 if they have not been asked for */
	const unsigned long *words;
	/* By enum owner_counter, but for pages: what the depot's counters do not know yet. */
	long counters[OWNER_PAGES];
};

#ifdef CONFIG_OWNER_UNWIND_ORC
/* Call chains that are known again without a walk: some for each key's bucket. */
#define SITE_BITS	6
#define SITE_WAYS	4

struct site {
	unsigned long key;		/* what makes it likely that it is this one */
	depot_stack_handle_t handle;	/* with a reference */
	struct owner_recipe recipe;
};

struct sites {
	struct site *last;		/* the one that was met last */
	unsigned int made;
	struct site site[SITE_WAYS];
};
#endif

/*
 * For each CPU that is online: 57 KiB, and 71 KiB more of sites; kmalloc() gives 64 or 128.
 * Hints are numbers of spares.
 */
struct owner_cpu_cache {
	u16 hint[1 << HINT_BITS];
	u16 task_hint[1 << TASK_HINT_BITS];
	struct cached_ref spare[1 << SPARE_BITS];
	/* Of each spare, what the depot's counter of pages does not know yet. */
	long pages[1 << SPARE_BITS];
#ifdef CONFIG_OWNER_UNWIND_ORC
	struct sites sites[1 << SITE_BITS];
#endif
};

static_assert(sizeof(struct owner_cpu_cache) <= SZ_128K);

/* What each CPU keeps, for it to take out, and where that stays. */
DECLARE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches);
DECLARE_PER_CPU(struct owner_cpu_cache *, owner_cpu_caches_home);

/* What this CPU keeps, until owner_cpu_end(handles); NULL if that cannot be had now. */
static __always_inline struct owner_cpu_cache *owner_cpu_begin(void)
{
	struct owner_cpu_cache *handles;

	preempt_disable();
	handles = __this_cpu_read(owner_cpu_caches);
	if (!handles) {
		preempt_enable();
		return NULL;
	}
	/* An interrupt in between has put it back by now. */
	__this_cpu_write(owner_cpu_caches, NULL);
	barrier();
	return handles;
}

static __always_inline void owner_cpu_end(struct owner_cpu_cache *handles)
{
	barrier();
	__this_cpu_write(owner_cpu_caches, handles);
	preempt_enable();
}

/* Which spare is a handle's: what a hint says. */
static __always_inline u16 owner_cpu_hint(depot_stack_handle_t handle)
{
	return hash_32(handle, SPARE_BITS);
}

/* The address is made once: the compiler would make it again for each use. */
static __always_inline struct cached_ref *owner_cpu_at(struct owner_cpu_cache *handles, u16 hint)
{
	struct cached_ref *spare = &handles->spare[hint];

	OPTIMIZER_HIDE_VAR(spare);
	return spare;
}

static __always_inline struct cached_ref *owner_cpu_ref(struct owner_cpu_cache *handles,
						   depot_stack_handle_t handle)
{
	return owner_cpu_at(handles, owner_cpu_hint(handle));
}

static __always_inline u32 owner_cpu_hash(const unsigned long *words, unsigned int count)
{
	unsigned long hash = count;
	unsigned int i;

	for (i = 0; i < count; i++)
		hash = rol64(hash ^ words[i], 7);
	return hash_64(hash, HINT_BITS);
}

static __always_inline bool owner_cpu_same(const unsigned long *a, const unsigned long *b,
					 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

void owner_cpu_keep(struct owner_cpu_cache *handles, depot_stack_handle_t handle, unsigned int references);
bool owner_cpu_refill(struct owner_cpu_cache *handles, depot_stack_handle_t handle);

/* Is there a reference to give out? The last one stays, so that the record does. */
static __always_inline bool owner_cpu_has_ref(const struct cached_ref *spare)
{
	/* Not kept in a register until it is counted down. */
	return READ_ONCE(spare->references) > 1;
}

/* Take one; false if there is none to be had. */
static __always_inline bool owner_cpu_take_ref(struct owner_cpu_cache *handles, struct cached_ref *spare,
					       depot_stack_handle_t handle)
{
	if (unlikely(spare->handle != handle || !owner_cpu_has_ref(spare)) &&
	    !owner_cpu_refill(handles, handle))
		return false;
	spare->references--;
	return true;
}

/* Where it is if these words are known, as owner_cpu_knows() says. */
static __always_inline struct cached_ref *owner_cpu_find(struct owner_cpu_cache *handles,
						  const unsigned long *words, unsigned int count)
{
	return owner_cpu_at(handles, handles->hint[owner_cpu_hash(words, count)]);
}

static __always_inline bool owner_cpu_knows(const struct cached_ref *spare, const unsigned long *words,
					  unsigned int count)
{
	return spare->count == count && owner_cpu_same(spare->words, words, count);
}

/* Where a reference to the handle of these words was taken, or NULL. */
static __always_inline struct cached_ref *owner_cpu_take(struct owner_cpu_cache *handles,
						  const unsigned long *words, unsigned int count)
{
	struct cached_ref *spare = owner_cpu_find(handles, words, count);

	return owner_cpu_knows(spare, words, count) &&
	       owner_cpu_take_ref(handles, spare, spare->handle) ? spare : NULL;
}

#ifdef CONFIG_OWNER_UNWIND_ORC

/*
 * Chains that end in the same place are told apart by how deep the stack is; where that
 * is random, by the system call that they are of, or what stands in its place: as many
 * bits of that as leave the depth what it is, which nobody looks at again.
 */
static __always_inline unsigned long owner_cpu_site_key(unsigned long ip, unsigned int depth,
						      struct owner_caller caller)
{
	unsigned long key = ip + ((unsigned long)depth << 48);

#ifdef CONFIG_RANDOMIZE_KSTACK_OFFSET
	if (static_branch_maybe(CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT,
				&randomize_kstack_offset))
		return key ^ (unsigned long)(u16)task_pt_regs(current)->orig_ax << 32;
#endif
	return key ^ ((unsigned long)caller.frame & (THREAD_SIZE - 1)) << 32;
}

static __always_inline struct sites *owner_cpu_sites(struct owner_cpu_cache *handles, unsigned long key)
{
	return &handles->sites[hash_64(key, SITE_BITS)];
}

/* The handle of the call chain from here if it is one that is known again, or 0. */
static __always_inline depot_stack_handle_t
owner_cpu_known_chain(struct owner_cpu_cache *handles, unsigned long ip, unsigned int depth,
		    struct owner_caller caller)
{
	unsigned long key = owner_cpu_site_key(ip, depth, caller);
	struct sites *sites = owner_cpu_sites(handles, key);
	struct site *site = sites->last;

	while (unlikely(site->key != key || !owner_recipe_holds(&site->recipe, caller))) {
		site = site == sites->site ? sites->site + SITE_WAYS - 1 : site - 1;
		if (site == sites->last)
			return 0;
	}
	sites->last = site;
	return site->handle;
}

#else

static __always_inline depot_stack_handle_t
owner_cpu_known_chain(struct owner_cpu_cache *handles, unsigned long ip, unsigned int depth,
		    struct owner_caller caller)
{
	return 0;
}

#endif /* CONFIG_OWNER_UNWIND_ORC */

/* Where a reference to its handle was taken, or NULL. */
static __always_inline struct cached_ref *
owner_cpu_take_chain(struct owner_cpu_cache *handles, unsigned long ip, unsigned int depth,
		   struct owner_caller caller)
{
	depot_stack_handle_t handle = owner_cpu_known_chain(handles, ip, depth, caller);
	struct cached_ref *spare = owner_cpu_ref(handles, handle);

	return handle && owner_cpu_take_ref(handles, spare, handle) ? spare : NULL;
}

/* Is there room for another reference to this handle? */
static __always_inline bool owner_cpu_have_room(const struct cached_ref *spare,
					      depot_stack_handle_t handle)
{
	return spare->handle == handle && spare->references < 2 * HANDLES_BATCH;
}

/* Take a reference back; none if @handle is 0. Return: where it is now. */
static __always_inline struct cached_ref *owner_cpu_give(struct owner_cpu_cache *handles,
						  depot_stack_handle_t handle)
{
	struct cached_ref *spare = owner_cpu_ref(handles, handle);

	if (likely(owner_cpu_have_room(spare, handle)))
		spare->references++;
	else if (handle)
		owner_cpu_keep(handles, handle, 1);
	return spare;
}

static __always_inline u16 *owner_cpu_task_hint(struct owner_cpu_cache *handles)
{
	return &handles->task_hint[(unsigned int)current->pid % (1 << TASK_HINT_BITS)];
}

/* Where it is if the current task is known, as owner_cpu_knows_task() says. */
static __always_inline struct cached_ref *owner_cpu_find_task(struct owner_cpu_cache *handles)
{
	return owner_cpu_at(handles, *owner_cpu_task_hint(handles));
}

static __always_inline bool owner_cpu_knows_task(const struct cached_ref *spare)
{
	return spare->count == OWNER_TASK_WORDS && spare->words[0] == owner_task_word(0) &&
	       spare->words[1] == owner_task_word(1) && spare->words[2] == owner_task_word(2);
}

/* Where a reference to its handle was taken, or NULL. */
static __always_inline struct cached_ref *owner_cpu_take_task(struct owner_cpu_cache *handles)
{
	struct cached_ref *spare = owner_cpu_find_task(handles);

	return owner_cpu_knows_task(spare) &&
	       owner_cpu_take_ref(handles, spare, spare->handle) ? spare : NULL;
}

#endif /* _MM_OWNER_HANDLES_H */
