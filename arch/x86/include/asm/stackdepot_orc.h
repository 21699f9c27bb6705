/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks by steps that were learned from the ORC tables: where a call is, the distance from its
 * stack pointer to its caller's is a constant of the return address, and so is the place where
 * BP was saved between them. Included by <linux/stackdepot/walk.h>.
 *
 * stack_depot_hash_running() follows the steps that most frames have: up by a distance, and to
 * where BP points. It leaves others to stack_depot_move_slowly().
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
 *	bit 32		the kind is STACK_DEPOT_STEP_UP
 *	bit 33		BP is saved between this return address and the caller's
 *	bits 34 to 44	words from the saved BP up to the caller's return address
 *	bits 45 to 47	kind
 *	bits 48 to 63	distance in bytes
 *
 * The lower 33 bits of a step that leads up are those of its return address: one comparison finds
 * out whether a step belongs to an address and leads up.
 */
enum stack_depot_step_kind {
	STACK_DEPOT_STEP_UP,		/* the caller's slot is the distance above this one */
	STACK_DEPOT_STEP_END,		/* the chain ends here */
	STACK_DEPOT_STEP_REGS,		/* pt_regs are above: of user space, or of a function */
	STACK_DEPOT_STEP_BP,		/* BP points below the caller's slot */
	STACK_DEPOT_STEP_REALIGNED,	/* the SP is stored the distance below where BP points */
	STACK_DEPOT_STEP_INTERRUPTED,	/* the slot is in pt_regs: go on above their SP */
	STACK_DEPOT_STEP_SWITCH,	/* the next word is an SP: go on above it */
};

#define STACK_DEPOT_STEP_LEADS_UP	BIT_ULL(32)
#define STACK_DEPOT_STEP_SAVES_BP	BIT_ULL(33)
#define STACK_DEPOT_STEP_SAVED_SHIFT	34
#define STACK_DEPOT_STEP_SAVED_MAX	(BIT(11) - 1)
#define STACK_DEPOT_STEP_KIND_SHIFT	45
#define STACK_DEPOT_STEP_DISTANCE_SHIFT	48
#define STACK_DEPOT_STEP_INTERRUPTED_KEY	BIT(31)

/*
 * The steps that all CPUs share: lines of eight, which are a cache line each. A line begins with
 * the step of its key, and goes on with the steps that led up from there when it was filled. Most
 * often a walk finds its next step there, and need not wait for the return address to look for it.
 * The line of a key is one of a set, most often the key's own one. NULL until
 * stack_depot_steps_init().
 */
#define STACK_DEPOT_STEP_LINES		BIT(13)
#define STACK_DEPOT_STEP_LINE		8
#define STACK_DEPOT_STEP_SET		4
/*
 * The places behind the lines are never filled: a walk that expects no step begins there. On a
 * damaged stack whose return addresses are 0, it reads one after the other, up to its depth.
 */
#define STACK_DEPOT_STEP_NONE		(STACK_DEPOT_STEP_LINES * STACK_DEPOT_STEP_LINE)
#define STACK_DEPOT_STEPS		(STACK_DEPOT_STEP_NONE + 2 * STACK_DEPOT_CAPTURE_MAX)

extern u64 *stack_depot_steps;

/**
 * struct stack_depot_running_walk - a fast walk
 * @hash: of the frames so far; 0 if the walk has failed
 * @depth: number of frames that may follow
 * @slot: address of the next return address
 * @end: the last word of the stack that has it
 * @next: where the next step is expected
 * @saver: the last step that saved BP; 0 if none has
 * @saver_slot: the slot to which that step led, or the place itself where BP is saved
 */
struct stack_depot_running_walk {
	u64 hash;
	unsigned int depth;
	unsigned long slot;
	unsigned long end;
	u64 *next;
	u64 saver;
	unsigned long saver_slot;
};

void stack_depot_steps_init(void);
bool stack_depot_move_slowly(u64 *steps, unsigned long ip,
			     struct stack_depot_running_walk *walk);
void stack_depot_forget_steps(unsigned long start, unsigned long size);

/* A key's own line. Calls are at random offsets, so these bits are as good as a hash. */
static __always_inline u32 stack_depot_step_line(u32 key)
{
	return (key & (STACK_DEPOT_STEP_LINES - 1)) * STACK_DEPOT_STEP_LINE;
}

static __always_inline unsigned long stack_depot_step_distance(u64 step)
{
	return step >> STACK_DEPOT_STEP_DISTANCE_SHIFT;
}

static __always_inline enum stack_depot_step_kind stack_depot_step_kind(u64 step)
{
	return step >> STACK_DEPOT_STEP_KIND_SHIFT & 7;
}

/* Bytes from the saved BP up to the caller's return address. */
static __always_inline unsigned long stack_depot_step_saved(u64 step)
{
	return (step >> STACK_DEPOT_STEP_SAVED_SHIFT & STACK_DEPOT_STEP_SAVED_MAX) * sizeof(long);
}

/*
 * Is this not the step of @ip, or one that does not lead up? The upper half of @ip is all ones, as
 * is STACK_DEPOT_STEP_LEADS_UP, so one comparison is enough.
 */
static __always_inline bool stack_depot_step_differs(u64 step, unsigned long ip)
{
	return (step ^ ip) << 31;
}

