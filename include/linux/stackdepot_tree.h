/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The call tree: recognize the call chain of the running stack without unwinding it.
 *
 * A node is "this return address, reached from that node". It knows where on the stack
 * the next return address is: most often a constant distance away. To recognize a chain,
 * read a return address, find the child that has it, add the child's distance, and go on.
 * The node at which the walk stops identifies the chain.
 *
 * One tree serves all CPUs. It is read-mostly: nodes are only added, or forgotten when
 * their text is freed. Any context may walk it and add to it, with preemption off. No lock
 * is taken, and a walk that finds all its nodes writes nothing.
 *
 * Why are distances constant? The walk starts at a real frame, and a return address that
 * is equal to a node's means that the frame above it is the node's function at the node's
 * call, whose layout is a constant. By induction each slot that is read holds a real
 * return address. Only pointers that are read from the stack (a saved BP, the SP of an
 * interrupted stack) are checked: they must point up, and into the stack.
 *
 * With frame pointers, a saved frame pointer leads from each node to the caller. A return
 * address of 0 ends the chain.
 */
#ifndef _LINUX_STACKDEPOT_TREE_H
#define _LINUX_STACKDEPOT_TREE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include <asm/sections.h>
#ifdef CONFIG_ARM64
#include <asm/irq.h>
#include <asm/pointer_auth.h>
#include <asm/stacktrace.h>
#endif

/* Maximum depth of a captured chain. */
#define STACK_DEPOT_CAPTURE_MAX		64

/**
 * struct stack_depot_caller - where a chain starts
 * @frame: frame address of the function that uses STACK_DEPOT_CALLER
 * @ip: return address of that function: the chain's first frame
 */
struct stack_depot_caller {
	const void *frame;
#ifndef CONFIG_STACKDEPOT_CALL_TREE
	unsigned long ip;
#endif
};

#ifdef CONFIG_STACKDEPOT_CALL_TREE
#define STACK_DEPOT_CALLER ((struct stack_depot_caller){ __builtin_frame_address(0) })
#else
#define STACK_DEPOT_CALLER ((struct stack_depot_caller){ __builtin_frame_address(0), _RET_IP_ })
#endif

#ifdef CONFIG_STACKDEPOT_CALL_TREE

/* How to get from the slot of a node's return address to the slot of its caller's. */
enum stack_depot_node_kind {
	STACK_DEPOT_NODE_BP,		/* the saved BP points to the word below the slot */
	STACK_DEPOT_NODE_END,		/* the chain ends here */
	/* The following kinds exist with ORC only: */
	STACK_DEPOT_NODE_STEP,		/* @step bytes up */
	STACK_DEPOT_NODE_REALIGNED,	/* the SP is stored @words below where the BP points */
	STACK_DEPOT_NODE_REGS,		/* pt_regs of user space, or of an interrupted function */
	STACK_DEPOT_NODE_INTERRUPTED,	/* @words above the SP in the pt_regs of the slot */
	STACK_DEPOT_NODE_SWITCH,	/* @words above the SP that the word above the slot has */
};

/**
 * struct stack_depot_node - a return address, and the path by which it was reached
 * @ip: the return address as stack_depot_encode_ip() returns it. STACK_DEPOT_IP_NONE if
 *	the node was forgotten.
 * @parent: stack_depot_node_id() of the parent
 * @next: offset of the next node in the same hash bucket
 * @handle: handle of the chain that ends here, or of a shorter one if the depot had no
 *	room for it. Without a reference: the depot may have evicted the chain since. 0 if
 *	it was never captured.
 * @child: a child that the walk tries before it looks up the hash table, or the node that
 *	is nobody's child
 * @step: bytes from this slot to the next one if @kind is STACK_DEPOT_NODE_STEP, else 0
 * @back: bytes down to the slot where BP is saved: from this slot, or if @kind is
 *	STACK_DEPOT_NODE_STEP from the next one. STACK_DEPOT_BACK_UNKNOWN if it is the slot
 *	that the last REALIGNED, INTERRUPTED or SWITCH node of the walk has found.
 * @kind: enum stack_depot_node_kind
 * @mark: number of frames of the chain up to here, where leading allocators do not count;
 *	and STACK_DEPOT_NODE_SPECIAL if @kind is not STACK_DEPOT_NODE_STEP, so that a walk
 *	finds out with one comparison whether it can take a step. STACK_DEPOT_MARK_END if
 *	@kind is STACK_DEPOT_NODE_END: no walk is for more frames.
 * @words: see enum stack_depot_node_kind
 * @saved: words from the next slot down to the slot where BP is saved, if @kind is
 *	INTERRUPTED or SWITCH; 0 if the function has not saved BP
 */
