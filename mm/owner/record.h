/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The 16-byte record: its time, size and rate, its references, and consistent copies of it. The
 * count of losses.
 */
#ifndef _MM_OWNER_RECORD_H
#define _MM_OWNER_RECORD_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <asm/barrier.h>

#include "owner.h"

/* --- Time -------------------------------------------------------------------- */

/* Ticks are 53 to 80 ms. Ages up to OWNER_TICKS_MAX, more than 6 years, fit into 32 bits. */
#define OWNER_TICKS_SHIFT	(HZ < 200 ? 3 : HZ < 400 ? 4 : HZ < 800 ? 5 : 6)
#define OWNER_TICK_NS		((u64)TICK_NSEC << OWNER_TICKS_SHIFT)
static_assert(OWNER_TICK_NS >= 53 * NSEC_PER_MSEC);

/* Number of ticks up to now, in 64 bits that do not wrap. */
static inline u64 owner_ticks(void)
{
	u64 jiffies_now = get_jiffies_64();

	return jiffies_now >> OWNER_TICKS_SHIFT;
}

/* The current time as records keep it. */
static inline u32 owner_record_time_now(void)
{
	return owner_ticks();
}

/* Largest valid age. A larger difference means that the record is newer than @now. */
#define OWNER_TICKS_MAX		(U32_MAX - (U32_MAX >> 4))

/* Age in ticks, at the time @now, of a record. Records that are newer than @now have age 0. */
static inline u32 owner_ticks_since(u32 time, u32 now)
{
	u32 ticks = now - time;

	return ticks <= OWNER_TICKS_MAX ? ticks : 0;
}

/* Age of a record in ns. */
static inline u64 owner_record_age_ns(u32 time)
{
	return (u32)(owner_record_time_now() - time) * OWNER_TICK_NS;
}

u64 owner_record_time_to_ns(u32 time);

/* --- Size and rate ------------------------------------------------------------ */

/*
 * Bits of the size in owner_record.size_and_rate, and the largest size. The rate is in the
 * bits above: the word of an object that is not sampled is its size.
 */
#define OWNER_SIZE_BITS		24
#define OWNER_SIZE_MAX		(BIT(OWNER_SIZE_BITS) - 1)

/* A requested size as a record keeps it. With small pages, every slab object fits. */
static __always_inline u32 owner_record_size(size_t size)
{
	if (PAGE_SIZE << MAX_PAGE_ORDER <= OWNER_SIZE_MAX)
		return size;
	return min(size, OWNER_SIZE_MAX);
}

/* Value of owner_record.size_and_rate for a size from owner_record_size(). */
static __always_inline u32 owner_record_size_and_rate(u32 size, unsigned int rate)
{
	return size | rate << OWNER_SIZE_BITS;
}

/* Number of bytes that were requested. */
static __always_inline u32 owner_record_requested(const struct owner_record *record)
{
	return record->size_and_rate & OWNER_SIZE_MAX;
}

/* Number of the rate at which the object was sampled, 0 if it was not sampled. */
static __always_inline unsigned int owner_record_rate(const struct owner_record *record)
{
	return record->size_and_rate >> OWNER_SIZE_BITS;
}

/* --- Losses ------------------------------------------------------------------ */

/* Why an object is untracked, or why its record is cut short. */
enum owner_loss {
	/* The object is untracked: */
	OWNER_LOST_NMI,		/* the rules could not be evaluated in an NMI or without locks */
	OWNER_LOST_EARLY,	/* allocated before the slab allocator was up */
	OWNER_LOST_VECTOR,	/* no memory for the slab's records */
	OWNER_LOST_STACK,	/* the depot had no room, not even for the overflow chain */
	/* The depot had no room, and the record has: */
	OWNER_LOST_TASK,	/* no task */
	OWNER_LOST_FRAMES,	/* a shorter chain */
	OWNER_LOST_CHAIN,	/* the overflow chain */
	OWNER_LOSS_REASONS
};

DECLARE_PER_CPU(long[OWNER_LOSS_REASONS], owner_losses);

long owner_read_losses(enum owner_loss reason);

static inline void owner_count_loss(enum owner_loss reason)
{
	this_cpu_inc(owner_losses[reason]);
}

/* --- References and copies --------------------------------------------------- */

bool owner_record_get_refs(struct owner_record *owner);
void owner_record_put_refs(const struct owner_record *owner);

/**
 * owner_record_publish() - write a record that readers can see
 * @record: the record of an object that was just allocated: nobody else writes to it
 * @handle_pair: handles of the chain and of the task, with references
 * @size_and_rate: requested size and number of the rate
 * @time: in ticks
 */
static __always_inline void owner_record_publish(struct owner_record *record, u64 handle_pair,
						 u32 size_and_rate, u32 time)
{
	record->size_and_rate = size_and_rate;
	record->time = time;
	/* Pairs with owner_record_read(): a reader that sees the handles sees the details. */
	smp_store_release(&record->handle_pair, handle_pair);
}

/**
 * owner_record_take_handles() - take the handles out of a record
 * @record: the record of an object that is freed
 *
 * Return: the handles, whose references the caller has to drop; 0 if there are none.
 */
static __always_inline u64 owner_record_take_handles(struct owner_record *record)
{
	u64 handle_pair = READ_ONCE(record->handle_pair);

	/*
	 * Of two frees of one object on one CPU, one of which interrupts the other, only one gets
	 * the handles. SLUB's freelist does not survive two frees on two CPUs either.
	 */
	if (cmpxchg64_local(&record->handle_pair, handle_pair, 0) != handle_pair)
		return 0;
	/* Pairs with owner_record_read(): the next owner's details are written later. */
	smp_wmb();
	return handle_pair;
}

/**
 * owner_record_read() - copy a record as it was at one moment
 * @record: the record. RCU is read-locked, so that it is not freed meanwhile.
 * @owner: the copy, without references. Only its handles are set if they are 0.
 *
 * Return: false if the record changed meanwhile.
 */
static __always_inline bool owner_record_read(const struct owner_record *record,
					      struct owner_record *owner)
{
	u64 handle_pair;

	/* Pairs with owner_record_publish(): the details are those of these handles. */
	owner->handle_pair = smp_load_acquire(&record->handle_pair);
	if (!owner->handle_pair)
		return true;
	owner->details = READ_ONCE(record->details);
	/* Read the handles again only after the details, which may be the next owner's. */
	smp_rmb();
	/* Pairs with owner_record_publish() of the next owner. */
	handle_pair = smp_load_acquire(&record->handle_pair);
	return handle_pair == owner->handle_pair && READ_ONCE(record->details) == owner->details;
}

#endif /* _MM_OWNER_RECORD_H */
