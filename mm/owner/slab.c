// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of each slab object: the record, and SLUB's hooks.
 *
 * SLUB calls in when an object is allocated or freed and when a slab goes. A
 * slab has its records in struct owner_slab_records from the first of its objects on
 * that is tracked. Readers look without a lock, see walk.c, so that structure
 * and its records are freed after a grace period.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kfence.h>
#include <linux/kmemleak.h>
#include <linux/math.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../slab.h"
#include "handles.h"
#include "owner.h"
#include "rules/rules.h"

/* Tells a vector's address in slab->obj_exts from a page's memory cgroup. */
#ifdef CONFIG_MEMCG
#define OBJEXTS_BIT	MEMCG_DATA_OBJEXTS
#else
#define OBJEXTS_BIT	0UL
#endif

/*
 * On from the first capture on, and never off again: what has an owner has to
 * lose it when it is freed, whether others are still given one or not.
 */
DEFINE_STATIC_KEY_FALSE(slab_owner_key);

atomic_long_t owner_losses[OWNER_LOSS_REASONS];
DEFINE_PER_CPU(long, owner_sampled);
atomic_long_t owner_nr_tracked_slabs;
atomic_long_t owner_records_bytes;

/* Said on the boot line, before the first slab and before kmalloc's caches. */
static bool wanted __ro_after_init;
static bool wanted_at_once __initdata;

static int __init slab_owner_setup(char *str)
{
	static bool keep_freed __initdata;
	char *word;

	/* The last word on the boot line counts. */
	while ((word = strsep(&str, ",")) != NULL) {
		if (!strcmp(word, "on")) {
			wanted = true;
			wanted_at_once = true;
		} else if (!strcmp(word, "ready")) {
			wanted = true;
			wanted_at_once = false;
		} else if (!strcmp(word, "off")) {
			wanted = false;
			wanted_at_once = false;
		} else if (!strcmp(word, "free=on")) {
			keep_freed = true;
		} else if (!strcmp(word, "free=off")) {
			keep_freed = false;
		} else {
			pr_err("\"%s\" is not understood: say on, ready or off, and free=on or free=off\n",
			       word);
		}
	}
	owner_rules_set_default(wanted_at_once, keep_freed);
	if (wanted_at_once) {
		owner_capture_early_init();
		static_branch_enable(&slab_owner_key);
	} else {
		static_branch_disable(&slab_owner_key);
	}
	return 0;
}
early_param("slab_owner", slab_owner_setup);

/**
 * slab_owner_wanted - may objects of kmalloc's caches get owners some day?
 *
 * Asked when those caches are made. If so, the records need caches of their
 * own: two kmalloc caches that hold each other's records could not be freed
 * without recursing from one to the other.
 */
bool slab_owner_wanted(void)
{
	return wanted;
}

/**
 * owner_capture_start - let the hooks be called from now on
 *
 * Whether they give an owner to what is allocated, the rules say.
 *
 * Return: 0, or -ENOMEM if there is no memory for the stack depot.
 */
int owner_capture_start(void)
{
	int error = owner_capture_late_init();

	if (!error)
		static_branch_enable(&slab_owner_key);
	return error;
}

/* What could not be had yet when the boot line was read. */
static int __init slab_owner_init(void)
{
	return static_key_enabled(&slab_owner_key) ? owner_capture_late_init() : 0;
}
early_initcall(slab_owner_init);

/*
 * Caches whose objects have no owner: those that hold records, and those that
 * the allocator's own debugging uses while it looks at an allocation.
 */
static bool cache_is_tracked(const struct kmem_cache *s)
{
	return !(s->flags & (SLAB_NO_OBJ_EXT | SLAB_NOLEAKTRACE));
}

/* --- A slab's records ------------------------------------------------------ */

/*
 * No reserve is touched, and nobody is killed, for what only watches. The size is
 * hidden because kmalloc() of one that the compiler knows takes its cache without
 * a look at __GFP_NO_OBJ_EXT.
 */
static void *alloc_records(size_t bytes, gfp_t flags, int node)
{
	OPTIMIZER_HIDE_VAR(bytes);
	flags = gfp_nested_mask(flags) & ~__GFP_HIGH;
	return kmalloc_node(bytes, flags | __GFP_NO_OBJ_EXT | __GFP_ZERO, node);
}

/* Who freed each object of a slab last; only its size is there if it is to be kept. */
struct owner_freed_records {
	struct rcu_head rcu;
	struct owner_record record[];
};