struct stack_depot_node {
	u32 ip;
	u32 parent;
	u32 next;
	depot_stack_handle_t handle;
	struct stack_depot_node *child;
	u16 step;
	u16 back;
	u8 kind;
	u8 mark;
	u8 words;
	u8 saved;
};

static_assert(sizeof(struct stack_depot_node) <= 32);

#define STACK_DEPOT_BACK_UNKNOWN	U16_MAX
/* Set in stack_depot_node.mark. */
#define STACK_DEPOT_NODE_SPECIAL	0x80
#define STACK_DEPOT_MARK_END		U8_MAX
static_assert(STACK_DEPOT_CAPTURE_MAX < STACK_DEPOT_NODE_SPECIAL);

/* No return address is 1. */
#define STACK_DEPOT_IP_NONE		1

/*
 * Nodes are named by their offsets in bytes from the first node. The first three nodes have
 * no return address: NONE is nobody's child, the others are the roots of chains without and
 * with leading allocators.
 */
#define STACK_DEPOT_NODE_NONE		0
#define STACK_DEPOT_NODE_ROOT		sizeof(struct stack_depot_node)
#define STACK_DEPOT_NODE_ROOT_ALL	(2 * sizeof(struct stack_depot_node))
#define STACK_DEPOT_NODE_FIRST		(3 * sizeof(struct stack_depot_node))

/**
 * struct stack_depot_tree - the call tree
 * @nodes: the nodes
 * @buckets: hash table of the nodes by @ip and @parent: offsets of the first nodes
 * @shift: a hash is the upper 32 - @shift bits of a product
 * @base: the tag of @nodes: tags of different trees differ
 * @bytes: size of @nodes
 * @used: bytes of @nodes that are in use. Written only when nodes are added, in a cache
 *	line of its own.
 */
struct stack_depot_tree {
	void *nodes;
	u32 *buckets;
	u32 shift;
	u32 base;
	u32 bytes;
	atomic_t used ____cacheline_aligned_in_smp;
};

/* NULL until stack_depot_tree_init(). Freed after a grace period when a new tree replaces it. */
extern struct stack_depot_tree *stack_depot_tree;

/* Read a word of a caller's frame. Callers do not run meanwhile. KASAN must not check it. */
static __no_sanitize_or_inline unsigned long stack_depot_read_stack(unsigned long address)
{
	return *(const unsigned long *)address;
}

static __always_inline struct stack_depot_node *
stack_depot_node_at(const struct stack_depot_tree *tree, u32 offset)
{
	return tree->nodes + offset;
}

static __always_inline u32 stack_depot_node_offset(const struct stack_depot_tree *tree,
						   const struct stack_depot_node *node)
{
	return (void *)node - tree->nodes;
}

/* A number that differs from those of the other nodes of its tree. */
static __always_inline u32 stack_depot_node_id(const struct stack_depot_node *node)
{
	return (unsigned long)node;
}

/* The tag of references to the handle of a node's chain. */
static __always_inline u32 stack_depot_node_tag(const struct stack_depot_tree *tree,
						const struct stack_depot_node *node)
{
	return tree->base + stack_depot_node_offset(tree, node);
}

static __always_inline u32 stack_depot_node_ip(const struct stack_depot_node *node)
{
	/* A node can be forgotten at any time. The frame that a walk has found is still there. */
	return data_race(node->ip);
}

static __always_inline unsigned int stack_depot_node_depth(const struct stack_depot_node *node)
{
	return node->mark % STACK_DEPOT_NODE_SPECIAL;
}

static __always_inline u32 *stack_depot_node_bucket(const struct stack_depot_tree *tree,
						    const struct stack_depot_node *parent, u32 ip)
{
	u32 key = stack_depot_node_id(parent) * GOLDEN_RATIO_32 + ip;

	return &tree->buckets[key * GOLDEN_RATIO_32 >> tree->shift];
}

