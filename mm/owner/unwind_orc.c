// SPDX-License-Identifier: GPL-2.0
/*
 * The call chain on x86, in some 15 instructions a frame.
 *
 * The kernel's unwinder searches its ORC tables for each frame, and checks what
 * it finds. But what an entry says of an ordinary frame is a constant of the
 * instruction's address: how far the caller's stack pointer is from this
 * frame's, and where between them the caller's BP was saved. A table remembers
 * it, so that a frame takes a load, a comparison and an addition. It is filled
 * from ORC's entries as addresses are met.
 *
 * Whatever is not an ordinary frame is left to the kernel's unwinder, with the
 * whole chain: stacks realigned or addressed by odd registers, interrupted
 * kernel code, return addresses that the function graph tracer or a kretprobe
 * has replaced, generated code (BPF, trampolines, probes' slots).
 *
 * When is a remembered fact no longer true? ORC's tables never change, and what
 * is patched into kernel text at run time (alternatives, static branches and
 * calls, ftrace's calls, probes' breakpoints) leaves the stack as the tables
 * say at every call. So a fact is as lasting as the text at its address. The
 * kernel's own text stays, and where its init text was nothing is executed
 * later. A module's text goes, and its address may be used again, by another
 * module or by generated code: its facts are forgotten while it goes, when no
 * stack has a frame in it any more from which they could be learned anew. A
 * module's init text goes without a word, so nothing is remembered of it.
 *
 * Any context may walk and learn, NMIs as well: a fact and the address that it
 * is of are one word, written and read at once, and no lock is taken.
 */

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <asm/orc_types.h>
#include <asm/sections.h>
#include <asm/unwind.h>

#include "unwind.h"

/*
 * A fact is 12 bits. The lowest 8 are how many words the caller's stack pointer
 * is above the frame's. The next 3 say how many words below the caller's stack
 * pointer its BP was saved, beside the return address and one more; or that it
 * was not, or that this is another kind of frame, which the lowest bits name. The
 * last one marks an allocator. So one comparison tells the most common kind, a
 * frame that saved BP, from all others and from an address that is not known.
 */
#define STEP_MASK	GENMASK(7, 0)
#define SAVED_SHIFT	8
#define SAVED_WORDS	6
#define UNSAVED		(6 << SAVED_SHIFT)
#define OTHER		(7 << SAVED_SHIFT)
#define ALLOCATOR	BIT(11)			/* left out in front */
#define FACT_MASK	GENMASK(11, 0)

/* The caller's frame is where BP points, which the function saved first. */
#define BP_BASED	(OTHER | 0)
/* Nothing of interest before it. */
#define LAST		(OTHER | 1)
/* The stack pointer is at registers: if a user's, there is nothing before it. */
#define REGISTERS	(OTHER | 2)
/* For the kernel's unwinder. */
#define UNSURE		(OTHER | 3)
/* Realigned: BP points to the caller's, its stack pointer is stored some words below. */
#define REALIGNED	(OTHER | BIT(6))
#define REALIGNED_WORDS	GENMASK(5, 0)
/* The caller's stack pointer is stored here, some words less, and BP perhaps below it. */
#define SWITCH		(OTHER | BIT(7))
#define SWITCH_STEP	GENMASK(6, 3)
#define SWITCH_SAVED	GENMASK(2, 0)

/*
 * An address and its fact as their sum. All addresses that share a slot have the
 * lowest 12 bits in common, so no other sum differs from this address by a
 * fact. Return addresses are as good as random in these bits. A slot that is
 * empty must not look like a fact of address 0.
 */
#define FACTS		4096
#define EMPTY		(~0UL)
/* NULL until the first who will walk asks for it. */
static unsigned long *facts;

static_assert(FACTS > FACT_MASK);

unsigned int owner_unwind_generation;

static atomic_long_t learned, slow, verified, different;

/* Asked at each capture, hence no word in memory. */
DEFINE_STATIC_KEY_FALSE(owner_unwind_verify_key);
static bool verify;

static int set_verify(const char *text, const struct kernel_param *param)
{
	int error = param_set_bool(text, param);

	if (error)
		return error;
	if (verify)
		static_branch_enable(&owner_unwind_verify_key);
	else
		static_branch_disable(&owner_unwind_verify_key);
	return 0;
}

