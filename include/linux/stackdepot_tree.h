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
 * is taken, and a walk that finds all its nodes writes nothing, except for the first one of a
 * CPU in a tick: see stack_depot_prefer_child().
 *
 * Why are distances constant? The walk starts at a real frame. A return address that is equal
 * to a node's belongs to the node's call, so the frame above it is that of the function which
 * made this call. The layout of a function's frame at a given call is a constant. By induction
 * each slot that is read holds a real return address. Only pointers that a walk reads from
 * the stack (a saved BP, the SP of an interrupted stack) are checked: they must point into
 * the stack.
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
#include <linux/instruction_pointer.h>
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

struct seq_file;

/* Maximum depth of a captured chain. */
#define STACK_DEPOT_CAPTURE_MAX		64

/**
 * struct stack_depot_caller - a place on the stack: where a chain starts, or where a walk is
 * @slot: address of the next return address
 * @bp_slot: address at which the caller's BP is saved, if the node says
 *	STACK_DEPOT_BACK_UNKNOWN
 * @ip: the return address at @slot: the chain's first frame
 */
struct stack_depot_caller {
	unsigned long slot;
#ifdef CONFIG_STACKDEPOT_UNWIND_ORC
	unsigned long bp_slot;
#endif
#ifndef CONFIG_STACKDEPOT_CALL_TREE
	unsigned long ip;
#endif
};

/*
 * The place where a chain starts that begins with the caller of the current function. This must
 * not return, nor end with a tail call, before the capture.
 */
#define STACK_DEPOT_CALLER \
	stack_depot_caller_of_frame((unsigned long)__builtin_frame_address(0), _RET_IP_)

static __always_inline struct stack_depot_caller stack_depot_caller_of_frame(unsigned long frame,
									     unsigned long ip)
{
	return (struct stack_depot_caller){
		.slot = frame + sizeof(long),
#ifdef CONFIG_STACKDEPOT_UNWIND_ORC
		.bp_slot = frame,
#endif
#ifndef CONFIG_STACKDEPOT_CALL_TREE
		.ip = ip,
#endif
	};
}

#ifdef CONFIG_STACKDEPOT_CALL_TREE

/* How to get from the slot of a node's return address to the slot of its caller's. */
enum stack_depot_node_kind {
	STACK_DEPOT_NODE_STEP,		/* @step bytes up, or follow the frame pointer */
	STACK_DEPOT_NODE_END,		/* the chain ends here */
	/* The following kinds exist with ORC only. @step is that of the next node: */
	STACK_DEPOT_NODE_BP,		/* BP, saved at slot + @step, points below the next slot */
	STACK_DEPOT_NODE_SYSCALL,	/* as BP; most often the caller is a system call's entry */
	STACK_DEPOT_NODE_CALLER_BP,	/* as BP, saved at stack_depot_caller.bp_slot */
	STACK_DEPOT_NODE_REALIGNED,	/* the SP is stored @step below where BP points */
	STACK_DEPOT_NODE_REGS,		/* pt_regs of user space, or of an interrupted function */
	STACK_DEPOT_NODE_INTERRUPTED,	/* @step above the SP in the pt_regs of the slot */
	STACK_DEPOT_NODE_SWITCH,	/* @step above the SP that the word above the slot has */
};

