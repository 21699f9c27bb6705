/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sampling: which of many allocations get an owner, and what those stand for.
 *
 * Included by SLUB, whose every allocation comes by: no more than is needed there.
 */
#ifndef _MM_OWNER_SAMPLE_H
#define _MM_OWNER_SAMPLE_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/types.h>

/*
 * An allocation costs so much; the next that is sampled is the one with which a
 * CPU has spent what it drew. It draws from an exponential distribution, whose
 * mean is 2^32, so that each byte is as likely as any other to be sampled, whatever
 * came before it.
 *
 * Of two words, so that caches can keep both as one.
 */
struct owner_rate {
	u32 per_byte;
	u32 per_object;
};

/* All are sampled, without looking at the rate further. */
#define OWNER_RATE_ALL		0ULL
/* So few that these need no exception. */
#define OWNER_RATE_NEVER	BIT_ULL(32)

/* What is left of what this CPU drew. */
DECLARE_PER_CPU(s64, owner_sample_credit);

/* A rate as one word, not OWNER_RATE_ALL: has this allocation spent what was left? */
static __always_inline bool owner_sample_spend(u64 rate, size_t size)
{
	return this_cpu_sub_return(owner_sample_credit, size * (u32)rate + (rate >> 32)) < 0;
}

#endif /* _MM_OWNER_SAMPLE_H */
