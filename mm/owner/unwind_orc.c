// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the running stack on x86, in some 15 instructions a frame.
 *
 * The kernel's unwinder searches its ORC tables for each frame, and checks what it finds.
 * But the ORC entry of an ordinary frame is a constant of the return address: the distance
 * from this frame's stack pointer to the caller's, and where between them the caller's BP
 * was saved. These two are the frame's layout. A table maps return addresses to layouts,
 * and a walk needs a load, a comparison and an addition for each frame. The table is
 * filled from the ORC tables when an address is met for the first time.
 *
 * If one frame of a chain is not ordinary, the kernel's unwinder walks the whole chain:
 * frames addressed by odd registers, interrupted kernel code, return addresses replaced by
 * the function graph tracer or by a kretprobe, generated code (BPF, trampolines, probes).
 *
 * A layout is valid as long as the text at its address. ORC tables never change, and text
 * that is patched at run time (alternatives, static branches and calls, ftrace's calls,
 * breakpoints of probes) leaves the stack at every call as the tables say. The kernel's
 * own text stays, and nothing is executed in its init text after that was freed. A
 * module's text is freed, and another module or generated code can get its addresses. The
 * module's layouts are dropped while the module is going: no stack has a frame in it then
 * from which they could be learned again. A module's init text is freed without a
 * notifier, so its layouts are never stored.
 *
 * Any context can walk and learn, also an NMI: an address and its layout are one word,
 * written and read at once, and no lock is taken.
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
#include <asm/orc_types.h>
#include <asm/sections.h>
#include <asm/unwind.h>

#include "unwind.h"

/*
 * A layout has 12 bits. Bits 0 to 7: number of words from this frame's stack pointer to the
 * caller's. Bits 8 to 10: number of words from the slot where BP was saved to the words at
 * the end of the frame, which are one saved word and the return address; or UNSAVED if BP
 * was not saved; or OTHER if this is another kind of frame, which bits 0 to 7 name. Bit 11:
 * the function is an allocator. One comparison with UNSAVED thus tells the most common
 * kind, a frame that saved BP, from all other kinds and from an unknown address.
 */
#define STEP_MASK	GENMASK(7, 0)
#define SAVED_SHIFT	8
#define SAVED_WORDS	6
#define UNSAVED		(6 << SAVED_SHIFT)
#define OTHER		(7 << SAVED_SHIFT)
#define ALLOCATOR	BIT(11)
#define LAYOUT_MASK	GENMASK(11, 0)

/* The function saved BP first: BP points to that slot, and the caller's frame is above it. */
#define BP_BASED	(OTHER | 0)
/* The last frame of a chain. */
#define LAST		(OTHER | 1)
/* The stack pointer points to a struct pt_regs. If that is of user mode, the chain ends. */
#define REGISTERS	(OTHER | 2)
/* The kernel's unwinder has to walk the chain. */
#define UNSURE		(OTHER | 3)
/* Realigned stack: the caller's stack pointer is saved REALIGNED_WORDS below BP. */
#define REALIGNED	(OTHER | BIT(6))
#define REALIGNED_WORDS	GENMASK(5, 0)
/*
 * Stack switch: the caller's stack pointer minus SWITCH_STEP words is saved here. The
 * caller's BP is saved SWITCH_SAVED words below, counted as in bits 8 to 10.
 */
#define SWITCH		(OTHER | BIT(7))
#define SWITCH_STEP	GENMASK(6, 3)
#define SWITCH_SAVED	GENMASK(2, 0)

/*
 * The table of layouts. A slot holds the sum of an address and its layout; the slot's
 * index is the address modulo LAYOUTS. Two addresses of one slot differ by a multiple of
 * LAYOUTS, which is more than LAYOUT_MASK: if a slot's sum minus an address is at most
 * LAYOUT_MASK, the slot is that address's. EMPTY in slot 0 keeps an unused slot from
 * being taken for address 0.
 */
