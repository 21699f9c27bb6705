// SPDX-License-Identifier: GPL-2.0
/*
 * SLUB's hooks: record the owner of each slab object, and drop the record on free.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kfence.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../slab.h"
#include "caller.h"
#include "capture.h"
#include "hooks.h"
#include "record.h"
#include "rules/rules.h"
#include "slab_records.h"

/*
 * Enabled by the first capture, and never disabled: the records of objects have to be
 * dropped when the objects are freed, also after tracking was turned off.
 */
DEFINE_STATIC_KEY_FALSE(slab_owner_key);

DEFINE_PER_CPU(long, owner_nr_sampled);

/* Set by the boot line, before the first slab and before kmalloc's caches are created. */
static bool wanted __ro_after_init;
static bool wanted_at_boot __initdata;

static int __init slab_owner_setup(char *str)
{
	static bool record_frees __initdata;
	char *word;

	/* A later word overrides an earlier one, also on the rest of the boot line. */
	while ((word = strsep(&str, ",")) != NULL) {
		if (!strcmp(word, "on")) {
			wanted = true;
			wanted_at_boot = true;
		} else if (!strcmp(word, "ready")) {
			wanted = true;
			wanted_at_boot = false;
		} else if (!strcmp(word, "off")) {
			wanted = false;
			wanted_at_boot = false;
		} else if (!strcmp(word, "free=on")) {
			record_frees = true;
		} else if (!strcmp(word, "free=off")) {
			record_frees = false;
		} else {
			pr_err("\"%s\" is not understood: say on, ready or off, and free=on or free=off\n",
			       word);
		}
	}
	owner_rules_set_default(wanted_at_boot, record_frees);
	if (wanted_at_boot) {
		owner_capture_early_init();
		static_branch_enable(&slab_owner_key);
	} else {
		static_branch_disable(&slab_owner_key);
	}
	return 0;
}
early_param("slab_owner", slab_owner_setup);

/**
 * slab_owner_wanted() - tell whether slab objects can be tracked
 *
 * Called when kmalloc's caches are created. If objects can be tracked, kmalloc needs
 * separate caches for their records: if two kmalloc caches held each other's records,
 * freeing a slab would recurse from one to the other.
 *
 * Return: true if the boot line has slab_owner=on or slab_owner=ready.
 */
bool slab_owner_wanted(void)
{
	return wanted;
}

/**
 * slab_owner_start() - enable the hooks
 *
 * The rules still decide which allocations are tracked.
 *
 * Return: 0, or -ENOMEM if there is no memory for the stack depot.
 */
int slab_owner_start(void)
{
	int error = owner_capture_late_init();

	if (error)
		return error;
	static_branch_enable(&slab_owner_key);
	/* From now on each new cache gets its cache for records when it is created. */
	owner_record_caches_create();
	return 0;
}

/* Allocate memory for captures, which slab_owner_setup() could not do yet. */
static int __init slab_owner_init(void)
{
	return static_key_enabled(&slab_owner_key) ? owner_capture_late_init() : 0;
}
early_initcall(slab_owner_init);

/* --- Records of objects ------------------------------------------------------ */

/*
 * Find the record of an object, if its slab is not a page of KFENCE. The index is the
 * object's offset times the inverse of the size of an object, in units of 2^-32. The
 * inverse is rounded up by less than 1, so the product is too large by less than
 * offset / 2^32 objects. An offset is that of an object's start, so this never reaches the
 * next index. The lower 32 bits of an address have no tag of KASAN.
 */
static __always_inline struct owner_record *object_record_fast(const struct kmem_cache *s,
							       struct owner_slab_records *records,
							       const void *object)
{
	u32 offset = (u32)(unsigned long)object - records->start;
	u64 index = (u64)offset * s->owner_inverse_size;
	struct owner_record *record;

	/* Multiply by the size of a record and drop the fraction, in one instruction each. */
	BUILD_BUG_ON(sizeof(*record) != BIT(4));
	record = (void *)records->record + (index >> (32 - 4) & ~(sizeof(*record) - 1));
	/* Keep the compiler from computing the address again for each use. */
	OPTIMIZER_HIDE_VAR(record);
	return record;
}

/* Return the index of an object in the records of its slab. */
static unsigned int object_index(const struct kmem_cache *s, struct owner_slab_records *records,
				 const void *object)
{
	return is_kfence_address(object) ? 0 :
	       object_record_fast(s, records, object) - records->record;
}

static __always_inline struct owner_charge object_charge(const struct kmem_cache *s, u32 size)
{
	return (struct owner_charge){ .counted = true, .size = size, .cache = s };
}

static noinline void inc_sampled(struct owner_slab_records *records)
{
	this_cpu_inc(owner_nr_sampled);
	atomic_inc(&records->tracked);
}

