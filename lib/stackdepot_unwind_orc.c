// SPDX-License-Identifier: GPL-2.0
/*
 * The ORC tables of x86_64 teach the call tree: where a call is, the distance from its
 * stack pointer to its caller's is a constant of the return address, and so is the place
 * where BP was saved between them.
 */

#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/rethook.h>
#include <asm/orc_types.h>
#include <asm/unwind.h>

#include "stackdepot_unwind.h"

/* Documented in stackdepot_unwind.h. */
bool stack_depot_is_trampoline(unsigned long ip)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler)
		return true;
#endif
#ifdef CONFIG_RETHOOK
	if (is_rethook_trampoline(ip))
		return true;
#endif
	return false;
}

/* Documented in stackdepot_unwind.h. */
unsigned long stack_depot_recover_ip(struct stack_depot_recovery *recovery, unsigned long ip,
				     unsigned long slot)
{
	recovery->state.task = current;
	return unwind_recover_ret_addr(&recovery->state, ip, (unsigned long *)slot);
}

/* --- From ORC entries to nodes ---------------------------------------------------- */

/* Values of decode_saved_bp() that are no distance. */
#define BP_NOT_SAVED	-1
#define BP_UNKNOWN	-2

/* Bytes from the saved BP up to the caller's return address. */
static int decode_saved_bp(const struct orc_entry *orc)
{
	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return BP_NOT_SAVED;
	if (orc->bp_reg != ORC_REG_PREV_SP || orc->bp_offset % 8 || orc->bp_offset > -16 ||
	    orc->bp_offset < -8 * U8_MAX)
		return BP_UNKNOWN;
	return -orc->bp_offset - 8;
}

/* Where BP is saved, seen from the slot of a child of @parent. */
static unsigned int get_child_back(const struct stack_depot_node *parent)
{
	switch (parent->kind) {
	case STACK_DEPOT_NODE_STEP:
		return parent->back;
	case STACK_DEPOT_NODE_BP:
		return sizeof(long);
	case STACK_DEPOT_NODE_REGS:
		return offsetof(struct pt_regs, ip) - offsetof(struct pt_regs, bp);
	case STACK_DEPOT_NODE_INTERRUPTED:
	case STACK_DEPOT_NODE_SWITCH:
		return parent->saved ? parent->saved * sizeof(long) : STACK_DEPOT_BACK_UNKNOWN;
	default:
		return STACK_DEPOT_BACK_UNKNOWN;
	}
}

/* The stack pointer is at a constant distance from the caller's. */
static bool decode_sp_step(struct stack_depot_node *node, int step, int saved, bool interrupted)
{
	unsigned int back = node->back;

	if (interrupted) {
		node->kind = STACK_DEPOT_NODE_INTERRUPTED;
		node->words = step / 8;
		node->saved = saved == BP_NOT_SAVED ? 0 : saved / 8;
		return step > 0 && step <= 8 * U8_MAX;
	}
	node->kind = STACK_DEPOT_NODE_STEP;
	node->step = step;
	if (saved != BP_NOT_SAVED)
		node->back = saved;
	else if (back != STACK_DEPOT_BACK_UNKNOWN)
		node->back = back + step;
	/* The fields have 16 bits. */
	return step > 0 && (back == STACK_DEPOT_BACK_UNKNOWN || saved != BP_NOT_SAVED ||
			    back + step < STACK_DEPOT_BACK_UNKNOWN);
}

static bool decode_orc(struct stack_depot_node *node, const struct orc_entry *orc,
		       bool interrupted)
{
	int saved = decode_saved_bp(orc), step = orc->sp_offset;

	if (orc->type == ORC_TYPE_END_OF_STACK) {
		node->kind = STACK_DEPOT_NODE_END;
		return true;
	}
	if (orc->type == ORC_TYPE_REGS) {
		node->kind = STACK_DEPOT_NODE_REGS;
		return orc->sp_reg == ORC_REG_SP && !step && orc->signal && !interrupted;
	}
	if (orc->type != ORC_TYPE_CALL || orc->signal || step % 8)
		return false;
	if (orc->sp_reg == ORC_REG_BP_INDIRECT) {
		node->kind = STACK_DEPOT_NODE_REALIGNED;
		node->words = -step / 8;
		return orc->bp_reg == ORC_REG_BP && !orc->bp_offset && step < 0 &&
		       step >= -8 * U8_MAX;
	}
	if (saved == BP_UNKNOWN)
		return false;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		return decode_sp_step(node, step, saved, interrupted);
	case ORC_REG_BP:
		node->kind = STACK_DEPOT_NODE_BP;
		return step == 16 && saved == 8;
	case ORC_REG_SP_INDIRECT:
		node->kind = STACK_DEPOT_NODE_SWITCH;
		node->words = step / 8;
		node->saved = saved == BP_NOT_SAVED ? 0 : saved / 8;
		return step >= 0 && step <= 8 * U8_MAX && !interrupted;
	}
	return false;
}

/* Documented in stackdepot_unwind.h. */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip)
{
	/* An interrupt can hit any instruction. A call can be the last one of its function. */
	bool interrupted = parent->kind == STACK_DEPOT_NODE_REGS;
	const struct orc_entry *orc = unwind_find_orc(interrupted ? ip : ip - 1);

	node->back = get_child_back(parent);
	if (orc)
		return decode_orc(node, orc, interrupted);
	/* The kernel's unwinder assumes, too, that generated code has a frame pointer. */
	node->kind = STACK_DEPOT_NODE_BP;
	return __kernel_text_address(ip);
}

/* --- The kernel's unwinder --------------------------------------------------------- */

/*
 * The return address of the unwinder's current frame; at a chain's start, skip allocators
 * first. Return: 0 at the end of the stack.
 */
static unsigned long unwinder_ip(struct unwind_state *state, bool skip_allocators)
{
	for (; !unwind_done(state); unwind_next_frame(state)) {
		unsigned long ip = unwind_get_return_address(state);

		if (!skip_allocators || !stack_depot_is_allocator(ip))
			return ip;
	}
	return 0;
}

/* Documented in stackdepot_unwind.h. */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller)
{
	struct unwind_state state;
	unsigned int count = 0;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.frame);
	while (count < depth && (ip = unwinder_ip(&state, !count && skip)) != 0) {
		frames[count++] = ip;
		if (stack_depot_ends_chain(ip))
			break;
		unwind_next_frame(&state);
	}
	return count;
}
