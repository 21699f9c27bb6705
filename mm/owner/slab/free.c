// SPDX-License-Identifier: GPL-2.0
/*
 * SLUB's hooks for free: drop the record of each slab object, and record who frees it.
 */

#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../../slab.h"
#include "../capture.h"
#include "../record.h"
#include "../rules/rules.h"
#include "../sample.h"
#include "hooks.h"
#include "object.h"

/* Sampled objects. A CPU's number can be negative, as objects are freed on other CPUs. */
static DEFINE_PER_CPU(long, nr_sampled);

/* --- Records of objects ------------------------------------------------------ */

/* Count sampled objects of a slab; @n is 1 or -1. */
noinline void owner_count_sampled(struct owner_slab_records *records, int n)
{
	this_cpu_add(nr_sampled, n);
	atomic_add(n, &records->sampled);
}

/* Number of sampled objects that exist. */
long owner_read_samples(void)
{
	unsigned int cpu;
	long samples = 0;

	for_each_possible_cpu(cpu)
		samples += per_cpu(nr_sampled, cpu);
	return samples;
}

/*
 * Charge a chain for the untracked objects that a sample stands for; @n is 1 or -1. The sample
 * itself is charged like any object. This changes the depot's counters: those of the CPU cache
 * have 32 bits, and a sample can stand for more. CPUs share the depot's counters, so rules that
 * sample a large share of objects cost more than sample=512K.
 */
void owner_charge_sample(const struct kmem_cache *s, depot_stack_handle_t stack, long n,
			 const struct owner_record *record)
{
	u32 size = owner_record_requested(record);
	long counters[STACK_DEPOT_COUNTERS] = {};
	struct owner_estimate all = {};

	owner_estimate_add_sample(&all, 1, owner_record_rate(record), size, s->size);
	counters[OWNER_OBJECTS] = n * (long)(((all.objects - 1) << OWNER_WEIGHT_SHIFT) +
					     all.fraction);
	counters[OWNER_BYTES] = n * (long)(all.bytes - size);
	counters[OWNER_HELD] = n * (long)(all.held - s->size);
	stack_depot_count(stack, counters);
}

/* Drop the handles that were taken out of an object's record. */
noinline void owner_drop_object_record(struct kmem_cache *s, const struct owner_record *record,
				       struct owner_slab_records *records, u64 handle_pair)
{
	struct owner_record owner = { .handle_pair = handle_pair };

	if (owner_record_rate(record)) {
		if (owner.stack)
			owner_charge_sample(s, owner.stack, -1, record);
		owner_count_sampled(records, -1);
	}
	owner_record_drop(handle_pair, object_charge(s, owner_record_requested(record)));
}

/**
 * owner_freed_record_erase() - erase the record of the last free in a slot
 * @record: the record of a slot that is reused, or whose slab is freed, or of any slot if
 *	frees are not recorded any more
 */
noinline void owner_freed_record_erase(struct owner_record *record)
{
	/* Locked: the last rule with free=on can go while another CPU reuses the slot. */
	u64 handle_pair = READ_ONCE(record->handle_pair) ? xchg(&record->handle_pair, 0) : 0;

	if (handle_pair)
		owner_record_drop(handle_pair, OWNER_NO_CHARGE);
	WRITE_ONCE(record->size_and_rate, 0);
}

/* Has any of these records an owner? Nobody writes to the records of a slab that is freed. */
static bool have_owners(const struct owner_record *record, unsigned int objects)
{
	const struct owner_record *end = record + objects;
	u64 handle_pairs = 0;

	for (; end - record >= 4; record += 4)
		handle_pairs |= record[0].handle_pair | record[1].handle_pair |
				record[2].handle_pair | record[3].handle_pair;
	for (; record < end; record++)
		handle_pairs |= record->handle_pair;
	return handle_pairs;
}

void __slab_owner_free_slab(struct slab *slab)
{
	struct owner_slab_records *records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	unsigned int i, objects = slab->objects;
	struct owner_freed_records *freed;

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
	if (unlikely(have_owners(records->record, objects)))
		for (i = 0; i < objects; i++)
			drop_stale_record(slab->slab_cache, records, &records->record[i]);
	for (i = 0; freed && i < objects; i++)
		owner_freed_record_erase(&freed->record[i]);
	owner_slab_records_free(slab, records);
}

/* --- Free -------------------------------------------------------------------- */

/* Drop the handles that were taken out of a record, mostly to the CPU cache. */
static __always_inline void drop_handles(struct kmem_cache *s, const struct owner_record *record,
					 struct owner_slab_records *records, u64 handle_pair)
{
	/* size_and_rate is larger than any size if the object was sampled. */
	if (unlikely(record->size_and_rate > OWNER_SIZE_MAX ||
		     !owner_record_drop_fast(handle_pair,
					     object_charge(s, record->size_and_rate))))
		owner_drop_object_record(s, record, records, handle_pair);
}

/* Drop the record of an object in a slab without OBJEXTS_OWNER_SLOW. */
static __always_inline void drop_record_of_object(struct kmem_cache *s, struct slab *slab,
						  const void *object)
{
	struct owner_slab_records *records = owner_slab_records_untag(READ_ONCE(slab->obj_exts));
	struct owner_record *record = object_record_fast(s, slab, records, object);
	u64 handle_pair;

	/* In a slab with one sample, most objects have no owner: do not write to their records. */
	if (unlikely(!data_race(record->handle_pair)))
		return;
	handle_pair = owner_record_take_handles(record);
	if (likely(handle_pair))
		drop_handles(s, record, records, handle_pair);
}

/*
 * Record who frees an object, until its place is used again. The depot must not allocate
 * for that: the caller of kfree() may hold any lock.
 */
