// SPDX-License-Identifier: GPL-2.0
/*
 * SLUB's hooks for allocation: record the owner of each slab object.
 */

#include <linux/kfence.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../../slab.h"
#include "../capture.h"
#include "../compat.h"
#include "../record.h"
#include "../rules/rules.h"
#include "../user/hooks.h"
#include "hooks.h"
#include "object.h"

/* Owners that the slow path has recorded. Counted by each CPU for itself. */
DEFINE_PER_CPU(long, owner_slow_captures);

/* Apply the rules. @sampled: SLUB has sampled this allocation, at the rate of its cache. */
static __always_inline struct owner_choice choose_tracking(struct kmem_cache *s, struct slab *slab,
							   gfp_t flags, size_t size, bool sampled,
							   struct stack_depot_caller caller)
{
	struct owner_choice choice = { .word = READ_ONCE(s->owner_choice) };

	if (unlikely(choice.cache < OWNER_CACHE_STORED)) {
		/* A rule can need the path of a cgroup, which takes a lock to print. */
		if (!stack_depot_may_lock()) {
			owner_count_loss(OWNER_LOST_NMI);
			return (struct owner_choice){};
		}
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
		if (!(READ_ONCE(slab->obj_exts) & OBJEXTS_OWNER_SLOW))
			set_bit(OBJEXTS_OWNER_SLOW_BIT, &slab->obj_exts);
	}
	rcu_read_unlock_sched();
}

/*
 * A slot of a slab with records of frees is reused: erase its record. If frees are not recorded
 * any more, let the fast paths handle the slab again, unless it is a page of KFENCE.
 */
static noinline void reuse_freed_slot(struct slab *slab, const void *object,
				      struct owner_record *freed_record)
{
	owner_freed_record_erase(freed_record);
	rcu_read_lock_sched();
	if (!READ_ONCE(owner_frees_recorded) && !is_kfence_address(object) &&
	    READ_ONCE(slab->obj_exts) & OBJEXTS_OWNER_SLOW)
		clear_bit(OBJEXTS_OWNER_SLOW_BIT, &slab->obj_exts);
	rcu_read_unlock_sched();
}

/* Drop the handles that the records of this slot still have: an object is allocated there. */
static __always_inline void reset_slot(struct kmem_cache *s, struct slab *slab,
				       struct owner_slab_records *records, const void *object,
				       struct owner_record *record)
{
	struct owner_freed_records *freed = owner_freed_records(records);

	drop_stale_record(s, records, record);
	if (unlikely(freed))
		reuse_freed_slot(slab, object, freed_record_of(freed, records, record));
}

/* Arguments of track_slow() beyond those that all functions here have. */
struct track_args {
	gfp_t flags;
	bool sampled;			/* SLUB has sampled this allocation */
	struct stack_depot_caller caller;
};

/* Slow path: apply the rule, allocate the slab's records if needed, record the owner. */
static noinline void track_slow(struct kmem_cache *s, const void *object, size_t size,
				const struct track_args *args)
{
	gfp_t flags = args->flags;
	struct owner_record *record, owner __uninitialized;
	struct owner_slab_records *records;
	struct owner_choice choice;
	unsigned int index;
	struct slab *slab;

	/* The sample credit is used up even if this allocation is not tracked: draw again. */
	if (args->sampled)
		owner_sample_draw();
	if (!object || !slab_owner_tracks_cache(s) || flags & OWNER_GFP_UNTRACKED)
		return;
	slab = virt_to_slab(object);
	choice = choose_tracking(s, slab, flags, size, args->sampled, args->caller);
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (unlikely(!records && choice.depth))
		records = owner_slab_records_alloc(s, slab, flags);
	if (!records)
		return;

	index = object_index(s, slab, records, object);
	record = &records->record[index];
	reset_slot(s, slab, records, object, record);
	if (!choice.depth)
		return;

	if (unlikely(choice.free))
		prepare_freed_record(s, slab, records, index, flags, size);
	owner.size_and_rate = owner_record_size_and_rate(owner_record_size(size), choice.rate);
	if (!owner_record_fill(&owner, flags, choice.depth, args->caller,
			       object_charge(s, owner_record_requested(&owner))))
		return;
	if (unlikely(choice.user))
		owner_user_attach(&owner, flags);
	if (choice.rate)
		owner_charge_sample(s, owner.stack, 1, &owner);
	make_free_check_records(slab, records, choice.rate);
	owner_record_publish(record, owner.handle_pair, owner.size_and_rate, owner.time);
	this_cpu_inc(owner_slow_captures);
}

