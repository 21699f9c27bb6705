// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the running stack through the call tree, and add the nodes that it lacks.
 *
 * Text at a return address lasts as long as its node:
 *  - the kernel's text stays, and nothing executes where its init text was;
 *  - the nodes of a module are forgotten when it goes, those of its init text when it is
 *    live: see add_lasting_node();
 *  - BPF programs and their trampolines have a frame pointer, so the node of one is right
 *    for another at the same address. An ftrace trampoline at that address does no harm:
 *    a parent node names the callee, and nothing is called from both. The nodes are
 *    forgotten when a module gets their memory.
 * Frames in other text are looked up each time.
 *
 * Function graph tracing and kretprobes write their own address over return addresses on
 * the stack. Ask them for the real one, and go on with that.
 *
 * Any context may walk and add nodes. A chain with a frame of a kind that the tree does
 * not have is left to the kernel's unwinder.
 */

#include <linux/filter.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "stackdepot_unwind.h"

/* Counted by each CPU for itself, in slow paths. */
DEFINE_PER_CPU(struct stack_depot_capture_counts, stack_depot_capture_counts);

/* --- Ends of chains -------------------------------------------------------------- */

/*
 * The function that runs softirqs. Its caller __do_softirq() is in the section of softirq
 * entries, but jumps to it, and leaves no return address.
 */
static struct {
	unsigned long start;
	unsigned long size;
} softirq_loop;

static bool is_in_softirq_loop(unsigned long ip)
{
	/* Pairs with smp_store_release() below: the start was written before the size. */
	unsigned long size = smp_load_acquire(&softirq_loop.size), start, offset;

	if (!size) {
		start = kallsyms_lookup_name("handle_softirqs");
		/* A missing function gets address 0 and size 1, which match no return address. */
		if (!start || !kallsyms_lookup_size_offset(start, &size, &offset))
			size = 1;
		WRITE_ONCE(softirq_loop.start, start);
		/* Pairs with smp_load_acquire() above. */
		smp_store_release(&softirq_loop.size, size);
	}
	return ip - READ_ONCE(softirq_loop.start) < size;
}

/**
 * stack_depot_ends_chain() - test for the last frame of an interrupt's chain
 * @ip: return address
 *
 * Return: true if the frame's callers were interrupted, and did not call.
 */
bool stack_depot_ends_chain(unsigned long ip)
{
	unsigned long ips[] = { ip, ip };

	/* KMSAN does not see that this file writes to the stack, and checks who reads it. */
	kmsan_unpoison_memory(ips, sizeof(ips));
	return filter_irq_stacks(ips, ARRAY_SIZE(ips)) == 1 || is_in_softirq_loop(ip);
}

#ifdef CONFIG_STACKDEPOT_CALL_TREE

/* --- Return addresses that a tracer has replaced ---------------------------------- */

/**
 * stack_depot_recover_ip() - read a return address, also if a tracer has replaced it
 * @slot: address of the return address
 *
 * Return: the real return address; 0 if the tracer does not know it.
 */
unsigned long stack_depot_recover_ip(unsigned long slot)
{
	unsigned long ip = stack_depot_strip_ip(stack_depot_read_stack(slot));
	/*
	 * On arm64, tracers find a frame by the frame pointer of the function that returns
	 * there, elsewhere by the slot.
	 */
	unsigned long frame __maybe_unused = IS_ENABLED(CONFIG_ARM64) ?
		stack_depot_read_stack(slot - sizeof(long)) : slot;

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ip == (unsigned long)return_to_handler) {
		int index = 0;

		kmsan_unpoison_memory(&index, sizeof(index));
		ip = ftrace_graph_ret_addr(current, &index, ip, (unsigned long *)frame);
		if (ip == (unsigned long)return_to_handler)
			return 0;
	}
#endif
#ifdef CONFIG_RETHOOK
	if (is_rethook_trampoline(ip)) {
		struct llist_node *first = NULL;

		kmsan_unpoison_memory(&first, sizeof(first));
		ip = rethook_find_ret_addr(current, frame, &first);
	}
#elif defined(CONFIG_KRETPROBES)
	if (is_kretprobe_trampoline(ip)) {
		struct llist_node *first = NULL;

		kmsan_unpoison_memory(&first, sizeof(first));
		ip = kretprobe_find_ret_addr(current, (void *)frame, &first);
	}
#endif
	return ip;
}

/* --- Adding nodes ----------------------------------------------------------------- */

