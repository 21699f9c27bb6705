// SPDX-License-Identifier: GPL-2.0
/*
 * page_owner's record of each page: who allocated it, and who freed it last.
 *
 * Each page of an allocation has a record of its own, in page_ext, with references
 * of its own to the handles in it. An allocation can be split, freed in parts or
 * migrated, and the references stay right. A record keeps its handles after the
 * page is freed, until others replace them: dump_page() prints the last owner of a
 * free page. Readers take references under RCU.
 *
 * The OWNER_PAGES counter of a chain is the number of pages whose record has that
 * chain and whose flags have PAGE_EXT_OWNER_ALLOCATED.
 *
 * Chains and references come from the CPU's cache, see capture.h. If the depot has
 * no room for a chain, memory is allocated for it; the pages of that allocation get
 * dummy_handle. task_struct.in_page_owner has a bit for each context, so that an
 * interrupt in that allocation is recorded like any other.
 */

#define pr_fmt(fmt) "page_owner: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/string.h>

#include "../capture.h"
#include "../compat.h"
#include "../rules/rules.h"
#include "page.h"

/* Frames of a chain where no rule sets the depth, from page_owner_depth= */
static unsigned int default_depth __ro_after_init = OWNER_DEPTH;

/* For pages that the depot allocates, and for pages whose chain it has no room for. */
static depot_stack_handle_t dummy_handle __ro_after_init;
static depot_stack_handle_t failure_handle __ro_after_init;

/* Allocations and frees that got failure_handle. */
static atomic_long_t failures;

static int __init parse_page_owner_depth(char *str)
{
	unsigned int depth;

	if (str && !kstrtouint(str, 0, &depth) && depth && depth <= OWNER_DEPTH_MAX)
		default_depth = depth;
	else
		pr_err("page_owner_depth=%s is not understood: say 1 to %d frames, it is %d now\n",
		       str ?: "", OWNER_DEPTH_MAX, default_depth);
	return 0;
}
early_param("page_owner_depth", parse_page_owner_depth);

/* Return the number of allocations and frees whose chain the depot had no room for. */
unsigned long owner_page_failures(void)
{
	return atomic_long_read(&failures);
}

/* Return true if the boot line has page_owner=on. Records begin later, see below. */
bool __init owner_pages_wanted(void)
{
	return page_owner_ops.need();
}

/* Return true if records of pages are kept. */
bool owner_pages_tracked(void)
{
	return static_branch_unlikely(&page_owner_inited);
}

/* --- Call chains ------------------------------------------------------------- */

/* A short chain leaves out the page allocator's own frames: callers are worth more. */
static __always_inline bool skips_allocator_frames(unsigned int depth)
{
	return depth < OWNER_DEPTH;
}

/* Is this an allocation that page_owner made, to give the depot memory? */
static __always_inline bool in_own_allocation(void)
{
	return unlikely(current->in_page_owner) &&
	       current->in_page_owner & BIT(interrupt_context_level());
}

static __always_inline depot_flags_t choose_capture_flags(unsigned int depth)
{
	return skips_allocator_frames(depth) ? STACK_DEPOT_FLAG_SKIP : 0;
}

/* Take a reference to dummy_handle or failure_handle. */
static depot_stack_handle_t get_reserved_handle(depot_stack_handle_t handle)
{
	return stack_depot_get(handle) ? handle : 0;
}

/* Slow path: walk the stack and intern the chain. May allocate memory for the depot. */
static noinline depot_stack_handle_t capture_chain(unsigned int depth,
						   struct stack_depot_caller caller,
						   gfp_t flags)
{
	enum stack_depot_captured captured = STACK_DEPOT_CAPTURED_ALL;
	unsigned int context = BIT(interrupt_context_level());
	depot_stack_handle_t handle;

	if (in_own_allocation())
		return get_reserved_handle(dummy_handle);
	/* An interrupt uses another bit, and restores it before it returns. */
	current->in_page_owner |= context;
	handle = stack_depot_capture(depth, choose_capture_flags(depth), flags, caller, &captured);
	current->in_page_owner &= ~context;
	if (likely(handle && captured == STACK_DEPOT_CAPTURED_ALL))
		return handle;
	atomic_long_inc(&failures);
	/* If the chain has the page allocator's frames, its first one alone says nothing. */
	if (handle && captured == STACK_DEPOT_CAPTURED_SHORTER && skips_allocator_frames(depth))
		return handle;
	stack_depot_put(handle);
	return get_reserved_handle(failure_handle);
}