static const struct kernel_param_ops verify_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_verify,
	.get = param_get_bool,
};

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "owner."
module_param_cb(verify, &verify_ops, &verify, 0600);
MODULE_PARM_DESC(verify, "walk each chain with the kernel's unwinder as well, and compare");

/* More than FACT_MASK if it is not known. */
static __always_inline unsigned long fact_of(const unsigned long *table, unsigned long ip)
{
	/* Read once; READ_ONCE() would cost each frame an instruction more. */
	unsigned long sum = data_race(table[ip % FACTS]);

	OPTIMIZER_HIDE_VAR(sum);
	return sum - ip;
}

/**
 * owner_unwind_init - have owner_unwind() remember
 *
 * It can be called before, and if this fails, and is slow then. This may be called
 * again.
 */
void owner_unwind_init(void)
{
	unsigned long *table = kcalloc(FACTS, sizeof(*table), GFP_KERNEL | __GFP_NOWARN);

	if (!table)
		return;
	table[0] = EMPTY;
	/* Pairs with walk_chain(): who sees the table sees what is in it. */
	if (cmpxchg_release(&facts, NULL, table))
		kfree(table);
}

/* --- Learning ------------------------------------------------------------- */

/* Put in the place of a return address by a tracer that wants to see the return. */
static bool is_trampoline(unsigned long ip)
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

static bool enters_interrupt(unsigned long ip)
{
	return filter_irq_stacks((unsigned long[]){ ip, ip }, 2) == 1;
}

/* Where the caller's BP was saved, as a number for a fact; SAVED_WORDS if it was not. */
static int saved_at(const struct orc_entry *orc)
{
	int words = -orc->bp_offset / 8 - 2;

	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return SAVED_WORDS;
	if (orc->bp_reg != ORC_REG_PREV_SP || orc->bp_offset % 8 ||
	    words < 0 || words >= SAVED_WORDS)
		return -EINVAL;
	return words;
}

static unsigned long read_orc(const struct orc_entry *orc, unsigned long ip)
{
	int step = orc->sp_offset / 8, saved = saved_at(orc);

	if (is_trampoline(ip))
		return UNSURE;
	if (orc->type == ORC_TYPE_END_OF_STACK || enters_interrupt(ip))
		return LAST;
	if (orc->type == ORC_TYPE_REGS && orc->sp_reg == ORC_REG_SP && !orc->sp_offset)
		return REGISTERS;
	if (orc->type != ORC_TYPE_CALL || orc->signal || orc->sp_offset % 8)
		return UNSURE;
	if (orc->sp_reg == ORC_REG_BP_INDIRECT)
		return orc->bp_reg == ORC_REG_BP && !orc->bp_offset && step < 0 &&
		       -step <= REALIGNED_WORDS ? REALIGNED | -step : UNSURE;
	if (saved < 0)
		return UNSURE;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		if (step > 0 && step <= STEP_MASK)
			return saved << SAVED_SHIFT | step;
		break;
	case ORC_REG_BP:
		if (step == 2 && saved == 0)
			return BP_BASED;
		break;
	case ORC_REG_SP_INDIRECT:
		if (step >= 0 && step <= FIELD_MAX(SWITCH_STEP))
			return SWITCH | FIELD_PREP(SWITCH_STEP, step) | saved;
		break;
	}
	return UNSURE;
}

/* Is a fact of this address worth remembering, because its text stays or says when it goes? */
static bool stays(unsigned long ip)
{
#ifdef CONFIG_MODULES
	struct module *module = __module_text_address(ip);

	if (module && within_module_mem_type(ip, module, MOD_TEXT))
		return true;
#endif
	return core_kernel_text(ip);
}

static noinline unsigned long learn(unsigned long *table, unsigned long ip)
{
	const struct orc_entry *orc;
	unsigned long fact = UNSURE;

	/* A module that goes waits for this: then nothing is learned of it any more. */
	preempt_disable_notrace();
	orc = unwind_find_orc(ip - 1);
	if (orc && stays(ip)) {
		fact = read_orc(orc, ip);
		if (owner_is_allocator(ip))
			fact |= ALLOCATOR;
		WRITE_ONCE(table[ip % FACTS], ip + fact);
		atomic_long_inc(&learned);
	}
	preempt_enable_notrace();
	return fact;
}