/* The slab of an object, which is in the direct mapping: the kernel's image is elsewhere. */
static __always_inline struct slab *object_slab(const void *object)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	unsigned long offset = (unsigned long)object - PAGE_OFFSET;

	return owner_slab_of_page(pfn_to_page(offset >> PAGE_SHIFT));
#else
	return owner_slab_of_page(virt_to_page(object));
#endif
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
	return slab_owner_tracks_cache(s) && !(flags & OWNER_GFP_UNTRACKED) &&
	       !is_kfence_address(object);
}

/*
 * Record the owner of an object whose slab has no records yet. @handle_pair: from the fast path,
 * which has walked the stack and charged the chain.
 */
static noinline void track_first_object(struct kmem_cache *s, const void *object, u32 requested,
					gfp_t flags, u64 handle_pair)
{
	struct slab *slab = virt_to_slab(object);
	struct owner_slab_records *records;
	struct owner_record *record;

	records = owner_slab_records_alloc(s, slab, flags);
	if (unlikely(!records))
		return owner_record_drop(handle_pair, object_charge(s, requested));
	record = object_record_fast(s, slab, records, object);
	/* Another CPU may have allocated the records meanwhile, also those of frees. */
	reset_slot(s, slab, records, object, record);
	make_free_check_records(slab, records, 0);
	owner_record_publish(record, handle_pair, requested, owner_record_time_now());
}

/*
 * Find this CPU's references to the chain of an allocation. The chain begins with the caller of
 * SLUB's function. If that is an allocator, the first attempt does not find the chain. @ip: the
 * return address of SLUB's function, which is the whole chain at depth 1.
 */
static __always_inline struct stack_depot_ref *
find_chain_ref(struct stack_depot_cpu_cache *cpu, unsigned int depth, bool again,
	       struct stack_depot_caller caller, unsigned long ip)
{
	struct stack_depot_ref *ref;

	if (again)
		return stack_depot_find_running_again(cpu, depth, STACK_DEPOT_FLAG_SKIP, caller);
	if (likely(depth > 1))
		return stack_depot_find_running(cpu, depth, 1, caller);
	ref = stack_depot_find_hashed_ref(cpu, stack_depot_mix_frame(0, ip));
	return likely(ref && stack_depot_can_get_ref(ref)) ? ref : NULL;
}

/*
 * Record the owner if the CPU cache has all handles. @first: set to the handles, with references,
 * if only the slab's records are missing: track_first_object() has to do the rest then. Return:
 * false if something is missing.
 */
static __always_inline bool
track_from_cpu_cache(struct stack_depot_cpu_cache *cpu, struct kmem_cache *s, const void *object,
		     gfp_t flags, size_t size, struct owner_choice choice, bool again,
		     struct stack_depot_caller caller, unsigned long ip, u64 *first)
{
	struct stack_depot_ref *chain, *task;
	u32 requested = owner_record_size(size);
	struct owner_slab_records *records;
	unsigned long exts, wanted;
	struct owner_record *record;
	struct slab *slab;

	/* Without a context, a walk is in vain. The ref is not kept in a register meanwhile. */
	if (unlikely(choice.user) && !owner_find_context_ref(cpu))
		return false;
	/* Walk first: during the walk, no other value then has to be kept in a register. */
	chain = find_chain_ref(cpu, choice.depth, again, caller, ip);
	if (unlikely(!chain))
		return false;
	task = unlikely(choice.user) ? owner_find_context_ref(cpu) :
				       owner_find_current_task_ref(cpu, again);
	if (unlikely(!task))
		return false;
	slab = object_slab(object);
	exts = READ_ONCE(slab->obj_exts);
	if (unlikely(!(exts & OBJEXTS_OWNER_RECORDS))) {
		/* free=on needs records of frees, too. */
		if (!again || choice.free || !can_allocate_records(s, object, flags))
			return false;
		*first = owner_record_fill_fast(chain, task, object_charge(s, requested));
		return true;
	}
	/* Pages of KFENCE have OBJEXTS_OWNER_SLOW, too. */
	wanted = OBJEXTS_OWNER_UNSAMPLED | (choice.free ? OBJEXTS_OWNER_SLOW : 0);
	if (unlikely((exts & (OBJEXTS_OWNER_UNSAMPLED | OBJEXTS_OWNER_SLOW)) != wanted) ||
	    unlikely(choice.free && is_kfence_address(object)))
		return false;
	records = owner_slab_records_untag(exts);
	record = object_record_fast(s, slab, records, object);
	/* Nobody else writes to the record of a new object, unless it is freed twice. */
	if (unlikely(data_race(record->handle_pair)))
		return false;
	if (unlikely(choice.free) &&
	    !reset_freed_record(cpu, records, record, requested, task))
		return false;
	owner_record_publish(record, owner_record_fill_fast(chain, task,
							    object_charge(s, requested)),
			     requested, owner_record_time_now());
	return true;
}

