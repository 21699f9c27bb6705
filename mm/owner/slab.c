// SPDX-License-Identifier: GPL-2.0
/*
 * SLUB's hooks for allocation: record the owner of each slab object.
 */

#include <linux/kfence.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/stackdepot_hook.h>
#include <linux/string.h>

#include "../slab.h"
#include "caller.h"
#include "capture.h"
#include "hooks.h"
#include "record.h"
#include "rules/rules.h"
#include "slab_object.h"
#include "slow.h"
#include "user.h"

DEFINE_PER_CPU(long[OWNER_SLOW_REASONS], owner_slow_captures);

/* Apply the rules. @sampled: SLUB has sampled this allocation, at the rate of its cache. */
static __always_inline struct owner_choice choose_tracking(struct kmem_cache *s, struct slab *slab,
							   gfp_t flags, size_t size, bool sampled,
							   struct stack_depot_caller caller)
{
	const struct owner_rule *rule;
	struct owner_choice choice = {};

	if (in_nmi()) {
		owner_count_loss(OWNER_LOST_NMI);
		return choice;
	}
	/* Cheaper than rcu_read_lock() with CONFIG_PREEMPT_RCU. */
	rcu_read_lock_sched();
	rule = READ_ONCE(s->owner_rule);
	if (likely(owner_rule_is_resolved(rule))) {
		choice = rule->choice;
		this_cpu_inc(*rule->hits);
		rcu_read_unlock_sched();
	} else {
		rcu_read_unlock_sched();
		rcu_read_lock();
		choice = owner_choose_object_tracking(s, flags, size, slab_nid(slab), caller);
		rcu_read_unlock();
	}
	if (unlikely(choice.rate) && !sampled && !owner_is_sampled(choice.rate, size))
		choice.depth = 0;
	return choice;
}

/* Let the free of this object be recorded, if there is memory for the records of frees. */
static noinline void prepare_freed_record(struct kmem_cache *s, struct slab *slab,
					  struct owner_slab_records *records,
					  unsigned int index, gfp_t flags, size_t size)
{
	struct owner_freed_records *freed = owner_freed_records(records) ?:
					    owner_freed_records_alloc(s, slab, records, flags);

	if (!freed)
		return;
	/* The last rule with free=on may have been removed since this rule was found. */
	rcu_read_lock_sched();
	if (READ_ONCE(owner_frees_recorded)) {
		WRITE_ONCE(freed->record[index].size_and_rate, owner_record_size(size));
		/* The caller of this allocation frees the object later: its free sees the flag. */
		if (!(atomic_read(&records->tracked) & OWNER_TRACKED_SLOW))
			atomic_or(OWNER_TRACKED_SLOW, &records->tracked);
	}
	rcu_read_unlock_sched();
}

/*
 * A slot of a slab with records of frees is reused: erase its record. If frees are not recorded
 * any more, let the fast paths handle the slab again, unless it is a page of KFENCE.
 */
static noinline void reuse_freed_slot(struct owner_slab_records *records, const void *object,
				      struct owner_record *freed_record)
{
	owner_freed_record_erase(freed_record);
	rcu_read_lock_sched();
	if (!READ_ONCE(owner_frees_recorded) && !is_kfence_address(object) &&
	    atomic_read(&records->tracked) & OWNER_TRACKED_SLOW)
		atomic_andnot(OWNER_TRACKED_SLOW, &records->tracked);
	rcu_read_unlock_sched();
}

/* Drop the handles that the records of this slot still have: an object is allocated there. */
static __always_inline void reset_slot(struct kmem_cache *s, struct owner_slab_records *records,
				       const void *object, struct owner_record *record)
{
	struct owner_freed_records *freed = owner_freed_records(records);

	drop_stale_record(s, records, record);
	if (unlikely(freed))
		reuse_freed_slot(records, object, freed_record_of(freed, records, record));
}