/**
 * struct stack_depot_node - a return address, and the path by which it was reached
 * @ip: the return address as stack_depot_encode_ip() returns it. STACK_DEPOT_IP_NONE if
 *	the node was forgotten.
 * @sibling: if this is the parent's @child, the offset of the child that a walk tries next,
 *	STACK_DEPOT_NODE_NOBODY if there is none
 * @child: the child that a walk tries first, or the node that is nobody's child. Other children
 *	are looked up in the hash table.
 * @step: bytes from this slot to the next one if @kind is STACK_DEPOT_NODE_STEP, else 0
 * @handle: handle of the chain that ends here, or of a shorter one if the depot had no
 *	room for it. Without a reference: the depot may have evicted the chain since. 0 if
 *	it was never captured.
 * @back: bytes down to the slot where BP is saved: from this slot, or if @kind is
 *	STACK_DEPOT_NODE_STEP from the next one. STACK_DEPOT_BACK_UNKNOWN if it is
 *	stack_depot_caller.bp_slot.
 * @kind: enum stack_depot_node_kind
 * @frames: number of frames of the chain up to here, where leading allocators do not count
 *
 * A walk adds @step to its slot for nodes of all kinds, and looks at @kind only after @child
 * has not matched. A node of another kind therefore has no children of its own: they are
 * children of the next node in memory, which has no return address and is not in the hash
 * table.
 */
struct stack_depot_node {
	u32 ip;
	u32 sibling;
	struct stack_depot_node *child;
	unsigned long step;
	depot_stack_handle_t handle;
	u16 back;
	u8 kind;
	u8 frames;
};

/* A power of two: a node is in one cache line. */
static_assert(sizeof(struct stack_depot_node) == 32);

#define STACK_DEPOT_BACK_UNKNOWN	U16_MAX

/* No return address is 1. */
#define STACK_DEPOT_IP_NONE		1

/*
 * Nodes are named by their offsets in bytes from the first node, which is nobody's child.
 * Then follow two roots for each depth, one of which skips leading allocators. A chain ends
 * at its depth because the nodes below the depth's root do.
 */
#define STACK_DEPOT_NODE_NOBODY		0
#define STACK_DEPOT_NODE_ROOT(depth, skip) \
	((2 * (depth) + (skip)) * sizeof(struct stack_depot_node))
#define STACK_DEPOT_NODE_FIRST		STACK_DEPOT_NODE_ROOT(STACK_DEPOT_CAPTURE_MAX + 1, 0)

/**
 * struct stack_depot_tree - the call tree
 * @nodes: the nodes
 * @buckets: hash table of the nodes by their return addresses and parents. A bucket has the
 *	offset of a node in the upper half and the id of its parent in the lower one, or is 0.
 *	A node is in the bucket of its hash, or in the first one behind that was empty.
 *	Nothing is removed. The last bucket stays empty.
 * @bucket_mask: of the offset of a hash's bucket in @buckets
 * @base: the tag of a node minus its id: tags of different trees differ
 * @bytes: size of @nodes
 * @used: bytes of @nodes that are in use. Written only when nodes are added, in a cache
 *	line of its own.
 */
struct stack_depot_tree {
	void *nodes;
	void *buckets;
	u32 bucket_mask;
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
	struct stack_depot_node *node = tree->nodes + offset;

	/* The compiler cannot know that this is not NULL: leave out tests for that. */
	if (!node)
		__builtin_unreachable();
	return node;
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
	return tree->base + stack_depot_node_id(node);
}

/* The place in @nodes that has this tag, also if it is not in use. NULL if none has. */
static __always_inline const struct stack_depot_node *
stack_depot_tagged_node(const struct stack_depot_tree *tree, u32 tag)
{
	u32 offset = tag - stack_depot_node_tag(tree, tree->nodes);

	return offset % sizeof(struct stack_depot_node) || offset >= tree->bytes ? NULL :
	       stack_depot_node_at(tree, offset);
}

/* Number of neighbours in memory that make up a node. */
static __always_inline unsigned int stack_depot_node_count(const struct stack_depot_node *node)
{
	return node->kind == STACK_DEPOT_NODE_STEP || node->kind == STACK_DEPOT_NODE_END ? 1 : 2;
}

static __always_inline u32 stack_depot_node_ip(const struct stack_depot_node *node)
{
	/*
	 * A node can be forgotten at any time. A walk that has found it may go on: text that is
	 * on the running stack is not freed before the walk ends.
	 */
	return data_race(node->ip);
}

