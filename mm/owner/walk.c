// SPDX-License-Identifier: GPL-2.0
/*
 * Walking the slabs and their objects.
 *
 * SLUB keeps full slabs on no list, so a walk goes over page frames. It takes no
 * lock of the allocator's: a slab may go under it. What it reads of a slab's
 * owners is freed after a grace period only, and it checks, after it has copied
 * something, that the slab still is what it was.
 */

#include <linux/jiffies.h>
#include <linux/kfence.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/pageblock-flags.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../internal.h"
#include "../slab.h"
#include "cgroup.h"
#include "hooks.h"
#include "walk_memo.h"

/* How long who waits for caches or for memory to come or go may have to wait. */
#define WALK_STRETCH	max(HZ / 50, 1)

/* Let go of what was found last. */
void owner_cursor_release(struct owner_cursor *walk)
{
	owner_record_put(&walk->held);
	walk->held.handle_pair = 0;
}

void owner_cursor_begin(struct owner_cursor *walk)
{
	get_online_mems();
	mutex_lock(&slab_mutex);
	walk->alive = NULL;
	walk->until = jiffies + WALK_STRETCH;
	walk->held.handle_pair = 0;
}

void owner_cursor_end(struct owner_cursor *walk)
{
	owner_cursor_release(walk);
	mutex_unlock(&slab_mutex);
	put_online_mems();
}

/*
 * Is this pointer, read from a page that may have changed since, a cache? If it
 * is on the list it stays one until the walk ends.
 */
static bool cache_is_alive(struct owner_cursor *walk, struct kmem_cache *s)
{
	struct kmem_cache *other;

	/* A page that is just becoming a slab may have none. */
	if (s && s == walk->alive)
		return true;
	list_for_each_entry(other, &slab_caches, list) {
		if (other == s) {
			walk->alive = s;
			return true;
		}
	}
	return false;
}

/*
 * Does the slab still stand as it was seen? If so, all that was read of it
 * before belongs together: its owners are not freed while RCU is read-locked, so
 * no other slab can have them.
 */
static bool still_stands(struct owner_slab_view *view)
{
	struct page *page = slab_page(view->slab);

	/* What was read of the slab, or the record, was read before this. */
	smp_rmb();
	return !PageTail(page) && PageSlab(page) &&
	       READ_ONCE(view->slab->slab_cache) == view->cache &&
	       READ_ONCE(view->slab->obj_exts) == view->exts;
}

/* See the slab that starts at this page, if it is one. */
static bool view_slab(struct owner_cursor *walk, struct page *page, struct owner_slab_view *view)
{
	struct slab counters __uninitialized;

	if (PageTail(page) || !PageSlab(page))
		return false;
	view->slab = (struct slab *)page;
	view->cache = READ_ONCE(view->slab->slab_cache);
	view->exts = READ_ONCE(view->slab->obj_exts);
	counters.counters = READ_ONCE(view->slab->counters);
	view->objects = counters.objects;
	view->allocated = counters.inuse;
	view->records = NULL;
	/* A page that is no slab any more keeps something else in those words. */
	if (!still_stands(view) || !cache_is_alive(walk, view->cache))
		return false;
	view->records = owner_slab_records_of(view->exts);
	return true;
}

static void *address_of(struct owner_slab_view *view, unsigned int index)
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
static bool snapshot(struct owner_cursor *walk, struct owner_slab_view *view, struct owner_object *object)
{
	struct owner_record *record = &view->records->record[walk->index];
	struct owner_record seen, owner, again;
	struct obj_cgroup *charged = NULL;

	if (!owner_record_read(record, &seen) || !seen.handle_pair)
		return false;
	owner = seen;
	if (!owner_record_get(&owner))
		return false;
	if (walk->cgroup)
		charged = owner_charged(view->records, walk->index);
	/* Is it still what it was, now that its handles cannot become others'? */
	if (!still_stands(view) || !owner_record_read(record, &again) ||
	    again.handle_pair != seen.handle_pair || again.details != seen.details) {
		owner_record_put(&owner);
		return false;
	}
	if (walk->cgroup)
		owner_cgroup_of_charged(charged, walk->cgroup);
	walk->held = owner;
	object->owner = owner;
	object->cache = view->cache->name;
	object->slab_cache = view->cache;
	object->size = owner.size;
	object->slab_size = view->cache->size;
	object->index = walk->index;
	object->nid = slab_nid(view->slab);
	object->pfn = walk->pfn;
	object->address = address_of(view, walk->index);
	return true;
}

/* What a walk looks for: true if it found it in this slab, from walk->index on. */
typedef bool look_fn(struct owner_cursor *walk, struct owner_slab_view *view, void *found);

static bool look_for_object(struct owner_cursor *walk, struct owner_slab_view *view, void *found)
{
	if (!view->records)
		return false;
	for (; walk->index < view->objects; walk->index++) {
		if (walk->known) {
			walk->index = owner_memo_count(walk->known, view, walk->index);
			if (walk->index == view->objects)
				break;
		}
		if (snapshot(walk, view, found))
			return true;
	}
	return false;
}

