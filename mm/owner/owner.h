/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contracts between the rooms of the owner subsystem.
 *
 * stack.c	a call chain, and a task, become handles
 * handles.h	references to those, which each CPU keeps ready
 * unwind.h	how a call chain is taken
 * rules.c	which allocations are captured, and how deep; lang.c its language
 * rules_change.c	how the rules are written and read
 * places.c	where the functions and modules are that they ask for
 * sample.c	which of many get an owner, and what those stand for
 * hooks.h	what SLUB does itself, because it does so often
 * slab.c	the record beside each slab object, written by SLUB's hooks
 * percpu.c	the record of each per-CPU area
 * page.h	the record of each page, and the rooms around it
 * walk.c	slabs and their objects, walked by readers
 * known.h	what a walk knows of records like one that it has found
 * counted.c	what call chains hold, without a walk
 * totals.c	what they add up to, by call chain and by cache
 * cgroup.c	which memory cgroup something is charged to
 * report.c	what is known of one object, printed to the kernel's log
 * debugfs.c	the files a person reads and writes
 * debugfs_stacks.c	those that show what each call chain holds
 * query.c	what is held, as a sentence asks
 * query_chain.c	what it asks of call chains
 * query_groups.c	objects added up by what they have in common
 * query_known.c	those like one that has been looked at
 * query_show.c	its answer, as text or for programs
 * debugfs_query.c	the file in which it is asked and answered
 */
#ifndef _MM_OWNER_H
#define _MM_OWNER_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "sample.h"
#include "unwind.h"

struct seq_file;

/*
 * The unit of a record's time: some ticks, 10 ms at most. 32 bits of it last for
 * more than 300 days.
 */
#define OWNER_TICKS_SHIFT	(HZ < 200 ? 0 : HZ < 400 ? 1 : HZ < 800 ? 2 : 3)
#define OWNER_TICK_NS		((u64)TICK_NSEC << OWNER_TICKS_SHIFT)

static inline u64 owner_ticks(void)
{
	u64 jiffies_now = get_jiffies_64();

	return jiffies_now >> OWNER_TICKS_SHIFT;
}

static inline u32 owner_now(void)
{
	return owner_ticks();
}

/* No record is older, in ticks. What seems to be is newer than the time it is compared with. */
#define OWNER_TICKS_MAX		(U32_MAX - (U32_MAX >> 4))

/* How old a record was at a time, in ticks: what has come since has no age. */
static inline u32 owner_ticks_since(u32 time, u32 now)
{
	u32 ticks = now - time;

	return ticks <= OWNER_TICKS_MAX ? ticks : 0;
}

/* How long ago a record's time is, in ns, and that on the clock of others. */
static inline u64 owner_age(u32 time)
{
	return (u32)(owner_now() - time) * OWNER_TICK_NS;
}

u64 owner_timestamp(u32 time);

/* What was not kept, and why. */
enum owner_loss {
	/* The object reads "untracked": */
	OWNER_LOST_CONTEXT,	/* it was allocated in NMI, and not all was at hand, */
	OWNER_LOST_EARLY,	/* or before the slab allocator was up, */
	OWNER_LOST_VECTOR,	/* there was no memory for the slab's records, */
	OWNER_LOST_STACK,	/* or the depot did not even have what stands for no chain. */
	/* The depot had no room, so an owner has less than it should: */
	OWNER_LOST_TASK,	/* no task, */
	OWNER_LOST_FRAMES,	/* a shorter chain, */
	OWNER_LOST_CHAIN,	/* or what stands for no chain. */
	OWNER_LOSS_REASONS
};

extern atomic_long_t owner_losses[OWNER_LOSS_REASONS];

/* Objects whose owner was sampled: the sum over all CPUs, of which each may be negative. */
DECLARE_PER_CPU(long, owner_sampled);

/* Per-CPU areas that have an owner. */
extern atomic_long_t owner_percpu_areas;

