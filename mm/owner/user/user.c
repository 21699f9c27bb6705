// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: which code of a program asked for an object.
 *
 * The first object of an entry begins it. The user stack is walked without page faults, and
 * looked up among those whose chain is known, or interned if its code is known. If it is not,
 * or a page is not present, the objects get a context that is pending and that only this entry
 * has.
 * end_entry() runs as task work before the task returns to its program, when it may sleep: it
 * walks the user stack with page faults, interns the chain, and sets it in the context.
 *
 * owner_context of task_struct is the context of the current entry, with a reference, or 0.
 * owner_work is queued while its func is set: the entry has begun. Only the task itself uses
 * them, and never in an interrupt.
 */

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/stackdepot.h>

#include "../record.h"
#include "compat.h"
#include "user.h"

/* Entries by outcome; OWNER_USER_NO_REASON: the user chain was found in the cache. */
static DEFINE_PER_CPU(long[OWNER_USER_REASONS], user_outcomes);

static void count_outcome(enum owner_user_reason reason)
{
	this_cpu_inc(user_outcomes[reason]);
}

/**
 * owner_user_read_count() - read how often there was an outcome, on all CPUs
 * @reason: why there was no user chain or it ended early, or OWNER_USER_PENDING for entries
 *	whose user stack was walked at their end, or OWNER_USER_NO_REASON for those whose chain
 *	was known
 */
long owner_user_read_count(enum owner_user_reason reason)
{
	unsigned int cpu;
	long sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu(user_outcomes[reason], cpu);
	return sum;
}

/**
 * owner_user_start() - prepare for rules with user=on
 *
 * May sleep. Idempotent. Serialized by the caller.
 *
 * Return: 0 or -ENOMEM.
 */
int owner_user_start(void)
{
	return owner_user_cache_init() ?: owner_binaries_init();
}

/* Save a context of the current task. Return: a handle with a reference, 0 without room. */
static depot_stack_handle_t save_context(u64 word, gfp_t flags)
{
	unsigned long words[OWNER_CONTEXT_WORDS];
	unsigned int i;

	for (i = 0; i < OWNER_TASK_WORDS; i++)
		words[i] = owner_task_read_word(i);
	words[OWNER_TASK_WORDS] = word;
	return stack_depot_save_linked(words, ARRAY_SIZE(words), flags | __GFP_NOWARN,
				       STACK_DEPOT_FLAG_CAN_ALLOC);
}

/* --- The end of an entry ------------------------------------------------------ */

/* Count why a chain ends early, if it does. */
static void count_cut(depot_stack_handle_t chain)
{
	unsigned int count = stack_depot_copy(chain, NULL, 0);
	u64 last = stack_depot_frame(chain, count - 1);

	if (owner_user_place(last) == OWNER_USER_PLACE_REASON)
		count_outcome(owner_user_offset(last));
}

/* Intern the user chain of the entry that ends. Return: the last word of its context. */
static u64 resolve_entry(void)
{
	enum owner_user_reason reason = OWNER_USER_NO_MEMORY;
	depot_stack_handle_t chain = 0;

	if (current->flags & PF_EXITING || !current->mm)
		reason = OWNER_USER_EXITING;
	else if (current->in_execve || current->owner_exec_id != (u32)current->self_exec_id)
		/* execve() may run task work. It holds locks, so do not fault on user memory. */
		reason = OWNER_USER_EXEC;
	else
		chain = owner_user_intern_chain(&reason);
	if (reason == OWNER_USER_NO_REASON) {
		count_cut(chain);
		return chain;
	}
	count_outcome(reason);
	return owner_user_reason_word(reason);
}

static bool context_is_pending(depot_stack_handle_t context)
{
	u64 word = stack_depot_frame(context, OWNER_TASK_WORDS);

	return owner_user_word_reason(word) == OWNER_USER_PENDING;
}

/* Task work: the task is about to return to its program, or to exit. */
static void end_entry(struct callback_head *work)
{
	/* Objects that are allocated here still belong to the entry. */
	depot_stack_handle_t context = current->owner_context;
	u64 word;

	if (context && context_is_pending(context)) {
		word = resolve_entry();
		stack_depot_set_link(context, word);
		if (!owner_user_word_reason(word))
			stack_depot_put(word);
	}
	work->func = NULL;
	current->owner_context = 0;
	stack_depot_put(context);
}

/* --- The begin of an entry ---------------------------------------------------- */

/* Return why there is no user stack to walk here, OWNER_USER_NO_REASON if there is one. */
static enum owner_user_reason find_obstacle(void)
{
	if (!in_task())
		return OWNER_USER_INTERRUPT;
	if (current->flags & PF_KTHREAD)
		return OWNER_USER_KERNEL_THREAD;
	if (current->flags & PF_USER_WORKER)
		return OWNER_USER_WORKER;
	/* The user registers are those of the old program, the memory may be the new one's. */
	if (current->in_execve)
		return OWNER_USER_EXEC;
	if (current->flags & PF_EXITING && !current->owner_context)
		return OWNER_USER_EXITING;
	return current->mm || current->owner_context ? OWNER_USER_NO_REASON :
						       OWNER_USER_KERNEL_THREAD;
}