#define LAYOUTS		4096
#define EMPTY		(~0UL)
/* NULL until owner_unwind_init(). */
static unsigned long *layouts;

static_assert(LAYOUTS > LAYOUT_MASK);

unsigned int owner_unwind_generation;

static atomic_long_t learned, slow, verified, different;

/* A static key, because each capture tests it. */
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

/* The layout of a return address. More than LAYOUT_MASK if the table does not have it. */
static __always_inline unsigned long lookup_layout(const unsigned long *table, unsigned long ip)
{
	/* OPTIMIZER_HIDE_VAR() below makes this one read. READ_ONCE() takes an instruction more. */
	unsigned long sum = data_race(table[ip % LAYOUTS]);

	OPTIMIZER_HIDE_VAR(sum);
	return sum - ip;
}

/**
 * owner_unwind_init() - allocate the table of layouts
 *
 * owner_unwind() works without the table, only slower. Idempotent. May sleep.
 */
void owner_unwind_init(void)
{
	unsigned long *table = kcalloc(LAYOUTS, sizeof(*table), GFP_KERNEL | __GFP_NOWARN);

	if (!table)
		return;
	table[0] = EMPTY;
	/* Pairs with the dependent reads in walk_by_layouts(), which must see table[0]. */
	if (cmpxchg_release(&layouts, NULL, table))
		kfree(table);
}

/* --- Learning ------------------------------------------------------------- */

/* A tracer that traces returns replaces return addresses by the address of its trampoline. */
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

/* True if filter_irq_stacks() cuts chains after this return address. */
static bool enters_interrupt(unsigned long ip)
{
	return filter_irq_stacks((unsigned long[]){ ip, ip }, 2) == 1;
}

/* Where the caller's BP was saved, as bits 8 to 10 of a layout; -EINVAL if they cannot tell. */
static int saved_bp_words(const struct orc_entry *orc)
{
	int words = -orc->bp_offset / 8 - 2;

	if (orc->bp_reg == ORC_REG_UNDEFINED)
		return SAVED_WORDS;
	if (orc->bp_reg != ORC_REG_PREV_SP || orc->bp_offset % 8 ||
	    words < 0 || words >= SAVED_WORDS)
		return -EINVAL;
	return words;
}