/* Slabs that have records, and the bytes of those. */
extern atomic_long_t owner_nr_tracked_slabs;
extern atomic_long_t owner_records_bytes;

static inline void owner_count_loss(enum owner_loss reason)
{
	atomic_long_inc(&owner_losses[reason]);
}

/* A task as it was when it allocated. */
struct owner_task {
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/* What the depot's counters of a call chain count. */
enum owner_counter {
	OWNER_OBJECTS,			/* of slabs */
	OWNER_BYTES,			/* that were asked for with those */
	OWNER_HELD,			/* that they take */
	OWNER_PAGES,			/* whose records say that they are allocated */
};

static_assert(OWNER_PAGES + 1 == STACK_DEPOT_COUNTERS);

/* handles.c */
void owner_cpu_caches_init(void);
void owner_cpu_caches_flush(void);
void owner_counters_flush(void);
depot_stack_handle_t owner_handle_save(unsigned long *words, unsigned int count, gfp_t flags,
				       depot_flags_t kind);
depot_stack_handle_t owner_chain_save(unsigned long ip, unsigned int depth,
				      struct owner_caller caller, bool whole, gfp_t flags);
void owner_chain_verify(depot_stack_handle_t stack, unsigned int depth,
			struct owner_caller caller, bool whole);

/* stack.c */
void owner_capture_early_init(void);
int owner_capture_late_init(void);
void owner_chain_prepare(gfp_t flags);
depot_stack_handle_t owner_chain_degrade(unsigned int depth, struct owner_caller caller);
depot_stack_handle_t owner_task_save(gfp_t flags);
bool owner_record_get(struct owner_record *owner);
void owner_record_put(const struct owner_record *owner);
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task);

/* Numbers of rates: as many as fit into a record. */
#define OWNER_RATES		256

/* A weight, up to OWNER_SAMPLE_*_MAX, fits into a word with so many bits of a fraction. */
#define OWNER_WEIGHT_SHIFT	16

/*
 * What some records stand for. If none was sampled that is what they say, and
 * the variances are 0.
 */
struct owner_estimate {
	u64 records;
	u64 objects;
	u32 fraction;			/* of one more, in units of 2^-OWNER_WEIGHT_SHIFT */
	u64 bytes;			/* that were asked for */
	u64 held;			/* that the objects take */
	u64 objects_variance;		/* in units of 2^-8 */
	u64 bytes_variance;
};

/* sample.c */
void owner_sample_init(void);
int owner_rate_number(u32 bytes, u32 objects);
u64 owner_rate_word(unsigned int number);
u64 owner_weight(unsigned int number, size_t size);
void owner_sample_draw(void);
bool owner_is_sampled(unsigned int number, size_t size);
void owner_estimate_add_sample(struct owner_estimate *estimate, u64 n, unsigned int number,
			       size_t size, size_t held);
void owner_estimate_join(struct owner_estimate *estimate, const struct owner_estimate *more);
u64 owner_objects_error(const struct owner_estimate *estimate);
u64 owner_bytes_error(const struct owner_estimate *estimate);

/**
 * owner_estimate_add - add objects, and those like them that were not sampled
 * @estimate: what they are added to
 * @n: how many
 * @number: of the rate at which they were sampled
 * @size: bytes that were asked for, for each
 * @held: bytes that each takes
 */
static inline void owner_estimate_add(struct owner_estimate *estimate, u64 n, unsigned int number,
				      size_t size, size_t held)
{
	estimate->records += n;
	if (unlikely(number))
		return owner_estimate_add_sample(estimate, n, number, size, held);
	estimate->objects += n;
	estimate->bytes += n * size;
	estimate->held += n * held;
}

/* What records add up to, and how old they are. */
struct owner_sum {
	u64 groups;			/* of a query */
	struct owner_estimate estimate;
	u64 oldest;			/* age of the oldest, in ns */
	u64 youngest;
	bool ageless;			/* some were counted only: neither is known */
};

