/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks by steps that were learned from the ORC tables: where a call is, the distance from its
 * stack pointer to its caller's is a constant of the return address, and so is the place where
 * BP was saved between them. Included by <linux/stackdepot_walk.h>.
 */
#ifndef _ASM_X86_STACKDEPOT_ORC_H
#define _ASM_X86_STACKDEPOT_ORC_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

/*
 * A step is a word:
 *
 *	bits 0 to 31	key: the lower half of the return address, whose upper half is all ones.
 *			An address at which a function was interrupted has bit 31 inverted.
 *	bits 32 to 35	kind
 *	bits 36 to 49	distance, in words
 *	bits 50 to 63	words from the place where BP is saved up to the caller's return address;
 *			0 if BP is not saved
 */
enum stack_depot_step_kind {
	STACK_DEPOT_STEP_UP,		/* the caller's slot is the distance above this one */
	STACK_DEPOT_STEP_END,		/* the chain ends here */
	STACK_DEPOT_STEP_BP,		/* BP points below the caller's slot */
	STACK_DEPOT_STEP_REALIGNED,	/* the SP is stored the distance below where BP points */
	STACK_DEPOT_STEP_REGS,		/* pt_regs of user space, or of an interrupted function */
	STACK_DEPOT_STEP_INTERRUPTED,	/* the distance above the SP in the pt_regs of the slot */
	STACK_DEPOT_STEP_SWITCH,	/* the distance above the SP that the next word has */
};

#define STACK_DEPOT_STEP_KIND		(0xfULL << 32)
#define STACK_DEPOT_STEP_MAX		0x3fff
#define STACK_DEPOT_STEP_INTERRUPTED_KEY	BIT(31)

/*
 * The steps that all CPUs share: 256 KiB. A step is in the set of its hash, which is a cache line,
 * most often at the hash's own place. NULL until stack_depot_steps_init().
 */
#define STACK_DEPOT_STEPS		BIT(15)
#define STACK_DEPOT_STEPS_SET		8

extern u64 *stack_depot_steps;

void stack_depot_steps_init(void);
u64 __cold stack_depot_find_bpf_step(u32 key);
void stack_depot_forget_steps(unsigned long start, unsigned long size);

static __always_inline u32 stack_depot_step_place(u32 key)
{
	return (key ^ key >> 14) & (STACK_DEPOT_STEPS - 1);
}

/* Find the step of a key. Return: 0 if it is not known. */
static __always_inline u64 stack_depot_find_step(const u64 *steps, u32 key)
{
	u32 place = stack_depot_step_place(key), i;
	u64 step = READ_ONCE(steps[place]);

	for (i = 1; unlikely((u32)step != key); i++) {
		if (i == STACK_DEPOT_STEPS_SET)
			return 0;
		step = READ_ONCE(steps[place ^ i]);
	}
	return step;
}

static __always_inline unsigned int stack_depot_step_kind(u64 step)
{
	return step >> 32 & 0xf;
}

/* The distance in bytes. */
static __always_inline unsigned long stack_depot_step_distance(u64 step)
{
	return step >> 33 & STACK_DEPOT_STEP_MAX << 3;
}

/* Where BP is saved, if this is the caller's slot. */
static __always_inline unsigned long stack_depot_step_bp_slot(u64 step, unsigned long slot,
							      unsigned long bp_slot)
{
	unsigned long words = step >> 50;

	return words ? slot - words * sizeof(long) : bp_slot;
}

enum stack_depot_move {
	STACK_DEPOT_MOVED,
	STACK_DEPOT_MOVE_ENDS,		/* the frame is the chain's last */
	STACK_DEPOT_MOVE_INTERRUPTED,	/* moved to the address at which a function was interrupted */
	STACK_DEPOT_MOVE_FAILS,		/* a pointer does not point into the stack */
};