/* Find the chain of the user stack without page faults. Return: a handle with a reference, or 0. */
static depot_stack_handle_t find_chain(gfp_t flags)
{
	unsigned long maps_id = owner_user_current_maps_id();
	depot_stack_handle_t chain;
	struct owner_user_raw raw;
	bool walked;

	/* Without maps, no code is known. */
	if (!maps_id)
		return 0;
	pagefault_disable();
	walked = owner_user_walk(&raw);
	pagefault_enable();
	if (!walked)
		return 0;
	chain = owner_user_cache_find(&raw, maps_id);
	if (chain)
		return chain;
	chain = owner_user_intern_known(&raw, flags);
	if (chain)
		count_cut(chain);
	return chain;
}

/* Find the user chain if its code is known. Return: the last word of a new context. */
static u64 find_user_word(gfp_t flags)
{
	static atomic_t last_serial;
	depot_stack_handle_t chain;

	if (owner_user_is_32bit()) {
		count_outcome(OWNER_USER_32BIT);
		return owner_user_reason_word(OWNER_USER_32BIT);
	}
	chain = find_chain(flags);
	count_outcome(chain ? OWNER_USER_NO_REASON : OWNER_USER_PENDING);
	return chain ?: owner_user_reason_word(OWNER_USER_PENDING) |
			(u32)atomic_inc_return(&last_serial);
}

/* Let end_entry() run when the task returns to its program. False if it never will. */
static bool queue_end_of_entry(void)
{
	struct callback_head *work = &current->owner_work;

	init_task_work(work, end_entry);
	if (!task_work_add(current, work, OWNER_TASK_WORK_RESUME))
		return true;
	work->func = NULL;
	return false;
}

/*
 * Begin an entry: owner_context is set, unless the depot has no room. This is done once for
 * each entry. Objects that are allocated meanwhile, when the depot reclaims memory, have no
 * context, nor do the other objects of the entry if the depot had no room for the first.
 */
static void begin_entry(gfp_t flags)
{
	u64 word;

	if (current->owner_work.func || !queue_end_of_entry())
		return;
	word = find_user_word(flags);
	current->owner_exec_id = current->self_exec_id;
	current->owner_context = save_context(word, flags);
	if (!owner_user_word_reason(word))
		stack_depot_put(word);
}

/*
 * Get the context of the code that runs: that of its entry, or one that has the reason why there
 * is no entry. Return: a handle with a reference, 0 without room.
 */
static noinline depot_stack_handle_t get_context(gfp_t flags)
{
	enum owner_user_reason reason = find_obstacle();
	depot_stack_handle_t context;

	if (reason) {
		count_outcome(reason);
		return save_context(owner_user_reason_word(reason), flags);
	}
	if (!current->owner_context)
		begin_entry(flags);
	context = current->owner_context;
	if (!context) {
		count_outcome(OWNER_USER_NO_MEMORY);
		return 0;
	}
	owner_task_cache_handle(context);
	return stack_depot_get(context) ? context : 0;
}

/**
 * owner_user_attach() - replace the task of an owner by its context
 * @owner: filled by owner_record_fill(), and not published yet. Keeps its task if the depot
 *	has no room.
 * @flags: flags of the allocation that is tracked
 */
void owner_user_attach(struct owner_record *owner, gfp_t flags)
{
	depot_stack_handle_t context = get_context(flags);

	if (!context)
		return;
	stack_depot_put(owner->task);
	owner->task = context;
}

/* --- Readers ------------------------------------------------------------------ */

/**
 * owner_user_fetch() - read the user chain of an owner
 * @handle: the handle of a task or of a context, with a reference, or 0
 * @frames: filled with the words of the chain
 *
 * Return: the number of words: 1 if there is a reason in place of a chain, 0 if the owner has no
 * context, because its rule has no user=on.
 */
unsigned int owner_user_fetch(depot_stack_handle_t handle, u64 frames[OWNER_USER_WORDS])
{
	unsigned long words[OWNER_USER_WORDS];
	unsigned int i, count;
	u64 word;

	if (!handle || stack_depot_copy(handle, NULL, 0) != OWNER_CONTEXT_WORDS)
		return 0;
	word = stack_depot_frame(handle, OWNER_TASK_WORDS);
	if (owner_user_word_reason(word)) {
		frames[0] = owner_user_frame(OWNER_USER_PLACE_REASON, owner_user_word_reason(word));
		return 1;
	}
	/* The context holds a reference to the chain. */
	count = min(stack_depot_copy(word, words, ARRAY_SIZE(words)), OWNER_USER_WORDS);
	for (i = 0; i < count; i++)
		frames[i] = words[i];
	return count;
}