/* Each slab is found once, at index 0. */
static bool look_for_slab(struct owner_cursor *walk, struct owner_slab_view *view, void *found)
{
	struct owner_slab_usage *slab = found;
	unsigned int i, cpu_free;

	if (walk->index)
		return false;
	slab->cache = view->cache;
	slab->name = view->cache->name;
	slab->object_size = view->cache->size;
	slab->tracked = 0;
	slab->requested = 0;
	for (i = 0; view->records && i < view->objects; i++) {
		/* What changes meanwhile is counted as it was or as it is. */
		struct owner_record record = data_race(view->records->record[i]);

		if (!record.handle_pair)
			continue;
		slab->tracked++;
		slab->requested += record.size;
	}
	/* KFENCE does not count its object, which it shows to nobody as a slab's. */
	cpu_free = slab_owner_count_cpu_free(view->cache, view->slab);
	if (is_kfence_address(slab_address(view->slab)))
		slab->allocated = slab->tracked;
	else
		slab->allocated = view->allocated - min(view->allocated, cpu_free);
	/* What came or went since the slab was viewed is owned or not, never less than that. */
	slab->allocated = max(slab->allocated, slab->tracked);
	return slab->allocated && still_stands(view);
}

/*
 * Look into the slab at walk->pfn. If nothing is found there, move on: by the
 * order of what is there, where that is known.
 */
static bool look_at_frame(struct owner_cursor *walk, look_fn *look, void *found)
{
	struct page *page = pfn_to_online_page(walk->pfn);
	unsigned long skip = 1;
	struct owner_slab_view view;

	if (!page) {
		skip = pageblock_nr_pages - (walk->pfn & (pageblock_nr_pages - 1));
	} else if (PageBuddy(page)) {
		unsigned long order = buddy_order_unsafe(page);

		/* Read without the zone's lock: a free block that just went. */
		if (order <= MAX_PAGE_ORDER)
			skip = 1UL << order;
	} else if (view_slab(walk, page, &view)) {
		if (look(walk, &view, found))
			return true;
		if (still_stands(&view))
			skip = 1UL << min(slab_order(view.slab), MAX_PAGE_ORDER);
	}
	walk->pfn += skip;
	walk->index = 0;
	return false;
}

/* While nothing is held: now and then caches and memory may come and go. */
int owner_cursor_rest(struct owner_cursor *walk)
{
	if (likely(!need_resched() && time_before(jiffies, walk->until)))
		return 0;
	if (signal_pending(current))
		return -ERESTARTSYS;
	/* Another cache may come to stand where one was. */
	owner_memo_flush(walk->known);
	owner_cursor_end(walk);
	cond_resched();
	owner_cursor_begin(walk);
	return 0;
}

static int walk_on(struct owner_cursor *walk, look_fn *look, void *found)
{
	bool success;
	int error;

	owner_cursor_release(walk);
	while (walk->pfn < max_pfn) {
		error = owner_cursor_rest(walk);
		if (error)
			return error;
		rcu_read_lock();
		success = look_at_frame(walk, look, found);
		rcu_read_unlock();
		if (success) {
			walk->index++;
			return 1;
		}
	}
	return 0;
}

/**
 * owner_cursor_next - find the next slab object that has an owner
 * @walk: between owner_cursor_begin() and owner_cursor_end()
 * @object: where it is described; its cache's name is good until owner_cursor_end()
 *
 * Return: 1 if there is one, 0 if there is none, -ERESTARTSYS if a signal came.
 */
int owner_cursor_next(struct owner_cursor *walk, struct owner_object *object)
{
	return walk_on(walk, look_for_object, object);
}

/**
 * owner_cursor_next_slab - find the next slab that has objects, owned or not
 * @walk: between owner_cursor_begin() and owner_cursor_end(), used for slabs only
 * @slab: where it is described; the name is good until the walk moves on
 *
 * Return: as owner_cursor_next()
 */
int owner_cursor_next_slab(struct owner_cursor *walk, struct owner_slab_usage *slab)
{
	return walk_on(walk, look_for_slab, slab);
}

/**
 * owner_cursor_at - look at one slab
 * @walk: between owner_cursor_begin() and owner_cursor_end(); it does not move
 * @pfn: where the slab begins
 * @slab: as for owner_cursor_next_slab()
 *
 * Return: false if there is no slab with objects.
 */
bool owner_cursor_at(struct owner_cursor *walk, unsigned long pfn, struct owner_slab_usage *slab)
{
	struct owner_cursor here = { .pfn = pfn, .alive = walk->alive };
	bool found;

	rcu_read_lock();
	found = look_at_frame(&here, look_for_slab, slab);
	rcu_read_unlock();
	walk->alive = here.alive;
	return found;
}