/* --- Handles in records ------------------------------------------------------- */

/* Writes the handle of the running chain into the records of all pages of an allocation. */
struct handle_update {
	struct stack_depot_cpu_cache *cpu;	/* of this CPU, or NULL */
	struct stack_depot_ref *ref;		/* of the handle, if it was in the CPU cache */
	depot_stack_handle_t handle;		/* with one reference, or 0 */
	unsigned int replaced;			/* records that had another handle */
	/* Neighbours mostly have one chain, so their counts are added up first: */
	depot_stack_handle_t counted_chain;
	long page_count;			/* not yet added to counted_chain's counter */
};

/* Count @n more, or fewer, pages of a chain. @cpu can be NULL, @handle 0. */
static noinline void count_chain_pages_slow(struct stack_depot_cpu_cache *cpu,
					    depot_stack_handle_t handle, long n)
{
	s32 counters[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = n };

	if (handle && n)
		stack_depot_count_on_cpu(cpu, handle, counters);
}

static __always_inline void count_chain_pages(struct stack_depot_cpu_cache *cpu,
					      depot_stack_handle_t handle, long n)
{
	struct stack_depot_ref *ref = cpu ? stack_depot_find_ref(cpu, handle) : NULL;

	if (likely(ref))
		ref->counters[OWNER_PAGES] += n;
	else
		count_chain_pages_slow(cpu, handle, n);
}

static __always_inline void put_handle(struct handle_update *update, depot_stack_handle_t handle)
{
	if (likely(update->cpu))
		stack_depot_put_handle(update->cpu, handle);
	else
		stack_depot_put(handle);
}

/* Acquire the CPU cache for an update. @handle: with a reference, or 0 for pages without owner. */
static __always_inline struct handle_update begin_handle_update(depot_stack_handle_t handle)
{
	return (struct handle_update){ .cpu = stack_depot_cpu_acquire(), .handle = handle };
}

/*
 * Acquire the CPU cache for an update, and take the handle of the running chain from it. The
 * handle is 0 if the CPU cache does not have the chain.
 */
static __always_inline struct handle_update
begin_running_update(unsigned int depth, struct stack_depot_caller caller)
{
	struct handle_update update = begin_handle_update(0);

	if (unlikely(!update.cpu || in_own_allocation()))
		return update;
	update.ref = skips_allocator_frames(depth) ?
		stack_depot_find_running_again(update.cpu, depth, STACK_DEPOT_FLAG_SKIP, caller) :
		stack_depot_find_running(update.cpu, depth, 0, caller);
	if (likely(update.ref)) {
		stack_depot_get_ref(update.ref);
		update.handle = update.ref->handle;
		/* The compiler cannot know that this is not 0: leave out tests for that. */
		if (!update.handle)
			__builtin_unreachable();
		if (stack_depot_verifies())
			stack_depot_verify(update.handle, depth, choose_capture_flags(depth),
					   caller);
	}
	return update;
}

/* Slow path: release the CPU cache and capture the running chain. May sleep as @flags say. */
static __always_inline struct handle_update
capture_for_update(struct stack_depot_cpu_cache *cpu, unsigned int depth,
		   struct stack_depot_caller caller, gfp_t flags)
{
	if (cpu)
		stack_depot_cpu_release(cpu);
	return begin_handle_update(capture_chain(depth, caller, flags));
}

