// SPDX-License-Identifier: GPL-2.0
/*
 * Learn steps from the ORC tables, and forget those of text that goes away. See
 * <asm/stackdepot_orc.h>.
 *
 * No step outlives the text at its return address:
 *  - the kernel's text stays, and nothing executes where its init text was;
 *  - the steps of a module are forgotten when it goes, those of its init text when it is live.
 * Steps of other text are not stored: BPF programs and tracers' trampolines come and go, and can
 * have the same addresses.
 */

#include <linux/filter.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/stackdepot_capture.h>
#include <asm/orc_types.h>
#include <asm/unwind.h>

u64 *stack_depot_steps __read_mostly;

/**
 * stack_depot_steps_init() - allocate the steps
 *
 * Without them, the kernel's unwinder walks all chains. May sleep. Idempotent: the first table
 * that is published stays.
 */
void stack_depot_steps_init(void)
{
	u64 *steps;

	if (READ_ONCE(stack_depot_steps))
		return;
	steps = kvcalloc(STACK_DEPOT_STEPS, sizeof(*steps), GFP_KERNEL | __GFP_NOWARN);
	if (steps && cmpxchg(&stack_depot_steps, NULL, steps))
		kvfree(steps);
}

/* --- From ORC entries to steps ---------------------------------------------------- */

/* A step of @words words; @saved: words up from the saved BP, 0 if BP is not saved. */
static u64 make_step(enum stack_depot_step_kind kind, long words, long saved)
{
	u64 step = (u64)kind << STACK_DEPOT_STEP_KIND_SHIFT;

	if (words < 0 || words * sizeof(long) > U16_MAX || saved < 0 || saved > words ||
	    saved > STACK_DEPOT_STEP_SAVED_MAX)
		return 0;
	step |= (u64)words * sizeof(long) << STACK_DEPOT_STEP_DISTANCE_SHIFT;
	step |= (u64)saved << STACK_DEPOT_STEP_SAVED_SHIFT;
	if (kind != STACK_DEPOT_STEP_UP)
		step |= STACK_DEPOT_STEP_NOT_UP;
	if (saved)
		step |= STACK_DEPOT_STEP_BP_SAVED;
	return step;
}

/* Words from the saved BP up to the caller's return address; 0: not saved, -1: not known. */
static long decode_saved_bp(const struct orc_entry *orc)
{
	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return 0;
	if (orc->bp_reg != ORC_REG_PREV_SP || orc->bp_offset % 8 || orc->bp_offset > -16)
		return -1;
	return -orc->bp_offset / 8 - 1;
}

static u64 decode_orc(const struct orc_entry *orc, bool interrupted)
{
	long saved = decode_saved_bp(orc), words = orc->sp_offset / 8;

	if (orc->type == ORC_TYPE_END_OF_STACK)
		return make_step(STACK_DEPOT_STEP_END, 0, 0);
	if (orc->type == ORC_TYPE_REGS)
		return orc->sp_reg == ORC_REG_SP && orc->signal && !interrupted && !words ?
		       make_step(STACK_DEPOT_STEP_REGS, 0, 0) : 0;
	if (orc->type != ORC_TYPE_CALL || orc->signal || orc->sp_offset % 8)
		return 0;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		return words ? make_step(interrupted ? STACK_DEPOT_STEP_INTERRUPTED :
						       STACK_DEPOT_STEP_UP, words, saved) : 0;
	case ORC_REG_BP:
		return words == 2 && saved == 1 ? make_step(STACK_DEPOT_STEP_BP, 0, 0) : 0;
	case ORC_REG_BP_INDIRECT:
		return orc->bp_reg == ORC_REG_BP && !orc->bp_offset ?
		       make_step(STACK_DEPOT_STEP_REALIGNED, -words, 0) : 0;
	case ORC_REG_SP_INDIRECT:
		return interrupted ? 0 : make_step(STACK_DEPOT_STEP_SWITCH, words, saved);
	}
	return 0;
}