/* Return the first step of the fast path that fails for this object. The last one is the chain. */
static enum owner_slow find_missing_step(struct stack_depot_cpu_cache *cpu,
					 const struct kmem_cache *s, struct slab *slab,
					 const void *object)
{
	struct owner_slab_records *records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	/* Preemption is off, which protects the rule as rcu_read_lock_sched() does. */
	const struct owner_rule *rule = READ_ONCE(s->owner_rule);

	if (!owner_rule_is_resolved(rule))
		return OWNER_SLOW_RULE;
	if (rule->choice.rate)
		return OWNER_SLOW_SAMPLE;
	if (!records || !has_unsampled_objects(records) ||
	    (rule->choice.free && !(has_slow_unsampled_objects(records) &&
				    owner_freed_records(records))))
		return OWNER_SLOW_RECORDS;
	if (!rule->choice.free && !has_fast_unsampled_objects(records))
		return OWNER_SLOW_FREES;
	if (READ_ONCE(object_record_fast(s, records, object)->handle_pair))
		return OWNER_SLOW_STALE;
	/* With user=on, a record has a context in place of the task. */
	if (rule->choice.user && !owner_find_context_ref(cpu))
		return OWNER_SLOW_USER;
	if (!rule->choice.user && !owner_find_current_task_ref(cpu, false))
		return OWNER_SLOW_TASK;
	return stack_depot_reorder_is_due() ? OWNER_SLOW_TICK : OWNER_SLOW_CHAIN;
}

/*
 * Find out why the fast path did not capture, before the slow path changes anything. The chain is
 * not looked up again: it is missing if no other step fails.
 */
static enum owner_slow find_slow_reason(const struct kmem_cache *s, struct slab *slab,
					const void *object)
{
	struct stack_depot_cpu_cache *cpu;
	enum owner_slow reason;

	if (stack_depot_verifies())
		return OWNER_SLOW_VERIFY;
	if (is_kfence_address(object))
		return OWNER_SLOW_KFENCE;
	cpu = stack_depot_cpu_acquire();
	if (!cpu)
		return OWNER_SLOW_BUSY;
	reason = find_missing_step(cpu, s, slab, object);
	stack_depot_cpu_release(cpu);
	return reason;
}

/* Arguments of track_slow() beyond those that all functions here have. */
struct track_args {
	gfp_t flags;
	bool sampled;			/* SLUB has sampled this allocation */
	struct stack_depot_caller caller;
};

/*
 * Slow path: apply the rule, allocate the slab's records if needed, record the owner.
 * Return: the handle of the chain, 0 if the object is not tracked.
 */
static noinline depot_stack_handle_t
track_slow(struct kmem_cache *s, const void *object, size_t size, const struct track_args *args)
{
	gfp_t flags = args->flags;
	struct owner_record *record, owner __uninitialized;
	struct owner_slab_records *records;
	struct owner_choice choice;
	enum owner_slow reason;
	unsigned int index;
	struct slab *slab;

	/* The sample credit is used up even if this allocation is not tracked: draw again. */
	if (args->sampled)
		owner_sample_draw();
	if (!object || !slab_owner_tracks_cache(s) || flags & __GFP_NO_OBJ_EXT)
		return 0;
	slab = virt_to_slab(object);
	reason = find_slow_reason(s, slab, object);
	choice = choose_tracking(s, slab, flags, size, args->sampled, args->caller);
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (unlikely(!records && choice.depth))
		records = owner_slab_records_alloc(s, slab, flags);
	if (!records)
		return 0;

	index = object_index(s, records, object);
	record = &records->record[index];
	reset_slot(s, records, object, record);
	if (!choice.depth)
		return 0;

	if (unlikely(choice.free))
		prepare_freed_record(s, slab, records, index, flags, size);
	owner.size_and_rate = owner_record_size_and_rate(owner_record_size(size), choice.rate);
	if (!owner_record_fill(&owner, flags, choice.depth, args->caller,
			       object_charge(s, owner_record_requested(&owner))))
		return 0;
	if (unlikely(choice.user))
		owner_user_attach(&owner, flags);
	if (choice.rate)
		owner_charge_sample(s, owner.stack, 1, &owner);
	make_free_check_records(records, choice.rate);
	owner_record_publish(record, owner.handle_pair, owner.size_and_rate, owner.time);
	this_cpu_inc(owner_slow_captures[reason]);
	return owner.stack;
}