static __always_inline u64 stack_depot_read_step(const u64 *place)
{
	/* READ_ONCE() would compute the address in an instruction of its own. */
	u64 step = data_race(*place);

	OPTIMIZER_HIDE_VAR(step);
	return step;
}

/* Where the BP of the walk's next frame is saved. Few frames need it: it is computed for these. */
static __always_inline unsigned long
stack_depot_bp_slot(const struct stack_depot_running_walk *walk)
{
	return walk->saver_slot - stack_depot_step_saved(walk->saver);
}

/*
 * Follow a step of kind STACK_DEPOT_STEP_BP or STACK_DEPOT_STEP_REALIGNED. Functions that align the
 * stack have these, as SLUB's do. @at: as for a walk with all checks. Return: false if BP is not in
 * a stack.
 */
static __no_sanitize_address __always_inline bool
stack_depot_follow_bp(u64 step, struct stack_depot_caller *at)
{
	unsigned long sp_slot;

	if (unlikely(!stack_depot_find_stack(at->bp_slot)))
		return false;
	at->bp_slot = stack_depot_read_stack(at->bp_slot);
	at->slot = at->bp_slot + sizeof(long);
	if (stack_depot_step_kind(step) == STACK_DEPOT_STEP_BP)
		return true;
	sp_slot = at->bp_slot - stack_depot_step_distance(step);
	if (unlikely(!stack_depot_find_stack(sp_slot)))
		return false;
	at->slot = stack_depot_read_stack(sp_slot) - sizeof(long);
	return true;
}

/* Move to the caller's slot by BP. Return: false for other steps, and if it is in another stack. */
static __always_inline bool stack_depot_move_by_bp(u64 step, struct stack_depot_running_walk *walk)
{
	unsigned long stack = walk->end + sizeof(long) - THREAD_SIZE;
	struct stack_depot_caller at = { walk->slot, stack_depot_bp_slot(walk) };

	if ((stack_depot_step_kind(step) != STACK_DEPOT_STEP_BP &&
	     stack_depot_step_kind(step) != STACK_DEPOT_STEP_REALIGNED) ||
	    unlikely(!stack_depot_follow_bp(step, &at) ||
		     !stack_depot_is_in_stack(at.slot, stack)))
		return false;
	walk->slot = at.slot;
	walk->saver = 0;
	walk->saver_slot = at.bp_slot;
	return true;
}

/* Move from the slot of @ip to its caller's. Return: false if the walk has ended. */
static __always_inline bool stack_depot_move_up(u64 *steps, unsigned long ip,
						struct stack_depot_running_walk *walk)
{
	struct stack_depot_running_walk copy __uninitialized;
	u64 *next = walk->next;
	u64 step = stack_depot_read_step(next);
	unsigned long slot;
	bool moved;

	if (unlikely(stack_depot_step_differs(step, ip))) {
		next = steps + stack_depot_step_line(ip);
		step = stack_depot_read_step(next);
		/* If another key has this line, the step is most often in the next one. */
		if (unlikely((u32)step != (u32)ip)) {
			next = steps + (stack_depot_step_line(ip) ^ STACK_DEPOT_STEP_LINE);
			step = stack_depot_read_step(next);
		}
		if (unlikely(stack_depot_step_differs(step, ip)))
			goto other;
	}
	slot = walk->slot + stack_depot_step_distance(step);
	if (unlikely(slot > walk->end))
		goto slowly;
	walk->slot = slot;
	walk->next = next + 1;
	walk->saver = step & STACK_DEPOT_STEP_SAVES_BP ? step : walk->saver;
	walk->saver_slot = step & STACK_DEPOT_STEP_SAVES_BP ? slot : walk->saver_slot;
	return true;
other:
	if (likely((u32)step == (u32)ip && stack_depot_move_by_bp(step, walk))) {
		walk->next = next + 1;
		return true;
	}
slowly:
	/* The function gets a copy, so that the walk itself stays in registers. */
	copy = *walk;
	moved = stack_depot_move_slowly(steps, ip, &copy);
	*walk = copy;
	return moved;
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
	unsigned long stack = stack_depot_find_stack(caller.slot), ip;
	struct stack_depot_running_walk walk = {
		.depth = depth,
		.slot = caller.slot,
		.end = stack + THREAD_SIZE - sizeof(long),
		.saver_slot = caller.bp_slot,
	};
	u64 *steps = READ_ONCE(stack_depot_steps);
	bool leave_out = skip == STACK_DEPOT_SKIP_ALLOCATORS;
	unsigned int left_out = 0;

	if (unlikely(!stack || !steps))
		return 0;
	walk.next = steps + STACK_DEPOT_STEP_NONE;
	for (; !leave_out && skip; skip--) {
		ip = stack_depot_read_stack(walk.slot);
		if (unlikely(!stack_depot_move_up(steps, ip, &walk)))
			return 0;
	}
	do {
		ip = stack_depot_read_stack(walk.slot);
		if (leave_out)
			leave_out = stack_depot_is_allocator(ip);
		if (leave_out) {
			/* A damaged stack can lead in a circle of allocators. */
			if (unlikely(++left_out > STACK_DEPOT_CAPTURE_MAX))
				return 0;
		} else {
			walk.hash = stack_depot_mix_frame(walk.hash, ip);
			if (!--walk.depth)
				break;
		}
	} while (likely(stack_depot_move_up(steps, ip, &walk)));
	return walk.hash;
}

#endif /* _ASM_X86_STACKDEPOT_ORC_H */
