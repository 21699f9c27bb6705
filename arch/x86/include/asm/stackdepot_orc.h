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
#include <linux/hash.h>
#include <linux/types.h>

/*
 * A step is a word:
 *
 *	bits 0 to 31	key: the lower half of the return address, whose upper half is all ones.
 *			An address at which a function was interrupted has bit 31 inverted.
 *	bit 32		the kind is not STACK_DEPOT_STEP_UP
 *	bit 33		BP is saved between this return address and the caller's
 *	bits 34 to 36	kind
 *	bits 37 to 47	words from the saved BP up to the caller's return address
 *	bits 48 to 63	distance in bytes
 */
enum stack_depot_step_kind {
	STACK_DEPOT_STEP_UP,		/* the caller's slot is the distance above this one */
	STACK_DEPOT_STEP_END,		/* the chain ends here */
	STACK_DEPOT_STEP_BP,		/* BP points below the caller's slot */
	STACK_DEPOT_STEP_REALIGNED,	/* the SP is stored the distance below where BP points */
	STACK_DEPOT_STEP_REGS,		/* pt_regs are above: of user space, or of a function */
	STACK_DEPOT_STEP_INTERRUPTED,	/* the slot is in pt_regs: go on above their SP */
	STACK_DEPOT_STEP_SWITCH,	/* the next word is an SP: go on above it */
};

#define STACK_DEPOT_STEP_NOT_UP		BIT_ULL(32)
#define STACK_DEPOT_STEP_BP_SAVED	BIT_ULL(33)
#define STACK_DEPOT_STEP_KIND_SHIFT	34
#define STACK_DEPOT_STEP_SAVED_SHIFT	37
#define STACK_DEPOT_STEP_SAVED_MAX	(BIT(11) - 1)
#define STACK_DEPOT_STEP_DISTANCE_SHIFT	48
#define STACK_DEPOT_STEP_INTERRUPTED_KEY	BIT(31)

/*
 * The steps that all CPUs share: 256 KiB. A step is in the set of its key, which is a cache line,
 * most often in the key's own place. NULL until stack_depot_steps_init().
 */
#define STACK_DEPOT_STEPS_BITS		15
#define STACK_DEPOT_STEPS		BIT(STACK_DEPOT_STEPS_BITS)
#define STACK_DEPOT_STEPS_SET		8

extern u64 *stack_depot_steps;

void stack_depot_steps_init(void);
u64 __cold stack_depot_find_other_step(const u64 *steps, u32 key);
void stack_depot_forget_steps(unsigned long start, unsigned long size);

static __always_inline u32 stack_depot_step_place(u32 key)
{
	return hash_32(key, STACK_DEPOT_STEPS_BITS);
}

/* Find the step of a key. Return: 0 if it is not known. */
static __always_inline u64 stack_depot_find_step(const u64 *steps, u32 key)
{
	u64 step = READ_ONCE(steps[stack_depot_step_place(key)]);

	return likely((u32)step == key) ? step : stack_depot_find_other_step(steps, key);
}

static __always_inline unsigned long stack_depot_step_distance(u64 step)
{
	return step >> STACK_DEPOT_STEP_DISTANCE_SHIFT;
}

/**
 * struct stack_depot_bp - where the running walk finds the BP of a caller
 * @step: the last step that saved BP; 0 if none has
 * @slot: the slot to which that step led, or the place itself where BP is saved
 *
 * Only few frames need BP. The place is not computed before.
 */
struct stack_depot_bp {
	u64 step;
	unsigned long slot;
};

static __always_inline unsigned long stack_depot_bp_slot(struct stack_depot_bp bp)
{
	unsigned long words = bp.step >> STACK_DEPOT_STEP_SAVED_SHIFT & STACK_DEPOT_STEP_SAVED_MAX;

	return bp.slot - words * sizeof(long);
}

enum stack_depot_move {
	STACK_DEPOT_MOVED,
	STACK_DEPOT_MOVE_ENDS,		/* the frame is the chain's last */
	STACK_DEPOT_MOVE_INTERRUPTED,	/* moved to where a function was interrupted */
	STACK_DEPOT_MOVE_FAILS,		/* no step is known, or it leads out of the stack */
};

