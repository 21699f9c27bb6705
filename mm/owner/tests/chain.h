/* SPDX-License-Identifier: GPL-2.0 */
/* A check of call chains for KUnit tests, with and without CONFIG_SLAB_OWNER. */
#ifndef _MM_OWNER_TESTS_CHAIN_H
#define _MM_OWNER_TESTS_CHAIN_H

#include <linux/kallsyms.h>
#include <linux/stackdepot.h>

/* Return true if frame @i of the call chain @stack is in @function. */
static inline bool chain_frame_is_in(depot_stack_handle_t stack, unsigned int i, void *function)
{
	unsigned long frame = stack_depot_frame(stack, i), size, offset;

	return kallsyms_lookup_size_offset(frame, &size, &offset) &&
	       frame - offset == (unsigned long)function;
}

/* Return true if the call chain @stack has a return address in @function. */
static inline bool chain_has_function(depot_stack_handle_t stack, void *function)
{
	unsigned int i, count = stack_depot_copy(stack, NULL, 0);

	for (i = 0; i < count; i++)
		if (chain_frame_is_in(stack, i, function))
			return true;
	return false;
}

#endif /* _MM_OWNER_TESTS_CHAIN_H */
