// SPDX-License-Identifier: GPL-2.0
/*
 * The record of each page: who allocated it, and who freed it last.
 *
 * A record's handles are evictable. Each page of an allocation holds references
 * of its own, so that it does not matter how allocations are split, freed in
 * parts, or migrated. Handles stay in the record until others take their place:
 * a report about a free page wants to say who had it. Readers find references
 * under RCU.
 *
 * A chain's counter says how many pages it has that are allocated, as their flags say.
 *
 * Chains are known again, and references kept ready, as those of slab objects are,
 * see handles.h. If the depot has no room for a chain it is given some. What is
 * allocated for that gets the dummy chain. An interrupt that comes meanwhile is
 * another matter: each context has a bit of its own.
 */

#define pr_fmt(fmt) "page_owner: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/string.h>

#include "capture.h"
#include "page.h"
#include "rules/rules.h"

/* Frames that are kept where no rule says how many. */
static unsigned int default_depth __ro_after_init = OWNER_DEPTH;

/* For what the depot allocates for itself, and for what it has no room for. */
static depot_stack_handle_t dummy_handle __ro_after_init;
static depot_stack_handle_t failure_handle __ro_after_init;

/* Chains that the depot did not take. */
static atomic_long_t failures;

static int __init page_owner_depth_setup(char *str)
{
	unsigned int depth;

	if (str && !kstrtouint(str, 0, &depth) && depth && depth <= OWNER_DEPTH_MAX)
		default_depth = depth;
	else
		pr_err("page_owner_depth=%s is not understood: say 1 to %d frames, it is %d now\n",
		       str ?: "", OWNER_DEPTH_MAX, default_depth);
	return 0;
}
early_param("page_owner_depth", page_owner_depth_setup);

/* How often a page got failure_handle. */
unsigned long owner_page_failures(void)
{
	return atomic_long_read(&failures);
}

/* Has the boot line page_owner=on? It is not on before the slab allocator is up. */
bool __init owner_pages_wanted(void)
{
	return page_owner_ops.need();
}

/* Is page_owner on? */
bool owner_pages_tracked(void)
{
	return static_branch_unlikely(&page_owner_inited);
}

/* --- Call chains ------------------------------------------------------------- */

/* Where there are few frames, those of the page allocator take the place of others. */
static __always_inline bool is_whole(unsigned int depth)
{
	return depth >= OWNER_DEPTH;
}

static __always_inline bool allocates_for_itself(void)
{
	return current->in_page_owner & BIT(interrupt_context_level());
}

/* A handle with a reference, or 0 if the chain from here is not one that is known again. */
static __always_inline depot_stack_handle_t take_known_chain(unsigned long ip, unsigned int depth,
							     struct owner_caller caller)
{
	depot_stack_handle_t handle;
	struct owner_cpu_cache *handles;
	struct cached_ref *ref;

	if (unlikely(allocates_for_itself()))
		return 0;
	handles = owner_cpu_begin();
	if (unlikely(!handles))
		return 0;
	ref = owner_cpu_take_chain(handles, ip, depth, caller);
	handle = ref ? ref->handle : 0;
	owner_cpu_end(handles);
	if (handle && owner_unwind_verifying())
		owner_chain_verify(handle, depth, caller, is_whole(depth));
	return handle;
}

/* A handle that is held for ever. */
static depot_stack_handle_t fall_back_to(depot_stack_handle_t handle)
{
	return stack_depot_get(handle) ? handle : 0;
}

/* The depot may be given memory for it: what that allocates has the dummy chain. */
static noinline depot_stack_handle_t take_chain(unsigned long ip, unsigned int depth,
						struct owner_caller caller, gfp_t flags)
{
	unsigned int context = BIT(interrupt_context_level());
	depot_stack_handle_t handle;