/* The folio of a slab object, which is in the direct mapping: the kernel's image is elsewhere. */
static __always_inline struct folio *object_folio(const void *object)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	unsigned long offset = (unsigned long)object - PAGE_OFFSET;

	return page_folio(pfn_to_page(offset >> PAGE_SHIFT));
#else
	return virt_to_folio(object);
#endif
}

/* How a fast path captures. */
enum track_mode {
	TRACK_CHAIN,		/* chains of two frames or more */
	TRACK_CALLER,		/* chains of one frame, by the return address of the allocator */
	TRACK_FRAME,		/* chains of one frame, by the stack */
	TRACK_FREES,		/* chains of rules with free=on */
	TRACK_USER,		/* chains of rules with user=on, which TRACK_CHAIN tries, too */
};

/* The depth that a rule asks for, if it asks for @mode and nothing else; otherwise 0. */
static __always_inline unsigned int fast_depth(const struct owner_rule *rule,
					       enum track_mode mode)
{
	if (unlikely(!owner_rule_is_resolved(rule)))
		return 0;
	switch (mode) {
	case TRACK_CHAIN:
		return likely(rule->plain_depth > 1) ? rule->plain_depth : 0;
	case TRACK_CALLER:
	case TRACK_FRAME:
		return rule->plain_depth == 1;
	case TRACK_FREES:
		return rule->frees_depth;
	case TRACK_USER:
		break;
	}
	return 0;
}

/*
 * An object with free=on is allocated: drop the record of the last free in its place, and let
 * its own free be recorded. Return: false if the slab has no records of frees.
 */
static __always_inline bool reset_freed_record(struct stack_depot_cpu_cache *cpu,
					       struct owner_slab_records *records,
					       const struct owner_record *record, u32 requested,
					       struct stack_depot_ref *task)
{
	struct owner_freed_records *freed = owner_freed_records(records);
	struct owner_record *freed_record, owner __uninitialized;

	if (unlikely(!freed))
		return false;
	freed_record = freed_record_of(freed, records, record);
	owner.handle_pair = owner_record_take_handles(freed_record);
	if (owner.handle_pair &&
	    !owner_record_drop_to_cpu(cpu, owner.handle_pair, OWNER_NO_CHARGE, task))
		owner_record_put_refs(&owner);
	freed_record->size_and_rate = requested;
	return true;
}

/* May track_first_object() allocate the records of this object's slab? */
static bool can_allocate_records(const struct kmem_cache *s, const void *object, gfp_t flags)
{
	return slab_owner_tracks_cache(s) && !(flags & __GFP_NO_OBJ_EXT) &&
	       !is_kfence_address(object) && !in_nmi();
}

/*
 * Record the owner of an object whose slab has no records yet. @handle_pair: from the fast path,
 * which has walked the stack and charged the chain.
 */
static noinline void track_first_object(struct kmem_cache *s, const void *object, u32 requested,
					gfp_t flags, u64 handle_pair)
{
	struct owner_slab_records *records;
	struct owner_record *record;

	records = owner_slab_records_alloc(s, virt_to_slab(object), flags);
	if (unlikely(!records))
		return owner_record_drop(handle_pair, object_charge(s, requested));
	record = object_record_fast(s, records, object);
	/* Another CPU may have allocated the records meanwhile, also those of frees. */
	reset_slot(s, records, object, record);
	make_free_check_records(records, 0);
	owner_record_publish(record, handle_pair, requested, owner_record_time_now());
	this_cpu_inc(owner_slow_captures[OWNER_SLOW_RECORDS]);
}

/*
 * Record the owner if the CPU cache has all handles. This calls no function in steady state, so
 * the caller saves few registers. @first: set to the handles, with references, if only the slab's
 * records are missing: track_first_object() has to do the rest then. @second: see
 * track_caller_again(). Return: the handle of the chain; 0 if something is missing: unless @first
 * is set, track_slow() has to record the owner.
 */
