// SPDX-License-Identifier: GPL-2.0
/*
 * Frame pointers teach the call tree: each function has saved its caller's frame pointer
 * below its return address.
 */

#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>

#include "stackdepot_unwind.h"

/* Documented in stackdepot_unwind.h. */
unsigned long stack_depot_recover_ip(unsigned long slot)
{
	unsigned long ip = stack_depot_strip_ip(stack_depot_read_stack(slot));
	/* Tracers remember a frame by the frame pointer of the function that returns there. */
	void *frame __maybe_unused = (void *)stack_depot_read_stack(slot - sizeof(long));

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler) {
		int index = 0;

		if (IS_ENABLED(CONFIG_ARM64))
			ip = ftrace_graph_ret_addr(current, &index, ip, frame);
		if (ip == (unsigned long)return_to_handler)
			return 0;
	}
#endif
	if (is_kretprobe_trampoline(ip)) {
		ip = 0;
#if defined(CONFIG_KRETPROBES) && defined(CONFIG_ARM64)
		struct llist_node *first = NULL;

		ip = kretprobe_find_ret_addr(current, frame, &first);
#endif
	}
	return ip;
}

/* Documented in stackdepot_unwind.h. */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip,
			      bool interrupted)
{
	return __kernel_text_address(ip);
}
