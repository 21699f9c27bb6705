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
bool stack_depot_is_trampoline(unsigned long ip)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler)
		return true;
#endif
	return is_kretprobe_trampoline(ip);
}

/* Documented in stackdepot_unwind.h. */
unsigned long stack_depot_recover_ip(struct stack_depot_recovery *recovery, unsigned long ip,
				     unsigned long slot)
{
	/* Tracers remember a frame by the frame pointer of the function that returns there. */
	void *frame __maybe_unused = (void *)stack_depot_read_stack(slot - sizeof(long));

	/* The kernel's unwinder of x86 knows frames by other addresses. */
	if (!IS_ENABLED(CONFIG_ARM64))
		return 0;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler)
		ip = ftrace_graph_ret_addr(current, &recovery->graph_index, ip, frame);
#endif
#ifdef CONFIG_KRETPROBES
	if (is_kretprobe_trampoline(ip))
		ip = kretprobe_find_ret_addr(current, frame, &recovery->kretprobe);
#endif
	return ip;
}

/* Documented in stackdepot_unwind.h. */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip)
{
	node->kind = STACK_DEPOT_NODE_BP;
	return __kernel_text_address(ip);
}