/* Move from @slot to the caller's slot by a step that is not STACK_DEPOT_STEP_UP. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_follow_step(u64 step, unsigned long *slot, struct stack_depot_bp *bp)
{
	unsigned long distance = stack_depot_step_distance(step), sp, frame;
	struct pt_regs *regs;

	switch (step >> STACK_DEPOT_STEP_KIND_SHIFT & 7) {
	case STACK_DEPOT_STEP_BP:
	case STACK_DEPOT_STEP_REALIGNED:
		frame = stack_depot_bp_slot(*bp);
		if (unlikely(!stack_depot_find_stack(frame)))
			return STACK_DEPOT_MOVE_FAILS;
		frame = stack_depot_read_stack(frame);
		sp = frame + 2 * sizeof(long);
		if ((step >> STACK_DEPOT_STEP_KIND_SHIFT & 7) == STACK_DEPOT_STEP_REALIGNED) {
			if (unlikely(!stack_depot_find_stack(frame - distance)))
				return STACK_DEPOT_MOVE_FAILS;
			sp = stack_depot_read_stack(frame - distance);
		}
		*bp = (struct stack_depot_bp){ .slot = frame };
		break;
	case STACK_DEPOT_STEP_REGS:
		regs = (struct pt_regs *)(*slot + sizeof(long));
		if (unlikely(!stack_depot_find_stack((unsigned long)(regs + 1) - sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		/* As user_mode(), but for KASAN, which knows nothing of these registers. */
		if (likely(stack_depot_read_stack((unsigned long)&regs->cs) & 3))
			return STACK_DEPOT_MOVE_ENDS;
		*slot = (unsigned long)&regs->ip;
		*bp = (struct stack_depot_bp){ .slot = (unsigned long)&regs->bp };
		return STACK_DEPOT_MOVE_INTERRUPTED;
	case STACK_DEPOT_STEP_INTERRUPTED:
		regs = container_of((unsigned long *)*slot, struct pt_regs, ip);
		sp = stack_depot_read_stack((unsigned long)&regs->sp) + distance;
		break;
	case STACK_DEPOT_STEP_SWITCH:
		if (unlikely(!stack_depot_find_stack(*slot + sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		sp = stack_depot_read_stack(*slot + sizeof(long)) + distance;
		break;
	default:
		return STACK_DEPOT_MOVE_ENDS;
	}
	*slot = sp - sizeof(long);
	if (step & STACK_DEPOT_STEP_BP_SAVED)
		*bp = (struct stack_depot_bp){ step, *slot };
	return STACK_DEPOT_MOVED;
}

/* Move from @slot to the caller's slot. @end: set to the last word of the stack that has it. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_move_up(const u64 *steps, u32 key, unsigned long *slot, struct stack_depot_bp *bp,
		    unsigned long *end)
{
	u64 step = stack_depot_find_step(steps, key);
	enum stack_depot_move move;
	unsigned long stack;

	if (likely(!(step & STACK_DEPOT_STEP_NOT_UP))) {
		*slot += stack_depot_step_distance(step);
		bp->slot = step & STACK_DEPOT_STEP_BP_SAVED ? *slot : bp->slot;
		bp->step = step & STACK_DEPOT_STEP_BP_SAVED ? step : bp->step;
		/* A step that is not known has no key, and leads nowhere. */
		return likely(*slot <= *end && step) ? STACK_DEPOT_MOVED : STACK_DEPOT_MOVE_FAILS;
	}
	move = stack_depot_follow_step(step, slot, bp);
	if (move == STACK_DEPOT_MOVED || move == STACK_DEPOT_MOVE_INTERRUPTED) {
		stack = stack_depot_find_stack(*slot);
		if (unlikely(!stack))
			return STACK_DEPOT_MOVE_FAILS;
		*end = stack + THREAD_SIZE - sizeof(long);
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
 * Return: the hash; 0 if the walk cannot begin, or cannot go on.
 */
static __no_sanitize_address __always_inline u64
stack_depot_hash_running(unsigned int depth, unsigned int skip, struct stack_depot_caller caller)
{
	unsigned long stack = stack_depot_find_stack(caller.slot), slot = caller.slot, end, ip;
	const u64 *steps = READ_ONCE(stack_depot_steps);
	bool leave_out = skip == STACK_DEPOT_SKIP_ALLOCATORS;
	struct stack_depot_bp bp = { .slot = caller.bp_slot };
	enum stack_depot_move move;
	unsigned int left_out = 0;
	u64 hash = 0;

	if (unlikely(!stack || !steps))
		return 0;
	end = stack + THREAD_SIZE - sizeof(long);
	for (; !leave_out && skip; skip--) {
		ip = stack_depot_read_stack(slot);
		if (stack_depot_move_up(steps, ip, &slot, &bp, &end) != STACK_DEPOT_MOVED)
			return 0;
	}
	for (;;) {
		ip = stack_depot_read_stack(slot);
		if (leave_out)
			leave_out = stack_depot_is_allocator(ip);
		if (leave_out) {
			/* A damaged stack can lead in a circle of allocators. */
			if (unlikely(++left_out > STACK_DEPOT_CAPTURE_MAX))
				return 0;
		} else {
			hash = stack_depot_mix_frame(hash, ip);
			if (!--depth)
				return hash;
		}
		move = stack_depot_move_up(steps, ip, &slot, &bp, &end);
		if (likely(move == STACK_DEPOT_MOVED))
			continue;
		if (move == STACK_DEPOT_MOVE_INTERRUPTED) {
			ip = stack_depot_read_stack(slot);
			hash = stack_depot_mix_frame(hash, ip);
			if (!--depth)
				return hash;
			move = stack_depot_move_up(steps, ip ^ STACK_DEPOT_STEP_INTERRUPTED_KEY,
						   &slot, &bp, &end);
			if (move == STACK_DEPOT_MOVED)
				continue;
		}
		return move == STACK_DEPOT_MOVE_ENDS ? hash : 0;
	}
}

#endif /* _ASM_X86_STACKDEPOT_ORC_H */
