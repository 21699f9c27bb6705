/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks over the running stack: from a place on it to the hash of its call chain.
 *
 * A walk reads the return address of each frame, mixes it into the hash, and moves to the
 * caller's frame. The architecture says how to move: it follows frame pointers
 * (<linux/stackdepot/fp.h>), or looks up steps that were learned from the ORC tables
 * (<asm/stackdepot_orc.h>). Elsewhere the kernel's unwinder walks each chain.
 *
 * The fast walk, stack_depot_hash_running(), checks only that it stays in the stack. It does
 * not know that a frame pointer is damaged, or that a tracer has replaced a return address where
 * it follows frame pointers, or that of the last frame. Then its hash is that of no chain, and
 * stack_depot_walk_frames() walks with all checks, in lib/stackdepot/walk.c.
 */
#ifndef _LINUX_STACKDEPOT_WALK_H
#define _LINUX_STACKDEPOT_WALK_H

#ifndef _LINUX_STACKDEPOT_CAPTURE_H
#error "Include <linux/stackdepot_capture.h> instead"
#endif

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/instruction_pointer.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include <asm/sections.h>
#ifdef CONFIG_ARM64
#include <asm/irq.h>
#include <asm/pointer_auth.h>
#include <asm/stacktrace.h>
#endif

/* Maximum depth of a captured chain. */
#define STACK_DEPOT_CAPTURE_MAX		64

/**
 * struct stack_depot_caller - a place on the stack: where a chain starts, or where a walk is
 * @slot: address of the next return address
 * @bp_slot: address at which the caller's BP is saved
 * @ip: the return address at @slot
 */
struct stack_depot_caller {
	unsigned long slot;
#ifdef CONFIG_STACKDEPOT_WALK_ORC
	unsigned long bp_slot;
#endif
#ifndef CONFIG_STACKDEPOT_WALK
	unsigned long ip;
#endif
};

/*
 * The place where a chain starts that begins with the caller of the current function. This must
 * not return, nor end with a tail call, before the capture.
 */
#define STACK_DEPOT_CALLER \
	stack_depot_caller_of_frame((unsigned long)__builtin_frame_address(0), _RET_IP_)

static __always_inline struct stack_depot_caller stack_depot_caller_of_frame(unsigned long frame,
									     unsigned long ip)
{
	return (struct stack_depot_caller){
		.slot = frame + sizeof(long),
#ifdef CONFIG_STACKDEPOT_WALK_ORC
		.bp_slot = frame,
#endif
#ifndef CONFIG_STACKDEPOT_WALK
		.ip = ip,
#endif
	};
}

/*
 * A chain leaves out some frames at its start: a number of them, or all that
 * stack_depot_is_allocator() accepts.
 */
#define STACK_DEPOT_SKIP_ALLOCATORS	UINT_MAX

bool stack_depot_is_allocator(unsigned long ip);

#ifdef CONFIG_STACKDEPOT_WALK

/* --- Stacks ------------------------------------------------------------------------ */

/* Read a word of a caller's frame. Callers do not run meanwhile. KASAN must not check it. */
static __no_sanitize_or_inline unsigned long stack_depot_read_stack(unsigned long address)
{
	return *(const unsigned long *)address;
}

/* A return address as it is without pointer authentication. */
static __always_inline unsigned long stack_depot_strip_ip(unsigned long ip)
{
#ifdef CONFIG_ARM64
	return ptrauth_strip_kernel_insn_pac(ip);
#else
	return ip;
#endif
}

#if (defined(CONFIG_X86_64) && !defined(CONFIG_UML)) || defined(CONFIG_ARM64)
static_assert(IRQ_STACK_SIZE == THREAD_SIZE);
#endif

/* The pointer to this CPU's stack for interrupts; older kernels have it in a structure. */
#ifdef DECLARE_PER_CPU_CACHE_HOT
#define STACK_DEPOT_HARDIRQ_STACK	hardirq_stack_ptr
#else
#define STACK_DEPOT_HARDIRQ_STACK	pcpu_hot.hardirq_stack_ptr
#endif

/* The lowest address of this CPU's stack for interrupts, 0 if it has none. */
static __always_inline unsigned long stack_depot_irq_stack(void)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	unsigned long top = (unsigned long)this_cpu_read(STACK_DEPOT_HARDIRQ_STACK);

	return top ? top + sizeof(long) - IRQ_STACK_SIZE : 0;
#elif defined(CONFIG_ARM64)
	return (unsigned long)this_cpu_read(irq_stack_ptr);
#elif defined(CONFIG_UML)
	/* A signal runs on a stack of its own; each stack is aligned to its size. */
	return (unsigned long)__builtin_frame_address(0) & ~(THREAD_SIZE - 1);
#else
	return 0;
#endif
}

/* No frame begins in the stack's first two words, so the word below a slot is in the stack, too. */
static __always_inline bool stack_depot_is_in_stack(unsigned long address, unsigned long stack)
{
	return address - stack - 2 * sizeof(long) <= THREAD_SIZE - 3 * sizeof(long);
}

/* The lowest address of the stack that has this address; 0 if the walk does not know it. */
static __always_inline unsigned long stack_depot_find_stack(unsigned long address)
{
	unsigned long stack = (unsigned long)task_stack_page(current);

	if (likely(stack_depot_is_in_stack(address, stack)))
		return stack;
	stack = stack_depot_irq_stack();
	return stack_depot_is_in_stack(address, stack) ? stack : 0;
}

unsigned int stack_depot_walk_steps(unsigned long *frames, unsigned int depth, bool skip,
				    struct stack_depot_caller caller);

#ifdef CONFIG_STACKDEPOT_WALK_ORC
#include <asm/stackdepot_orc.h>
#else
#include <linux/stackdepot/fp.h>
static inline void stack_depot_steps_init(void)
{
}
#endif

#else /* CONFIG_STACKDEPOT_WALK */

static inline void stack_depot_steps_init(void)
{
}

static __always_inline u64 stack_depot_hash_running(unsigned int depth, unsigned int skip,
						    struct stack_depot_caller caller)
{
	return 0;
}

#endif /* CONFIG_STACKDEPOT_WALK */

#endif /* _LINUX_STACKDEPOT_WALK_H */
