// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of each slab object.
 *
 * SLUB calls in when an object is allocated or freed and when a slab's vector
 * of extensions goes. Readers walk page frames, because SLUB keeps full slabs
 * on no list: they take no lock of the allocator's, so a slab may go under
 * them. Vectors are therefore freed after a grace period, and a reader checks,
 * after copying a record, that the slab still is what it was.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kfence.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../slab.h"
#include "owner.h"

DEFINE_STATIC_KEY_FALSE(slab_owner_key);

atomic_long_t owner_losses[OWNER_LOSS_REASONS];

/* Set on the boot line, before the first slab and before kmalloc's caches. */
static bool wanted __ro_after_init;

static int __init slab_owner_setup(char *str)
{
	if (str && !strcmp(str, "on")) {
		wanted = true;
		owner_stack_init();
		static_branch_enable(&slab_owner_key);
	} else if (!str || strcmp(str, "off")) {
		pr_err("slab_owner=%s is not understood: say on or off\n", str ?: "");
	}
	return 0;
}
early_param("slab_owner", slab_owner_setup);

/**
 * slab_owner_wanted - will slabs of kmalloc's caches have vectors of ours?
 *
 * Asked when those caches are made. If so, the vectors need caches of their
 * own: two kmalloc caches that hold each other's vectors could not be freed
 * without recursing from one to the other.
 */
bool slab_owner_wanted(void)
{
	return wanted;
}

/* The one place that knows where an object's record is. */
static struct slab_owner *record_at(struct slabobj_ext *vector, unsigned int index)
{
	return &vector[index].owner;
}

/*
 * Caches whose objects have no owner: those that hold vectors, and those that
 * the allocator's own debugging uses while it looks at an allocation.
 */
static bool cache_is_tracked(const struct kmem_cache *s)
{
	return !(s->flags & (SLAB_NO_OBJ_EXT | SLAB_NOLEAKTRACE));
}

/* The object has no owner any more. */
static void forget(struct slab_owner *record)
{
	struct slab_owner owner = {};

	/* Most often there is one owner or none, and one who frees. */
	if (READ_ONCE(record->handles))
		owner.handles = xchg(&record->handles, 0);
	if (owner.handles)
		owner_put(&owner);
}

/* --- Hooks ---------------------------------------------------------------- */

void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	struct slab_owner *record, owner;
	struct slabobj_ext *vector;
	struct slab *slab;

	/* KFENCE keeps a call chain of its own for its few objects. */
	if (!object || !cache_is_tracked(s) || flags & __GFP_NO_OBJ_EXT ||
	    is_kfence_address(object))
		return;
	if (in_nmi())
		return owner_lost(OWNER_LOST_CONTEXT);
	if (slab_state < UP)
		return owner_lost(OWNER_LOST_EARLY);

	slab = virt_to_slab(object);
	vector = slab_obj_exts(slab);
	if (!vector) {
		if (alloc_slab_obj_exts(slab, s, flags | __GFP_NOWARN, false))
			return owner_lost(OWNER_LOST_VECTOR);
		vector = slab_obj_exts(slab);
	}

	record = record_at(vector, obj_to_index(s, slab, object));
	/* An owner is left if the object went by a way that has no hook. */
	forget(record);

	owner.stack = owner_stack_capture(_RET_IP_, flags);
	if (!owner.stack)
		return owner_lost(OWNER_LOST_STACK);
	owner.task = owner_task_capture(flags);
	if (!owner.task)
		owner_lost(OWNER_LOST_TASK);

	record->size = size;
	record->time = local_clock() >> OWNER_TIME_SHIFT;
	/* Pairs with snapshot(): who sees the handles sees the rest. */
	smp_store_release(&record->handles, owner.handles);
}

void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void **objects, int count)
{
	struct slabobj_ext *vector = slab_obj_exts(slab);

	if (!vector || is_kfence_address(objects[0]))
		return;
	while (count--)
		forget(record_at(vector, obj_to_index(s, slab, objects[count])));
}

/* A vector that is being freed: its records are no longer needed. */
union dead_vector {
	struct slabobj_ext first;
	struct rcu_head rcu;
};

static void free_vector_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, union dead_vector, rcu));
}