/*
 * Find the step without its key. The caller has disabled preemption, unless @ip is in the kernel
 * image. Return: 0 if no kind of step describes the entry, or for text without an
 * entry, unless it was generated.
 */
static u64 find_orc_step(unsigned long ip, bool interrupted)
{
	/* An interrupt can hit any instruction. A call can be the last one of its function. */
	const struct orc_entry *orc = unwind_find_orc(interrupted ? ip : ip - 1);

	if (stack_depot_ends_chain(ip))
		return make_step(STACK_DEPOT_STEP_END, 0, 0);
	if (orc)
		return decode_orc(orc, interrupted);
	/* The kernel's unwinder assumes, too, that generated code has a frame pointer. */
	return !core_kernel_text(ip) && !is_module_text_address(ip) && __kernel_text_address(ip) ?
	       make_step(STACK_DEPOT_STEP_BP, 0, 0) : 0;
}

/**
 * stack_depot_find_other_step() - find a step that is not in its key's own place
 * @steps: the steps
 * @key: the key
 *
 * BPF programs and trampolines have a frame pointer, so their steps need not be stored.
 *
 * Return: the step; 0 if it is not known.
 */
u64 stack_depot_find_other_step(const u64 *steps, u32 key)
{
	u32 place = stack_depot_step_place(key), i;
	u64 step;

	for (i = 1; i < STACK_DEPOT_STEPS_SET; i++) {
		step = READ_ONCE(steps[place ^ i]);
		if ((u32)step == key)
			return step;
	}
	if (!is_bpf_text_address((long)(int)key))
		return 0;
	return key | make_step(STACK_DEPOT_STEP_BP, 0, 0);
}

/* --- Learning and forgetting ------------------------------------------------------- */

/* Does the text at @ip stay, or are its steps forgotten when it goes? */
static bool can_store_step(unsigned long ip)
{
	struct module *module;

	if (core_kernel_text(ip))
		return true;
	module = __module_text_address(ip);
	if (!module)
		return false;
	if (within_module_mem_type(ip, module, MOD_TEXT))
		return READ_ONCE(module->state) != MODULE_STATE_GOING;
	return within_module_mem_type(ip, module, MOD_INIT_TEXT) &&
	       READ_ONCE(module->state) == MODULE_STATE_COMING;
}

/* Store a step in an unused place of its set, or in the place of another step. */
static void store_step(u64 *steps, u64 step)
{
	u32 place = stack_depot_step_place(step), i;
	u64 other;

	for (i = 0; i < STACK_DEPOT_STEPS_SET; i++) {
		other = cmpxchg(&steps[place ^ i], 0, step);
		if (!other || other == step)
			return;
	}
	/* Others that share the set take turns. */
	WRITE_ONCE(steps[place ^ (jiffies & (STACK_DEPOT_STEPS_SET - 1))], step);
}

/**
 * stack_depot_forget_steps() - forget the steps of a range of text
 * @start: the first address
 * @size: in bytes
 */
void stack_depot_forget_steps(unsigned long start, unsigned long size)
{
	u64 *steps = READ_ONCE(stack_depot_steps), step;
	u32 i, key;

	for (i = 0; steps && i < STACK_DEPOT_STEPS; i++) {
		step = READ_ONCE(steps[i]);
		key = (u32)step | STACK_DEPOT_STEP_INTERRUPTED_KEY;
		/* A return address can be just behind the range. */
		if (step && key - (u32)start <= size)
			cmpxchg(&steps[i], step, 0);
	}
}

/*
 * Find the step of @ip in the ORC tables, and store it if the text stays, or if its steps are
 * forgotten when it goes. Return: the step; 0 if there is no kind for it.
 *
 * A module may go at the same time. Its state changes before its steps are forgotten, and here
 * the step is stored before the state is read again: either forget_module() finds the step, or
 * the state is seen here.
 */
