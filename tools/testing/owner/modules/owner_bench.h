/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the benchmarks. On x86_64 it is the time stamp counter, which counts
 * instructions in a guest with -icount; elsewhere it is in nanoseconds.
 */
#ifndef _OWNER_BENCH_H
#define _OWNER_BENCH_H

#include <linux/types.h>

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/msr.h>
#define now()	rdtsc()
#else
#include <linux/ktime.h>
#define now()	ktime_get_ns()
#endif

/* Cycles, where neighbouring instructions do not run across the reading of the counter. */
#ifdef CONFIG_X86_64
static inline u64 read_cycles(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}
#else
#include <linux/timex.h>
#define read_cycles()	get_cycles()
#endif

#endif /* _OWNER_BENCH_H */
