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
#include <linux/pageblock-flags.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../internal.h"
#include "../slab.h"
#include "owner.h"

/* Tells a vector's address in slab->obj_exts from a page's memory cgroup. */
#ifdef CONFIG_MEMCG
#define OBJEXTS_BIT	MEMCG_DATA_OBJEXTS
#else
#define OBJEXTS_BIT	0UL
#endif

DEFINE_STATIC_KEY_FALSE(slab_owner_key);

atomic_long_t owner_losses[OWNER_LOSS_REASONS];

/* Set on the boot line, before the first slab and before kmalloc's caches. */
static bool wanted __ro_after_init;

static int __init slab_owner_setup(char *str)
{
	/* The last word on the boot line counts. */
	if (str && !strcmp(str, "on")) {
		wanted = true;
		owner_stack_init();
		static_branch_enable(&slab_owner_key);
	} else if (str && !strcmp(str, "off")) {
		wanted = false;
		static_branch_disable(&slab_owner_key);
	} else {
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

/* The call chain that is kept starts where the hook returns to, at @ip. */
static __always_inline void own(struct kmem_cache *s, const void *object, gfp_t flags,
				size_t size, unsigned long ip)
{
	struct slab_owner *record, owner;
	struct slabobj_ext *vector;
	struct slab *slab;

	if (!object || !cache_is_tracked(s) || flags & __GFP_NO_OBJ_EXT)
		return;
	if (in_nmi())
		return owner_lost(OWNER_LOST_CONTEXT);
	if (slab_state < UP)
		return owner_lost(OWNER_LOST_EARLY);

	slab = virt_to_slab(object);
	vector = slab_obj_exts(slab);
	if (!vector) {
		/* No reserve is touched, and nobody is killed, for a vector. */
		if (alloc_slab_obj_exts(slab, s, gfp_nested_mask(flags), false))
			return owner_lost(OWNER_LOST_VECTOR);
		vector = slab_obj_exts(slab);
	}

	record = record_at(vector, obj_to_index(s, slab, (void *)object));
	/*
	 * There is one if the object is resized, or went before by a way that
	 * has no hook.
	 */
	forget(record);

	owner.stack = owner_stack_capture(ip, flags);
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

void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size)
{
	own(s, object, flags, size, _RET_IP_);
}

void __slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	struct slab *slab = ZERO_OR_NULL_PTR(object) ? NULL : virt_to_slab(object);

	/* What is larger than any slab object is page_owner's. */
	if (slab)
		own(slab->slab_cache, object, flags, size, _RET_IP_);
}

void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void **objects, int count)
{
	struct slabobj_ext *vector = slab_obj_exts(slab);

	if (!vector)
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
	 * rcu_head: pairs with still_stands(), which looks in the other order.
	 */
	smp_wmb();
	/* Not in batches of seconds: a slab that goes frees memory now. */
	call_rcu_hurry(&dead->rcu, free_vector_rcu);
	return true;
}

/* --- Walking -------------------------------------------------------------- */

/* Page frames without an owner that are looked at before others get a turn. */
#define WALK_STRETCH	16384

/* Let go of what was found last. */
static void release_held(struct slab_walk *walk)
{
	owner_put(&walk->held);
	walk->held.handles = 0;
}

void slab_walk_begin(struct slab_walk *walk)
{
	get_online_mems();
	mutex_lock(&slab_mutex);
	walk->known = NULL;
	walk->held.handles = 0;
}

