/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit tests of the stack depot need from within stackdepot_evict.c,
 * which includes this: instances of their own, with a bound of their own. For a
 * handle to lead to its instance, pools have a pointer to it in every kernel:
 * what is tested shall be what runs.
 */

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)

/*
 * Give @ev the pools that earlier instances left to the depot, so that tests
 * take little memory from it. Returns false if its bound would not allow for
 * the others.
 */
static bool evict_borrow(struct depot_evict *ev)
{
	unsigned long irqflags;
	bool room;

	synchronize_rcu();

	raw_spin_lock_irqsave(&depot_evict.lock, irqflags);
	while (ev->pools < ev->max_pools) {
		struct evict_pool *pool = evict_take_idle(&depot_evict);

		if (!pool)
			break;
		pool->ev = ev;
		list_add_tail(&pool->list, &ev->idle);
		depot_evict.pools--;
		ev->pools++;
	}
	room = ev->max_pools - ev->pools <= stack_max_pools - READ_ONCE(pools_num);
	raw_spin_unlock_irqrestore(&depot_evict.lock, irqflags);

	return room;
}

/*
 * An instance of its own, whose table and pools take at most @bytes; NULL if
 * there is not as much.
 */
struct depot_evict *depot_evict_create(size_t bytes)
{
	unsigned long entries = rounddown_pow_of_two(bytes / 16 / sizeof(struct hlist_head));
	struct depot_evict *ev;

	ev = kzalloc(sizeof(*ev), GFP_KERNEL);
	if (!ev)
		return NULL;
	ev->table = kvcalloc(entries, sizeof(struct hlist_head), GFP_KERNEL);
	if (!ev->table) {
		kfree(ev);
		return NULL;
	}
	ev->mask = entries - 1;
	raw_spin_lock_init(&ev->lock);
	evict_init_classes(ev);
	INIT_LIST_HEAD(&ev->idle);
	init_llist_head(&ev->deferred);
	init_irq_work(&ev->work, evict_work);
	ev->max_pools = (bytes - sizeof(*ev) - entries * sizeof(struct hlist_head)) /
			POOL_BYTES;

	if (!evict_borrow(ev)) {
		depot_evict_destroy(ev);
		return NULL;
	}
	return ev;
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_create);

/* Destroy what nobody uses any more; its pools become idle ones of the depot. */
bool depot_evict_destroy(struct depot_evict *ev)
{
	struct evict_pool *pool;
	unsigned long irqflags;
	LIST_HEAD(pools);

	irq_work_sync(&ev->work);
	rcu_barrier();
	/* The first may have ended with asking for a second. */
	rcu_barrier();
	/* Handles in use lead here: better lost than freed. */
	if (depot_evict_in_use(ev))
		return false;

	/* What no record uses is idle, or kept by a class. */
	raw_spin_lock_irqsave(&ev->lock, irqflags);
	evict_reclaim(ev, DEPOT_EVICT_CLASSES);
	list_splice_init(&ev->idle, &pools);
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);
	/* Readers by hash of records here walk through the table. */
	synchronize_rcu();

	raw_spin_lock_irqsave(&depot_evict.lock, irqflags);
	list_for_each_entry(pool, &pools, list) {
		pool->ev = &depot_evict;
		depot_evict.pools++;
		ev->pools--;
	}
	list_splice_tail(&pools, &depot_evict.idle);
	evict_none_full(&depot_evict);
	raw_spin_unlock_irqrestore(&depot_evict.lock, irqflags);

	/* A pool that was in no list is lost, and leads here. */
	if (ev->pools)
		return false;

	kvfree(ev->table);
	kfree(ev);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_destroy);

depot_stack_handle_t depot_evict_save_to(struct depot_evict *ev,
					 unsigned long *entries,
					 unsigned int nr_entries, gfp_t gfp,
					 depot_flags_t flags)
{
	return evict_save(ev, entries, nr_entries, gfp, flags);
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_save_to);

u32 depot_evict_hash(const unsigned long *entries, unsigned int nr_entries)
{
	return evict_hash(entries, nr_entries);
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_hash);

unsigned long depot_evict_in_use(struct depot_evict *ev)
{
	struct evict_stats stats;

	evict_read(ev, &stats);
	return stats.in_use;
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_in_use);

/* What the instance takes, table included. */
size_t depot_evict_bytes(struct depot_evict *ev)
{
	return sizeof(*ev) + (ev->mask + 1UL) * sizeof(struct hlist_head) +
	       READ_ONCE(ev->pools) * POOL_BYTES;
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_bytes);

/* Let the whole depot be at its bound for a while; and no more. */
void depot_evict_at_bound(bool on)
{
	static unsigned int max_pools;
	unsigned long irqflags;

	raw_spin_lock_irqsave(&depot_evict.lock, irqflags);
	raw_spin_lock(&depot_pool_lock);
	if (on) {
		max_pools = stack_max_pools;
		WRITE_ONCE(stack_max_pools, pools_num);
	} else {
		WRITE_ONCE(stack_max_pools, max_pools);
	}
	raw_spin_unlock(&depot_pool_lock);
	evict_none_full(&depot_evict);
	raw_spin_unlock_irqrestore(&depot_evict.lock, irqflags);
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_at_bound);

#endif /* CONFIG_STACKDEPOT_KUNIT_TEST */
