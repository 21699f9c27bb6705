// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of each slab object: the record, and SLUB's hooks.
 *
 * SLUB calls in when an object is allocated or freed and when a slab goes. A
 * slab has its records in struct slab_owners from the first of its objects on
 * that is tracked. Readers look without a lock, see walk.c, so that structure
 * and its records are freed after a grace period.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kmemleak.h>
#include <linux/memcontrol.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../slab.h"
#include "handles.h"
#include "owner.h"
#include "rules.h"

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
DEFINE_PER_CPU(long, owner_tracked);
atomic_long_t owner_slabs;
atomic_long_t owner_slab_bytes;

/* Said on the boot line, before the first slab and before kmalloc's caches. */
static bool wanted __ro_after_init;
static bool free_wanted __ro_after_init;

static int __init slab_owner_setup(char *str)
{
	char *word;

	/* The last word on the boot line counts. */
	while ((word = strsep(&str, ",")) != NULL) {
		if (!strcmp(word, "on")) {
			wanted = true;
			owner_rules_otherwise(true);
			owner_stack_init();
			static_branch_enable(&slab_owner_key);
		} else if (!strcmp(word, "ready")) {
			wanted = true;
			owner_rules_otherwise(false);
		} else if (!strcmp(word, "off")) {
			wanted = false;
			static_branch_disable(&slab_owner_key);
		} else if (!strcmp(word, "free=on")) {
			free_wanted = true;
		} else if (!strcmp(word, "free=off")) {
			free_wanted = false;
		} else {
			pr_err("\"%s\" is not understood: say on, ready or off, and free=on or free=off\n",
			       word);
		}
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
	int error = owner_stack_late_init();

	if (!error)
		static_branch_enable(&slab_owner_key);
	return error;
}

/* What could not be had yet when the boot line was read. */
static int __init slab_owner_init(void)
{
	return static_key_enabled(&slab_owner_key) ? owner_stack_late_init() : 0;
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
	return kmalloc_node(bytes, gfp_nested_mask(flags) | __GFP_NO_OBJ_EXT | __GFP_ZERO, node);
}

static size_t records_bytes(unsigned int objects)
{
	return array_size(free_wanted ? 2 * objects : objects, sizeof(struct slab_owner));
}

/* Give a slab its records, unless another CPU just does: then take those. */
static struct slab_owners *make_owners(struct kmem_cache *s, struct slab *slab, gfp_t flags)
{
	unsigned int objects = objs_per_slab(s, slab);
	int node = slab_nid(slab);
	struct slab_owners *owners;
	unsigned long exts;

	owners = alloc_records(sizeof(*owners), flags, node);
	if (!owners)
		return NULL;
	owners->live = alloc_records(records_bytes(objects), flags, node);
	if (!owners->live) {
		kfree(owners);
		return NULL;
	}
	owners->freed = free_wanted ? owners->live + objects : NULL;

	exts = READ_ONCE(slab->obj_exts);
	do {
		if (exts & SLAB_OWNERS) {
			kfree(owners->live);
			kfree(owners);
			return (struct slab_owners *)(exts & SLAB_OWNERS_MASK);
		}
		owners->exts = exts;
	} while (!try_cmpxchg(&slab->obj_exts, &exts,
			      (unsigned long)owners | OBJEXTS_BIT | SLAB_OWNERS));

	/* Only a struct page points there, where kmemleak does not look. */
	kmemleak_not_leak(owners);
	kmemleak_not_leak(owners->live);
	atomic_long_inc(&owner_slabs);
	atomic_long_add(sizeof(*owners) + records_bytes(objects), &owner_slab_bytes);
	return owners;
}

/* This record says of nobody anything any more. */
static __always_inline bool forget(struct slab_owner *record)
{
	u64 handles;

	/* Most often there is one owner or none, and one who frees. */
	if (!READ_ONCE(record->handles))
		return false;
	handles = xchg(&record->handles, 0);
	if (unlikely(!handles))
		return false;
	owner_drop(handles);
	return true;
}

static bool forget_live(struct slab_owner *record)
{
	bool had_owner = forget(record);

	if (had_owner)
		this_cpu_dec(owner_tracked);
	return had_owner;
}

static void free_owners_rcu(struct rcu_head *rcu)
{
	struct slab_owners *owners = container_of(rcu, struct slab_owners, rcu);

	kfree(owners->live);
	kfree(owners);
}

void __slab_owner_free_slab(struct slab *slab)
{
	struct slab_owners *owners = slab_owners(READ_ONCE(slab->obj_exts));
	unsigned int i;

	if (!owners)
		return;
	WRITE_ONCE(slab->obj_exts, owners->exts);
	/* Objects that went with their slab, not one by one. */
	for (i = 0; i < slab->objects; i++) {
		forget_live(&owners->live[i]);
		if (owners->freed)
			forget(&owners->freed[i]);
	}
	atomic_long_dec(&owner_slabs);
	atomic_long_sub(sizeof(*owners) + records_bytes(slab->objects), &owner_slab_bytes);

	/* Not in batches of seconds: a slab that goes frees memory now. */
	call_rcu_hurry(&owners->rcu, free_owners_rcu);
}

/* --- Hooks ---------------------------------------------------------------- */

/* What the rules say of an allocation: how deep, 0 if it is to have no owner. */
static __always_inline unsigned int depth_for(struct kmem_cache *s, struct slab *slab,
					      gfp_t flags, size_t size)
{
	const struct owner_rule *rule;
	unsigned int depth = 0;

	rcu_read_lock();
	rule = owner_rule_for(s, flags, size, slab_nid(slab));
	if (rule->track)
		depth = rule->depth ?: OWNER_DEPTH;
	rcu_read_unlock();
	return depth;
}

static __always_inline void own(struct kmem_cache *s, const void *object, gfp_t flags,
				size_t size, struct owner_caller caller, unsigned long ip)
{
	struct slab_owner *record, owner __uninitialized;
	struct slab_owners *owners;
	unsigned int index, depth;
	struct slab *slab;

	if (!object || !cache_is_tracked(s) || flags & __GFP_NO_OBJ_EXT)
		return;
	slab = virt_to_slab(object);
	owners = slab_owners(READ_ONCE(slab->obj_exts));
	if (owners) {
		index = obj_to_index(s, slab, (void *)object);
		/*
		 * There is one if the object is resized, or went before by a way
		 * that has no hook.
		 */
		forget_live(&owners->live[index]);
		if (owners->freed)
			forget(&owners->freed[index]);
	}

	if (in_nmi())
		return owner_lost(OWNER_LOST_CONTEXT);
	depth = depth_for(s, slab, flags, size);
	if (!depth)
		return;
	if (slab_state < UP)
		return owner_lost(OWNER_LOST_EARLY);
	if (!owners) {
		owners = make_owners(s, slab, flags);
		if (!owners)
			return owner_lost(OWNER_LOST_VECTOR);
		index = obj_to_index(s, slab, (void *)object);
	}

	if (!owner_take_down(&owner, flags, depth, caller, ip))
		return;
	record = &owners->live[index];
	record->size = size;
	record->time = owner.time;
	/* Pairs with owner_read(): who sees the handles sees the rest. */
	smp_store_release(&record->handles, owner.handles);
	this_cpu_inc(owner_tracked);
}

void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			unsigned long ip)
{
	own(s, object, flags, size, OWNER_CALLER, ip);
}

void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);

	/* What is larger than any slab object is page_owner's. */
	if (slab)
		own(slab->slab_cache, object, flags, size, OWNER_CALLER, _RET_IP_);
}

/*
 * Who frees an object that had an owner is kept until its slot is used again. For
 * that nobody is woken: who frees may hold any lock.
 */
static __always_inline void note_free(struct slab_owner *record, size_t size,
				      struct owner_caller caller, unsigned long ip)
{
	struct slab_owner owner;

	if (in_nmi() || !owner_take_down(&owner, 0, OWNER_DEPTH, caller, ip))
		return;
	record->size = size;
	record->time = owner.time;
	/* Two may free it at once, by mistake: each handle is still put once. */
	owner.handles = xchg(&record->handles, owner.handles);
	if (owner.handles)
		owner_drop(owner.handles);
}

void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void **objects, int count)
{
	struct slab_owners *owners = slab_owners(READ_ONCE(slab->obj_exts));
	unsigned int index;

	if (!owners)
		return;
	while (count--) {
		index = obj_to_index(s, slab, objects[count]);
		if (forget_live(&owners->live[index]) && owners->freed)
			note_free(&owners->freed[index], owners->live[index].size, OWNER_CALLER,
				  _RET_IP_);
	}
}
