/* SPDX-License-Identifier: GPL-2.0 */
/* A check of call chains for KUnit tests, with and without CONFIG_SLAB_OWNER. */
#ifndef _MM_OWNER_TESTS_CHAIN_H
#define _MM_OWNER_TESTS_CHAIN_H

#include <linux/kallsyms.h>
#include <linux/stackdepot.h>

/* Return true if the call chain @stack has a return address in @function. */
static inline bool chain_has_function(depot_stack_handle_t stack, void *function)
{
	unsigned int i, count = stack_depot_copy(stack, NULL, 0);
	unsigned long size, offset;

	for (i = 0; i < count; i++) {
		unsigned long frame = stack_depot_frame(stack, i);

		if (kallsyms_lookup_size_offset(frame, &size, &offset) &&
		    frame - offset == (unsigned long)function)
			return true;
	}
	return false;
}

#endif /* _MM_OWNER_TESTS_CHAIN_H */