static noinline void record_free_slow(struct owner_record *record,
				      struct stack_depot_caller caller)
{
	struct owner_record owner;

	if (!owner_record_fill(&owner, 0, OWNER_DEPTH, caller, OWNER_NO_CHARGE))
		return;
	record->time = owner.time;
	/* xchg(): after a double free on two CPUs, each handle is still put once. */
	owner.handle_pair = xchg(&record->handle_pair, owner.handle_pair);
	if (owner.handle_pair)
		owner_record_drop(owner.handle_pair, OWNER_NO_CHARGE);
}

/* Slow path: drop the record of an object, and record its free if its rule has free=on. */
static noinline void drop_record_slow(struct kmem_cache *s, struct slab *slab, const void *object,
				      struct stack_depot_caller caller)
{
	struct owner_slab_records *records = owner_slab_records_untag(READ_ONCE(slab->obj_exts));
	unsigned int index = object_index(s, slab, records, object);
	struct owner_record *record = &records->record[index];
	struct owner_freed_records *freed = owner_freed_records(records);
	u64 handle_pair = owner_record_take_handles(record);

	if (!handle_pair)
		return;
	drop_handles(s, record, records, handle_pair);
	/*
	 * Until the free is recorded: control/change.c waits for RCU before it erases records of
	 * frees.
	 */
	rcu_read_lock();
	/*
	 * The record of a free has size 0 if the object's rule has no free=on, or if there was
	 * no memory for the record when the object was allocated.
	 */
	if (freed && READ_ONCE(freed->record[index].size_and_rate) &&
	    READ_ONCE(owner_frees_recorded))
		record_free_slow(&freed->record[index], caller);
	rcu_read_unlock();
}

/*
 * Take the handles out of an object's record, and record its free with handles that the CPU cache
 * has.
 * @task: set to this CPU's references to the current task. Return: the handles, which the
 * caller has to drop; 0 if something is missing: then nothing has changed.
 */
static __always_inline u64 record_free_from_cpu_cache(struct stack_depot_cpu_cache *cpu,
						      struct owner_record *record,
						      struct owner_record *freed_record,
						      struct stack_depot_caller caller,
						      struct stack_depot_ref **task)
{
	struct stack_depot_ref *chain;
	u64 handle_pair;

	/* Walk first: during the walk, no other value then has to be kept in a register. */
	chain = stack_depot_find_running(cpu, OWNER_DEPTH, 0, caller);
	if (unlikely(!chain))
		return 0;
	*task = owner_find_current_task_ref(cpu, false);
	/*
	 * Preemption is off, which control/change.c waits for, too, before it erases records of
	 * frees.
	 */
	if (unlikely(!*task || data_race(freed_record->handle_pair) ||
		     !READ_ONCE(owner_frees_recorded)))
		return 0;
	handle_pair = owner_record_take_handles(record);
	if (unlikely(!handle_pair))
		return 0;
	freed_record->time = owner_record_time_now();
	/* Pairs with owner_record_read(). */
	smp_store_release(&freed_record->handle_pair,
			  owner_record_fill_fast(chain, *task, OWNER_NO_CHARGE));
	return handle_pair;
}

/* Fast path of a free that is recorded. Return: false for the slow path. */
static __always_inline bool drop_record_and_record_free(struct kmem_cache *s, struct slab *slab,
							const void *object,
							struct stack_depot_caller caller)
{
	struct owner_slab_records *records = owner_slab_records_untag(READ_ONCE(slab->obj_exts));
	struct owner_freed_records *freed = owner_freed_records(records);
	struct owner_record *record, *freed_record;
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *task;
	struct owner_charge charge;
	u64 handle_pair;
	bool dropped;

	if (stack_depot_verifies() || unlikely(!freed || is_kfence_address(object)))
		return false;
	record = object_record_fast(s, slab, records, object);
	freed_record = freed_record_of(freed, records, record);
	/* The size is 0 if the free is not to be recorded: see drop_record_slow(). */
	if (!READ_ONCE(freed_record->size_and_rate) ||
	    unlikely(record->size_and_rate > OWNER_SIZE_MAX))
		return false;
	cpu = stack_depot_cpu_acquire();
	if (unlikely(!cpu))
		return false;
	handle_pair = record_free_from_cpu_cache(cpu, record, freed_record, caller, &task);
	charge = object_charge(s, record->size_and_rate);
	dropped = !handle_pair || owner_record_drop_to_cpu(cpu, handle_pair, charge, task);
	stack_depot_cpu_release(cpu);
	if (unlikely(!dropped))
		owner_record_drop(handle_pair, charge);
	return handle_pair;
}

/* Drop the record of an object in a slab with OBJEXTS_OWNER_SLOW: its free may be recorded. */
static __always_inline void drop_record_in_slow_slab(struct kmem_cache *s, struct slab *slab,
						     const void *object,
						     struct stack_depot_caller caller)
{
	if (!drop_record_and_record_free(s, slab, object, caller))
		drop_record_slow(s, slab, object, caller);
}

void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void *object)
{
	drop_record_of_object(s, slab, object);
}

void __slab_owner_free_slow(struct kmem_cache *s, struct slab *slab, void *object)
{
	drop_record_in_slow_slab(s, slab, object, STACK_DEPOT_CALLER);
	barrier();
}

void __slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab, void **objects, int count)
{
	bool slow = READ_ONCE(slab->obj_exts) & OBJEXTS_OWNER_SLOW;

	while (count--)
		if (slow)
			drop_record_in_slow_slab(s, slab, objects[count], STACK_DEPOT_CALLER);
		else
			drop_record_of_object(s, slab, objects[count]);
	barrier();
}