static inline void owner_sum_add(struct owner_sum *sum, unsigned int rate, size_t size,
				 size_t held, u64 age)
{
	sum->youngest = sum->estimate.records ? min(sum->youngest, age) : age;
	sum->oldest = max(sum->oldest, age);
	owner_estimate_add(&sum->estimate, 1, rate, size, held);
}

/* slab.c */
int owner_capture_start(void);

const struct owner_record *owner_freed_records_of(const struct slab *slab);

/* One object's owner, as a reader sees it. */
struct owner_object {
	const struct kmem_cache *slab_cache;	/* while the walk lasts; else to be compared only */
	const char *cache;
	unsigned int slab_size;		/* bytes the object takes in its slab */
	unsigned int index;		/* in its slab */
	int nid;			/* its memory node, NUMA_NO_NODE if it is on many */
	unsigned long pfn;		/* of its slab */
	const void *address;
	size_t size;			/* bytes that were asked for */
	struct owner_record owner;
};

/* A slab's objects, counted. */
struct owner_slab_usage {
	const struct kmem_cache *cache;	/* to be compared only */
	const char *name;
	unsigned int object_size;	/* bytes each takes */
	unsigned int allocated;
	unsigned int tracked;		/* those that have an owner */
	size_t requested;		/* bytes that those were asked for */
};

/*
 * A walk over the slabs or over the objects that have owners, in order of their
 * addresses. Between owner_cursor_begin() and owner_cursor_end() no cache comes or
 * goes. What the walk found last stays fetchable until it is asked for the next.
 */
struct owner_cursor {
	unsigned long pfn;		/* where the next object is looked for */
	unsigned int index;
	u64 place;			/* where the next area, or call chain, is looked for */
	unsigned long until;		/* in jiffies: then caches may come and go */
	char *cgroup;			/* where that of an object goes, NULL: nobody asks */
	struct kmem_cache *alive;	/* a cache seen on the list since they could */
	struct owner_record held;		/* references to what was found last */
	struct owner_walk_memo *known;	/* what is counted and not found, if anything */
};

/* walk.c */
void owner_cursor_begin(struct owner_cursor *walk);
int owner_cursor_next(struct owner_cursor *walk, struct owner_object *object);
int owner_cursor_next_slab(struct owner_cursor *walk, struct owner_slab_usage *slab);
bool owner_cursor_at(struct owner_cursor *walk, unsigned long pfn, struct owner_slab_usage *slab);
int owner_cursor_rest(struct owner_cursor *walk);
void owner_cursor_release(struct owner_cursor *walk);
void owner_cursor_end(struct owner_cursor *walk);

/* percpu.c */
bool owner_percpu_next(struct owner_cursor *walk, struct owner_object *object);

/* counted.c */
bool owner_chains_count_all(void);
int owner_chains_next(struct owner_cursor *walk, enum owner_counter which,
		       struct owner_estimate *holds);

/* What one call chain holds. */
struct owner_chain_total {
	depot_stack_handle_t stack;	/* with a reference */
	struct owner_sum sum;		/* of objects or pages; ages are not told */
};

/* What one cache holds. */
struct owner_cache_total {
	char *name;
	unsigned int object_size;
	unsigned long allocated;
	unsigned long tracked;
	u64 requested;
};

/* totals.c: each is an xarray of the structures above, by handle or by cache */
int owner_total_chains(struct xarray *totals);
void owner_free_chains(struct xarray *totals);
int owner_total_pages(struct xarray *totals);
int owner_total_caches(struct xarray *totals);
void owner_free_caches(struct xarray *totals);

/* report.c */
void owner_show_weight(struct seq_file *m, const struct owner_object *object);
void owner_show_object(struct seq_file *m, const struct owner_object *object);

#endif /* _MM_OWNER_H */