/*
 * Fast path. The first attempt calls no function in steady state; the one @again leaves out
 * allocators, and may take references and allocate records. There is no test for NMI:
 * stack_depot_cpu_acquire() fails if the NMI has interrupted a user of the CPU cache, and
 * otherwise the CPU cache is safe to use. Nor is there one for OWNER_GFP_UNTRACKED: with that flag,
 * objects are from caches whose slabs have no records. can_allocate_records() tests for it.
 * Return: false for the slow path.
 */
static __always_inline bool track_fast(struct kmem_cache *s, const void *object, gfp_t flags,
				       size_t size, bool again, struct stack_depot_caller caller,
				       unsigned long ip)
{
	struct stack_depot_cpu_cache *cpu;
	struct owner_choice choice;
	bool tracked = false;
	u64 first = 0;

	if (unlikely(!object || stack_depot_verifies()))
		return false;
	cpu = stack_depot_cpu_acquire();
	if (unlikely(!cpu))
		return false;
	/* Preemption is off: control/change.c waits for this allocation after a change of free=. */
	choice.word = READ_ONCE(s->owner_choice);
	if (likely(choice.cache == OWNER_CACHE_FAST))
		tracked = track_from_cpu_cache(cpu, s, object, flags, size, choice, again, caller,
					       ip, &first);
	stack_depot_cpu_release(cpu);
	if (again && first)
		track_first_object(s, object, owner_record_size(size), flags, first);
	return tracked;
}

/*
 * The rest of a hook: try again with all allocators left out, then use the slow path. @frame: the
 * frame of the hook. A pointer to a caller would make the compiler protect the hook's stack.
 */
static noinline void track_again(struct kmem_cache *s, const void *object, size_t size, gfp_t flags,
				 unsigned long frame, unsigned long hook_ip)
{
	struct track_args args = { flags, false, stack_depot_caller_of_frame(frame, hook_ip) };

	if (!track_fast(s, object, flags, size, true, args.caller, 0))
		track_slow(s, object, size, &args);
}

/*
 * Chains start at SLUB's function that called the hook, and leave it out. The hook must not end
 * with a tail call, which would remove its frame: barrier() prevents it.
 */
noinline void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
				 unsigned long ip)
{
	if (!track_fast(s, object, flags, size, false, STACK_DEPOT_CALLER, ip))
		track_again(s, object, size, flags, (unsigned long)__builtin_frame_address(0),
			    _RET_IP_);
	barrier();
}

/* No lock may be waited for: the depot and SLUB try to take theirs. */
void __slab_owner_alloc_nolock(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			       unsigned long ip)
{
	struct track_args args = { flags, true, STACK_DEPOT_CALLER };
	u64 rate = READ_ONCE(s->owner_rate);

	stack_depot_forbid_locks();
	if (rate != OWNER_RATE_ALL) {
		if (owner_sample_spend(rate, size))
			track_slow(s, object, size, &args);
	} else if (!track_fast(s, object, flags, size, false, args.caller, ip)) {
		track_again(s, object, size, flags, (unsigned long)__builtin_frame_address(0),
			    _RET_IP_);
	}
	stack_depot_allow_locks();
	barrier();
}

void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	struct track_args args = { flags, true, STACK_DEPOT_CALLER };

	track_slow(s, object, size, &args);
}

/* The object is treated as a new one in the place of another that was not freed by a hook. */
void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);
	struct owner_slab_records *records;
	struct kmem_cache *s;

	/* Objects larger than a slab are pages, which page_owner tracks. */
	if (!slab)
		return;
	s = slab->slab_cache;
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (records)
		drop_stale_record(s, records,
				  &records->record[object_index(s, slab, records, object)]);
	track_again(s, object, size, flags, (unsigned long)__builtin_frame_address(0), _RET_IP_);
	barrier();
}