	if (allocates_for_itself())
		return fall_back_to(dummy_handle);
	/* Each context changes its own bit, and it is as before when it ends. */
	current->in_page_owner |= context;
	handle = owner_chain_save(ip, depth, caller, is_whole(depth), flags);
	current->in_page_owner &= ~context;
	if (handle)
		return handle;
	atomic_long_inc(&failures);
	return fall_back_to(failure_handle);
}

/* --- Handles in records ------------------------------------------------------- */

/* A handle that takes the place of others, page by page. */
struct swap {
	struct owner_cpu_cache *handles;	/* of this CPU, or NULL */
	depot_stack_handle_t handle;	/* with one reference, or 0 */
	unsigned int pages;		/* that did not have it */
	/* Neighbours most often have one chain: so many more are allocated by this one. */
	depot_stack_handle_t counted;
	long count;
};

static __always_inline void give(struct swap *swap, depot_stack_handle_t handle)
{
	if (likely(swap->handles))
		owner_cpu_put_ref(swap->handles, handle);
	else
		stack_depot_put(handle);
}

static __always_inline void swap_begin(struct swap *swap, depot_stack_handle_t handle,
				       depot_stack_handle_t counted)
{
	swap->handles = owner_cpu_begin();
	swap->handle = handle;
	swap->pages = 0;
	swap->counted = counted;
	swap->count = 0;
}

static __always_inline void swap_in(struct swap *swap, depot_stack_handle_t *where)
{
	depot_stack_handle_t old = *where;

	if (old == swap->handle)
		return;
	/* It is held: by who took it, or by the first page that has it. */
	WRITE_ONCE(*where, swap->handle);
	swap->pages++;
	give(swap, old);
}

static __always_inline void swap_counted(struct swap *swap)
{
	owner_cpu_count_pages(swap->handles, swap->counted, swap->count);
	swap->count = 0;
}

/* This page's record, which has the handle, is allocated from now on, or no more. */
static __always_inline void swap_count(struct swap *swap, depot_stack_handle_t handle, long n)
{
	if (handle != swap->counted) {
		swap_counted(swap);
		swap->counted = handle;
	}
	swap->count += n;
}

/* Pages that are changed before others get a turn. */
#define SWAP_STRETCH	32

/*
 * Return: where the records of a stretch begin; NULL if it has none. Not all records
 * stand in one piece: each section of memory has its own.
 */
static __always_inline struct page_ext *swap_rest(struct swap *swap, struct page *page)
{
	struct page_ext *ext = page_ext_get(page);

	/* Who calls has RCU read-locked. */
	page_ext_put(ext);
	swap_counted(swap);
	if (swap->handles)
		owner_cpu_end(swap->handles);
	swap->handles = owner_cpu_begin();
	return ext;
}

/* Have as many references as there should be. */
static __always_inline void swap_end(struct swap *swap)
{
	swap_counted(swap);
	if (!swap->pages)
		give(swap, swap->handle);
	else if (unlikely(swap->pages > 1) && swap->handle)
		stack_depot_get_many(swap->handle, swap->pages - 1);
	if (likely(swap->handles))
		owner_cpu_end(swap->handles);
}

static struct page_owner *owner_of(struct page_ext *ext)
{
	return page_ext_data(ext, &page_owner_ops);
}

/* Such a page is counted with the chain that its record has. */
static __always_inline bool is_allocated(const struct page_ext *ext)
{
	return ext->flags & BIT(PAGE_EXT_OWNER_ALLOCATED);
}

/* --- Allocation and free ------------------------------------------------------ */

