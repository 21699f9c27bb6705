// SPDX-License-Identifier: GPL-2.0
/*
 * Walking slabs and their objects.
 *
 * SLUB keeps full slabs on no list, so a walk visits page frames. It takes no lock of
 * the allocator: a slab can be freed and reused at any time. A slab's records are
 * freed after a grace period, so they can be read under RCU. After it has copied
 * anything from a slab, the walk checks that the slab is unchanged.
 */

#include <linux/kfence.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../../internal.h"
#include "../../slab.h"
#include "../cgroup.h"
#include "../compat.h"
#include "../record.h"
#include "hooks.h"
#include "memo.h"
#include "walk.h"

/* A position is a page frame and, in the lower bits, the index of an object. */
#define INDEX_BITS	16
#define INDEX_MASK	GENMASK(INDEX_BITS - 1, 0)

struct slab_pos {
	unsigned long pfn;
	unsigned int index;
};

static u64 encode_pos(const struct slab_pos *pos)
{
	return (u64)pos->pfn << INDEX_BITS | pos->index;
}

static struct slab_pos decode_pos(u64 pos)
{
	return (struct slab_pos){ .pfn = pos >> INDEX_BITS, .index = pos & INDEX_MASK };
}

/**
 * owner_lock_caches_and_memory() - keep caches and memory from being created and removed
 * @cursor: forgets which cache it has seen on slab_caches
 */
void owner_lock_caches_and_memory(struct owner_cursor *cursor)
{
	get_online_mems();
	mutex_lock(&slab_mutex);
	cursor->listed_cache = NULL;
}

/**
 * owner_unlock_caches_and_memory() - undo owner_lock_caches_and_memory()
 * @cursor: its memo is flushed, because another cache may be created at the address of
 *	one that is destroyed
 */
void owner_unlock_caches_and_memory(struct owner_cursor *cursor)
{
	owner_memo_flush(cursor->memo);
	mutex_unlock(&slab_mutex);
	put_online_mems();
}

/*
 * Is this pointer, read from a page that may have changed since, a cache? If so, it
 * remains one while the cursor holds slab_mutex.
 */
static bool is_cache_listed(struct owner_cursor *cursor, struct kmem_cache *s)
{
	struct kmem_cache *other;

	/* A page that is just becoming a slab may have no cache yet. */
	if (s && s == cursor->listed_cache)
		return true;
	list_for_each_entry(other, &slab_caches, list) {
		if (other == s) {
			cursor->listed_cache = s;
			return true;
		}
	}
	return false;
}

/*
 * Is the slab as it was when the snapshot was taken, in this RCU read-side critical section? Then
 * all reads of the slab in between are consistent: its records are not freed while RCU is
 * read-locked, so no other slab can have them.
 */
static bool slab_is_unchanged(const struct owner_slab_snapshot *snap)
{
	struct page *page = slab_page(snap->slab);

	/* Read the slab and its records first, then check. */
	smp_rmb();
	return !PageTail(page) && PageSlab(page) &&
	       READ_ONCE(snap->slab->slab_cache) == snap->cache &&
	       owner_slab_records_of(READ_ONCE(snap->slab->obj_exts)) == snap->records;
}

/* Take a snapshot of the slab that starts at @page. False if there is none. */
static bool snapshot_slab(struct owner_cursor *cursor, struct page *page,
			  struct owner_slab_snapshot *snap)
{
	struct slab counters __uninitialized;

	if (PageTail(page) || !PageSlab(page))
		return false;
	snap->slab = (struct slab *)page;
	snap->cache = READ_ONCE(snap->slab->slab_cache);
	snap->records = owner_slab_records_of(READ_ONCE(snap->slab->obj_exts));
	counters.counters = READ_ONCE(snap->slab->counters);
	snap->objects = counters.objects;
	snap->allocated = counters.inuse;
	snap->frozen = counters.frozen;
	/* Other users of struct page keep other things in these words. */
	return slab_is_unchanged(snap) && is_cache_listed(cursor, snap->cache);
}

static void *object_address(struct owner_slab_snapshot *snap, unsigned int index)
{
	void *start = slab_address(snap->slab);

	/* KFENCE puts its one object at either end of the page. */
	if (is_kfence_address(start))
		return kfence_object_start(start);
	return fixup_red_left(snap->cache, start + index * snap->cache->size);
}

/*
 * Copy the record of an object and take references to its handles. False if the
 * object has no owner or changed meanwhile.
 */