/* Does the text at @ip stay, or are its nodes forgotten when it goes? */
static bool text_lasts(unsigned long ip)
{
	struct module *module;

	if (core_kernel_text(ip))
		return true;
	module = __module_text_address(ip);
	if (!module)
		return is_bpf_text_address(ip) || is_ftrace_trampoline(ip);
	if (within_module_mem_type(ip, module, MOD_TEXT))
		return READ_ONCE(module->state) != MODULE_STATE_GOING;
	return within_module_mem_type(ip, module, MOD_INIT_TEXT) &&
	       READ_ONCE(module->state) == MODULE_STATE_COMING;
}

/*
 * Add a node if the text at its address lasts as long as the node: see the top of this file.
 * Return: the node, or NULL.
 *
 * A module may go at the same time. Its state changes before its nodes are forgotten, and
 * here the node is added before the state is read again: either forget_module() finds the
 * node, or the state is seen here.
 */
static struct stack_depot_node *add_lasting_node(struct stack_depot_tree *tree,
						 struct stack_depot_node *parent,
						 unsigned long ip,
						 const struct stack_depot_node *template)
{
	struct stack_depot_node *node;

	if (!stack_depot_can_encode_ip(ip) || !text_lasts(ip))
		return NULL;
	node = stack_depot_add_node(tree, parent, ip, template);
	if (!node)
		return NULL;
	/* Pairs with forget_module(). */
	smp_mb();
	if (unlikely(!text_lasts(ip))) {
		WRITE_ONCE(node->ip, STACK_DEPOT_IP_NONE);
		return NULL;
	}
	return node;
}

#ifdef CONFIG_MODULES
static int forget_module(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *module = data;
	const struct module_memory *text = &module->mem[MOD_TEXT];
	const struct module_memory *init = &module->mem[MOD_INIT_TEXT];

	/* Pairs with add_lasting_node(): the module's new state is visible. */
	smp_mb();
	if (action == MODULE_STATE_COMING || action == MODULE_STATE_GOING)
		stack_depot_forget_nodes((unsigned long)text->base, text->size);
	stack_depot_forget_nodes((unsigned long)init->base, init->size);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = forget_module };

static int __init init_module_notifier(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(init_module_notifier);
#endif

/*
 * Make the child of @parent with this return address. @tree: NULL if @parent is not in the
 * tree. @interrupted: it is the address at which a function was interrupted. @scratch: room
 * for a node that may not be added. Return: the node; NULL if the tree has no kind for it.
 */
static noinline struct stack_depot_node *
learn_node(struct stack_depot_tree *tree, struct stack_depot_node *parent, unsigned long ip,
	   bool interrupted, unsigned int depth, bool skip, struct stack_depot_node *scratch)
{
	unsigned int frames = parent->frames + (parent->frames || !skip ||
						!stack_depot_is_allocator(ip));

	scratch[0] = (struct stack_depot_node){ .frames = frames };
	scratch[1] = scratch[0];
	if (frames == depth || stack_depot_ends_chain(ip))
		scratch->kind = STACK_DEPOT_NODE_END;
	else if (!stack_depot_learn_layout(scratch, parent, ip, interrupted))
		return NULL;
	this_cpu_inc(stack_depot_capture_counts.learned);
	return (tree ? add_lasting_node(tree, parent, ip, scratch) : NULL) ?: scratch;
}

/* --- Walking ---------------------------------------------------------------------- */

static __always_inline struct stack_depot_node *
find_child(const struct stack_depot_tree *tree, const struct stack_depot_node *parent,
	   unsigned long ip)
{
	struct stack_depot_node *child;

	if (!tree || !stack_depot_can_encode_ip(ip))
		return NULL;
	child = READ_ONCE(parent->child);
	if (likely(stack_depot_node_ip(child) == stack_depot_encode_ip(ip)))
		return child;
	return stack_depot_find_child(tree, parent, stack_depot_encode_ip(ip));
}

/**
 * stack_depot_find_traced_child() - find a child whose return address a tracer has replaced
 * @tree: the tree
 * @parent: the node
 * @slot: address of the return address
 *
 * Return: the child; NULL if there is none.
 */
struct stack_depot_node *stack_depot_find_traced_child(const struct stack_depot_tree *tree,
						       const struct stack_depot_node *parent,
						       unsigned long slot)
{
	unsigned long ip = stack_depot_recover_ip(slot);

	return ip ? find_child(tree, parent, ip) : NULL;
}

/*
 * Move from a node to the slot of its caller. Sets *@node to the node that has its children, if
 * the chain goes on.
 */
static __no_sanitize_address __always_inline enum stack_depot_move
move_to_caller(struct stack_depot_node **node, struct stack_depot_caller *caller)
{
	enum stack_depot_move move;

	if (IS_ENABLED(CONFIG_STACKDEPOT_UNWIND_ORC) && (*node)->kind == STACK_DEPOT_NODE_STEP) {
		caller->slot += (*node)->step;
		return STACK_DEPOT_MOVED;
	}
	move = stack_depot_follow(*node, caller);
	if (move == STACK_DEPOT_MOVED)
		*node += stack_depot_node_count(*node) - 1;
	return move;
}

/**
 * stack_depot_find_ancestor() - find the node of the running stack's first frames
 * @tree: the tree
 * @depth: number of frames at which the chain ends
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 * @frames: number of the first frames, at least one and less than the chain has
 *
 * Context: Any, with preemption disabled since @tree was read.
 *
 * Return: the node; NULL if the tree does not have it.
 */
__no_sanitize_address const struct stack_depot_node *
stack_depot_find_ancestor(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
			  struct stack_depot_caller caller, unsigned int frames)
{
	struct stack_depot_node *child, *node;

	node = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(depth, skip));
	do {
		child = find_child(tree, node,
				   stack_depot_strip_ip(stack_depot_read_stack(caller.slot)));
		if (unlikely(!child))
			child = stack_depot_find_traced_child(tree, node, caller.slot);
		if (!child || child->frames == frames)
			return child;
		node = child;
	} while (move_to_caller(&node, &caller) == STACK_DEPOT_MOVED);
	return NULL;
}