#define STACK_DEPOT_NODES_MAX_BITS	18
#define STACK_DEPOT_NODES_MIN		4096

/* The first bucket in which a child can be. */
static __always_inline u64 *stack_depot_first_bucket(const struct stack_depot_tree *tree,
						     const struct stack_depot_node *parent, u32 ip)
{
	u32 key = stack_depot_node_id(parent) * GOLDEN_RATIO_32 + ip;
	u32 offset = key * GOLDEN_RATIO_32 >> (32 - STACK_DEPOT_NODES_MAX_BITS - 4);

	return tree->buckets + (offset & tree->bucket_mask);
}

/* Is the node of a bucket that is not empty the child of @parent with this return address? */
static __always_inline bool stack_depot_bucket_matches(const struct stack_depot_tree *tree,
						       u64 bucket,
						       const struct stack_depot_node *parent,
						       u32 ip)
{
	return (u32)bucket == stack_depot_node_id(parent) &&
	       stack_depot_node_ip(stack_depot_node_at(tree, bucket >> 32)) == ip;
}

/*
 * Return addresses as nodes have them. ORC exists on x86_64, where their upper halves are
 * equal. Elsewhere code may be anywhere in memory: nodes have offsets in a window of 4 GiB
 * around the kernel. An address outside the window has a greater offset, which no node has.
 */
static __always_inline unsigned long stack_depot_encode_ip(unsigned long ip)
{
#ifndef CONFIG_STACKDEPOT_UNWIND_ORC
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
	const u64 *bucket = stack_depot_first_bucket(tree, parent, ip);
	u64 word;

	while ((word = READ_ONCE(*bucket++)) != 0)
		if (likely(stack_depot_bucket_matches(tree, word, parent, ip)))
			return stack_depot_node_at(tree, word >> 32);
	return NULL;
}

void stack_depot_prefer_child(const struct stack_depot_tree *tree,
			      struct stack_depot_node *parent, struct stack_depot_node *child);
struct stack_depot_node * __cold
stack_depot_find_traced_child(const struct stack_depot_tree *tree,
			      const struct stack_depot_node *parent, unsigned long slot);

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

/* Is @bp aligned, and are the two words there in the stack? */
static __always_inline bool stack_depot_is_frame_in(unsigned long bp, unsigned long stack)
{
	/* One compare: the rotation makes odd pointers large. */
	return ror64(bp - stack, 3) <= (THREAD_SIZE - 2 * sizeof(long)) >> 3;
}

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

/*
 * Follow a frame pointer that is saved at @bp_slot. The walk ends even if it does not point up,
 * as no node is its own descendant.
 */
static __always_inline enum stack_depot_move
stack_depot_follow_bp(struct stack_depot_caller *position, unsigned long bp_slot)
{
	unsigned long bp = stack_depot_read_stack(bp_slot);

	if (unlikely(!stack_depot_is_frame_in(bp, (unsigned long)task_stack_page(current)) &&
		     !stack_depot_is_frame_in(bp, stack_depot_irq_stack())))
		return STACK_DEPOT_MOVE_FAILS;
	position->slot = bp + sizeof(long);
	return STACK_DEPOT_MOVED;
}

static __always_inline enum stack_depot_move
stack_depot_follow_sp(struct stack_depot_caller *position, unsigned long sp)
{
	position->slot = sp - sizeof(long);
	return likely(stack_depot_on_stack(position->slot)) ? STACK_DEPOT_MOVED :
							      STACK_DEPOT_MOVE_FAILS;
}

/*
 * A system call's entry calls do_syscall_64() with the registers of user space at the top of the
 * task's stack. Test whether BP leads to the words below them, and whether the return address
 * there is that of the node's first child. This child is then the chain's last node. @node: of
 * STACK_DEPOT_NODE_SYSCALL. Return: the child, or NULL if a test fails.
 */
