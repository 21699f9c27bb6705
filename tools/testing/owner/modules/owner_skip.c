// SPDX-License-Identifier: GPL-2.0
/* Trace one stack, and leave out another number of its first frames each time. */

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/module.h>

static noinline void skip_frames(unsigned int skip)
{
	trace_dump_stack(skip);
	/* Prevent a tail call, which would drop this frame from the chain. */
	barrier();
}

static int __init skip_init(void)
{
	unsigned int i, count = 6;

	/* Prevent unrolled calls, each of which would have a chain of its own. */
	OPTIMIZER_HIDE_VAR(count);
	for (i = 0; i < count; i++)
		skip_frames(1 + i % 2);
	return 0;
}
module_init(skip_init);

static void __exit skip_exit(void)
{
}
module_exit(skip_exit);

MODULE_DESCRIPTION("Trace a stack with several numbers of frames to leave out");
MODULE_LICENSE("GPL");
