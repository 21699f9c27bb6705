/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions that do nothing, by which bench/cache_misses.c knows what to count. No compiler
 * emits them with these numbers. Programs of the guest can use them, too.
 */
#ifndef _OWNER_MARKS_H
#define _OWNER_MARKS_H

#define MARK_BEGIN	0x6f01
#define MARK_END	0x6f02
#define MARK_REPORT	0x6f03

#ifndef __ASSEMBLER__

#if defined(__x86_64__)
#define MARK_INSN	"nopl %c0(%%rax,%%rax)"
#elif defined(__aarch64__)
#define MARK_INSN	"movz xzr, #%c0"
#else
#define MARK_INSN	""
#endif

/* The instructions after this mark are counted. */
static inline void mark_begin(void)
{
	asm volatile(MARK_INSN : : "i" (MARK_BEGIN) : "memory");
}

/* The instructions after this mark are not counted. */
static inline void mark_end(void)
{
	asm volatile(MARK_INSN : : "i" (MARK_END) : "memory");
}

/* Print the sums of all that was counted since the last report. */
static inline void mark_report(void)
{
	asm volatile(MARK_INSN : : "i" (MARK_REPORT) : "memory");
}

#endif /* __ASSEMBLER__ */
#endif /* _OWNER_MARKS_H */