static unsigned long layout_from_orc(const struct orc_entry *orc, unsigned long ip)
{
	int step = orc->sp_offset / 8, saved = saved_bp_words(orc);

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

/* True if this text is permanent, or if drop_module_layouts() is called before it is freed. */
static bool can_store_layout(unsigned long ip)
{
#ifdef CONFIG_MODULES
	struct module *module = __module_text_address(ip);

	if (module && within_module_mem_type(ip, module, MOD_TEXT))
		return true;
#endif
	return core_kernel_text(ip);
}

/* Look the layout of a return address up in the ORC tables, and store it. */
static noinline unsigned long store_layout_from_orc(unsigned long *table, unsigned long ip)
{
	const struct orc_entry *orc;
	unsigned long layout = UNSURE;

	/* free_module() waits for the end of this section before it frees the ORC entry. */
	preempt_disable_notrace();
	orc = unwind_find_orc(ip - 1);
	if (orc && can_store_layout(ip)) {
		layout = layout_from_orc(orc, ip);
		if (owner_is_allocator(ip))
			layout |= ALLOCATOR;
		WRITE_ONCE(table[ip % LAYOUTS], ip + layout);
		atomic_long_inc(&learned);
	}
	preempt_enable_notrace();
	return layout;
}

#ifdef CONFIG_MODULES
/* Protects the increment of owner_unwind_generation: two modules can go at once. */
static DEFINE_MUTEX(generation_mutex);

static int drop_module_layouts(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *module = data;
	unsigned long *table = READ_ONCE(layouts);
	unsigned int i;

	if (!table || action != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	for (i = 0; i < LAYOUTS; i++) {
		/* The sum minus the layout is the address, which is @i modulo LAYOUTS. */
		unsigned long sum = READ_ONCE(table[i]);

		if (within_module_mem_type(sum - (sum - i) % LAYOUTS, module, MOD_TEXT))
			WRITE_ONCE(table[i], EMPTY);
	}
	mutex_lock(&generation_mutex);
	/* Pairs with smp_load_acquire() in owner_unwind_chain(). */
	smp_store_release(&owner_unwind_generation, owner_unwind_generation + 1);
	mutex_unlock(&generation_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = drop_module_layouts };

static int __init unwind_init_modules(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(unwind_init_modules);
#endif

/* --- Walking -------------------------------------------------------------- */

/* A frame address points to the saved BP; the return address is above it. */
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

/* True if these registers were saved in user mode. */
static __no_sanitize_address __always_inline
bool regs_are_from_user(unsigned long regs, unsigned long end)
{
	return regs + sizeof(struct pt_regs) <= end && user_mode((struct pt_regs *)regs);
}

/* Value of nr_words: the chain has no recipe. */
#define NO_RECIPE	U8_MAX

/* The chain depends on this word at position @at, relative to the caller's frame. */
static __always_inline void recipe_add_word(struct owner_chain_recipe *recipe, unsigned long at,
					    unsigned long word)
{
	/* owner_recipe_entry_matches() compares the words of the system call entry. */
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

/* The chain depends on this saved BP; @at and @bp are relative to the caller's frame. */
static __always_inline void recipe_add_bp(struct owner_chain_recipe *recipe, unsigned long at,
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

/* The saved BP at position @at points to the system call entry's frame, which returns to @ip. */
static __always_inline void recipe_set_entry(struct owner_chain_recipe *recipe, unsigned long at,
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

/* owner_recipe_recognizes_chain() compares two words at a time. */
static void pad_recipe_to_even(u16 *at, unsigned long *value, u8 *count)
{
	if (*count % 2) {
		at[*count] = at[*count - 1];
		value[*count] = value[*count - 1];
		++*count;
	}
}

/*
 * Walk by layouts. If not @thorough, it calls no function, so the compiler saves few
 * registers. KASAN must not check its reads of other frames. Return: the number of
 * frames, or 0 if the kernel's unwinder has to walk the chain.
 */
static __no_sanitize_address __always_inline
unsigned int walk_by_layouts(unsigned long *entries, unsigned int depth, unsigned long frame,
			     bool keep_allocators, bool thorough, struct owner_chain_recipe *recipe)
{
	unsigned long ip = owner_stack_word(frame + RETURN_ADDRESS), sp = frame + CALLERS_SP;
	/* Address dependency: pairs with cmpxchg_release() in owner_unwind_init(). */
	unsigned long *table = READ_ONCE(layouts);
	unsigned long end = task_stack_end(), layout, bp;
	/* Index of the next entry, relative to the end of @entries: it counts up to 0. */
	unsigned long *entries_end = entries + depth;
	long at = -(long)depth;
	/*
	 * Slot where BP was saved last. If the frame below saved it, only that frame's layout
	 * is kept, in @saver: most slots are never needed.
	 */
	unsigned long slot = frame, saver = 0;

	if (unlikely(!table))
		return 0;
	if (unlikely(!on_task_stack(sp))) {
		end = thorough ? other_stack_end(sp) : 0;
		if (!end)
			return 0;
	}
	recipe_add_word(recipe, RETURN_ADDRESS, ip);
	for (;;) {
		layout = lookup_layout(table, ip);
		/* An unknown address stays unknown: its layout is far above LAYOUT_MASK. */
		if (keep_allocators)
			layout &= ~ALLOCATOR;
		if (likely(layout < UNSAVED)) {
			entries_end[at++] = ip;
			if (!at)
				return depth;
			sp += (layout & STEP_MASK) * sizeof(long);
			saver = layout;
			goto step;
		}

		if (layout > LAYOUT_MASK && thorough)
			layout = store_layout_from_orc(table, ip);
		if (layout > LAYOUT_MASK || (layout & ~ALLOCATOR) == UNSURE)
			return 0;
		if (!(layout & ALLOCATOR) || at != -(long)depth || keep_allocators) {
			entries_end[at++] = ip;
			if (!at)
				return depth;
		}
		layout &= ~ALLOCATOR;

		if (saver)
			slot = sp - CALLERS_SP - (saver >> SAVED_SHIFT) * sizeof(long);
		saver = 0;
		if (layout < OTHER) {
			sp += (layout & STEP_MASK) * sizeof(long);
			if (layout < UNSAVED)
				saver = layout;
		} else if (layout == BP_BASED) {
			bp = owner_stack_word(slot);
			if (bp < sp || bp > end - CALLERS_SP)
				return 0;
			sp = bp + CALLERS_SP;
			if (recipe && sp == (unsigned long)task_pt_regs(current))
				recipe_set_entry(recipe, slot - frame,
						 owner_stack_word(sp - sizeof(long)));
			else
				recipe_add_bp(recipe, slot - frame, bp - frame);
			slot = bp;
		} else if ((layout & ~REALIGNED_WORDS) == REALIGNED) {
			bp = owner_stack_word(slot);
			recipe_add_bp(recipe, slot - frame, bp - frame);
			slot = bp - (layout & REALIGNED_WORDS) * sizeof(long);
			if (slot < sp || bp > end - CALLERS_SP)
				return 0;
			sp = owner_stack_word(slot);
			if (sp < bp)
				return 0;
			recipe_add_bp(recipe, slot - frame, sp - frame);
			slot = bp;
		} else if (layout == LAST) {
			return depth + at;
		} else if (layout == REGISTERS) {
			if (!regs_are_from_user(sp, end))
				return 0;
			recipe_add_word(recipe, sp + offsetof(struct pt_regs, cs) - frame,
					((struct pt_regs *)sp)->cs);
			return depth + at;
		} else if (thorough) {
			/* A switch of stacks: their distance varies, so there is no recipe. */
			recipe_add_word(recipe, ULONG_MAX, 0);
			if (sp > end - sizeof(long) || on_task_stack(sp))
				return 0;
			sp = owner_stack_word(sp) + FIELD_GET(SWITCH_STEP, layout) * sizeof(long);
			if (!on_task_stack(sp - sizeof(long)))
				return 0;
			end = task_stack_end();
			if ((layout & SWITCH_SAVED) < SAVED_WORDS)
				slot = sp - CALLERS_SP - (layout & SWITCH_SAVED) * sizeof(long);
		} else {
			return 0;
		}
step:
		if (unlikely(sp > end))
			return 0;
		ip = owner_stack_word(sp - sizeof(long));
		recipe_add_word(recipe, sp - sizeof(long) - frame, ip);
	}
}

/* --- Verifying ------------------------------------------------------------ */

/*
 * The return address of the kernel unwinder's current frame; at a chain's start, skip
 * allocators first. Return: 0 at the end of the stack.
 */
static unsigned long unwinder_ip(struct unwind_state *state, bool skip_allocators)
{
	for (; !unwind_done(state); unwind_next_frame(state)) {
		unsigned long ip = unwind_get_return_address(state);

		if (!skip_allocators || !owner_is_allocator(ip))
			return ip;
	}
	return 0;
}

/* Walk with the kernel's unwinder. Return: the number of frames. */
static noinline unsigned int walk_with_unwinder(unsigned long *entries, unsigned int depth,
						struct owner_caller caller, bool keep_allocators)
{
	struct unwind_state state;
	unsigned int count = 0;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.frame);
	while (count < depth && (ip = unwinder_ip(&state, !count && !keep_allocators)) != 0) {
		entries[count++] = ip;
		if (enters_interrupt(ip))
			break;
		unwind_next_frame(&state);
	}
	return count;
}

/**
 * owner_unwind_compare() - compare a chain with what the kernel's unwinder finds
 * @entries: the chain
 * @count: number of @entries
 * @depth: number of frames that were asked for
 * @caller: OWNER_CALLER, where the chain starts
 * @keep_allocators: whether allocators were kept at the chain's start
 *
 * Counts chains that differ: owner/stats shows them.
 */
noinline void owner_unwind_compare(const unsigned long *entries, unsigned int count,
				   unsigned int depth, struct owner_caller caller,
				   bool keep_allocators)
{
	struct unwind_state state;
	unsigned int found = 0;
	bool same = true;
	unsigned long ip;

	unwind_start(&state, current, NULL, (unsigned long *)caller.frame);
	while (found < depth && (ip = unwinder_ip(&state, !found && !keep_allocators)) != 0) {
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

/* Walk by layouts and learn missing ones; fall back to the kernel's unwinder. */
static __no_sanitize_address noinline
unsigned int unwind_slow(unsigned long *entries, unsigned int depth,
			 struct owner_caller caller, bool keep_allocators)
{
	unsigned int count = walk_by_layouts(entries, depth, (unsigned long)caller.frame,
					     keep_allocators, true, NULL);

	if (!count) {
		if (READ_ONCE(layouts))
			atomic_long_inc(&slow);
		return walk_with_unwinder(entries, depth, caller, keep_allocators);
	}
	if (owner_unwind_verifying())
		owner_unwind_compare(entries, count, depth, caller, keep_allocators);
	return count;
}

/**
 * owner_unwind() - get the running call chain
 * @entries: filled with return addresses
 * @depth: number of frames to get, from 1 to OWNER_DEPTH_MAX
 * @caller: OWNER_CALLER, where the chain starts
 *
 * Allocators at the chain's start are left out. The chain ends with the function that
 * entered the kernel, or with the one that entered the interrupt.
 *
 * Return: number of @entries.
 */
__no_sanitize_address
unsigned int owner_unwind(unsigned long *entries, unsigned int depth, struct owner_caller caller)
{
	unsigned int count = walk_by_layouts(entries, depth, (unsigned long)caller.frame, false,
					     false, NULL);

	if (likely(count && !owner_unwind_verifying()))
		return count;
	return unwind_slow(entries, depth, caller, false);
}

/**
 * owner_unwind_chain() - get the running call chain, and a recipe for it
 * @buffer: filled with frames and a recipe, whose nr_words is 0 if the chain has none
 * @depth: number of frames to get
 * @caller: OWNER_CALLER, where the chain starts
 * @keep_allocators: keep the allocators at the chain's start
 *
 * Return: number of frames.
 */
__no_sanitize_address noinline
unsigned int owner_unwind_chain(struct owner_unwind_buffer *buffer, unsigned int depth,
				struct owner_caller caller, bool keep_allocators)
{
	struct owner_chain_recipe *recipe = &buffer->recipe;
	unsigned int count;

	/*
	 * Pairs with drop_module_layouts(): a layout that is dropped after this line makes
	 * the recipe's generation old.
	 */
	recipe->generation = smp_load_acquire(&owner_unwind_generation);
	recipe->span = 0;
	recipe->nr_bps = 0;
	recipe->nr_words = 0;
	recipe->entry_ip = 0;
	count = walk_by_layouts(buffer->frames, depth, (unsigned long)caller.frame, keep_allocators,
				true, recipe);
	if (!count || recipe->nr_words == NO_RECIPE || !on_task_stack((unsigned long)caller.frame))
		recipe->nr_words = 0;
	pad_recipe_to_even(recipe->bp_at, recipe->bp, &recipe->nr_bps);
	pad_recipe_to_even(recipe->word_at, recipe->word, &recipe->nr_words);
	if (!count || owner_unwind_verifying())
		return unwind_slow(buffer->frames, depth, caller, keep_allocators);
	return count;
}

/* Read the statistics that owner/stats shows. */
void owner_unwind_read_counts(struct owner_unwind_counts *counts)
{
	counts->learned = atomic_long_read(&learned);
	counts->slow = atomic_long_read(&slow);
	counts->verified = atomic_long_read(&verified);
	counts->different = atomic_long_read(&different);
}