/*
 * Return addresses as nodes have them. ORC exists on x86_64, where their upper halves are
 * equal. Elsewhere code may be anywhere in memory: nodes have offsets in a window of 4 GiB
 * around the kernel. An address outside the window has a greater offset, which no node has.
 */
static __always_inline unsigned long stack_depot_encode_ip(unsigned long ip)
{
#if defined(CONFIG_64BIT) && !defined(CONFIG_STACKDEPOT_UNWIND_ORC)
	unsigned long window = (unsigned long)_text - SZ_2G;

	/* Keep the compiler from subtracting twice, instead of once before a loop. */
	OPTIMIZER_HIDE_VAR(window);
	return ip - window;
#else
	return (u32)ip;
#endif
}

/* Can a node have this return address? */
static __always_inline bool stack_depot_can_encode_ip(unsigned long ip)
{
	return stack_depot_encode_ip(ip) <= U32_MAX;
}

/* A return address as it is without pointer authentication. */
static __always_inline unsigned long stack_depot_strip_ip(unsigned long ip)
{
#ifdef CONFIG_ARM64
	return ptrauth_strip_kernel_insn_pac(ip);
#else
	return ip;
#endif
}

/* Find the child of @parent with this encoded return address; NULL if there is none. */
static __always_inline struct stack_depot_node *
stack_depot_find_child(const struct stack_depot_tree *tree, const struct stack_depot_node *parent,
		       u32 ip)
{
	u32 offset = READ_ONCE(*stack_depot_node_bucket(tree, parent, ip));
	struct stack_depot_node *node;

	for (; offset; offset = node->next) {
		node = stack_depot_node_at(tree, offset);
		if (stack_depot_node_ip(node) == ip && node->parent == stack_depot_node_id(parent))
			return node;
	}
	return NULL;
}

static __always_inline bool stack_depot_on_task_stack(unsigned long address)
{
	return address - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

#if (defined(CONFIG_X86_64) && !defined(CONFIG_UML)) || defined(CONFIG_ARM64)
static_assert(IRQ_STACK_SIZE == THREAD_SIZE);
#endif

/* The lowest address of this CPU's stack for interrupts, 0 if it has none. */
static __always_inline unsigned long stack_depot_irq_stack(void)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	return (unsigned long)this_cpu_read(pcpu_hot.hardirq_stack_ptr) + sizeof(long) -
	       IRQ_STACK_SIZE;
#elif defined(CONFIG_ARM64)
	return (unsigned long)this_cpu_read(irq_stack_ptr);
#else
	return 0;
#endif
}

static __always_inline bool stack_depot_on_irq_stack(unsigned long address)
{
	return address - stack_depot_irq_stack() < THREAD_SIZE;
}

static __always_inline bool stack_depot_on_stack(unsigned long address)
{
	return likely(stack_depot_on_task_stack(address)) || stack_depot_on_irq_stack(address);
}

/**
 * struct stack_depot_position - where a walk is
 * @slot: address of the next return address
 * @bp_slot: where the caller's BP is saved, if the node says STACK_DEPOT_BACK_UNKNOWN
 */
struct stack_depot_position {
	unsigned long slot;
	unsigned long bp_slot;
};

enum stack_depot_move {
	STACK_DEPOT_MOVED,
	STACK_DEPOT_MOVE_ENDS,		/* the node is the chain's last */
	STACK_DEPOT_MOVE_FAILS,		/* a pointer does not point up into the stack */
};

#ifdef CONFIG_STACKDEPOT_UNWIND_ORC

/* Read the lower half of a word. */
static __no_sanitize_or_inline u32 stack_depot_read_stack_half(unsigned long address)
{
	return *(const u32 *)address;
}

/* Follow a frame pointer that is saved at @bp_slot. */
static __always_inline enum stack_depot_move
stack_depot_follow_bp(struct stack_depot_position *position, unsigned long bp_slot)
{
	unsigned long bp = stack_depot_read_stack(bp_slot);

	if (unlikely(bp <= bp_slot || bp % sizeof(long) ||
		     !stack_depot_on_stack(bp + sizeof(long))))
		return STACK_DEPOT_MOVE_FAILS;
	position->slot = bp + sizeof(long);
	return STACK_DEPOT_MOVED;
}