static __always_inline void set_owners(struct page *page, struct page_ext *ext,
				       unsigned int order, gfp_t gfp_mask, u64 ts_nsec,
				       depot_stack_handle_t handle)
{
	struct swap swap;
	unsigned int i;

	swap_begin(&swap, handle, handle);
	for (i = 0; i < 1U << order; i++, ext = page_ext_next(ext)) {
		struct page_owner *owner;

		if (unlikely(i && !(i % SWAP_STRETCH)))
			ext = swap_rest(&swap, page + i);
		if (unlikely(!ext))
			break;
		owner = owner_of(ext);
		/* It went unseen: before page_owner was on, or without its first page. */
		if (unlikely(is_allocated(ext)))
			owner_cpu_count_pages(swap.handles, owner->handle, -1);
		swap_in(&swap, &owner->handle);
		swap_count(&swap, handle, 1);
		owner->order = order;
		owner->gfp_mask = gfp_mask;
		owner->last_migrate_reason = -1;
		owner->ts_nsec = ts_nsec;
		/* A name that changes meanwhile reads as a mixture, never beyond its end. */
		data_race(memcpy(owner->comm, current->comm, TASK_COMM_LEN));
		owner->pid = current->pid;
		owner->tgid = current->tgid;
		/* Nobody else has the page yet. */
		if (handle)
			ext->flags |= PAGE_OWNER_TRACKED;
		else
			ext->flags &= ~PAGE_OWNER_TRACKED;
	}
	swap_end(&swap);
}

noinline void __set_page_owner(struct page *page, unsigned short order, gfp_t gfp_mask)
{
	struct owner_caller caller = OWNER_CALLER;
	unsigned int depth = owner_choose_pages(gfp_mask, order, page_to_nid(page), caller,
						default_depth);
	depot_stack_handle_t handle = 0;
	u64 ts_nsec = local_clock();
	struct page_ext *ext;

	if (likely(depth))
		handle = take_known_chain(_RET_IP_, depth, caller) ?:
			 take_chain(_RET_IP_, depth, caller, gfp_mask);
	ext = page_ext_get(page);
	if (likely(ext))
		set_owners(page, ext, order, gfp_mask, ts_nsec, handle);
	else
		stack_depot_put(handle);
	page_ext_put(ext);
}

static __always_inline void set_freed(struct page *page, struct page_ext *ext,
				      unsigned int order, u64 ts_nsec,
				      depot_stack_handle_t handle)
{
	struct swap swap;
	unsigned int i;

	swap_begin(&swap, handle, owner_of(ext)->handle);
	for (i = 0; i < 1U << order; i++, ext = page_ext_next(ext)) {
		struct page_owner *owner;

		if (unlikely(i && !(i % SWAP_STRETCH)))
			ext = swap_rest(&swap, page + i);
		if (unlikely(!ext))
			break;
		owner = owner_of(ext);
		swap_count(&swap, owner->handle, -(long)is_allocated(ext));
		swap_in(&swap, &owner->free_handle);
		owner->free_ts_nsec = ts_nsec;
		owner->free_pid = current->pid;
		owner->free_tgid = current->tgid;
		ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	}
	swap_end(&swap);
}

noinline void __reset_page_owner(struct page *page, unsigned short order)
{
	struct owner_caller caller = OWNER_CALLER;
	u64 ts_nsec = local_clock();
	depot_stack_handle_t handle;
	struct page_ext *ext;

	ext = page_ext_get(page);
	if (unlikely(!ext))
		return;
	/* Pages that the rules leave out, or that were never allocated. */
	if (!is_allocated(ext))
		goto out;
	handle = take_known_chain(_RET_IP_, default_depth, caller);
	if (unlikely(!handle)) {
		page_ext_put(ext);
		handle = take_chain(_RET_IP_, default_depth, caller, GFP_NOWAIT);
		ext = page_ext_get(page);
		/* Its memory may be going, if it was poisoned. */
		if (unlikely(!ext)) {
			stack_depot_put(handle);
			return;
		}
	}
	set_freed(page, ext, order, ts_nsec, handle);
out:
	page_ext_put(ext);
}

/* Pages that were allocated before get owners: they are counted as well. */
void page_owner_get_stacks(depot_stack_handle_t handle, unsigned long pages)
{
	if (!pages || !stack_depot_get_many(handle, pages))
		return;
	owner_cpu_count_pages(NULL, handle, pages);
}

/* --- Migration ----------------------------------------------------------------- */