static noinline void dec_sampled(struct owner_slab_records *records)
{
	this_cpu_dec(owner_nr_sampled);
	atomic_dec(&records->tracked);
}

static __always_inline bool has_unsampled_objects(struct owner_slab_records *records)
{
	return atomic_read(&records->tracked) & OWNER_TRACKED_UNSAMPLED;
}

/* True if OWNER_TRACKED_SLOW is not set, and OWNER_TRACKED_UNSAMPLED is. */
static __always_inline bool has_fast_unsampled_objects(struct owner_slab_records *records)
{
	return atomic_read(&records->tracked) >= (int)OWNER_TRACKED_UNSAMPLED;
}

/*
 * Make free look at the slab's records. Sampled objects are counted; the first other one
 * sets a flag, for good.
 */
static __always_inline void make_free_check_records(struct owner_slab_records *records,
						    unsigned int rate)
{
	if (unlikely(rate))
		inc_sampled(records);
	else if (unlikely(!has_unsampled_objects(records)))
		atomic_or(OWNER_TRACKED_UNSAMPLED, &records->tracked);
}

/* Drop the record of an object that was not freed through a hook, or is resized. */
static void drop_stale_record(struct kmem_cache *s, struct owner_slab_records *records,
			      struct owner_record *record)
{
	u64 handle_pair = owner_record_take_handles(record);

	if (!handle_pair)
		return;
	owner_record_drop(handle_pair, object_charge(s, owner_record_requested(record)));
	if (owner_record_rate(record))
		dec_sampled(records);
}

/* Drop the record of the last free in a slot: the slot is reused, or its slab is freed. */
static noinline void drop_freed_record(struct owner_record *record)
{
	u64 handle_pair = owner_record_take_handles(record);

	if (handle_pair)
		owner_record_drop(handle_pair, OWNER_NO_CHARGE);
	record->size_and_rate = 0;
}

void __slab_owner_free_slab(struct slab *slab)
{
	struct owner_slab_records *records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	struct owner_freed_records *freed;
	unsigned int i;

	if (!records)
		return;
	freed = owner_freed_records(records);
	WRITE_ONCE(slab->obj_exts, freed ? freed->obj_exts : records->obj_exts);
	/*
	 * Pairs with owner_freed_records_of(): the rcu_head overwrites records->obj_exts
	 * only after slab->obj_exts has changed.
	 */
	smp_wmb();
	/* An object that was freed without a hook still has its record. */
	for (i = 0; i < slab->objects; i++)
		drop_stale_record(slab->slab_cache, records, &records->record[i]);
	for (i = 0; freed && i < slab->objects; i++)
		drop_freed_record(&freed->record[i]);
	owner_slab_records_free(slab, records);
}

/* --- Allocation -------------------------------------------------------------- */

/* Apply the rules. @sampled: SLUB has sampled this allocation, at the rate of its cache. */
static __always_inline struct owner_choice choose_tracking(struct kmem_cache *s, struct slab *slab,
							   gfp_t flags, size_t size, bool sampled,
							   struct stack_depot_caller caller)
{
	const struct owner_rule *rule;
	struct owner_choice choice = {};

	if (in_nmi()) {
		owner_count_loss(OWNER_LOST_CONTEXT);
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
	freed->record[index].size_and_rate = owner_record_size(size);
	/* No free can be missed: only the caller of this allocation has the object's address. */
	if (!(atomic_read(&records->tracked) & OWNER_TRACKED_SLOW))
		atomic_or(OWNER_TRACKED_SLOW, &records->tracked);
}

/* Arguments of track_slow() that fit into one register. */
struct track_args {
	gfp_t flags;
	bool sampled;			/* SLUB has sampled this allocation */
};

/*
 * Slow path: apply the rule, allocate the slab's records if needed, record the owner.
 * Return: the handle of the chain, 0 if the object is not tracked.
 */
static noinline depot_stack_handle_t
track_slow(struct kmem_cache *s, const void *object, size_t size, struct track_args args,
	   struct stack_depot_caller caller)
{
	gfp_t flags = args.flags;
	struct owner_record *record, owner __uninitialized;
	struct owner_slab_records *records;
	struct owner_choice choice;
	struct owner_freed_records *freed;
	unsigned int index;
	struct slab *slab;

	/* The sample credit is used up even if this allocation is not tracked: draw again. */
	if (args.sampled)
		owner_sample_draw();
	if (!object || !slab_owner_tracks_cache(s) || flags & __GFP_NO_OBJ_EXT)
		return 0;
	slab = virt_to_slab(object);
	choice = choose_tracking(s, slab, flags, size, args.sampled, caller);
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (unlikely(!records && choice.depth))
		records = owner_slab_records_alloc(s, slab, flags);
	if (!records)
		return 0;