static __always_inline enum stack_depot_move
stack_depot_follow_sp(struct stack_depot_position *position, unsigned long sp)
{
	position->slot = sp - sizeof(long);
	return likely(stack_depot_on_stack(position->slot)) ? STACK_DEPOT_MOVED :
							      STACK_DEPOT_MOVE_FAILS;
}

/* Move from a node that is not STACK_DEPOT_NODE_STEP to the slot of its caller. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_follow(const struct stack_depot_node *node, struct stack_depot_position *position)
{
	unsigned long slot = position->slot, bp_slot = position->bp_slot, bp, sp_slot;
	struct pt_regs *regs;

	if (likely(node->back != STACK_DEPOT_BACK_UNKNOWN))
		bp_slot = slot - node->back;
	switch (node->kind) {
	case STACK_DEPOT_NODE_BP:
		return stack_depot_follow_bp(position, bp_slot);
	case STACK_DEPOT_NODE_REALIGNED:
		bp = stack_depot_read_stack(bp_slot);
		sp_slot = bp - node->words * sizeof(long);
		if (unlikely(sp_slot <= slot || !stack_depot_on_stack(sp_slot)))
			return STACK_DEPOT_MOVE_FAILS;
		position->bp_slot = bp;
		return stack_depot_follow_sp(position, stack_depot_read_stack(sp_slot));
	case STACK_DEPOT_NODE_REGS:
		regs = (struct pt_regs *)(slot + sizeof(long));
		if (user_mode(regs))
			return STACK_DEPOT_MOVE_ENDS;
		position->slot = (unsigned long)&regs->ip;
		return STACK_DEPOT_MOVED;
	case STACK_DEPOT_NODE_INTERRUPTED:
		regs = container_of((unsigned long *)slot, struct pt_regs, ip);
		position->bp_slot = bp_slot;
		return stack_depot_follow_sp(position,
			stack_depot_read_stack((unsigned long)&regs->sp) +
			node->words * sizeof(long));
	case STACK_DEPOT_NODE_SWITCH:
		position->bp_slot = bp_slot;
		return stack_depot_follow_sp(position,
			stack_depot_read_stack(slot + sizeof(long)) +
			node->words * sizeof(long));
	default:
		return STACK_DEPOT_MOVE_ENDS;
	}
}

/**
 * stack_depot_recognize() - find the node of the running stack's chain
 * @tree: the tree
 * @depth: number of frames at most
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Preemption is off since @tree was read. Calls no function.
 *
 * Return: the node, or NULL if the tree does not have the chain.
 */
static __no_sanitize_address __always_inline struct stack_depot_node *
stack_depot_recognize(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
		      struct stack_depot_caller caller)
{
	struct stack_depot_position position = {
		.slot = (unsigned long)caller.frame + sizeof(long),
	};
	struct stack_depot_node *node, *child;
	enum stack_depot_move move;

	node = stack_depot_node_at(tree, skip ? STACK_DEPOT_NODE_ROOT : STACK_DEPOT_NODE_ROOT_ALL);
	for (;; node = child) {
		u32 ip = stack_depot_read_stack_half(position.slot);

		child = READ_ONCE(node->child);
		if (unlikely(stack_depot_node_ip(child) != ip)) {
			child = stack_depot_find_child(tree, node, ip);
			if (unlikely(!child))
				return NULL;
		}
		if (likely(child->mark < (u8)depth)) {
			position.slot += child->step;
			continue;
		}
		/* Otherwise the compiler keeps the mark in a register, in each round. */
		OPTIMIZER_HIDE_VAR(child);
		if (stack_depot_node_depth(child) >= depth)
			return child;
		move = stack_depot_follow(child, &position);
		if (move == STACK_DEPOT_MOVE_ENDS)
			return child;
		if (unlikely(move == STACK_DEPOT_MOVE_FAILS))
			return NULL;
	}
}

#else /* CONFIG_STACKDEPOT_UNWIND_ORC */

/*
 * Can the caller of the function with frame @frame have frame @bp? Callers are above it on
 * its stack, or on the task's stack, which the stack for interrupts leads to.
 */
static __always_inline bool stack_depot_is_callers_frame(unsigned long bp, unsigned long frame)
{
	/* The last word of the frame: the return address. */
	unsigned long slot = bp + sizeof(long);

	if (bp % sizeof(long))
		return false;
	if (stack_depot_on_task_stack(slot))
		return bp > frame || !stack_depot_on_task_stack(frame);
	return stack_depot_on_irq_stack(slot) && bp > frame && stack_depot_on_irq_stack(frame);
}