static bool copy_object_record(struct owner_cursor *cursor, struct owner_slab_snapshot *snap,
			       const struct slab_pos *pos, struct owner_object *object)
{
	struct owner_record *record = &snap->records->record[pos->index];
	struct owner_record before, owner, after;
	struct obj_cgroup *objcg = NULL;

	if (!owner_record_read(record, &before) || !before.handle_pair)
		return false;
	owner = before;
	if (!owner_record_get_refs(&owner))
		return false;
	if (cursor->cgroup)
		objcg = owner_objcg_of(snap->slab, owner_obj_exts_of(snap->slab), pos->index);
	/* The references pin the handles. Were they still the object's when we got them? */
	if (!slab_is_unchanged(snap) || !owner_record_read(record, &after) ||
	    after.handle_pair != before.handle_pair || after.details != before.details) {
		owner_record_put_refs(&owner);
		return false;
	}
	if (cursor->cgroup)
		owner_cgroup_of_objcg(objcg, cursor->cgroup);
	cursor->ref = owner;
	object->kind = OWNER_KIND_SLAB;
	object->owner = owner;
	object->cache = snap->cache->name;
	object->slab_cache = snap->cache;
	object->size = owner_record_requested(&owner);
	object->held = snap->cache->size;
	object->index = pos->index;
	object->nid = slab_nid(snap->slab);
	object->pfn = pos->pfn;
	object->address = object_address(snap, pos->index);
	object->span = snap->cache->object_size;
	return true;
}

/* Look into a slab, from @pos->index on. True if @result is filled. */
typedef bool search_slab_fn(struct owner_cursor *cursor, struct owner_slab_snapshot *snap,
			    struct slab_pos *pos, void *result);

static bool find_slab_object(struct owner_cursor *cursor, struct owner_slab_snapshot *snap,
			     struct slab_pos *pos, void *result)
{
	if (!snap->records)
		return false;
	for (; pos->index < snap->objects; pos->index++) {
		if (cursor->memo) {
			pos->index = owner_memo_count_known_records(cursor->memo, snap, pos->index);
			if (pos->index == snap->objects)
				break;
		}
		if (copy_object_record(cursor, snap, pos, result))
			return true;
	}
	return false;
}

/* Fill the usage of a slab, unless the cursor is behind index 0: once for each slab. */
static bool find_slab_usage(struct owner_cursor *cursor, struct owner_slab_snapshot *snap,
			    struct slab_pos *pos, void *result)
{
	struct owner_slab_usage *usage = result;
	unsigned int i, hidden;

	if (pos->index)
		return false;
	usage->cache = snap->cache;
	usage->name = snap->cache->name;
	usage->object_size = snap->cache->size;
	usage->tracked = 0;
	usage->requested = 0;
	for (i = 0; snap->records && i < snap->objects; i++) {
		/* A record that changes is counted as it was before or after. */
		struct owner_record record = data_race(snap->records->record[i]);

		if (!record.handle_pair)
			continue;
		usage->tracked++;
		usage->requested += owner_record_requested(&record);
	}
	hidden = owner_count_hidden_in_slab(snap->cache, snap->slab, snap->frozen);
	/* KFENCE does not count its object in the slab's counters. */
	if (is_kfence_address(slab_address(snap->slab)))
		usage->allocated = usage->tracked;
	else
		usage->allocated = snap->allocated - min(snap->allocated, hidden);
	/* Records that were added after the snapshot are in @tracked only. */
	usage->allocated = max(usage->allocated, usage->tracked);
	return usage->allocated && slab_is_unchanged(snap);
}

/* Erase the records of frees of the slab's objects. Return: false, to go on. */
static bool erase_slab_freed(struct owner_cursor *cursor, struct owner_slab_snapshot *snap,
			     struct slab_pos *pos, void *result)
{
	struct owner_record *freed = owner_freed_records_of(snap->slab);
	unsigned int i;

	for (i = 0; freed && i < snap->objects; i++)
		owner_freed_record_erase(&freed[i]);
	return false;
}

/*
 * Search the slab that starts at @pos->pfn. If there is nothing to find, move @pos to
 * the next page frame, past the slab, the free block or the folio if the order is known.
 */