/*
 * Walk through the tree, and add the nodes that it lacks. Return: a count of 0 if the chain
 * has to be left to the kernel's unwinder.
 */
static __no_sanitize_address noinline struct stack_depot_walk
walk_tree(unsigned long *frames, unsigned int depth, bool skip, struct stack_depot_caller caller)
{
	struct stack_depot_walk walk = { .tree = READ_ONCE(stack_depot_tree) };
	/* NULL from the first node on that is not in the tree. */
	struct stack_depot_tree *tree = walk.tree;
	struct stack_depot_node *node, *child;
	/* A node that is not in the tree, and its parent. */
	struct stack_depot_node scratch[2][2] __uninitialized, *room = scratch[0];
	unsigned int count = 0, left_out = 0;
	bool interrupted = false;
	unsigned long ip;

	if (!tree)
		return walk;
	node = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(depth, skip));
	for (;;) {
		ip = stack_depot_strip_ip(stack_depot_read_stack(caller.slot));
		/* The frame above the last one has no return address. */
		if (!IS_ENABLED(CONFIG_STACKDEPOT_UNWIND_ORC) && !ip)
			break;
		child = find_child(tree, node, ip);
		if (unlikely(!child)) {
			/* No node has the address of a trampoline. */
			ip = stack_depot_recover_ip(caller.slot);
			if (!ip)
				return walk;
			child = find_child(tree, node, ip);
		}
		if (unlikely(!child)) {
			child = learn_node(tree, node, ip, interrupted, depth, skip, room);
			if (!child)
				return walk;
			if (child == room) {
				tree = NULL;
				room = scratch[room == scratch[0]];
			}
		}
		if (child->frames)
			frames[count++] = ip;
		else if (unlikely(++left_out > STACK_DEPOT_CAPTURE_MAX))
			/* A damaged stack, whose frame pointers lead in a circle of allocators. */
			return walk;
		node = child;
		interrupted = child->kind == STACK_DEPOT_NODE_REGS;
		switch (move_to_caller(&node, &caller)) {
		case STACK_DEPOT_MOVE_ENDS:
			goto end;
		case STACK_DEPOT_MOVE_FAILS:
			return walk;
		case STACK_DEPOT_MOVED:
			break;
		}
	}
end:
	walk.node = tree ? node : NULL;
	walk.count = count;
	return walk;
}

/**
 * stack_depot_walk_running() - walk the running stack
 * @frames: filled with return addresses
 * @depth: number of frames to get, from 1 to STACK_DEPOT_CAPTURE_MAX
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Context: Any, with preemption disabled.
 *
 * Return: the walk's result.
 */
struct stack_depot_walk stack_depot_walk_running(unsigned long *frames, unsigned int depth,
						 bool skip, struct stack_depot_caller caller)
{
	struct stack_depot_walk walk = walk_tree(frames, depth, skip, caller);

	if (unlikely(!walk.count)) {
		if (walk.tree)
			this_cpu_inc(stack_depot_capture_counts.slow);
		walk.count = stack_depot_walk_with_unwinder(frames, depth, skip, caller);
	}
	return walk;
}

#else /* CONFIG_STACKDEPOT_CALL_TREE */