	index = object_index(s, records, object);
	record = &records->record[index];
	drop_stale_record(s, records, record);
	freed = owner_freed_records(records);
	if (unlikely(freed))
		drop_freed_record(&freed->record[index]);
	if (!choice.depth)
		return 0;

	if (unlikely(choice.free))
		prepare_freed_record(s, slab, records, index, flags, size);
	owner.size_and_rate = owner_record_size_and_rate(owner_record_size(size), choice.rate);
	if (!owner_record_fill(&owner, flags, choice.depth, caller,
			       object_charge(s, owner_record_requested(&owner))))
		return 0;
	make_free_check_records(records, choice.rate);
	owner_record_publish(record, owner.handle_pair, owner.size_and_rate, owner.time);
	return owner.stack;
}

/*
 * Record the owner from the CPU cache alone. This calls no function, so the caller saves
 * few registers. @by_caller: look for the chain that consists of @ip. Return: the handle of
 * the chain; 0 if something is missing: nothing was changed then.
 */
static __always_inline depot_stack_handle_t
track_from_cpu_cache(struct stack_depot_cpu_cache *cpu, struct kmem_cache *s, const void *object,
		     size_t size, unsigned int depth, bool by_caller,
		     struct stack_depot_caller caller, unsigned long ip,
		     const struct owner_rule *rule)
{
	struct folio *folio = virt_to_folio(object);
	unsigned long exts = READ_ONCE(folio_slab(folio)->obj_exts);
	struct owner_record owner __uninitialized, *record;
	u32 requested = owner_record_size(size);
	struct stack_depot_ref *chain, *task;
	struct owner_slab_records *records;

	if (unlikely(!(exts & OBJEXTS_OWNER_RECORDS)))
		return 0;
	records = owner_slab_records_untag(exts);
	if (unlikely(!has_fast_unsampled_objects(records)))
		return 0;
	record = object_record_fast(s, records, object);
	if (unlikely(READ_ONCE(record->handle_pair)))
		return 0;
	chain = by_caller ? owner_find_caller_ref(cpu, ip) :
		stack_depot_find_running(cpu, depth, STACK_DEPOT_FLAG_SKIP, caller);
	if (unlikely(!chain))
		return 0;
	task = owner_find_current_task_ref(cpu);
	if (unlikely(!task))
		return 0;
	owner.handle_pair = owner_record_fill_fast(chain, task, object_charge(s, requested));
	this_cpu_inc(*rule->hits);
	owner_record_publish(record, owner.handle_pair, requested, owner_record_time_now());
	return owner.stack;
}

/*
 * Fast path: @depth1 says whether it is for rules with depth 1, or for deeper ones, and
 * @by_caller whether it looks for the chain that consists of @ip. It does not test for NMI:
 * stack_depot_cpu_acquire() fails if the NMI has interrupted a user of the CPU cache, and
 * otherwise the CPU cache is safe to use. It does not test for __GFP_NO_OBJ_EXT: with that
 * flag, objects are from caches whose slabs have no records. Return: the handle of the
 * chain, 0 for the slow path.
 */
static __always_inline depot_stack_handle_t
track_fast(struct kmem_cache *s, const void *object, size_t size, bool depth1, bool by_caller,
	   struct stack_depot_caller caller, unsigned long ip)
{
	const struct owner_rule *rule;
	struct stack_depot_cpu_cache *cpu;
	depot_stack_handle_t stack = 0;

	/* Without the call tree, there is a fast path for known callers only. */
	if (!by_caller && !IS_ENABLED(CONFIG_STACKDEPOT_CALL_TREE))
		return 0;
	if (unlikely(!object || stack_depot_verifies()))
		return 0;
	cpu = stack_depot_cpu_acquire();
	if (unlikely(!cpu))
		return 0;
	/* Preemption is off, which protects the rule as rcu_read_lock_sched() does. */
	rule = READ_ONCE(s->owner_rule);
	if (likely(owner_rule_is_resolved(rule) && (depth1 ? rule->plain_depth == 1 :
							     rule->plain_depth > 1)))
		stack = track_from_cpu_cache(cpu, s, object, size,
					     depth1 ? 1 : rule->plain_depth, by_caller, caller, ip,
					     rule);
	stack_depot_cpu_release(cpu);
	return stack;
}

/*
 * A chain starts at the frame of the hook that uses STACK_DEPOT_CALLER. The barrier() after
 * the last call keeps the compiler from making it a tail call, which would remove that frame.
 */
void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	if (track_fast(s, object, size, false, false, STACK_DEPOT_CALLER, 0))
		return;
	track_slow(s, object, size, (struct track_args){ flags }, STACK_DEPOT_CALLER);
	barrier();
}

