/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of the benchmarks. It counts instructions in a guest that counts them. */
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
