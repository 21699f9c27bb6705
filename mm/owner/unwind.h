/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call chain, cheaply.
 *
 * unwind.c	which frames count, and the walk where nothing faster is known
 * unwind_orc.c	the walk on x86
 */
#ifndef _MM_OWNER_UNWIND_H
#define _MM_OWNER_UNWIND_H

#include <linux/instruction_pointer.h>
#include <linux/types.h>

/* Where a chain starts: in the function that called the one that says OWNER_CALLER. */
struct owner_caller {
	const void *frame;	/* of the one that says it */
	unsigned long ip;	/* to which it returns */
};

#define OWNER_CALLER \
	((struct owner_caller){ __builtin_frame_address(0), _RET_IP_ })

unsigned int owner_unwind(unsigned long *entries, unsigned int depth,
			  struct owner_caller caller);

/* Is this return address in a function that allocates for its caller? */
bool owner_is_allocator(unsigned long ip);

/* What the walk on x86 has met. */
struct owner_unwind_counts {
	unsigned long learned;		/* addresses looked up, not remembered */
	unsigned long slow;		/* chains left to the kernel's own unwinder */
	unsigned long verified;		/* chains walked by both, with owner.verify=1 */
	unsigned long different;	/* and not found equal */
};

#ifdef CONFIG_UNWINDER_ORC
void owner_unwind_count(struct owner_unwind_counts *counts);
#else
static inline void owner_unwind_count(struct owner_unwind_counts *counts)
{
	*counts = (struct owner_unwind_counts){};
}
#endif

#endif /* _MM_OWNER_UNWIND_H */