static __always_inline void replace_handle(struct handle_update *update,
					   depot_stack_handle_t *handle)
{
	depot_stack_handle_t old = *handle;

	if (old == update->handle)
		return;
	/*
	 * The update's own reference keeps the chain in the depot until finish_handle_update()
	 * takes one per record.
	 */
	WRITE_ONCE(*handle, update->handle);
	update->replaced++;
	put_handle(update, old);
}

static __always_inline void flush_page_count(struct handle_update *update)
{
	/* The ref may have been evicted, and then has another handle. */
	if (update->ref && update->ref->handle == update->counted_chain)
		update->ref->counters[OWNER_PAGES] += update->page_count;
	else
		count_chain_pages(update->cpu, update->counted_chain, update->page_count);
	update->page_count = 0;
}

static __always_inline void add_page_count(struct handle_update *update,
					   depot_stack_handle_t handle, long n)
{
	if (handle != update->counted_chain) {
		flush_page_count(update);
		update->counted_chain = handle;
	}
	update->page_count += n;
}

/* Records written between two points at which this CPU can be preempted. */
#define UPDATE_BATCH	32

/* Let other tasks and the CPU cache's other users run. */
static __always_inline void yield_cpu_cache(struct handle_update *update)
{
	flush_page_count(update);
	if (update->cpu)
		stack_depot_cpu_release(update->cpu);
	update->cpu = stack_depot_cpu_acquire();
	update->ref = NULL;
}

/*
 * Go on to the page_ext of the @i-th page of an allocation, which begins at @page. Return:
 * NULL if it has none: page_ext is contiguous within a section of memory only.
 */
static __always_inline struct page_ext *next_page_record(struct handle_update *update,
							 struct page *page, struct page_ext *ext,
							 unsigned int i)
{
	if (i % UPDATE_BATCH)
		return page_ext_next(ext);
	yield_cpu_cache(update);
	ext = page_ext_get(owner_nth_page(page, i));
	/* The caller's page_ext_get() keeps RCU read-locked. */
	page_ext_put(ext);
	return ext;
}

/* Get one reference for each record that has the handle now; the update had one already. */
static __always_inline void finish_handle_update(struct handle_update *update)
{
	flush_page_count(update);
	/* The reference was got from this ref. It has room for it unless it was evicted since. */
	if (!update->replaced && update->ref && update->ref->handle == update->handle &&
	    likely(stack_depot_can_put_ref(update->ref)))
		stack_depot_put_ref(update->ref);
	else if (!update->replaced)
		put_handle(update, update->handle);
	else if (unlikely(update->replaced > 1) && update->handle)
		stack_depot_get_many(update->handle, update->replaced - 1);
	if (likely(update->cpu))
		stack_depot_cpu_release(update->cpu);
}

static struct page_owner *get_page_record(struct page_ext *ext)
{
	return page_ext_data(ext, &page_owner_ops);
}

/* Is the page counted with its record's chain? */
static __always_inline bool is_allocated(const struct page_ext *ext)
{
	return ext->flags & BIT(PAGE_EXT_OWNER_ALLOCATED);
}

/* --- Allocation and free ------------------------------------------------------ */

static __always_inline void record_pages_alloc(struct handle_update *update, struct page *page,
					       struct page_ext *ext, unsigned int order,
					       gfp_t gfp_mask, u64 ts_nsec)
{
	depot_stack_handle_t handle = update->handle;
	unsigned int i = 0;

	update->counted_chain = handle;
	do {
		struct page_owner *owner = get_page_record(ext);

		/*
		 * The last free of this page was not recorded: page_owner was not on yet, or the
		 * page was freed behind a first page that had no owner.
		 */
		if (unlikely(is_allocated(ext)))
			count_chain_pages(update->cpu, owner->handle, -1);
		replace_handle(update, &owner->handle);
		add_page_count(update, handle, 1);
		owner->order = order;
		owner->gfp_mask = gfp_mask;
		owner->last_migrate_reason = OWNER_PAGE_NOT_MIGRATED;
		owner->ts_nsec = ts_nsec;
		/* A concurrent change of the name can mix two names; the last byte stays 0. */
		data_race(memcpy(owner->comm, current->comm, TASK_COMM_LEN));
		owner->pid = current->pid;
		owner->tgid = current->tgid;
		/* The page has not been returned yet: no other user writes the flags. */
		if (handle)
			/* Pairs with copy_if_tracked(): the record is written before. */
			smp_store_release(&ext->flags, ext->flags | PAGE_OWNER_TRACKED);
		else
			ext->flags &= ~PAGE_OWNER_TRACKED;
	} while (unlikely(order) && ++i < 1U << order &&
		 (ext = next_page_record(update, page, ext, i)));
}