/*
 * Does a frame pointer lead to the registers at the top of the task's stack? They are the
 * user's, or those with which a kernel thread began. x86 marks a pointer to registers.
 */
static __always_inline bool stack_depot_is_first_regs(unsigned long bp)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	return bp - 1 == (unsigned long)task_pt_regs(current);
#else
	return false;
#endif
}

/* Move from a node to the slot of its caller. */
static __always_inline enum stack_depot_move
stack_depot_follow(const struct stack_depot_node *node, struct stack_depot_position *position)
{
	unsigned long frame = position->slot - sizeof(long), bp = stack_depot_read_stack(frame);

	if (node->kind == STACK_DEPOT_NODE_END || !bp || stack_depot_is_first_regs(bp))
		return STACK_DEPOT_MOVE_ENDS;
	if (!stack_depot_is_callers_frame(bp, frame))
		return STACK_DEPOT_MOVE_FAILS;
	position->slot = bp + sizeof(long);
	return STACK_DEPOT_MOVED;
}

/**
 * stack_depot_recognize() - find the node of the running stack's chain
 * @tree: the tree
 * @depth: number of frames at most
 * @skip: leave out leading allocators
 * @caller: where the chain starts
 *
 * Preemption is off since @tree was read. Calls no function.
 *
 * One check of each frame pointer suffices: it points into the stack. The walk ends even if
 * it does not point up, as no node is its own descendant.
 *
 * Return: the node, or NULL if the tree does not have the chain.
 */
static __no_sanitize_address __always_inline struct stack_depot_node *
stack_depot_recognize(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
		      struct stack_depot_caller caller)
{
	unsigned long frame = (unsigned long)caller.frame, stack, bp, ip;
	unsigned int last_mark = STACK_DEPOT_NODE_SPECIAL | depth;
	struct stack_depot_position position;
	struct stack_depot_node *node, *child;

	stack = (unsigned long)task_stack_page(current);
	if (unlikely(frame - stack >= THREAD_SIZE))
		stack = stack_depot_irq_stack();
	node = stack_depot_node_at(tree, skip ? STACK_DEPOT_NODE_ROOT : STACK_DEPOT_NODE_ROOT_ALL);
	for (;; node = child, frame = bp) {
		bp = stack_depot_read_stack(frame);
		ip = stack_depot_strip_ip(stack_depot_read_stack(frame + sizeof(long)));
		child = READ_ONCE(node->child);
		if (unlikely(stack_depot_node_ip(child) != stack_depot_encode_ip(ip))) {
			/* The frame above the last one has no return address. */
			if (!ip)
				return node;
			if (!stack_depot_can_encode_ip(ip))
				return NULL;
			child = stack_depot_find_child(tree, node, stack_depot_encode_ip(ip));
			if (unlikely(!child))
				return NULL;
		}
		if (child->mark >= last_mark)
			return child;
		/* One compare for alignment and bounds: the rotation makes odd pointers large. */
		if (likely(ror64(bp - stack, 3) <= (THREAD_SIZE - 2 * sizeof(long)) >> 3))
			continue;
		position.slot = frame + sizeof(long);
		switch (stack_depot_follow(child, &position)) {
		case STACK_DEPOT_MOVE_ENDS:
			return child;
		case STACK_DEPOT_MOVE_FAILS:
			return NULL;
		case STACK_DEPOT_MOVED:
			/* The stack for interrupts leads to the task's stack. */
			stack = (unsigned long)task_stack_page(current);
		}
	}
}

#endif /* CONFIG_STACKDEPOT_UNWIND_ORC */

/* lib/stackdepot_tree.c */
void stack_depot_tree_init(void);
struct stack_depot_node *stack_depot_add_node(struct stack_depot_tree *tree,
					      struct stack_depot_node *parent,
					      unsigned long ip,
					      const struct stack_depot_node *template);
void stack_depot_forget_nodes(unsigned long start, unsigned long size);

#else

static inline void stack_depot_tree_init(void)
{
}

#endif /* CONFIG_STACKDEPOT_CALL_TREE */

#endif /* _LINUX_STACKDEPOT_TREE_H */