static size_t owners_bytes(unsigned int objects)
{
	return sizeof(struct owner_slab_records) + array_size(objects, sizeof(struct owner_record));
}

static size_t freed_bytes(unsigned int objects)
{
	struct owner_freed_records *freed;

	return struct_size(freed, record, objects);
}

/* NULL if that is not kept of any of them. The slab does not go meanwhile. */
static __always_inline struct owner_freed_records *freed_of(struct owner_slab_records *records)
{
	return READ_ONCE(records->freed);
}

/**
 * owner_freed_records_of - who freed each object of a slab last
 * @slab: the slab, which may go meanwhile
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: their records, NULL if that is not kept.
 */
const struct owner_record *owner_freed_records_of(const struct slab *slab)
{
	unsigned long exts = READ_ONCE(slab->obj_exts);
	struct owner_slab_records *records = owner_slab_records_of(exts);
	struct owner_freed_records *freed = records ? freed_of(records) : NULL;

	/* Pairs with __slab_owner_free_slab(), after which it is part of an rcu_head. */
	smp_rmb();
	return freed && READ_ONCE(slab->obj_exts) == exts ? freed->record : NULL;
}

/* Room for who frees objects of this slab, unless another CPU just makes it. */
static struct owner_freed_records *make_freed(struct slab *slab, struct owner_slab_records *records, gfp_t flags)
{
	struct owner_freed_records *freed, *others;

	freed = alloc_records(freed_bytes(slab->objects), flags, slab_nid(slab));
	if (!freed)
		return NULL;
	others = cmpxchg(&records->freed, NULL, freed);
	if (others) {
		kfree(freed);
		return others;
	}
	kmemleak_not_leak(freed);
	atomic_long_add(freed_bytes(slab->objects), &owner_records_bytes);
	return freed;
}

/* Give a slab its records, unless another CPU just does: then take those. A loss is counted. */
static noinline struct owner_slab_records *make_owners(struct kmem_cache *s, struct slab *slab,
						gfp_t flags)
{
	unsigned int objects = objs_per_slab(s, slab);
	int node = slab_nid(slab);
	struct owner_slab_records *records;
	unsigned long exts;

	if (slab_state < UP) {
		owner_count_loss(OWNER_LOST_EARLY);
		return NULL;
	}
	records = alloc_records(sizeof(*records), flags, node);
	if (records)
		records->record = alloc_records(array_size(objects, sizeof(*records->record)), flags,
					     node);
	if (!records || !records->record) {
		kfree(records);
		owner_count_loss(OWNER_LOST_VECTOR);
		return NULL;
	}
	records->inverse_size = DIV_ROUND_UP_ULL(BIT_ULL(32), s->size);
	exts = READ_ONCE(slab->obj_exts);
	do {
		if (exts & OBJEXTS_OWNER_RECORDS) {
			kfree(records->record);
			kfree(records);
			return owner_slab_records_untag(exts);
		}
		records->obj_exts = exts;
	} while (!try_cmpxchg(&slab->obj_exts, &exts,
			      (unsigned long)records | OBJEXTS_BIT | OBJEXTS_OWNER_RECORDS));

	/* Only a struct page points there, where kmemleak does not look. */
	kmemleak_not_leak(records);
	kmemleak_not_leak(records->record);
	atomic_long_inc(&owner_nr_tracked_slabs);
	atomic_long_add(owners_bytes(objects), &owner_records_bytes);
	return records;
}

/*
 * What obj_to_index() says, in a third of its instructions. The inverse is too large by
 * less than 1, so that an index comes out too large by less than offset / 2^32: not
 * enough to reach the next one from where an object begins.
 */
static __always_inline unsigned int index_of(const struct owner_slab_records *records,
					     const struct slab *slab, const void *object)
{
	u32 offset;

	if (is_kfence_address(object))
		return 0;
	offset = kasan_reset_tag(object) - slab_address(slab);
	return (u64)offset * records->inverse_size >> 32;
}

/* What fits into a record; whatever a slab has room for does where its pages are small. */
static __always_inline u32 record_size(size_t size)
{
	if (PAGE_SIZE << MAX_PAGE_ORDER <= OWNER_SIZE_MAX)
		return size;
	return min(size, OWNER_SIZE_MAX);
}

static __always_inline struct owner_charge charge_of_object(const struct kmem_cache *s, u32 size)
{
	return (struct owner_charge){ .counted = true, .size = size, .cache = s };
}

