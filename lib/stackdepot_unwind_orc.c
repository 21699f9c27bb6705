// SPDX-License-Identifier: GPL-2.0
/*
 * The ORC tables of x86_64 teach the call tree: where a call is, the distance from its
 * stack pointer to its caller's is a constant of the return address, and so is the place
 * where BP was saved between them.
 */

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/sizes.h>
#include <linux/stackdepot_hook.h>
#include <asm/orc_types.h>
#include <asm/syscall.h>
#include <asm/unwind.h>

#include "stackdepot_unwind.h"

/* --- From ORC entries to nodes ---------------------------------------------------- */

/* do_syscall_64() has at most this size. If it is larger, walks lose only the shortcut. */
#define SYSCALL_FUNCTION_SIZE	SZ_1K

/* Values of decode_saved_bp() that are no distance. */
#define BP_NOT_SAVED	-1
#define BP_UNKNOWN	-2

/* Bytes from the saved BP up to the caller's return address. */
static int decode_saved_bp(const struct orc_entry *orc)
{
	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return BP_NOT_SAVED;
	if (orc->bp_reg != ORC_REG_PREV_SP || orc->bp_offset % 8 || orc->bp_offset > -16)
		return BP_UNKNOWN;
	return -orc->bp_offset - 8;
}

/* A node of another kind than STEP, and the next one, where its children are. */
static bool set_kind(struct stack_depot_node *node, enum stack_depot_node_kind kind,
		     int step, unsigned int back)
{
	node->kind = kind;
	node[1].step = step;
	node[1].back = back;
	return step >= 0;
}

/* A BP leads to the caller's frame. @node: its back is set. */
static bool set_bp(struct stack_depot_node *node, unsigned long ip)
{
	if (node->back == STACK_DEPOT_BACK_UNKNOWN)
		return set_kind(node, STACK_DEPOT_NODE_CALLER_BP, 0, sizeof(long));
	set_kind(node, STACK_DEPOT_NODE_BP, 0, sizeof(long));
	/*
	 * do_syscall_64() has a frame pointer if stack offsets are random. A neighbour that gets
	 * this kind does no harm: if its frame does not end at the registers of user space, the
	 * walk follows BP.
	 */
	if (ip - (unsigned long)do_syscall_64 < SYSCALL_FUNCTION_SIZE)
		node->kind = STACK_DEPOT_NODE_SYSCALL;
	node[1].step = -(unsigned long)node->back;
	return true;
}

/* The stack pointer is at a constant distance from the caller's. */
static bool set_step(struct stack_depot_node *node, int step, int saved, unsigned int back)
{
	if (saved == BP_NOT_SAVED)
		saved = back == STACK_DEPOT_BACK_UNKNOWN ? back : back + step;
	node->step = step;
	node->back = saved;
	/* The field has 16 bits. */
	return step > 0 && saved <= STACK_DEPOT_BACK_UNKNOWN;
}

static bool decode_orc(struct stack_depot_node *node, const struct orc_entry *orc,
		       unsigned long ip, unsigned int back, bool interrupted)
{
	int saved = decode_saved_bp(orc), step = orc->sp_offset;
	unsigned int child_back = saved == BP_NOT_SAVED ? STACK_DEPOT_BACK_UNKNOWN : saved;

	if (orc->type == ORC_TYPE_END_OF_STACK) {
		node->kind = STACK_DEPOT_NODE_END;
		return true;
	}
	if (orc->type == ORC_TYPE_REGS)
		return orc->sp_reg == ORC_REG_SP && orc->signal && !interrupted && !step &&
		       set_kind(node, STACK_DEPOT_NODE_REGS, 0,
				offsetof(struct pt_regs, ip) - offsetof(struct pt_regs, bp));
	if (orc->type != ORC_TYPE_CALL || orc->signal || step % 8)
		return false;
	if (orc->sp_reg == ORC_REG_BP_INDIRECT)
		return orc->bp_reg == ORC_REG_BP && !orc->bp_offset && step &&
		       set_kind(node, STACK_DEPOT_NODE_REALIGNED, -step, STACK_DEPOT_BACK_UNKNOWN);
	if (saved == BP_UNKNOWN)
		return false;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		if (interrupted)
			return step && set_kind(node, STACK_DEPOT_NODE_INTERRUPTED, step,
						child_back);
		return set_step(node, step, saved, back);
	case ORC_REG_BP:
		return step == 16 && saved == 8 && set_bp(node, ip);
	case ORC_REG_SP_INDIRECT:
		return !interrupted && set_kind(node, STACK_DEPOT_NODE_SWITCH, step, child_back);
	}
	return false;
}

/* Documented in stackdepot_unwind.h. */
bool stack_depot_learn_layout(struct stack_depot_node *node,
			      const struct stack_depot_node *parent, unsigned long ip,
			      bool interrupted)
{
	/* An interrupt can hit any instruction. A call can be the last one of its function. */
	const struct orc_entry *orc = unwind_find_orc(interrupted ? ip : ip - 1);

	node->back = parent->back;
	if (orc)
		return decode_orc(node, orc, ip, parent->back, interrupted);
	/* The kernel's unwinder assumes, too, that generated code has a frame pointer. */
	return __kernel_text_address(ip) && set_bp(node, ip);
}

#define SPARE_ELEMENTS	64
u64 stack_depot_framed[BIT(STACK_DEPOT_FRAMED_BITS) + SPARE_ELEMENTS];

/**
 * stack_depot_learn_framed() - find out whether a function has a frame pointer
 * @caller: a place in the function
 *
 * Return: the caller of the function if it does, else @caller.
 */
struct stack_depot_caller stack_depot_learn_framed(struct stack_depot_caller caller)
{
	struct stack_depot_node root = { .back = STACK_DEPOT_BACK_UNKNOWN }, node[2] = {};
	u64 *last = &stack_depot_framed[ARRAY_SIZE(stack_depot_framed) - 1], *known;
	unsigned long ip = stack_depot_read_stack(caller.slot);
	u64 element = (u32)ip;

	/* The function has to stay: nothing is removed. */
	if (!core_kernel_text(ip))
		return caller;
	/*
	 * A tracer's trampoline says nothing about the function. Without ORC tables, a frame
	 * pointer would be a guess.
	 */
	if (stack_depot_recover_ip(caller.slot) == ip && unwind_find_orc(ip - 1) &&
	    stack_depot_learn_layout(node, &root, ip, false)) {
		if (node->kind == STACK_DEPOT_NODE_REALIGNED)
			element |= (u64)node[1].step << 32;
		else if (node->kind == STACK_DEPOT_NODE_CALLER_BP)
			element |= (u64)STACK_DEPOT_IP_ABOVE_BP << 32;
	}
	known = &stack_depot_framed[hash_32(ip, STACK_DEPOT_FRAMED_BITS)];
	for (; known != last; known++) {
		u64 other = cmpxchg(known, 0, element);

		/* Another CPU may have learned it. */
		if (!other || other == element)
			return stack_depot_skip_framed(caller);
	}
	return caller;
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

	unwind_start(&state, current, NULL, (unsigned long *)caller.slot);
	while (count < depth && (ip = unwinder_ip(&state, !count && skip)) != 0) {
		frames[count++] = ip;
		if (stack_depot_ends_chain(ip))
			break;
		unwind_next_frame(&state);
	}
	return count;
}
