// SPDX-License-Identifier: GPL-2.0
/*
 * Frame pointers teach the call tree: each function has saved its caller's frame pointer
 * below its return address.
 */

#include <linux/kernel.h>

#include "stackdepot_unwind.h"

/* Documented in stackdepot_unwind.h. */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip,
			      bool interrupted)
{
	return __kernel_text_address(ip);
}
