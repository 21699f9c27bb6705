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
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/numa.h>
#include <linux/percpu.h>
#include <linux/stackdepot_capture.h>
#include <asm/orc_types.h>
#include <asm/unwind.h>

u64 *stack_depot_steps __read_mostly;

/**
 * stack_depot_steps_init() - allocate the steps
 *
 * Without them, each walk searches the ORC tables. May sleep. Idempotent: the first table
 * that is published stays.
 */
void stack_depot_steps_init(void)
{
	const size_t bytes = STACK_DEPOT_STEPS * sizeof(u64);
	u64 *steps;

	if (READ_ONCE(stack_depot_steps))
		return;
	steps = stack_depot_alloc_table(bytes, NUMA_NO_NODE);
	if (steps && cmpxchg(&stack_depot_steps, NULL, steps))
		stack_depot_free_table(steps, bytes);
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
	if (saved)
		step |= STACK_DEPOT_STEP_SAVES_BP;
	return kind == STACK_DEPOT_STEP_UP ? step | STACK_DEPOT_STEP_LEADS_UP : step;
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
 * Find the step without its key. The caller has disabled preemption. Return: 0 if no kind of step
 * describes the entry, or for text without an entry, unless it was generated.
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

static u64 *find_line(u64 *steps, u32 key, unsigned int way)
{
	return steps + (stack_depot_step_line(key) ^ way * STACK_DEPOT_STEP_LINE);
}

/*
 * Find the step of a key. @next: where it is expected; set to where the next one is. BPF programs
 * and trampolines have a frame pointer, so their steps need not be stored. Return: 0 if it is not
 * known.
 */
static u64 find_step(u64 *steps, u32 key, u64 **next)
{
	unsigned int way;
	u64 step;

	step = READ_ONCE(**next);
	for (way = 0; (u32)step != key && way < STACK_DEPOT_STEP_SET; way++) {
		*next = find_line(steps, key, way);
		step = READ_ONCE(**next);
	}
	if ((u32)step == key) {
		++*next;
		return step;
	}
	*next = steps + STACK_DEPOT_STEP_NONE;
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

/* Does the line before @place go on there, and is the next step not known yet? */
static bool is_unused_in_line(const u64 *steps, const u64 *place)
{
	return (place - steps) % STACK_DEPOT_STEP_LINE && !READ_ONCE(*place);
}

/*
 * Store a step. @expected: where walks look first. Else begin a line with it, in place of another
 * line if all of the set are used. Return: where the next step is expected.
 */
static u64 *store_step(u64 *steps, u64 step, u64 *expected)
{
	unsigned int way, i;
	u64 *line, other;

	if (step & STACK_DEPOT_STEP_LEADS_UP && is_unused_in_line(steps, expected) &&
	    !cmpxchg(expected, 0, step))
		return expected + 1;
	for (way = 0; way < STACK_DEPOT_STEP_SET; way++) {
		line = find_line(steps, step, way);
		other = cmpxchg(line, 0, step);
		if (!other || other == step)
			return line + 1;
	}
	/* Others that share the set take turns. */
	line = find_line(steps, step, jiffies % STACK_DEPOT_STEP_SET);
	for (i = STACK_DEPOT_STEP_LINE - 1; i; i--)
		WRITE_ONCE(line[i], 0);
	WRITE_ONCE(line[0], step);
	return line + 1;
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
 * Find the step of @ip, in the ORC tables if it is not known, and store it where it is expected if
 * that place is unused. Steps of text that may go without a notice are not stored. @next: as for
 * find_step(). Return: the step; 0 if there is no kind for it.
 *
 * A module may go at the same time. Its state changes before its steps are forgotten, and here
 * the step is stored before the state is read again: either forget_module() finds the step, or
 * the state is seen here.
 */
static u64 learn_step(u64 *steps, unsigned long ip, bool interrupted, u64 **next)
{
	u32 key = interrupted ? ip ^ STACK_DEPOT_STEP_INTERRUPTED_KEY : ip;
	u64 *expected = *next, step = find_step(steps, key, next);

	if (step && (!(step & STACK_DEPOT_STEP_LEADS_UP) || *next == expected + 1 ||
		     !is_unused_in_line(steps, expected)))
		return step;
	if (!step) {
		step = find_orc_step(ip, interrupted);
		if (!step)
			return 0;
		step |= key;
		this_cpu_inc(stack_depot_capture_counts.learned);
	}
	if (!can_store_step(ip))
		return step;
	*next = store_step(steps, step, expected);
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

/* --- Following a step ------------------------------------------------------------- */

enum stack_depot_move {
	STACK_DEPOT_MOVED,
	STACK_DEPOT_MOVE_ENDS,		/* the frame is the chain's last */
	STACK_DEPOT_MOVE_INTERRUPTED,	/* moved to where a function was interrupted */
	STACK_DEPOT_MOVE_FAILS,		/* no step is known, or it leads out of the stack */
};

/*
 * Move to the caller's slot. @at: a slot, and where the BP of its caller is saved; both change.
 */
static __no_sanitize_address enum stack_depot_move follow_step(u64 step,
							       struct stack_depot_caller *at)
{
	unsigned long distance = stack_depot_step_distance(step);
	struct pt_regs *regs;

	switch (stack_depot_step_kind(step)) {
	case STACK_DEPOT_STEP_UP:
		at->slot += distance;
		break;
	case STACK_DEPOT_STEP_REGS:
		regs = (struct pt_regs *)(at->slot + sizeof(long));
		if (unlikely(!stack_depot_find_stack((unsigned long)(regs + 1) - sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		/* As user_mode(), but for KASAN, which knows nothing of these registers. */
		if (likely(stack_depot_read_stack((unsigned long)&regs->cs) & 3))
			return STACK_DEPOT_MOVE_ENDS;
		at->slot = (unsigned long)&regs->ip;
		at->bp_slot = (unsigned long)&regs->bp;
		return STACK_DEPOT_MOVE_INTERRUPTED;
	case STACK_DEPOT_STEP_BP:
	case STACK_DEPOT_STEP_REALIGNED:
		if (unlikely(!stack_depot_follow_bp(step, at)))
			return STACK_DEPOT_MOVE_FAILS;
		break;
	case STACK_DEPOT_STEP_INTERRUPTED:
		regs = container_of((unsigned long *)at->slot, struct pt_regs, ip);
		if (unlikely(!stack_depot_find_stack((unsigned long)&regs->sp)))
			return STACK_DEPOT_MOVE_FAILS;
		at->slot = stack_depot_read_stack((unsigned long)&regs->sp) + distance -
			   sizeof(long);
		break;
	case STACK_DEPOT_STEP_SWITCH:
		if (unlikely(!stack_depot_find_stack(at->slot + sizeof(long))))
			return STACK_DEPOT_MOVE_FAILS;
		at->slot = stack_depot_read_stack(at->slot + sizeof(long)) + distance -
			   sizeof(long);
		break;
	case STACK_DEPOT_STEP_END:
		return STACK_DEPOT_MOVE_ENDS;
	}
	if (step & STACK_DEPOT_STEP_SAVES_BP)
		at->bp_slot = at->slot - stack_depot_step_saved(step);
	return STACK_DEPOT_MOVED;
}

/* Find the step of a key, which can be of any kind, and follow it. */
static enum stack_depot_move move_by_step(u64 *steps, u32 key,
					  struct stack_depot_running_walk *walk)
{
	struct stack_depot_caller at = { walk->slot, stack_depot_bp_slot(walk) };
	u64 step = find_step(steps, key, &walk->next);
	enum stack_depot_move move;
	unsigned long stack;

	if (unlikely(!step))
		return STACK_DEPOT_MOVE_FAILS;
	move = follow_step(step, &at);
	if (move == STACK_DEPOT_MOVE_ENDS || move == STACK_DEPOT_MOVE_FAILS)
		return move;
	stack = stack_depot_find_stack(at.slot);
	if (unlikely(!stack))
		return STACK_DEPOT_MOVE_FAILS;
	walk->slot = at.slot;
	walk->end = stack + THREAD_SIZE - sizeof(long);
	walk->saver = 0;
	walk->saver_slot = at.bp_slot;
	return move;
}

/*
 * If a tracer has replaced the return address at the walk's slot, put the real one in its place,
 * also in the hash. Return: the real one; 0 for a chain that only the slow path can walk: its first
 * frame may be an allocator.
 */
static unsigned long recover_walked_ip(struct stack_depot_running_walk *walk, unsigned long ip)
{
	unsigned long real = stack_depot_recover_ip(walk->slot);

	if (likely(real == ip))
		return ip;
	/* A frame that the chain leaves out is not in the hash. */
	if (walk->hash && stack_depot_is_allocator(real))
		return 0;
	if (walk->hash)
		walk->hash += stack_depot_mix_frame(0, real) - stack_depot_mix_frame(0, ip);
	return real;
}

/**
 * stack_depot_move_slowly() - move to the caller by a step of any kind
 * @steps: the steps
 * @ip: the return address at the walk's slot, which a tracer may have replaced
 * @walk: the walk. A function that was interrupted becomes a frame of the chain.
 *
 * Context: Any, with preemption disabled.
 *
 * Return: false if the walk has ended.
 */
__no_sanitize_address bool stack_depot_move_slowly(u64 *steps, unsigned long ip,
						   struct stack_depot_running_walk *walk)
{
	enum stack_depot_move move = STACK_DEPOT_MOVE_FAILS;

	ip = recover_walked_ip(walk, ip);
	if (likely(ip))
		move = move_by_step(steps, ip, walk);
	if (move == STACK_DEPOT_MOVE_INTERRUPTED) {
		ip = stack_depot_read_stack(walk->slot);
		walk->hash = stack_depot_mix_frame(walk->hash, ip);
		if (!--walk->depth)
			return false;
		move = move_by_step(steps, ip ^ STACK_DEPOT_STEP_INTERRUPTED_KEY, walk);
	}
	if (unlikely(move != STACK_DEPOT_MOVED && move != STACK_DEPOT_MOVE_ENDS))
		walk->hash = 0;
	return move == STACK_DEPOT_MOVED;
}

/* --- Walking with all checks ------------------------------------------------------- */

/* As follow_step(), and check that the caller's slot is above, or on another stack. */
static enum stack_depot_move follow_checked_step(u64 step, struct stack_depot_caller *at)
{
	unsigned long from = at->slot, stack;
	enum stack_depot_move move = follow_step(step, at);

	if (move == STACK_DEPOT_MOVE_ENDS || move == STACK_DEPOT_MOVE_FAILS)
		return move;
	stack = stack_depot_find_stack(at->slot);
	if (!stack || (at->slot <= from && stack_depot_is_in_stack(from, stack)))
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
	u64 *steps = READ_ONCE(stack_depot_steps), *next = NULL, step;
	unsigned long ip;
	unsigned int count = 0, left_out = 0;
	bool interrupted = false;

	if (!stack_depot_find_stack(caller.slot))
		return 0;
	if (steps)
		next = steps + STACK_DEPOT_STEP_NONE;
	for (;;) {
		ip = stack_depot_recover_ip(caller.slot);
		if (!ip)
			return 0;
		skip = skip && stack_depot_is_allocator(ip);
		/* A damaged stack can lead around in a circle. */
		if (skip && ++left_out > STACK_DEPOT_CAPTURE_MAX)
			return 0;
		if (!skip) {
			frames[count++] = ip;
			if (count == depth)
				return count;
		}
		step = steps ? learn_step(steps, ip, interrupted, &next) :
			       find_orc_step(ip, interrupted);
		if (!step)
			return 0;
		switch (follow_checked_step(step, &caller)) {
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