struct stack_depot_walk stack_depot_walk_running(unsigned long *frames, unsigned int depth,
						 bool skip, struct stack_depot_caller caller)
{
	return (struct stack_depot_walk){
		.count = stack_depot_walk_with_unwinder(frames, depth, skip, caller),
	};
}

#endif /* CONFIG_STACKDEPOT_CALL_TREE */

/* --- The kernel's unwinder --------------------------------------------------------- */

#ifndef CONFIG_STACKDEPOT_UNWIND_ORC

/* Maximum number of frames that stack_trace_save() returns before the chain's first one. */
#define FRAMES_BEFORE	16

/* A walk that is longer than a chain, for one user at a time on each CPU. */
struct long_walk {
	bool used;
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX + FRAMES_BEFORE];
};

static DEFINE_PER_CPU(struct long_walk, long_walks);

static unsigned long first_ip(struct stack_depot_caller caller)
{
#ifdef CONFIG_STACKDEPOT_CALL_TREE
	return stack_depot_recover_ip(caller.slot);
#else
	return caller.ip;
#endif
}

/* Documented in stackdepot_unwind.h. */
unsigned int stack_depot_walk_with_unwinder(unsigned long *frames, unsigned int depth, bool skip,
					    struct stack_depot_caller caller)
{
	struct long_walk *walk = this_cpu_ptr(&long_walks);
	unsigned int count, first, kept = 0;

	/* An interrupt of another walk gets no chain. */
	if (walk->used)
		return 0;
	walk->used = true;
	barrier();
	count = stack_trace_save(walk->frames, depth + FRAMES_BEFORE, 0);
	for (first = 0; first < min(count, FRAMES_BEFORE); first++)
		if (walk->frames[first] == first_ip(caller))
			break;
	/* The caller's return address is not known: keep our own frames as well. */
	if (first == min(count, FRAMES_BEFORE))
		first = 0;
	while (skip && first < count && stack_depot_is_allocator(walk->frames[first]))
		first++;
	while (first < count && kept < depth) {
		frames[kept++] = walk->frames[first];
		if (stack_depot_ends_chain(walk->frames[first++]))
			break;
	}
	barrier();
	walk->used = false;
	return kept;
}

#endif

/* --- Verifying ----------------------------------------------------------------------- */

/* Enabled by owner.verify=1. */
DEFINE_STATIC_KEY_FALSE(stack_depot_verify_key);

/* Chains to compare with: one at a time on each CPU. */
struct compared_chain {
	bool used;
	unsigned long captured[STACK_DEPOT_CAPTURE_MAX];
	unsigned long unwound[STACK_DEPOT_CAPTURE_MAX];
};

static DEFINE_PER_CPU(struct compared_chain, compared_chains);

/**
 * stack_depot_verify() - compare a captured chain with that of the kernel's unwinder
 * @handle: the chain's handle, with a reference
 * @depth: number of frames that were asked for
 * @flags: as for the capture
 * @caller: as for the capture
 *
 * Counts chains that differ.
 */
noinline void stack_depot_verify(depot_stack_handle_t handle, unsigned int depth,
				 depot_flags_t flags, struct stack_depot_caller caller)
{
	unsigned int captured, unwound;
	struct compared_chain *chain;

	preempt_disable();
	chain = this_cpu_ptr(&compared_chains);
	if (!chain->used) {
		chain->used = true;
		barrier();
		captured = stack_depot_copy(handle, chain->captured, STACK_DEPOT_CAPTURE_MAX);
		unwound = stack_depot_walk_with_unwinder(chain->unwound, depth,
							 flags & STACK_DEPOT_FLAG_SKIP, caller);
		this_cpu_inc(stack_depot_capture_counts.verified);
		if (captured != unwound ||
		    memcmp(chain->captured, chain->unwound, captured * sizeof(long)))
			this_cpu_inc(stack_depot_capture_counts.different);
		barrier();
		chain->used = false;
	}
	preempt_enable();
}

/* Read the statistics of all CPUs. */
void stack_depot_read_capture_counts(struct stack_depot_capture_counts *counts)
{
	const struct stack_depot_capture_counts *more;
	unsigned int cpu;

	*counts = (struct stack_depot_capture_counts){};
	for_each_possible_cpu(cpu) {
		more = per_cpu_ptr(&stack_depot_capture_counts, cpu);
		counts->learned += READ_ONCE(more->learned);
		counts->unknown += READ_ONCE(more->unknown);
		counts->no_ref += READ_ONCE(more->no_ref);
		counts->slow += READ_ONCE(more->slow);
		counts->verified += READ_ONCE(more->verified);
		counts->different += READ_ONCE(more->different);
	}
	kmsan_unpoison_memory(counts, sizeof(*counts));
}