static bool search_page_frame(struct owner_cursor *cursor, struct slab_pos *pos,
			      search_slab_fn *search, void *result)
{
	struct page *page = pfn_to_online_page(pos->pfn);
	unsigned long skip = 1;
	struct owner_slab_snapshot snap;

	if (!page) {
		skip = owner_hole_end(pos->pfn) - pos->pfn;
	} else if (PageBuddy(page)) {
		unsigned long order = buddy_order_unsafe(page);

		/* Read without the zone's lock: the block may have been allocated. */
		if (order <= MAX_PAGE_ORDER)
			skip = 1UL << order;
	} else if (snapshot_slab(cursor, page, &snap)) {
		if (search(cursor, &snap, pos, result))
			return true;
		if (slab_is_unchanged(&snap))
			skip = 1UL << min(slab_order(snap.slab), MAX_PAGE_ORDER);
	} else if (!PageSlab(page)) {
		/* If this becomes a slab from now on, its objects are newer than this step. */
		skip = owner_folio_frames(page, pos->pfn);
	}
	pos->pfn += skip;
	pos->index = 0;
	return false;
}

static int search_memory(struct owner_cursor *cursor, search_slab_fn *search, void *result)
{
	struct slab_pos pos = decode_pos(cursor->pos);
	bool found = false;
	int error = 0;

	while (!found && pos.pfn < (cursor->end ?: max_pfn)) {
		error = owner_cursor_yield(cursor);
		if (error)
			break;
		rcu_read_lock();
		found = search_page_frame(cursor, &pos, search, result);
		rcu_read_unlock();
	}
	cursor->pos = encode_pos(&pos);
	if (found)
		cursor->found_pos = cursor->pos++;
	return error ?: found;
}

static int next_slab_object(struct owner_cursor *cursor, struct owner_object *object)
{
	return search_memory(cursor, find_slab_object, object);
}

/* Look only into the slab of an address. The slab can be freed meanwhile. */
static const char *seek_slab(struct owner_cursor *cursor, u64 address)
{
	unsigned long pfn;
	struct page *page = owner_page_of_address(address, &pfn);
	unsigned long searched = cursor->end;
	const struct page *head;

	cursor->pos = encode_pos(&(struct slab_pos){ .pfn = searched });
	cursor->end = max(searched, 1UL);
	if (!page)
		return "no address that slabs have";
	head = compound_head(page);
	if (!PageSlab(head))
		return "not in a slab: of pages ask with kind == page";
	pfn = page_to_pfn(head);
	cursor->pos = encode_pos(&(struct slab_pos){ .pfn = max(pfn, searched) });
	cursor->end = max(pfn + 1, searched);
	return NULL;
}

const struct owner_source_ops owner_slab_source = {
	.lock	= owner_lock_caches_and_memory,
	.unlock	= owner_unlock_caches_and_memory,
	.next	= next_slab_object,
	.seek	= seek_slab,
};

/**
 * owner_slab_erase_freed() - erase all records of who freed slab objects
 * @pos: 0, or where this ended when the task was killed; it is set to the new position
 *
 * Context: process context, may sleep. Nobody records frees meanwhile.
 *
 * Return: 0, -EINTR if the task is killed.
 */
int owner_slab_erase_freed(u64 *pos)
{
	struct owner_cursor cursor = {
		.ops = &owner_slab_source,
		.pos = *pos,
		.until_killed = true,
	};
	int error;

	owner_cursor_begin(&cursor);
	error = search_memory(&cursor, erase_slab_freed, NULL);
	owner_cursor_end(&cursor);
	*pos = cursor.pos;
	return error;
}

/**
 * owner_slab_next_usage() - find the next slab that has objects, tracked or not
 * @cursor: of owner_slab_source, used with this function only
 * @usage: filled if there is one
 *
 * Return: as owner_cursor_next().
 */
int owner_slab_next_usage(struct owner_cursor *cursor, struct owner_slab_usage *usage)
{
	return search_memory(cursor, find_slab_usage, usage);
}

/**
 * owner_slab_get_usage() - look at one slab
 * @cursor: holds the locks of owner_lock_caches_and_memory(); it does not move
 * @pfn: the first page frame of the slab
 * @usage: filled if there is a slab that has objects
 *
 * Return: false if there is none.
 */
bool owner_slab_get_usage(struct owner_cursor *cursor, unsigned long pfn,
			  struct owner_slab_usage *usage)
{
	struct slab_pos pos = { .pfn = pfn };
	bool found;

	rcu_read_lock();
	found = search_page_frame(cursor, &pos, find_slab_usage, usage);
	rcu_read_unlock();
	return found;
}