bool __slab_owner_free_vector(struct slab *slab, struct slabobj_ext *vector)
{
	union dead_vector *dead = (union dead_vector *)vector;
	unsigned int i;

	/* Objects that went with their slab, not one by one. */
	for (i = 0; i < slab->objects; i++)
		forget(record_at(vector, i));

	BUILD_BUG_ON(sizeof(union dead_vector) > sizeof(struct slabobj_ext));
	/*
	 * The vector was taken out of the slab before its first bytes become a
	 * rcu_head: pairs with snapshot(), which looks in the other order.
	 */
	smp_wmb();
	call_rcu(&dead->rcu, free_vector_rcu);
	return true;
}

/* --- Walking -------------------------------------------------------------- */

/* Let go of what was found last. */
static void release_held(struct slab_walk *walk)
{
	owner_put(&walk->held);
	walk->held.handles = 0;
}

void slab_walk_begin(struct slab_walk *walk)
{
	mutex_lock(&slab_mutex);
	walk->known = NULL;
	walk->held.handles = 0;
}

void slab_walk_end(struct slab_walk *walk)
{
	release_held(walk);
	mutex_unlock(&slab_mutex);
}

/*
 * Is this pointer, read from a page that may have changed since, a cache? If it
 * is on the list it stays one until the walk ends.
 */
static bool cache_is_alive(struct slab_walk *walk, struct kmem_cache *s)
{
	struct kmem_cache *other;

	if (s == walk->known)
		return true;
	list_for_each_entry(other, &slab_caches, list) {
		if (other == s) {
			walk->known = s;
			return true;
		}
	}
	return false;
}

/*
 * The slab that starts at this page frame and has a vector, or NULL. As long as
 * RCU is read-locked the vector can be read, though the slab may go.
 */
static struct slab *slab_at(struct slab_walk *walk, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct slab *slab = (struct slab *)page;

	if (!page || PageTail(page) || !PageSlab(page))
		return NULL;
	if (!slab_obj_exts(slab) || !cache_is_alive(walk, READ_ONCE(slab->slab_cache)))
		return NULL;
	return slab;
}

/*
 * Copy the record at walk->index and hold what it refers to. False if it has no
 * owner or changed meanwhile.
 */
static bool snapshot(struct slab_walk *walk, struct slab *slab, struct slabobj_ext *vector,
		     struct kmem_cache *s, struct owner_object *object)
{
	struct slab_owner *record = record_at(vector, walk->index);
	struct slab_owner owner;
	u64 handles;

	/* Pairs with __slab_owner_alloc(). */
	handles = smp_load_acquire(&record->handles);
	if (!handles)
		return false;
	/* Torn by a free and a new owner? Then the handles differ, see below. */
	owner = data_race(*record);
	owner.handles = handles;
	if (!owner_get(&owner))
		return false;
	/* Copied and held before this looks whether it still stands. */
	smp_rmb();
	if (READ_ONCE(record->handles) != handles || !PageSlab(slab_page(slab)) ||
	    slab_obj_exts(slab) != vector || READ_ONCE(slab->slab_cache) != s) {
		owner_put(&owner);
		return false;
	}
	walk->held = owner;
	object->owner = owner;
	object->cache = s->name;
	object->slab_size = s->size;
	object->index = walk->index;
	object->pfn = walk->pfn;
	object->address = fixup_red_left(s, slab_address(slab) + walk->index * s->size);
	return true;
}

/* The next owned object of the slab that starts at walk->pfn. */
static bool next_in_slab(struct slab_walk *walk, struct owner_object *object)
{
	struct slab *slab = slab_at(walk, walk->pfn);
	struct slabobj_ext *vector;
	struct kmem_cache *s;
	unsigned int objects;

	if (!slab)
		return false;
	vector = slab_obj_exts(slab);
	s = READ_ONCE(slab->slab_cache);
	objects = slab->objects;
	if (!vector || s != walk->known)
		return false;
	for (; walk->index < objects; walk->index++)
		if (snapshot(walk, slab, vector, s, object))
			return true;
	return false;
}

/**
 * slab_walk_next - find the next slab object that has an owner
 * @walk: between slab_walk_begin() and slab_walk_end()
 * @object: where it is described; its cache's name is good until slab_walk_end()
 *
 * Return: false if there is none.
 */
bool slab_walk_next(struct slab_walk *walk, struct owner_object *object)
{
	unsigned long pfns = 0;
	bool found;

	release_held(walk);
	while (walk->pfn < max_pfn) {
		rcu_read_lock();
		found = next_in_slab(walk, object);
		rcu_read_unlock();
		if (found) {
			walk->index++;
			return true;
		}
		walk->pfn++;
		walk->index = 0;
		if (!(++pfns % 1024)) {
			if (signal_pending(current))
				return false;
			cond_resched();
		}
	}
	return false;
}