static __always_inline depot_stack_handle_t
track_from_cpu_cache(struct stack_depot_cpu_cache *cpu, struct kmem_cache *s, const void *object,
		     size_t size, enum track_mode mode, unsigned int depth,
		     struct stack_depot_caller caller, unsigned long ip,
		     const struct owner_rule *rule, gfp_t flags, bool second, u64 *first)
{
	struct owner_record owner __uninitialized, *record;
	u32 requested = owner_record_size(size);
	struct stack_depot_ref *chain, *task;
	struct owner_slab_records *records;
	struct folio *folio;
	unsigned long exts;

	/* Walk first: during the walk, no other value then has to be kept in a register. */
	chain = mode == TRACK_CALLER ? owner_find_caller_ref(cpu, ip, second) :
		stack_depot_find_running(cpu, depth, true, caller);
	if (unlikely(!chain))
		return 0;
	task = mode == TRACK_USER ? owner_find_context_ref(cpu) :
	       owner_find_current_task_ref(cpu, second);
	if (unlikely(!task))
		return 0;
	folio = object_folio(object);
	exts = READ_ONCE(folio_slab(folio)->obj_exts);
	if (unlikely(!(exts & OBJEXTS_OWNER_RECORDS))) {
		/* free=on needs records of frees, too. TRACK_FRAME is seldom used. */
		if (mode == TRACK_FREES || mode == TRACK_FRAME ||
		    (mode == TRACK_CALLER && !second) || !can_allocate_records(s, object, flags))
			return 0;
		*first = owner_record_fill_fast(chain, task, object_charge(s, requested));
		this_cpu_inc(*rule->hits);
		return 0;
	}
	records = owner_slab_records_untag(exts);
	if (unlikely(mode == TRACK_FREES ?
		     !has_slow_unsampled_objects(records) || is_kfence_address(object) :
		     !has_fast_unsampled_objects(records)))
		return 0;
	record = object_record_fast(s, records, object);
	/* Nobody else writes to the record of a new object, unless it is freed twice. */
	if (unlikely(data_race(record->handle_pair)))
		return 0;
	if (mode == TRACK_FREES && !reset_freed_record(cpu, records, record, requested, task))
		return 0;
	owner.handle_pair = owner_record_fill_fast(chain, task, object_charge(s, requested));
	this_cpu_inc(*rule->hits);
	owner_record_publish(record, owner.handle_pair, requested, owner_record_time_now());
	/* The compiler cannot know that this is a handle: leave out tests for that. */
	if (!owner.stack)
		__builtin_unreachable();
	return owner.stack;
}

/*
 * Fast path. It does not test for NMI: stack_depot_cpu_acquire() fails if the NMI has
 * interrupted a user of the CPU cache, and otherwise the CPU cache is safe to use. It does not
 * test for __GFP_NO_OBJ_EXT: with that flag, objects are from caches whose slabs have no
 * records. Return: the handle of the chain, 0 for the slow path.
 */
static __always_inline depot_stack_handle_t
track_fast(struct kmem_cache *s, const void *object, gfp_t flags, size_t size,
	   enum track_mode mode, struct stack_depot_caller caller, unsigned long ip, bool second)
{
	const struct owner_rule *rule;
	struct stack_depot_cpu_cache *cpu;
	depot_stack_handle_t stack = 0;
	unsigned int depth;
	u64 first = 0;