static u64 learn_step(u64 *steps, unsigned long ip, bool interrupted)
{
	u64 step = find_orc_step(ip, interrupted);

	if (!step)
		return 0;
	step |= interrupted ? (u32)ip ^ STACK_DEPOT_STEP_INTERRUPTED_KEY : (u32)ip;
	this_cpu_inc(stack_depot_capture_counts.learned);
	if (!steps || !can_store_step(ip))
		return step;
	store_step(steps, step);
	/* Pairs with forget_module(). */
	smp_mb();
	if (unlikely(!can_store_step(ip)))
		stack_depot_forget_steps(ip, 0);
	return step;
}

#ifdef CONFIG_MODULES
static int forget_module(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *module = data;
	const struct module_memory *text = &module->mem[MOD_TEXT];
	const struct module_memory *init = &module->mem[MOD_INIT_TEXT];

	/* Pairs with learn_step(): the module's new state is visible. */
	smp_mb();
	if (action == MODULE_STATE_COMING || action == MODULE_STATE_GOING)
		stack_depot_forget_steps((unsigned long)text->base, text->size);
	stack_depot_forget_steps((unsigned long)init->base, init->size);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = forget_module };

static int __init init_module_notifier(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(init_module_notifier);
#endif

/* --- Walking with all checks ------------------------------------------------------- */

static enum stack_depot_move move_to_caller(u64 step, unsigned long *slot,
					    struct stack_depot_bp *bp)
{
	enum stack_depot_move move = STACK_DEPOT_MOVED;
	unsigned long from = *slot, stack;

	if (step & STACK_DEPOT_STEP_NOT_UP) {
		move = stack_depot_follow_step(step, slot, bp);
	} else {
		*slot += stack_depot_step_distance(step);
		if (step & STACK_DEPOT_STEP_BP_SAVED)
			*bp = (struct stack_depot_bp){ step, *slot };
	}
	if (move == STACK_DEPOT_MOVE_ENDS || move == STACK_DEPOT_MOVE_FAILS)
		return move;
	/* On one stack, a caller's slot is above. A move to another stack may go down. */
	stack = stack_depot_find_stack(*slot);
	if (!stack || (*slot <= from && stack_depot_is_in_stack(from, stack)))
		return STACK_DEPOT_MOVE_FAILS;
	return move;
}

/**
 * stack_depot_walk_steps() - walk the running stack, and learn the steps that are not known
 * @frames: filled with return addresses
 * @depth: number of frames to get
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the number of frames; 0 if the chain has to be left to the kernel's unwinder.
 */
unsigned int stack_depot_walk_steps(unsigned long *frames, unsigned int depth, bool skip,
				    struct stack_depot_caller caller)
{
	u64 *steps = READ_ONCE(stack_depot_steps), step;
	struct stack_depot_bp bp = { .slot = caller.bp_slot };
	unsigned long slot = caller.slot, ip;
	bool interrupted = false;
	unsigned int count = 0;

	if (!stack_depot_find_stack(slot))
		return 0;
	for (;;) {
		ip = stack_depot_recover_ip(slot);
		if (!ip)
			return 0;
		skip = skip && stack_depot_is_allocator(ip);
		if (!skip) {
			frames[count++] = ip;
			if (count == depth)
				return count;
		}
		step = steps ? stack_depot_find_step(steps, interrupted ?
				(u32)ip ^ STACK_DEPOT_STEP_INTERRUPTED_KEY : (u32)ip) : 0;
		step = step ?: learn_step(steps, ip, interrupted);
		if (!step)
			return 0;
		switch (move_to_caller(step, &slot, &bp)) {
		case STACK_DEPOT_MOVE_ENDS:
			return count;
		case STACK_DEPOT_MOVE_FAILS:
			return 0;
		case STACK_DEPOT_MOVED:
			interrupted = false;
			break;
		case STACK_DEPOT_MOVE_INTERRUPTED:
			interrupted = true;
			break;
		}
	}
}