/* At depth 1, record an owner whose caller this CPU does not remember, and remember it. */
static noinline void track_new_caller(struct kmem_cache *s, void *object, gfp_t flags,
				      size_t size, struct stack_depot_caller caller,
				      unsigned long ip)
{
	depot_stack_handle_t stack = track_fast(s, object, size, true, false, caller, 0);

	if (!stack)
		stack = track_slow(s, object, size, (struct track_args){ flags }, caller);
	if (stack)
		owner_cache_caller(ip, stack);
}

/*
 * A function of its own for depth 1, which knows the whole chain: @ip, the return address
 * of the allocator, unless that is in another allocator.
 */
void __slab_owner_alloc_depth1(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			       unsigned long ip)
{
	if (track_fast(s, object, size, true, true, STACK_DEPOT_CALLER, ip))
		return;
	track_new_caller(s, object, flags, size, STACK_DEPOT_CALLER, ip);
	barrier();
}

void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	track_slow(s, object, size, (struct track_args){ flags, true }, STACK_DEPOT_CALLER);
	barrier();
}

void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);

	/* Objects larger than a slab are pages, which page_owner tracks. */
	if (slab)
		track_slow(slab->slab_cache, object, size, (struct track_args){ flags },
			   STACK_DEPOT_CALLER);
	barrier();
}

/* --- Free -------------------------------------------------------------------- */

/*
 * Record who frees an object, until its place is used again. The depot must not allocate
 * for that: the caller of kfree() may hold any lock.
 */
static noinline void record_free(struct owner_record *record, struct stack_depot_caller caller)
{
	struct owner_record owner;

	/* The object's rule did not ask for this, or there was no memory. */
	if (!record->size_and_rate)
		return;
	if (in_nmi())
		return owner_count_loss(OWNER_LOST_CONTEXT);
	if (!owner_record_fill(&owner, 0, OWNER_DEPTH, caller, OWNER_NO_CHARGE))
		return;
	record->time = owner.time;
	/* xchg(): after a double free on two CPUs, each handle is still put once. */
	owner.handle_pair = xchg(&record->handle_pair, owner.handle_pair);
	if (owner.handle_pair)
		owner_record_drop(owner.handle_pair, OWNER_NO_CHARGE);
}

/*
 * Slow path: drop the handles that untrack_fast() has left, and do what it does not do.
 * @handle_pair is 0 if it has not looked at the record.
 */
static noinline void untrack_slow(struct kmem_cache *s, struct owner_slab_records *records,
				  const void *object, u64 handle_pair,
				  struct stack_depot_caller caller)
{
	unsigned int index = object_index(s, records, object);
	struct owner_record *record = &records->record[index];
	struct owner_freed_records *freed = owner_freed_records(records);

	if (!handle_pair)
		handle_pair = owner_record_take_handles(record);
	if (!handle_pair)
		return;
	owner_record_drop(handle_pair, object_charge(s, owner_record_requested(record)));
	if (owner_record_rate(record))
		dec_sampled(records);
	if (freed)
		record_free(&freed->record[index], caller);
}

/*
 * Not for slabs with OWNER_TRACKED_SLOW. Return: false if untrack_slow() has to drop
 * @handle_pair, which was taken out of the record.
 */
static __always_inline bool untrack_fast(struct kmem_cache *s, struct owner_slab_records *records,
					 const void *object, u64 *handle_pair)
{
	struct owner_record *record = object_record_fast(s, records, object);

	*handle_pair = owner_record_take_handles(record);
	if (!*handle_pair)
		return true;
	/* size_and_rate is larger than any size if the object was sampled. */
	if (unlikely(record->size_and_rate > OWNER_SIZE_MAX))
		return false;
	return likely(owner_record_drop_fast(*handle_pair,
					     object_charge(s, record->size_and_rate)));
}

void __slab_owner_free(struct kmem_cache *s, void *object, struct owner_slab_records *records)
{
	u64 handle_pair;

	if (untrack_fast(s, records, object, &handle_pair))
		return;
	untrack_slow(s, records, object, handle_pair, STACK_DEPOT_CALLER);
	/* No tail call: see __slab_owner_alloc(). */
	barrier();
}

void __slab_owner_free_slow(struct kmem_cache *s, void *object, struct owner_slab_records *records)
{
	untrack_slow(s, records, object, 0, STACK_DEPOT_CALLER);
	barrier();
}

void __slab_owner_free_bulk(struct kmem_cache *s, void **objects, int count,
			    struct owner_slab_records *records)
{
	bool slow = atomic_read(&records->tracked) & OWNER_TRACKED_SLOW;
	u64 handle_pair = 0;

	while (count--)
		if (slow || !untrack_fast(s, records, objects[count], &handle_pair))
			untrack_slow(s, records, objects[count], handle_pair, STACK_DEPOT_CALLER);
	barrier();
}