noinline void __set_page_owner(struct page *page, unsigned short order, gfp_t gfp_mask)
{
	unsigned int depth = owner_choose_pages_depth(gfp_mask, order, page_to_nid(page),
						      STACK_DEPOT_CALLER, default_depth);
	u64 ts_nsec = local_clock();
	struct handle_update update __uninitialized;
	struct page_ext *ext;

	update = likely(depth) ? begin_running_update(depth, STACK_DEPOT_CALLER) :
				 begin_handle_update(0);
	if (unlikely(!update.handle && depth))
		update = capture_for_update(update.cpu, depth, STACK_DEPOT_CALLER, gfp_mask);
	ext = page_ext_get(page);
	if (likely(ext))
		record_pages_alloc(&update, page, ext, order, gfp_mask, ts_nsec);
	finish_handle_update(&update);
	page_ext_put(ext);
}

static __always_inline void record_pages_free(struct handle_update *update, struct page *page,
					      struct page_ext *ext, unsigned int order,
					      u64 ts_nsec)
{
	unsigned int i = 0;

	update->counted_chain = get_page_record(ext)->handle;
	do {
		struct page_owner *owner = get_page_record(ext);

		add_page_count(update, owner->handle, -(long)is_allocated(ext));
		replace_handle(update, &owner->free_handle);
		owner->free_ts_nsec = ts_nsec;
		owner->free_pid = current->pid;
		owner->free_tgid = current->tgid;
		ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	} while (unlikely(order) && ++i < 1U << order &&
		 (ext = next_page_record(update, page, ext, i)));
}

noinline void __reset_page_owner(struct page *page, unsigned short order)
{
	u64 ts_nsec = local_clock();
	struct handle_update update __uninitialized;
	struct page_ext *ext;

	ext = page_ext_get(page);
	if (unlikely(!ext))
		return;
	/*
	 * A rule left the pages out, or they were never allocated. Of a gigantic page that is
	 * allocated at boot, the first page is reserved and has no record, but the others have.
	 */
	if (!is_allocated(ext) && !(order && is_allocated(page_ext_next(ext))))
		goto out;
	update = begin_running_update(default_depth, STACK_DEPOT_CALLER);
	if (unlikely(!update.handle)) {
		page_ext_put(ext);
		update = capture_for_update(update.cpu, default_depth, STACK_DEPOT_CALLER,
					    OWNER_GFP_OF_FREE);
		/* A poisoned page's memory may go offline meanwhile. */
		ext = page_ext_get(page);
	}
	if (likely(ext))
		record_pages_free(&update, page, ext, order, ts_nsec);
	finish_handle_update(&update);
out:
	page_ext_put(ext);
}

/**
 * page_owner_get_stacks() - count pages that were allocated before page_owner was on
 * @handle: written to their records; the caller keeps a reference to it for ever
 * @pages: number of pages
 */
void page_owner_get_stacks(depot_stack_handle_t handle, unsigned long pages)
{
	if (!pages || !stack_depot_get_many(handle, pages))
		return;
	count_chain_pages(NULL, handle, pages);
}

/* --- Migration ----------------------------------------------------------------- */

/* Add @n to the counter of the page's chain, if the page is counted. */
static void adjust_page_count(struct page_ext *ext, long n)
{
	if (is_allocated(ext))
		count_chain_pages(NULL, get_page_record(ext)->handle, n);
}

/*
 * The new page gets the old page's record. The old page, which is freed next, gets the
 * new page's chain in exchange, so that no reference count changes.
 */