/* Whatever the record says, it is counted as such, or no more. */
static void recount(struct page_ext *ext, long n)
{
	if (is_allocated(ext))
		owner_cpu_count_pages(NULL, owner_of(ext)->handle, n);
}

/*
 * The new page is what the old one was. The old one, which is to be freed, gets
 * the new one's call chain in return, so that no reference changes.
 */
static void copy_owner(struct page *new, struct page *old)
{
	struct page_ext *new_ext = page_ext_get(new), *old_ext = page_ext_get(old);

	if (new_ext && old_ext) {
		struct page_owner *to = owner_of(new_ext), *from = owner_of(old_ext);
		/* Else each chain has as many pages as before. */
		bool differ = is_allocated(new_ext) != is_allocated(old_ext);
		depot_stack_handle_t handle = to->handle;

		if (differ) {
			recount(new_ext, -1);
			recount(old_ext, -1);
		}
		to->order = from->order;
		to->last_migrate_reason = from->last_migrate_reason;
		to->gfp_mask = from->gfp_mask;
		to->ts_nsec = from->ts_nsec;
		memcpy(to->comm, from->comm, TASK_COMM_LEN);
		to->pid = from->pid;
		to->tgid = from->tgid;
		WRITE_ONCE(to->handle, from->handle);
		WRITE_ONCE(from->handle, handle);
		/* Both are allocated; which of them has an owner is the old one's matter. */
		new_ext->flags = (new_ext->flags & ~PAGE_OWNER_TRACKED) |
				 (old_ext->flags & PAGE_OWNER_TRACKED);
		if (differ) {
			recount(new_ext, 1);
			recount(old_ext, 1);
		}
	}
	page_ext_put(old_ext);
	page_ext_put(new_ext);
}

void __folio_copy_owner(struct folio *newfolio, struct folio *old)
{
	unsigned long i, pages = folio_nr_pages(newfolio);

	for (i = 0; i < pages; i++)
		copy_owner(folio_page(newfolio, i), folio_page(old, i));
}

/* --- Memory that goes ----------------------------------------------------------- */

static void forget_page(struct page *page)
{
	struct page_ext *ext = page_ext_get(page);
	struct page_owner *owner;

	if (!ext)
		return;
	recount(ext, -1);
	ext->flags &= ~PAGE_OWNER_TRACKED;
	owner = owner_of(ext);
	stack_depot_put(xchg(&owner->handle, 0));
	stack_depot_put(xchg(&owner->free_handle, 0));
	page_ext_put(ext);
}

/* Its pages are nobody's any more, and page_ext is about to free their records. */
static int memory_callback(struct notifier_block *block, unsigned long action, void *data)
{
	const struct memory_notify *memory = data;
	unsigned long pfn, end = memory->start_pfn + memory->nr_pages;

	if (action != MEM_OFFLINE)
		return NOTIFY_OK;
	for (pfn = memory->start_pfn; pfn < end; pfn++) {
		forget_page(pfn_to_page(pfn));
		cond_resched();
	}
	return NOTIFY_OK;
}

/* What makes captures cheap, which could not be had before. */
static int __init pages_late_init(void)
{
	return owner_pages_wanted() ? owner_capture_late_init() : 0;
}
early_initcall(pages_late_init);

/**
 * owner_pages_init - make ready to write records
 * @dummy: the handle for pages that the depot allocates for itself
 * @failure: the handle for those whose call chain it does not take
 *
 * Return: false if the depot takes no call chains.
 */
bool __init owner_pages_init(depot_stack_handle_t dummy, depot_stack_handle_t failure)
{
	if (!dummy || !failure) {
		pr_err("the stack depot takes no call chains: page_owner stays off\n");
		return false;
	}
	dummy_handle = dummy;
	failure_handle = failure;
	/* Before page_ext. */
	hotplug_memory_notifier(memory_callback, DEFAULT_CALLBACK_PRI + 1);
	return true;
}
