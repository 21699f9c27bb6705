/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the benchmarks. On x86_64 it is the time stamp counter, which counts
 * instructions in a guest with -icount; elsewhere it is in nanoseconds.
 */
#ifndef _OWNER_BENCH_H
#define _OWNER_BENCH_H

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/msr.h>
#define now()	rdtsc()
#else
#include <linux/ktime.h>
#define now()	ktime_get_ns()
#endif

#endif /* _OWNER_BENCH_H */