static noinline void watch_sample(struct owner_slab_records *records)
{
	this_cpu_inc(owner_sampled);
	atomic_inc(&records->tracked);
}

static noinline void unwatch_sample(struct owner_slab_records *records)
{
	this_cpu_dec(owner_sampled);
	atomic_dec(&records->tracked);
}

/* This record says of nobody anything any more. Return: what it said, 0 if nothing. */
static __always_inline u64 take_out(struct owner_record *record)
{
	/* Most often there is one owner or none, and one who frees. */
	return READ_ONCE(record->handle_pair) ? xchg(&record->handle_pair, 0) : 0;
}

/* Of an object that has just been allocated, so that there is nobody else who writes. */
static __always_inline void write_record(struct owner_record *record, u64 handles,
					 u32 size_and_rate, u32 time)
{
	record->size_and_rate = size_and_rate;
	record->time = time;
	/* Pairs with owner_record_read(): who sees the handles sees the rest. */
	smp_store_release(&record->handle_pair, handles);
}

static void forget_live(struct kmem_cache *s, struct owner_slab_records *records,
			struct owner_record *record)
{
	u64 handles = take_out(record);

	if (!handles)
		return;
	owner_record_drop(handles, charge_of_object(s, record->size));
	if (record->rate)
		unwatch_sample(records);
}

static __always_inline bool watches_all(struct owner_slab_records *records)
{
	return atomic_read(&records->tracked) & OWNER_TRACKED_UNSAMPLED;
}

/* There is one more owner of an object of this slab. */
static __always_inline void watch(struct owner_slab_records *records, unsigned int rate)
{
	if (unlikely(rate))
		watch_sample(records);
	else if (unlikely(!watches_all(records)))
		atomic_or(OWNER_TRACKED_UNSAMPLED, &records->tracked);
}

/* Another object takes the place of the one that was freed, or nothing does. */
static noinline void forget_freed(struct owner_record *record)
{
	u64 handles = take_out(record);

	if (handles)
		owner_record_drop(handles, OWNER_NO_CHARGE);
	record->size = 0;
}

static void free_owners_rcu(struct rcu_head *rcu)
{
	struct owner_slab_records *records = container_of(rcu, struct owner_slab_records, rcu);

	kfree(records->record);
	kfree(records);
}

static void free_freed_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct owner_freed_records, rcu));
}

void __slab_owner_free_slab(struct slab *slab)
{
	struct owner_slab_records *records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	struct owner_freed_records *freed;
	unsigned int i;

	if (!records)
		return;
	freed = freed_of(records);
	WRITE_ONCE(slab->obj_exts, records->obj_exts);
	/* Pairs with owner_freed_records_of(): that is not looked for any more where the rcu_head comes. */
	smp_wmb();
	/* Objects that went with their slab, not one by one. */
	for (i = 0; i < slab->objects; i++)
		forget_live(slab->slab_cache, records, &records->record[i]);
	for (i = 0; freed && i < slab->objects; i++)
		forget_freed(&freed->record[i]);
	atomic_long_dec(&owner_nr_tracked_slabs);
	atomic_long_sub(owners_bytes(slab->objects), &owner_records_bytes);

	/* Not in batches of seconds: a slab that goes frees memory now. */
	call_rcu_hurry(&records->rcu, free_owners_rcu);
	if (freed) {
		atomic_long_sub(freed_bytes(slab->objects), &owner_records_bytes);
		call_rcu_hurry(&freed->rcu, free_freed_rcu);
	}
}

/* --- Hooks ---------------------------------------------------------------- */

/* Is it to have an owner? @drawn: it has been sampled, at the rate that the cache kept. */
static __always_inline struct owner_choice choose(struct kmem_cache *s, struct slab *slab,
						  gfp_t flags, size_t size, bool drawn,
						  struct owner_caller caller)
{
	const struct owner_rule *rule;
	struct owner_choice choice = {};

	if (in_nmi()) {
		owner_count_loss(OWNER_LOST_CONTEXT);
		return choice;
	}
	/* Cheaper than rcu_read_lock() where readers are preempted. */
	rcu_read_lock_sched();
	rule = READ_ONCE(s->owner_rule);
	if (likely(owner_rule_is_resolved(rule))) {
		choice = rule->choice;
		this_cpu_inc(*rule->hits);
		rcu_read_unlock_sched();
	} else {
		rcu_read_unlock_sched();
		rcu_read_lock();
		choice = owner_choose_object(s, flags, size, slab_nid(slab), caller);
		rcu_read_unlock();
	}
	if (unlikely(choice.rate) && !drawn && !owner_is_sampled(choice.rate, size))
		choice.depth = 0;
	return choice;
}