static void move_page_owner(struct page *new, struct page *old)
{
	struct page_ext *new_ext = page_ext_get(new), *old_ext = page_ext_get(old);

	if (new_ext && old_ext) {
		struct page_owner *to = get_page_record(new_ext), *from = get_page_record(old_ext);
		/* If both pages are counted, the chains' counters stay the same. */
		bool differ = is_allocated(new_ext) != is_allocated(old_ext);
		depot_stack_handle_t handle = to->handle;

		if (differ) {
			adjust_page_count(new_ext, -1);
			adjust_page_count(old_ext, -1);
		}
		WRITE_ONCE(new_ext->flags, new_ext->flags & ~PAGE_OWNER_TRACKED);
		/* Pairs with copy_if_tracked(): clear the flags before the record is written. */
		smp_wmb();
		to->order = from->order;
		to->last_migrate_reason = from->last_migrate_reason;
		to->gfp_mask = from->gfp_mask;
		to->ts_nsec = from->ts_nsec;
		memcpy(to->comm, from->comm, TASK_COMM_LEN);
		to->pid = from->pid;
		to->tgid = from->tgid;
		WRITE_ONCE(to->handle, from->handle);
		WRITE_ONCE(from->handle, handle);
		/* Both pages are allocated: the new one is tracked if the old one was. */
		smp_store_release(&new_ext->flags,
				  new_ext->flags | (old_ext->flags & PAGE_OWNER_TRACKED));
		if (differ) {
			adjust_page_count(new_ext, 1);
			adjust_page_count(old_ext, 1);
		}
	}
	page_ext_put(old_ext);
	page_ext_put(new_ext);
}

void __folio_copy_owner(struct folio *newfolio, struct folio *old)
{
	unsigned long i, pages = folio_nr_pages(newfolio);

	for (i = 0; i < pages; i++)
		move_page_owner(folio_page(newfolio, i), folio_page(old, i));
}

/* --- Memory hot-remove ---------------------------------------------------------- */

static void drop_page_record(struct page *page)
{
	struct page_ext *ext = page_ext_get(page);
	struct page_owner *owner;

	if (!ext)
		return;
	adjust_page_count(ext, -1);
	ext->flags &= ~PAGE_OWNER_TRACKED;
	owner = get_page_record(ext);
	stack_depot_put(xchg(&owner->handle, 0));
	stack_depot_put(xchg(&owner->free_handle, 0));
	page_ext_put(ext);
}

/* Drop the records' references before page_ext frees the records. */
static int drop_offline_records(struct notifier_block *block, unsigned long action, void *data)
{
	const struct memory_notify *memory = data;
	unsigned long pfn, end = memory->start_pfn + memory->nr_pages;

	if (action != MEM_OFFLINE)
		return NOTIFY_OK;
	for (pfn = memory->start_pfn; pfn < end; pfn++) {
		drop_page_record(pfn_to_page(pfn));
		cond_resched();
	}
	return NOTIFY_OK;
}

/* Allocate the CPU caches: owner_pages_init() runs too early for that. */
static int __init init_page_capture(void)
{
	return owner_pages_wanted() ? owner_capture_late_init() : 0;
}
early_initcall(init_page_capture);

/**
 * owner_pages_init() - prepare for the first record
 * @dummy: handle for pages that the depot allocates for itself
 * @failure: handle for pages whose call chain the depot has no room for
 *
 * Return: false if the depot is disabled.
 */
bool __init owner_pages_init(depot_stack_handle_t dummy, depot_stack_handle_t failure)
{
	if (!dummy || !failure) {
		pr_err("the stack depot takes no call chains: page_owner stays off\n");
		return false;
	}
	dummy_handle = dummy;
	failure_handle = failure;
	owner_allocators_init();
	stack_depot_capture_skip(owner_is_allocator);
	/* Runs before page_ext's callback, which frees the records. */
	hotplug_memory_notifier(drop_offline_records, DEFAULT_CALLBACK_PRI + 1);
	return true;
}