static __no_sanitize_address __always_inline struct stack_depot_node *
stack_depot_find_syscall_entry(const struct stack_depot_node *node, unsigned long slot)
{
	unsigned long entry_slot = (unsigned long)task_pt_regs(current) - sizeof(long);
	struct stack_depot_node *entry = READ_ONCE(node[1].child);

	if (stack_depot_read_stack(slot + node[1].step) != entry_slot - sizeof(long) ||
	    stack_depot_read_stack_half(entry_slot) != stack_depot_node_ip(entry) ||
	    entry->kind == STACK_DEPOT_NODE_STEP)
		return NULL;
	/* The compiler cannot know that this is not NULL: leave out tests for that. */
	if (!entry)
		__builtin_unreachable();
	return entry;
}

/* Move from a node that is not STACK_DEPOT_NODE_STEP to the slot of its caller. */
static __no_sanitize_address __always_inline enum stack_depot_move
stack_depot_follow(const struct stack_depot_node *node, struct stack_depot_caller *position)
{
	unsigned long slot = position->slot, bp_slot = position->bp_slot, bp, sp_slot;
	struct pt_regs *regs;

	/* The most frequent kind. */
	if (likely(node->kind == STACK_DEPOT_NODE_BP))
		return stack_depot_follow_bp(position, slot + node[1].step);
	if (likely(node->kind == STACK_DEPOT_NODE_END))
		return STACK_DEPOT_MOVE_ENDS;
	/* Each chain of an exception that user space caused ends with one. */
	if (node->kind == STACK_DEPOT_NODE_REGS) {
		regs = (struct pt_regs *)(slot + sizeof(long));
		if (likely(user_mode(regs)))
			return STACK_DEPOT_MOVE_ENDS;
		position->slot = (unsigned long)&regs->ip;
		return STACK_DEPOT_MOVED;
	}
	if (likely(node->back != STACK_DEPOT_BACK_UNKNOWN))
		bp_slot = slot - node->back;
	switch (node->kind) {
	case STACK_DEPOT_NODE_SYSCALL:
	case STACK_DEPOT_NODE_CALLER_BP:
		return stack_depot_follow_bp(position, bp_slot);
	case STACK_DEPOT_NODE_REALIGNED:
		bp = stack_depot_read_stack(bp_slot);
		sp_slot = bp - node[1].step;
		if (unlikely(sp_slot <= slot || !stack_depot_on_stack(sp_slot)))
			return STACK_DEPOT_MOVE_FAILS;
		position->bp_slot = bp;
		return stack_depot_follow_sp(position, stack_depot_read_stack(sp_slot));
	case STACK_DEPOT_NODE_INTERRUPTED:
		regs = container_of((unsigned long *)slot, struct pt_regs, ip);
		position->bp_slot = bp_slot;
		return stack_depot_follow_sp(position,
			stack_depot_read_stack((unsigned long)&regs->sp) + node[1].step);
	case STACK_DEPOT_NODE_SWITCH:
		position->bp_slot = bp_slot;
		return stack_depot_follow_sp(position,
			stack_depot_read_stack(slot + sizeof(long)) + node[1].step);
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
 * @reorder: let later walks try the children first that this one found
 *
 * Preemption is off since @tree was read.
 *
 * Return: the node, or NULL if the tree does not have the chain.
 */
static __no_sanitize_address __always_inline struct stack_depot_node *
stack_depot_recognize(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
		      struct stack_depot_caller caller, bool reorder)
{
	struct stack_depot_node *child;
	struct stack_depot_node *node = stack_depot_node_at(tree,
							    STACK_DEPOT_NODE_ROOT(depth, skip));
	u32 ip;

	for (;;) {
		ip = stack_depot_read_stack_half(caller.slot);
		child = READ_ONCE(node->child);
		if (likely(stack_depot_node_ip(child) == ip)) {
			/* Two steps in a round take fewer instructions than one. */
			caller.slot += child->step;
			ip = stack_depot_read_stack_half(caller.slot);
			node = READ_ONCE(child->child);
			if (likely(stack_depot_node_ip(node) == ip)) {
				caller.slot += node->step;
				continue;
			}
			node = child;
		}
		if (unlikely(node->kind != STACK_DEPOT_NODE_STEP)) {
			if (node->kind == STACK_DEPOT_NODE_SYSCALL) {
				child = stack_depot_find_syscall_entry(node, caller.slot);
				if (likely(child))
					return child;
			}
			switch (stack_depot_follow(node, &caller)) {
			case STACK_DEPOT_MOVE_ENDS:
				return node;
			case STACK_DEPOT_MOVE_FAILS:
				return NULL;
			case STACK_DEPOT_MOVED:
				node++;
				continue;
			}
		}
		child = stack_depot_node_at(tree, READ_ONCE(READ_ONCE(node->child)->sibling));
		if (stack_depot_node_ip(child) != ip)
			child = stack_depot_find_child(tree, node, ip);
		if (unlikely(!child)) {
			child = stack_depot_find_traced_child(tree, node, caller.slot);
			if (!child)
				return NULL;
		}
		if (reorder)
			stack_depot_prefer_child(tree, node, child);
		caller.slot += child->step;
		node = child;
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
stack_depot_follow(const struct stack_depot_node *node, struct stack_depot_caller *position)
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
 * @reorder: let later walks try the children first that this one found
 *
 * Preemption is off since @tree was read.
 *
 * One check of each frame pointer suffices: it points into the stack. The walk ends even if
 * it does not point up, as no node is its own descendant.
 *
 * Return: the node, or NULL if the tree does not have the chain.
 */
static __no_sanitize_address __always_inline struct stack_depot_node *
stack_depot_recognize(const struct stack_depot_tree *tree, unsigned int depth, bool skip,
		      struct stack_depot_caller caller, bool reorder)
{
	unsigned long frame = caller.slot - sizeof(long), stack, bp, ip;
	struct stack_depot_node *node, *child;

	stack = (unsigned long)task_stack_page(current);
	if (unlikely(frame - stack >= THREAD_SIZE))
		stack = stack_depot_irq_stack();
	node = stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT(depth, skip));
	for (;; node = child, frame = bp) {
		bp = stack_depot_read_stack(frame);
		caller.slot = frame + sizeof(long);
		ip = stack_depot_strip_ip(stack_depot_read_stack(caller.slot));
		child = READ_ONCE(node->child);
		if (unlikely(stack_depot_node_ip(child) != stack_depot_encode_ip(ip))) {
			/* The frame above the last one has no return address. */
			if (node->kind == STACK_DEPOT_NODE_END || !ip)
				return node;
			child = stack_depot_can_encode_ip(ip) ?
				stack_depot_find_child(tree, node, stack_depot_encode_ip(ip)) :
				NULL;
			if (unlikely(!child)) {
				child = stack_depot_find_traced_child(tree, node, caller.slot);
				if (!child)
					return NULL;
			}
			if (reorder)
				stack_depot_prefer_child(tree, node, child);
		}
		if (likely(stack_depot_is_frame_in(bp, stack)))
			continue;
		switch (stack_depot_follow(child, &caller)) {
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
void stack_depot_tree_init(bool small);
struct stack_depot_node *stack_depot_add_node(struct stack_depot_tree *tree,
					      struct stack_depot_node *parent,
					      unsigned long ip,
					      const struct stack_depot_node *template);
void stack_depot_forget_nodes(unsigned long start, unsigned long size);
void stack_depot_show_tree(struct seq_file *seq);

#else

static inline void stack_depot_tree_init(bool small)
{
}

static inline void stack_depot_forget_nodes(unsigned long start, unsigned long size)
{
}

static inline void stack_depot_show_tree(struct seq_file *seq)
{
}

#endif /* CONFIG_STACKDEPOT_CALL_TREE */

#endif /* _LINUX_STACKDEPOT_TREE_H */