/* When this object is freed, keep who does it. Without memory for that it is not kept. */
static noinline void expect_free(struct slab *slab, struct owner_slab_records *records, unsigned int index,
				 gfp_t flags, size_t size)
{
	struct owner_freed_records *freed = freed_of(records) ?: make_freed(slab, records, flags);

	if (freed)
		freed->record[index].size = record_size(size);
}

/* Of an allocation, in one register. */
struct asked {
	gfp_t flags;
	bool drawn;			/* it has been sampled, at the rate that the cache kept */
};

/* Whatever has to be done for an owner to be noted, or for there to be none. */
static noinline void track_slow(struct kmem_cache *s, const void *object, size_t size,
				struct asked asked, struct owner_caller caller,
				unsigned long ip)
{
	gfp_t flags = asked.flags;
	struct owner_record *record, owner __uninitialized;
	struct owner_slab_records *records;
	struct owner_choice choice;
	struct owner_freed_records *freed;
	unsigned int index;
	struct slab *slab;

	/* At once, and whatever becomes of it: what was left is spent. */
	if (asked.drawn)
		owner_sample_draw();
	if (!object || !cache_is_tracked(s) || flags & __GFP_NO_OBJ_EXT)
		return;
	slab = virt_to_slab(object);
	choice = choose(s, slab, flags, size, asked.drawn, caller);
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (unlikely(!records && choice.depth))
		records = make_owners(s, slab, flags);
	if (!records)
		return;

	index = index_of(records, slab, object);
	record = &records->record[index];
	/* There is one if the object is resized, or went before by a way that has no hook. */
	forget_live(s, records, record);
	freed = freed_of(records);
	if (unlikely(freed))
		forget_freed(&freed->record[index]);
	if (!choice.depth)
		return;

	if (unlikely(choice.free))
		expect_free(slab, records, index, flags, size);
	owner.size_and_rate = record_size(size) | choice.rate << OWNER_SIZE_BITS;
	if (!owner_record_fill(&owner, flags, choice.depth, caller, ip, charge_of_object(s, owner.size)))
		return;
	watch(records, choice.rate);
	write_record(record, owner.handle_pair, owner.size_and_rate, owner.time);
}

/*
 * The same with what is at hand: it calls no function, so that hardly a register has
 * to be saved, and changes nothing if it cannot do all of it. False then.
 */
static __always_inline bool track_from_cpu_cache(struct owner_cpu_cache *kept, struct kmem_cache *s,
				     const void *object, size_t size, unsigned int depth,
				     struct owner_caller caller, unsigned long ip,
				     const struct owner_rule *rule)
{
	struct folio *folio = virt_to_folio(object);
	struct slab *slab = folio_slab(folio);
	unsigned long exts = READ_ONCE(slab->obj_exts);
	struct owner_slab_records *records = owner_slab_records_untag(exts);
	u32 kept_size = record_size(size);
	struct owner_record *record;
	u64 handles;

	if (unlikely(!(exts & OBJEXTS_OWNER_RECORDS) || !watches_all(records) || freed_of(records)))
		return false;
	record = &records->record[index_of(records, slab, object)];
	if (unlikely(READ_ONCE(record->handle_pair)))
		return false;
	if (!owner_record_fill_fast(kept, depth, caller, ip, charge_of_object(s, kept_size), &handles))
		return false;
	this_cpu_inc(*rule->hits);
	write_record(record, handles, kept_size, owner_now());
	return true;
}

/*
 * @one: for rules that keep one frame, or for those that keep more. An NMI is not told
 * from others here, and needs not be: it finds all at hand or does not.
 */