#ifdef CONFIG_MODULES
static DEFINE_MUTEX(generation_mutex);

static int forget_module(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *module = data;
	unsigned long *table = READ_ONCE(facts);
	unsigned int i;

	if (!table || action != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	for (i = 0; i < FACTS; i++) {
		/* The address has the slot's number in its lowest bits. */
		unsigned long sum = READ_ONCE(table[i]);

		if (within_module_mem_type(sum - (sum - i) % FACTS, module, MOD_TEXT))
			WRITE_ONCE(table[i], EMPTY);
	}
	/* Two modules may go at once. */
	mutex_lock(&generation_mutex);
	/* Pairs with owner_unwind_chain(). */
	smp_store_release(&owner_unwind_generation, owner_unwind_generation + 1);
	mutex_unlock(&generation_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = forget_module };

static int __init unwind_init_modules(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(unwind_init_modules);
#endif

/* --- Walking -------------------------------------------------------------- */

/* Where a frame's address points are the BP that it saved, and its return address. */
#define RETURN_ADDRESS	sizeof(long)
#define CALLERS_SP	OWNER_CALLERS_SP

static __always_inline bool on_task_stack(unsigned long sp)
{
	return sp - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

static __always_inline unsigned long task_stack_end(void)
{
	return (unsigned long)task_stack_page(current) + THREAD_SIZE;
}

static noinline unsigned long other_stack_end(unsigned long sp)
{
	struct stack_info info;

	if (get_stack_info((unsigned long *)sp, current, &info, NULL))
		return 0;
	return (unsigned long)info.end;
}

/* Was it user space that these registers were saved of? */
static __no_sanitize_address __always_inline bool from_user(unsigned long regs, unsigned long end)
{
	return regs + sizeof(struct pt_regs) <= end && user_mode((struct pt_regs *)regs);
}

/* A recipe that is none. */
#define NO_RECIPE	U8_MAX

/* Here was something, that far from where the walk began. */
static __always_inline void note_word(struct owner_recipe *recipe, unsigned long at,
				      unsigned long word)
{
	/* What a system call's entry has on the stack is known with its return address. */
	if (!recipe || recipe->nr_words == NO_RECIPE || recipe->entry_ip)
		return;
	if (recipe->nr_words == OWNER_RECIPE_WORDS || at > THREAD_SIZE / 2) {
		recipe->nr_words = NO_RECIPE;
		return;
	}
	recipe->word_at[recipe->nr_words] = at;
	recipe->word[recipe->nr_words++] = word;
	recipe->span = max_t(unsigned int, recipe->span, at + sizeof(long));
}

static __always_inline void note_bp(struct owner_recipe *recipe, unsigned long at,
				    unsigned long bp)
{
	if (!recipe)
		return;
	if (recipe->nr_bps == OWNER_RECIPE_BPS || at > THREAD_SIZE / 2) {
		recipe->nr_words = NO_RECIPE;
		return;
	}
	recipe->bp_at[recipe->nr_bps] = at;
	recipe->bp[recipe->nr_bps++] = bp;
	recipe->span = max_t(unsigned int, recipe->span, at + sizeof(long));
}

/* Here was the BP of the frame that a system call entered by, wherever that was from here. */
static __always_inline void note_entry(struct owner_recipe *recipe, unsigned long at,
				       unsigned long ip)
{
	if (at > THREAD_SIZE / 2) {
		recipe->nr_words = NO_RECIPE;
		return;
	}
	recipe->entry_bp_at = at;
	recipe->entry_ip = ip;
	recipe->span = max_t(unsigned int, recipe->span, at + sizeof(long));
}

/* They are compared two at a time. */
static void make_even(u16 *at, unsigned long *value, u8 *count)
{
	if (*count % 2) {
		at[*count] = at[*count - 1];
		value[*count] = value[*count - 1];
		++*count;
	}
}

/*
 * The chain by what is remembered, or 0 if that does not suffice. It reads
 * stack slots of others, which are of no concern to KASAN. Unless @thorough, it
 * calls no function: the registers that one may change need not be saved first.
 */
static __no_sanitize_address __always_inline
unsigned int walk_chain(unsigned long *entries, unsigned int depth, unsigned long frame,
			bool keep_allocators, bool thorough, struct owner_recipe *recipe)
{
	unsigned long ip = owner_stack_word(frame + RETURN_ADDRESS), sp = frame + CALLERS_SP;
	/* Its address is all that is read without it: the order is given. */
	unsigned long *table = READ_ONCE(facts);
	unsigned long end = task_stack_end(), fact, bp;
	/* Where the entries end, and from there back, where the next one goes. */
	unsigned long *beyond = entries + depth;
	long at = -(long)depth;
	/* Where BP was saved last; or the fact of the frame below, if that saved it. */
	unsigned long slot = frame, saver = 0;

	if (unlikely(!table))
		return 0;
	if (unlikely(!on_task_stack(sp))) {
		end = thorough ? other_stack_end(sp) : 0;
		if (!end)
			return 0;
	}
	note_word(recipe, RETURN_ADDRESS, ip);
	for (;;) {
		fact = fact_of(table, ip);
		/* This leaves an address that is not known one that is not known. */
		if (keep_allocators)
			fact &= ~ALLOCATOR;
		if (likely(fact < UNSAVED)) {
			beyond[at++] = ip;
			if (!at)
				return depth;
			sp += (fact & STEP_MASK) * sizeof(long);
			saver = fact;
			goto step;
		}

		if (fact > FACT_MASK && thorough)
			fact = learn(table, ip);
		if (fact > FACT_MASK || (fact & ~ALLOCATOR) == UNSURE)
			return 0;
		if (!(fact & ALLOCATOR) || at != -(long)depth || keep_allocators) {
			beyond[at++] = ip;
			if (!at)
				return depth;
		}
		fact &= ~ALLOCATOR;

		if (saver)
			slot = sp - CALLERS_SP - (saver >> SAVED_SHIFT) * sizeof(long);
		saver = 0;
		if (fact < OTHER) {
			sp += (fact & STEP_MASK) * sizeof(long);
			if (fact < UNSAVED)
				saver = fact;
		} else if (fact == BP_BASED) {
			bp = owner_stack_word(slot);
			if (bp < sp || bp > end - CALLERS_SP)
				return 0;
			sp = bp + CALLERS_SP;
			if (recipe && sp == (unsigned long)task_pt_regs(current))
				note_entry(recipe, slot - frame,
					   owner_stack_word(sp - sizeof(long)));
			else
				note_bp(recipe, slot - frame, bp - frame);
			slot = bp;
		} else if ((fact & ~REALIGNED_WORDS) == REALIGNED) {
			bp = owner_stack_word(slot);
			note_bp(recipe, slot - frame, bp - frame);
			slot = bp - (fact & REALIGNED_WORDS) * sizeof(long);
			if (slot < sp || bp > end - CALLERS_SP)
				return 0;
			sp = owner_stack_word(slot);
			if (sp < bp)
				return 0;
			note_bp(recipe, slot - frame, sp - frame);
			slot = bp;
		} else if (fact == LAST) {
			return depth + at;
		} else if (fact == REGISTERS) {
			if (!from_user(sp, end))
				return 0;
			note_word(recipe, sp + offsetof(struct pt_regs, cs) - frame,
				  ((struct pt_regs *)sp)->cs);
			return depth + at;
		} else if (thorough) {
			/* An interrupt's stack: where it begins, the task's is written down. */
			note_word(recipe, ULONG_MAX, 0);
			if (sp > end - sizeof(long) || on_task_stack(sp))
				return 0;
			sp = owner_stack_word(sp) + FIELD_GET(SWITCH_STEP, fact) * sizeof(long);
			if (!on_task_stack(sp - sizeof(long)))
				return 0;
			end = task_stack_end();
			if ((fact & SWITCH_SAVED) < SAVED_WORDS)
				slot = sp - CALLERS_SP - (fact & SWITCH_SAVED) * sizeof(long);
		} else {
			return 0;
		}
step:
		if (unlikely(sp > end))
			return 0;
		ip = owner_stack_word(sp - sizeof(long));
		note_word(recipe, sp - sizeof(long) - frame, ip);
	}
}

/* --- Verifying ------------------------------------------------------------ */

/* Where the kernel's unwinder stands, allocators @in_front left out; 0 at the end. */
static unsigned long slow_ip(struct unwind_state *state, bool in_front)
{
	for (; !unwind_done(state); unwind_next_frame(state)) {
		unsigned long ip = unwind_get_return_address(state);

		if (!in_front || !owner_is_allocator(ip))
			return ip;
	}
	return 0;
}

/* The chain as the kernel's unwinder finds it. */
static noinline unsigned int walk_slowly(unsigned long *entries, unsigned int depth,
					 struct owner_caller caller, bool keep_allocators)
{
	struct unwind_state state;
	unsigned int count = 0;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.frame);
	while (count < depth && (ip = slow_ip(&state, !count && !keep_allocators)) != 0) {
		entries[count++] = ip;
		if (enters_interrupt(ip))
			break;
		unwind_next_frame(&state);
	}
	return count;
}

/* Is this the chain that the kernel's unwinder finds? */
noinline void owner_unwind_compare(const unsigned long *entries, unsigned int count,
				   unsigned int depth, struct owner_caller caller, bool keep_allocators)
{
	struct unwind_state state;
	unsigned int found = 0;
	bool same = true;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.frame);
	while (found < depth && (ip = slow_ip(&state, !found && !keep_allocators)) != 0) {
		same = same && found < count && entries[found] == ip;
		found++;
		if (enters_interrupt(ip))
			break;
		unwind_next_frame(&state);
	}
	atomic_long_inc(&verified);
	if (!same || found != count)
		atomic_long_inc(&different);
}

static __no_sanitize_address noinline
unsigned int unwind_thoroughly(unsigned long *entries, unsigned int depth,
			       struct owner_caller caller, bool keep_allocators)
{
	unsigned int count = walk_chain(entries, depth, (unsigned long)caller.frame, keep_allocators, true,
					NULL);

	if (!count) {
		if (READ_ONCE(facts))
			atomic_long_inc(&slow);
		return walk_slowly(entries, depth, caller, keep_allocators);
	}
	if (owner_unwind_verifying())
		owner_unwind_compare(entries, count, depth, caller, keep_allocators);
	return count;
}

/**
 * owner_unwind - the call chain of the current task or interrupt
 * @entries: where the return addresses go
 * @depth: how many at most: from 1 to OWNER_DEPTH_MAX
 * @caller: OWNER_CALLER, where the chain starts
 *
 * Allocators in front are left out. The chain ends with the function that
 * entered the kernel or the interrupt.
 *
 * Return: how many there are.
 */
__no_sanitize_address
unsigned int owner_unwind(unsigned long *entries, unsigned int depth, struct owner_caller caller)
{
	unsigned int count = walk_chain(entries, depth, (unsigned long)caller.frame, false, false,
					NULL);

	if (likely(count && !owner_unwind_verifying()))
		return count;
	return unwind_thoroughly(entries, depth, caller, false);
}

/**
 * owner_unwind_chain - the same, and how to know that chain again
 * @walk: where it goes; the recipe has no words if there is no way
 * @depth: how many frames at most
 * @caller: OWNER_CALLER, where the chain starts
 * @keep_allocators: with the allocators in front
 *
 * Return: how many frames there are.
 */
__no_sanitize_address noinline
unsigned int owner_unwind_chain(struct owner_unwind_buffer *walk, unsigned int depth,
			      struct owner_caller caller, bool keep_allocators)
{
	struct owner_recipe *recipe = &walk->recipe;
	unsigned int count;

	/* Pairs with forget_module(): nothing forgotten since is in the recipe. */
	recipe->generation = smp_load_acquire(&owner_unwind_generation);
	recipe->span = 0;
	recipe->nr_bps = 0;
	recipe->nr_words = 0;
	recipe->entry_ip = 0;
	count = walk_chain(walk->frames, depth, (unsigned long)caller.frame, keep_allocators, true, recipe);
	if (!count || recipe->nr_words == NO_RECIPE || !on_task_stack((unsigned long)caller.frame))
		recipe->nr_words = 0;
	make_even(recipe->bp_at, recipe->bp, &recipe->nr_bps);
	make_even(recipe->word_at, recipe->word, &recipe->nr_words);
	if (!count || owner_unwind_verifying())
		return unwind_thoroughly(walk->frames, depth, caller, keep_allocators);
	return count;
}

void owner_unwind_read_counts(struct owner_unwind_counts *counts)
{
	counts->learned = atomic_long_read(&learned);
	counts->slow = atomic_long_read(&slow);
	counts->verified = atomic_long_read(&verified);
	counts->different = atomic_long_read(&different);
}
