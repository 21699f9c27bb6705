/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instances of the evictable depot for KUnit tests, each with its own table and
 * bound. evict_pool.c includes this file because it needs its static
 * functions. A pool points to its instance in every configuration, so that tests
 * run the code that production kernels run.
 */

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)

/*
 * Give @depot the idle pools that earlier instances returned, so that tests take
 * little memory from the real depot. Return false if the bound of the real depot
 * does not allow for the pools still missing.
 */
static bool depot_borrow_pools(struct evictable_depot *depot)
{
	unsigned long irqflags;
	bool enough;

	synchronize_rcu();

	raw_spin_lock_irqsave(&stack_depot_evictable.lock, irqflags);
	while (depot->pools < depot->max_pools) {
		struct evictable_pool *pool = depot_remove_idle_pool(&stack_depot_evictable);

		if (!pool)
			break;
		pool->depot = depot;
		list_add_tail(&pool->list, &depot->idle);
		depot->nr_idle++;
		stack_depot_evictable.pools--;
		depot->pools++;
	}
	enough = depot->max_pools - depot->pools <=
		 stack_depot_max_pools - stack_depot_count_pools();
	raw_spin_unlock_irqrestore(&stack_depot_evictable.lock, irqflags);

	return enough;
}

static void depot_free_instance(struct evictable_depot *depot)
{
	free_percpu(depot->refused);
	kvfree(depot->table);
	kfree(depot);
}

/**
 * stack_depot_test_create() - Create an instance of the evictable depot
 * @bytes: bound on the instance, its table and its pools
 *
 * Return: the instance, or NULL without memory.
 */
struct evictable_depot *stack_depot_test_create(size_t bytes)
{
	unsigned long entries = rounddown_pow_of_two(bytes / 16 / sizeof(struct hlist_head));
	struct evictable_depot *depot;

	depot = kzalloc(sizeof(*depot), GFP_KERNEL);
	if (!depot)
		return NULL;
	depot->table = kvcalloc(entries, sizeof(struct hlist_head), GFP_KERNEL);
	depot->refused = alloc_percpu(struct depot_refusal_counts);
	if (!depot->table || !depot->refused) {
		depot_free_instance(depot);
		return NULL;
	}
	depot->mask = entries - 1;
	raw_spin_lock_init(&depot->lock);
	stack_depot_init_classes(depot);
	INIT_LIST_HEAD(&depot->idle);
	init_llist_head(&depot->deferred_frees);
	depot->work = IRQ_WORK_INIT_HARD(depot_run_work);
	depot->max_pools = (bytes - sizeof(*depot) - entries * sizeof(struct hlist_head)) /
			   POOL_BYTES;

	if (!depot_borrow_pools(depot)) {
		stack_depot_test_destroy(depot);
		return NULL;
	}
	return depot;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_create);

/**
 * stack_depot_test_destroy() - Free an instance, return its pools to the real depot
 * @depot: instance that no one uses any more
 *
 * Return: false if a record is still in use or a pool was lost; the instance is
 * leaked then, because handles may still lead to it.
 */
bool stack_depot_test_destroy(struct evictable_depot *depot)
{
	struct evictable_pool *pool, *next;
	unsigned long irqflags;
	LIST_HEAD(pools);

	irq_work_sync(&depot->work);
	/* Pools without records are idle already or are the empty pool of a class. */
	raw_spin_lock_irqsave(&depot->lock, irqflags);
	depot_make_empty_pools_idle(depot, DEPOT_NR_CLASSES);
	raw_spin_unlock_irqrestore(&depot->lock, irqflags);

	/* depot_make_empty_pools_idle() may have queued depot->work again. */
	irq_work_sync(&depot->work);
	rcu_barrier();
	/* depot_end_grace_period() may have queued itself once more. */
	rcu_barrier();
	if (stack_depot_test_in_use(depot))
		return false;

	raw_spin_lock_irqsave(&depot->lock, irqflags);
	list_splice_init(&depot->idle, &pools);
	raw_spin_unlock_irqrestore(&depot->lock, irqflags);
	/* Wait for lookups by hash, which use the table. */
	synchronize_rcu();

	raw_spin_lock_irqsave(&stack_depot_evictable.lock, irqflags);
	list_for_each_entry_safe(pool, next, &pools, list) {
		list_del(&pool->list);
		depot_add_idle_pool(&stack_depot_evictable, pool);
		pool->depot = &stack_depot_evictable;
		stack_depot_evictable.pools++;
		depot->pools--;
	}
	depot_clear_all_refusals(&stack_depot_evictable);
	raw_spin_unlock_irqrestore(&stack_depot_evictable.lock, irqflags);

	/* A pool that was in no list is lost and still points to @depot. */
	if (depot->pools)
		return false;

	depot_free_instance(depot);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_destroy);

/* The number of records in use. */
unsigned long stack_depot_test_in_use(struct evictable_depot *depot)
{
	unsigned long irqflags, in_use = 0;

	raw_spin_lock_irqsave(&depot->lock, irqflags);
	for (int c = 0; c < DEPOT_NR_CLASSES; c++)
		in_use += depot->class[c].in_use;
	raw_spin_unlock_irqrestore(&depot->lock, irqflags);
	return in_use;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_in_use);

/* Memory of the instance, its table and its pools. */
size_t stack_depot_test_bytes(struct evictable_depot *depot)
{
	return sizeof(*depot) + (depot->mask + 1UL) * sizeof(struct hlist_head) +
	       READ_ONCE(depot->pools) * POOL_BYTES;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_bytes);

/**
 * stack_depot_test_reserve_has() - Check what stack_depot_test_lower_bound() would do
 * @depot: the only instance besides the real one
 * @more_pools: parameter of stack_depot_test_lower_bound()
 *
 * Return: true if persistent records have so few pools that these pools are reserved
 * for them.
 */
bool stack_depot_test_reserve_has(struct evictable_depot *depot, unsigned int more_pools)
{
	unsigned int evictable = READ_ONCE(depot->pools) + READ_ONCE(stack_depot_evictable.pools);
	unsigned int max_pools = stack_depot_count_pools() + more_pools;

	return evictable + max_pools / 8 >= max_pools;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_reserve_has);

/* The bound before stack_depot_test_lower_bound(). */
static unsigned int usual_max_pools;

static void depot_set_max_pools(unsigned int max_pools)
{
	unsigned long irqflags;

	raw_spin_lock_irqsave(&stack_depot_evictable.lock, irqflags);
	WRITE_ONCE(stack_depot_max_pools, max_pools);
	depot_clear_all_refusals(&stack_depot_evictable);
	raw_spin_unlock_irqrestore(&stack_depot_evictable.lock, irqflags);
}

/**
 * stack_depot_test_lower_bound() - Lower the bound of the real depot
 * @more_pools: number of pools that can still be added
 */
void stack_depot_test_lower_bound(unsigned int more_pools)
{
	usual_max_pools = stack_depot_max_pools;
	depot_set_max_pools(stack_depot_count_pools() + more_pools);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_lower_bound);

/**
 * stack_depot_test_set_bound() - Put the real depot at its bound, or restore the bound
 * @on: true lowers the bound to the pools in use, false restores it
 */
void stack_depot_test_set_bound(bool on)
{
	if (on)
		stack_depot_test_lower_bound(0);
	else
		depot_set_max_pools(usual_max_pools);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_set_bound);

#endif /* CONFIG_STACKDEPOT_KUNIT_TEST */