static __always_inline bool track_fast(struct kmem_cache *s, const void *object, gfp_t flags,
					size_t size, bool one, struct owner_caller caller,
					unsigned long ip)
{
	const struct owner_rule *rule;
	struct owner_cpu_cache *kept;
	bool done = false;

	/* Only there are chains known again. */
	if (!one && !IS_ENABLED(CONFIG_OWNER_UNWIND_ORC))
		return false;
	if (unlikely(!object || flags & __GFP_NO_OBJ_EXT || owner_unwind_verifying()))
		return false;
	kept = owner_cpu_begin();
	if (unlikely(!kept))
		return false;
	/* Preemption is off as under rcu_read_lock_sched(). */
	rule = READ_ONCE(s->owner_rule);
	if (likely(owner_rule_is_resolved(rule) && (one ? rule->plain_depth == 1 :
						      rule->plain_depth > 1)))
		done = track_from_cpu_cache(kept, s, object, size, one ? 1 : rule->plain_depth, caller, ip,
				rule);
	owner_cpu_end(kept);
	return done;
}

/* Our frame, in each of these, is where the chain starts: it must not go before they return. */
void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			unsigned long ip)
{
	if (track_fast(s, object, flags, size, false, OWNER_CALLER, ip))
		return;
	track_slow(s, object, size, (struct asked){ flags }, OWNER_CALLER, ip);
	barrier();
}

/* The same where one frame is kept, which takes fewer registers than a chain. */
void __slab_owner_alloc_depth1(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			    unsigned long ip)
{
	if (track_fast(s, object, flags, size, true, OWNER_CALLER, ip))
		return;
	track_slow(s, object, size, (struct asked){ flags }, OWNER_CALLER, ip);
	barrier();
}

/* The same where it has been sampled. */
void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			      unsigned long ip)
{
	track_slow(s, object, size, (struct asked){ flags, true }, OWNER_CALLER, ip);
	barrier();
}

void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);

	/* What is larger than any slab object is page_owner's. */
	if (slab)
		track_slow(slab->slab_cache, object, size, (struct asked){ flags }, OWNER_CALLER,
			   _RET_IP_);
	barrier();
}

/*
 * Who frees an object that had an owner is kept until its slot is used again, if
 * that is wanted. For that nobody is woken: who frees may hold any lock.
 */
static noinline void note_free(struct owner_record *record, struct owner_caller caller,
			       unsigned long ip)
{
	struct owner_record owner;

	if (!record->size)
		return;
	if (in_nmi())
		return owner_count_loss(OWNER_LOST_CONTEXT);
	if (!owner_record_fill(&owner, 0, OWNER_DEPTH, caller, ip, OWNER_NO_CHARGE))
		return;
	record->time = owner.time;
	/* Two may free it at once, by mistake: each handle is still put once. */
	owner.handle_pair = xchg(&record->handle_pair, owner.handle_pair);
	if (owner.handle_pair)
		owner_record_drop(owner.handle_pair, OWNER_NO_CHARGE);
}

/* All that there may be to do but what owner_record_drop_fast() has done, if it was asked. */
static noinline void untrack_slow(struct kmem_cache *s, struct owner_slab_records *records,
				   unsigned int index, u64 handles, struct owner_caller caller,
				   unsigned long ip)
{
	struct owner_record *record = &records->record[index];
	struct owner_freed_records *freed = freed_of(records);

	owner_record_drop(handles, charge_of_object(s, record->size));
	if (record->rate)
		unwatch_sample(records);
	if (freed)
		note_free(&freed->record[index], caller, ip);
}

/* Return: false if untrack_slow() has something left to do. */
static __always_inline bool untrack_fast(struct kmem_cache *s, struct owner_slab_records *records,
				   unsigned int index, u64 *handles)
{
	struct owner_record *record = &records->record[index];

	*handles = take_out(record);
	if (!*handles)
		return true;
	/* It has a size only, if all were captured. */
	if (unlikely(record->size_and_rate > OWNER_SIZE_MAX || freed_of(records)))
		return false;
	*handles = owner_record_drop_fast(*handles, charge_of_object(s, record->size_and_rate));
	return likely(!*handles);
}

void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void *object,
		       struct owner_slab_records *records)
{
	unsigned int index = index_of(records, slab, object);
	u64 handles;

	if (untrack_fast(s, records, index, &handles))
		return;
	untrack_slow(s, records, index, handles, OWNER_CALLER, _RET_IP_);
	/* As above. */
	barrier();
}

void __slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab, void **objects, int count,
			    struct owner_slab_records *records)
{
	unsigned int index;
	u64 handles;

	while (count--) {
		index = index_of(records, slab, objects[count]);
		if (!untrack_fast(s, records, index, &handles))
			untrack_slow(s, records, index, handles, OWNER_CALLER, _RET_IP_);
	}
	barrier();
}
