/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of the kernel that the depot's headers and arch/x86/kernel/stackdepot_orc.c use, for
 * replay.c: they are compiled as they are, beside empty files for other headers of the kernel.
 */
#ifndef REPLAY_SHIM_H
#define REPLAY_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_X86_64			1
#define CONFIG_STACKDEPOT_WALK		1
#define CONFIG_STACKDEPOT_WALK_ORC	1
#define __LITTLE_ENDIAN_BITFIELD	1

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef int32_t s32;
typedef int16_t s16;
typedef unsigned int gfp_t;

#define GFP_KERNEL	0
#define __GFP_NOWARN	0
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define UINT_MAX	(~0U)
#define SZ_64K		0x10000
#define SZ_128K		0x20000
#define THREAD_SIZE	16384UL
#define IRQ_STACK_SIZE	THREAD_SIZE
#define GOLDEN_RATIO_32	0x61C88647
#define BIT(bit)	(1UL << (bit))
#define BIT_ULL(bit)	(1ULL << (bit))

#undef __always_inline
#define __always_inline			inline __attribute__((__always_inline__))
#define __no_sanitize_or_inline		__always_inline
#define __no_sanitize_address
#define __cold				__attribute__((__cold__))
#define noinline			__attribute__((__noinline__))
#define __packed			__attribute__((__packed__))
#define __must_check
#define __uninitialized			__attribute__((__uninitialized__))
#define __read_mostly
#define __rcu
#define __init
#define static_assert(condition)	_Static_assert(condition, #condition)
#define likely(condition)		__builtin_expect(!!(condition), 1)
#define unlikely(condition)		__builtin_expect(!!(condition), 0)
#define READ_ONCE(word)			(*(const volatile typeof(word) *)&(word))
#define WRITE_ONCE(word, value)		(*(volatile typeof(word) *)&(word) = (value))
#define data_race(expression)		(expression)
#define OPTIMIZER_HIDE_VAR(variable)	asm("" : "=r" (variable) : "0" (variable))
#define barrier()			asm volatile("" : : : "memory")
#define barrier_data(pointer)		asm volatile("" : : "r" (pointer) : "memory")
#define smp_mb()			__sync_synchronize()
#define cmpxchg(word, old, new)		__sync_val_compare_and_swap(word, old, new)
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define DECLARE_PER_CPU(type, name)		extern typeof(type) name
#define DECLARE_PER_CPU_READ_MOSTLY(type, name)	extern typeof(type) name
#define DECLARE_STATIC_KEY_FALSE(name)		extern int name
#define static_branch_unlikely(key)		0
#define this_cpu_read(variable)			READ_ONCE(variable)
#define __this_cpu_read(variable)		READ_ONCE(variable)
#define __this_cpu_write(variable, value)	WRITE_ONCE(variable, value)
#define this_cpu_inc(variable)			((variable)++)
#define preempt_disable()			barrier()
#define preempt_enable()			barrier()
#define NUMA_NO_NODE				(-1)
#define jiffies					0

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

struct task_struct {
	void *stack;
};

struct pcpu_hot {
	struct task_struct *current_task;
	void *hardirq_stack_ptr;
};

extern struct pcpu_hot pcpu_hot;

#define current				READ_ONCE(pcpu_hot.current_task)
#define task_stack_page(task)		((task)->stack)

static __always_inline u32 rol32(u32 word, unsigned int shift)
{
	return word << shift | word >> (32 - shift);
}

/* A recording has all steps that its walks need: none is learned from these. */
struct orc_entry;
static inline struct orc_entry *unwind_find_orc(unsigned long ip)
{
	return NULL;
}

enum module_state { MODULE_STATE_COMING, MODULE_STATE_GOING };
enum mod_mem_type { MOD_TEXT, MOD_INIT_TEXT };

struct module {
	enum module_state state;
};

static inline struct module *__module_text_address(unsigned long ip)
{
	return NULL;
}

static inline bool within_module_mem_type(unsigned long ip, const struct module *module,
					  enum mod_mem_type type)
{
	return false;
}

#define core_kernel_text(ip)		false
#define is_module_text_address(ip)	false
#define __kernel_text_address(ip)	false
#define is_bpf_text_address(ip)		false

#endif /* REPLAY_SHIM_H */