/* Move to the caller's slot by a step that is not STACK_DEPOT_STEP_UP. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_follow_step(u64 step, struct stack_depot_caller *position)
{
	unsigned long distance = stack_depot_step_distance(step), sp, bp;
	unsigned long slot = position->slot, bp_slot = position->bp_slot;
	struct pt_regs *regs;

	switch (stack_depot_step_kind(step)) {
	case STACK_DEPOT_STEP_BP:
		bp = stack_depot_read_stack(bp_slot);
		sp = bp + 2 * sizeof(long);
		bp_slot = bp;
		break;
	case STACK_DEPOT_STEP_REALIGNED:
		bp = stack_depot_read_stack(bp_slot);
		if (unlikely(!stack_depot_find_stack(bp - distance) || !stack_depot_find_stack(bp)))
			return STACK_DEPOT_MOVE_FAILS;
		sp = stack_depot_read_stack(bp - distance);
		bp_slot = bp;
		break;
	case STACK_DEPOT_STEP_REGS:
		regs = (struct pt_regs *)(slot + sizeof(long));
		if (unlikely(!stack_depot_find_stack((unsigned long)(regs + 1) - sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		if (likely(user_mode(regs)))
			return STACK_DEPOT_MOVE_ENDS;
		position->slot = (unsigned long)&regs->ip;
		position->bp_slot = (unsigned long)&regs->bp;
		return STACK_DEPOT_MOVE_INTERRUPTED;
	case STACK_DEPOT_STEP_INTERRUPTED:
		regs = container_of((unsigned long *)slot, struct pt_regs, ip);
		sp = stack_depot_read_stack((unsigned long)&regs->sp) + distance;
		bp_slot = stack_depot_step_bp_slot(step, sp - sizeof(long), bp_slot);
		break;
	case STACK_DEPOT_STEP_SWITCH:
		if (unlikely(!stack_depot_find_stack(slot + sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		sp = stack_depot_read_stack(slot + sizeof(long)) + distance;
		bp_slot = stack_depot_step_bp_slot(step, sp - sizeof(long), bp_slot);
		break;
	default:
		return STACK_DEPOT_MOVE_ENDS;
	}
	position->slot = sp - sizeof(long);
	position->bp_slot = bp_slot;
	return STACK_DEPOT_MOVED;
}

/* Move to the caller's slot. @stack: the lowest address of the stack of both, which can change. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_move_up(const u64 *steps, u32 key, struct stack_depot_caller *position,
		    unsigned long *stack)
{
	u64 step = stack_depot_find_step(steps, key);
	enum stack_depot_move move;

	if (unlikely(!step)) {
		step = stack_depot_find_bpf_step(key);
		if (!step)
			return STACK_DEPOT_MOVE_FAILS;
	}
	if (likely(!(step & STACK_DEPOT_STEP_KIND))) {
		position->slot += stack_depot_step_distance(step);
		position->bp_slot = stack_depot_step_bp_slot(step, position->slot,
							     position->bp_slot);
		return likely(stack_depot_is_in_stack(position->slot, *stack)) ?
			STACK_DEPOT_MOVED : STACK_DEPOT_MOVE_FAILS;
	}
	move = stack_depot_follow_step(step, position);
	if (move == STACK_DEPOT_MOVED || move == STACK_DEPOT_MOVE_INTERRUPTED) {
		*stack = stack_depot_find_stack(position->slot);
		if (unlikely(!*stack))
			return STACK_DEPOT_MOVE_FAILS;
	}
	return move;
}

/**
 * stack_depot_hash_running() - hash the running stack's chain
 * @depth: number of frames at most
 * @skip: number of frames at its start that the chain leaves out, or STACK_DEPOT_SKIP_ALLOCATORS
 * @caller: where the chain starts
 *
 * A damaged stack cannot make the walk leave the stack, and @depth ends it.
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the hash; 0 if a step is not known.
 */
static __no_sanitize_address __always_inline u64
stack_depot_hash_running(unsigned int depth, unsigned int skip, struct stack_depot_caller caller)
{
	unsigned long stack = stack_depot_find_stack(caller.slot), ip;
	const u64 *steps = READ_ONCE(stack_depot_steps);
	bool leave_out = skip == STACK_DEPOT_SKIP_ALLOCATORS;
	u32 inverted = 0;
	u64 hash = 0;

	if (unlikely(!stack || !steps))
		return 0;
	for (; !leave_out && skip; skip--) {
		ip = stack_depot_read_stack(caller.slot);
		if (stack_depot_move_up(steps, ip, &caller, &stack) != STACK_DEPOT_MOVED)
			return 0;
	}
	for (;;) {
		ip = stack_depot_read_stack(caller.slot);
		if (leave_out)
			leave_out = stack_depot_is_allocator(ip);
		if (!leave_out) {
			hash = stack_depot_mix_frame(hash, ip);
			if (!--depth)
				return hash;
		}
		switch (stack_depot_move_up(steps, (u32)ip ^ inverted, &caller, &stack)) {
		case STACK_DEPOT_MOVED:
			inverted = 0;
			break;
		case STACK_DEPOT_MOVE_INTERRUPTED:
			inverted = STACK_DEPOT_STEP_INTERRUPTED_KEY;
			break;
		case STACK_DEPOT_MOVE_ENDS:
			return hash;
		case STACK_DEPOT_MOVE_FAILS:
			return 0;
		}
	}
}

#endif /* _ASM_X86_STACKDEPOT_ORC_H */