void slab_walk_end(struct slab_walk *walk)
{
	release_held(walk);
	mutex_unlock(&slab_mutex);
	put_online_mems();
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

/* A slab as it was when RCU was read-locked; it may be gone by now. */
struct slab_view {
	struct slab *slab;
	struct kmem_cache *cache;
	unsigned long exts;		/* slab->obj_exts as it stood there */
	struct slabobj_ext *vector;	/* can be read until RCU is unlocked */
	unsigned int objects;
};

/*
 * Does the slab still stand as it was seen? If so, all that was read of it
 * before belongs together: the vector is not freed while RCU is read-locked, so
 * no other slab can have it, and no page of another kind can hold its address.
 */
static bool still_stands(struct slab_view *view)
{
	struct page *page = slab_page(view->slab);

	/* What was read of the slab, or the record, was read before this. */
	smp_rmb();
	return !PageTail(page) && PageSlab(page) &&
	       READ_ONCE(view->slab->obj_exts) == view->exts;
}

/* See the slab that starts at this page, if it is one and has a vector. */
static bool view_slab(struct slab_walk *walk, struct page *page, struct slab_view *view)
{
	struct slab counters;

	if (PageTail(page) || !PageSlab(page))
		return false;
	view->slab = (struct slab *)page;
	view->exts = READ_ONCE(view->slab->obj_exts);
	/* A page that is no slab any more keeps something else there. */
	if (IS_ENABLED(CONFIG_MEMCG) && !(view->exts & OBJEXTS_BIT))
		return false;
	view->vector = (struct slabobj_ext *)(view->exts & ~OBJEXTS_FLAGS_MASK);
	if (!view->vector)
		return false;
	view->cache = READ_ONCE(view->slab->slab_cache);
	counters.counters = READ_ONCE(view->slab->counters);
	view->objects = counters.objects;
	return still_stands(view) && cache_is_alive(walk, view->cache);
}

static void *address_of(struct slab_view *view, unsigned int index)
{
	void *start = slab_address(view->slab);

	/* KFENCE puts its one object at either end of the page. */
	if (is_kfence_address(start))
		return kfence_object_start(start);
	return fixup_red_left(view->cache, start + index * view->cache->size);
}

/*
 * Copy the record at walk->index and hold what it refers to. False if it has no
 * owner or changed meanwhile.
 */
static bool snapshot(struct slab_walk *walk, struct slab_view *view, struct owner_object *object)
{
	struct slab_owner *record = record_at(view->vector, walk->index);
	struct slab_owner seen, owner, again;

	/* Pairs with __slab_owner_alloc(). */
	seen.handles = smp_load_acquire(&record->handles);
	if (!seen.handles)
		return false;
	/* Whether an owner came or went meanwhile is looked at below. */
	seen = data_race(*record);
	owner = seen;
	if (!owner_get(&owner))
		return false;
	if (!still_stands(view))
		goto changed;
	/* The same chain and task may have freed and allocated: compare it all. */
	again = data_race(*record);
	if (memcmp(&seen, &again, sizeof(seen)))
		goto changed;

	walk->held = owner;
	object->owner = owner;
	object->cache = view->cache->name;
	object->slab_size = view->cache->size;
	object->index = walk->index;
	object->pfn = walk->pfn;
	object->address = address_of(view, walk->index);
	return true;

changed:
	owner_put(&owner);
	return false;
}

/*
 * Look for the next owned object in the slab at walk->pfn. If there is none,
 * move on: by the order of what is there, where that is known.
 */
static bool look_at_frame(struct slab_walk *walk, struct owner_object *object)
{
	struct page *page = pfn_to_online_page(walk->pfn);
	unsigned long skip = 1;
	struct slab_view view;

	if (!page) {
		skip = pageblock_nr_pages - (walk->pfn & (pageblock_nr_pages - 1));
	} else if (PageBuddy(page)) {
		unsigned long order = buddy_order_unsafe(page);

		/* Read without the zone's lock: a free block that just went. */
		if (order <= MAX_PAGE_ORDER)
			skip = 1UL << order;
	} else if (view_slab(walk, page, &view)) {
		for (; walk->index < view.objects; walk->index++)
			if (snapshot(walk, &view, object))
				return true;
		if (still_stands(&view))
			skip = 1UL << min(slab_order(view.slab), MAX_PAGE_ORDER);
	}
	walk->pfn += skip;
	walk->index = 0;
	return false;
}

/**
 * slab_walk_next - find the next slab object that has an owner
 * @walk: between slab_walk_begin() and slab_walk_end()
 * @object: where it is described; its cache's name is good until slab_walk_end()
 *
 * Return: 1 if there is one, 0 if there is none, -ERESTARTSYS if a signal came.
 */
int slab_walk_next(struct slab_walk *walk, struct owner_object *object)
{
	unsigned int frames = 0;
	bool found;

	release_held(walk);
	while (walk->pfn < max_pfn) {
		rcu_read_lock();
		found = look_at_frame(walk, object);
		rcu_read_unlock();
		if (found) {
			walk->index++;
			return 1;
		}
		if (++frames % WALK_STRETCH)
			continue;
		/* Nothing is held: caches and memory may come and go. */
		if (signal_pending(current))
			return -ERESTARTSYS;
		slab_walk_end(walk);
		cond_resched();
		slab_walk_begin(walk);
	}
	return 0;
}