	/* Without the call tree, there is a fast path for known callers only. */
	if (mode != TRACK_CALLER && !IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		return 0;
	if (unlikely(!object || stack_depot_verifies()))
		return 0;
	cpu = stack_depot_cpu_acquire();
	if (unlikely(!cpu))
		return 0;
	/* Preemption is off, which protects the rule as rcu_read_lock_sched() does. */
	rule = READ_ONCE(s->owner_rule);
	depth = fast_depth(rule, mode);
	if (likely(depth))
		stack = track_from_cpu_cache(cpu, s, object, size, mode, depth, caller, ip, rule,
					     flags, second, &first);
	else if (mode == TRACK_CHAIN && owner_rule_is_resolved(rule) && rule->user_depth)
		stack = track_from_cpu_cache(cpu, s, object, size, TRACK_USER, rule->user_depth,
					     caller, ip, rule, flags, second, &first);
	stack_depot_cpu_release(cpu);
	/* The first test alone is on the fast path: the callers repeat it. */
	if (unlikely(!stack && first)) {
		struct owner_record owner = { .handle_pair = first };

		track_first_object(s, object, owner_record_size(size), flags, first);
		return owner.stack;
	}
	return stack;
}

/*
 * Where the chain of an allocation starts: at SLUB's function that called the hook, or at its
 * caller if that function has a frame pointer. Chains leave out SLUB's function in both
 * cases. The hook must not end with a tail call, which would remove its frame. A compiler
 * makes none of a call that gets the address of a local variable; elsewhere, barrier() after
 * the call prevents it.
 */
#define HOOK_CALLER	stack_depot_skip_framed(STACK_DEPOT_CALLER)

/*
 * Slow path of a hook. @frame: the frame of the hook, from which its caller is found again. With
 * a pointer to that, the compiler would protect the stack of the fast path.
 */
static noinline void track_slow_from_frame(struct kmem_cache *s, void *object, size_t size,
					   gfp_t flags, unsigned long frame, unsigned long ip)
{
	struct track_args args = {
		flags, false, stack_depot_skip_framed(stack_depot_caller_of_frame(frame, ip))
	};

	track_slow(s, object, size, &args);
}

noinline void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	if (!track_fast(s, object, flags, size, TRACK_CHAIN, HOOK_CALLER, 0, false))
		track_slow_from_frame(s, object, size, flags,
				      (unsigned long)__builtin_frame_address(0), _RET_IP_);
	barrier();
}

/*
 * SLUB calls this for a cache whose rule has free=on (OWNER_PATH_FREES). It also resets the record
 * of the last free in the object's slot.
 */
noinline void __slab_owner_alloc_frees(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	if (!track_fast(s, object, flags, size, TRACK_FREES, HOOK_CALLER, 0, false))
		track_slow_from_frame(s, object, size, flags,
				      (unsigned long)__builtin_frame_address(0), _RET_IP_);
	barrier();
}

/*
 * Second attempt of the fast path for known callers: take a batch of references from the depot if
 * only the last one is left, and track the first object of a slab. In the first attempt, the calls
 * for that would cost registers to save.
 */
static noinline depot_stack_handle_t track_caller_again(struct kmem_cache *s, const void *object,
							gfp_t flags, size_t size,
							unsigned long ip)
{
	return track_fast(s, object, flags, size, TRACK_CALLER, (struct stack_depot_caller){}, ip,
			  true);
}

/*
 * At depth 1, record an owner whose caller this CPU does not remember, and remember it. The
 * hook does not pass its frame, which would cost its fast path registers. If it calls this
 * with a tail call, SLUB's function is the caller here, too. Otherwise the chain leaves out
 * the hook at its start, as it leaves out SLUB's functions.
 */
static noinline void track_new_caller(struct kmem_cache *s, void *object, gfp_t flags,
				      size_t size, unsigned long ip)
{
	struct track_args args = { flags, false, HOOK_CALLER };
	depot_stack_handle_t stack;

	if (track_caller_again(s, object, flags, size, ip))
		return;
	stack = track_fast(s, object, flags, size, TRACK_FRAME, args.caller, 0, false) ?:
		track_slow(s, object, size, &args);
	if (stack)
		owner_cache_caller(ip, stack);
}

/*
 * SLUB calls this for a cache whose rule has depth 1 (OWNER_PATH_DEPTH1). The chain is @ip, the
 * return address of the allocator. If @ip is in another allocator, the stack is walked each time.
 */
void __slab_owner_alloc_depth1(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			       unsigned long ip)
{
	if (!track_fast(s, object, flags, size, TRACK_CALLER, (struct stack_depot_caller){}, ip,
			false))
		track_new_caller(s, object, flags, size, ip);
}

void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	struct track_args args = { flags, true, HOOK_CALLER };

	track_slow(s, object, size, &args);
}

void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);
	struct track_args args = { flags, false, STACK_DEPOT_CALLER };

	/* Objects larger than a slab are pages, which page_owner tracks. */
	if (slab)
		track_slow(slab->slab_cache, object, size, &args);
}
