// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes of the call tree: allocate, add, forget, and start a new tree. See
 * include/linux/stackdepot_tree.h.
 */

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/stackdepot_tree.h>
#include <linux/workqueue.h>

struct stack_depot_tree *stack_depot_tree __read_mostly;

/* Protects against two replacements, and a replacement while nodes are forgotten. */
static DEFINE_MUTEX(tree_mutex);

/* A node takes 36 bytes with its bucket. 4,096 chains of 16 frames take some 27,000 nodes. */
#define NODES_MAX	262144
#define NODES_MIN	4096
/* Share of the machine's memory that a tree may take. */
#define MEMORY_SHARE	128

static void free_tree(struct stack_depot_tree *tree)
{
	kvfree(tree->nodes);
	kvfree(tree->buckets);
	kfree(tree);
}

static struct stack_depot_tree *alloc_tree(u32 base)
{
	unsigned long nodes = (totalram_pages() << PAGE_SHIFT) / MEMORY_SHARE /
			      sizeof(struct stack_depot_node);
	struct stack_depot_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL | __GFP_NOWARN);
	struct stack_depot_node *nobodys;

	if (!tree)
		return NULL;
	nodes = rounddown_pow_of_two(clamp(nodes, NODES_MIN, NODES_MAX));
	tree->bytes = nodes * sizeof(struct stack_depot_node);
	tree->nodes = kvzalloc(tree->bytes, GFP_KERNEL | __GFP_NOWARN);
	tree->buckets = kvcalloc(nodes, sizeof(*tree->buckets), GFP_KERNEL | __GFP_NOWARN);
	tree->shift = 32 - ilog2(nodes);
	tree->base = base;
	atomic_set(&tree->used, STACK_DEPOT_NODE_FIRST);
	if (!tree->nodes || !tree->buckets) {
		free_tree(tree);
		return NULL;
	}
	/* The roots are of the kind BP, which is 0: the first slot is above a saved BP. */
	nobodys = stack_depot_node_at(tree, STACK_DEPOT_NODE_NONE);
	nobodys->ip = STACK_DEPOT_IP_NONE;
	stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT)->child = nobodys;
	stack_depot_node_at(tree, STACK_DEPOT_NODE_ROOT_ALL)->child = nobodys;
	return tree;
}

/**
 * stack_depot_tree_init() - allocate the tree
 *
 * Before this, and if it fails, chains are left to the kernel's unwinder. Idempotent. May
 * sleep.
 */
void stack_depot_tree_init(void)
{
	mutex_lock(&tree_mutex);
	if (!stack_depot_tree)
		/* Pairs with the dependent reads of walks. */
		smp_store_release(&stack_depot_tree, alloc_tree(0));
	mutex_unlock(&tree_mutex);
}

/* --- A full tree --------------------------------------------------------------- */

/*
 * A new tree has to learn all chains again. Wait before a full one is replaced: a short
 * time at first, and twice as long if the last tree was full soon after it was made.
 */
#define REPLACE_DELAY_MIN	(HZ / 20)
#define REPLACE_DELAY_MAX	(10 * HZ)

/* Is there no room for another node if so many bytes are used? */
static bool is_full(const struct stack_depot_tree *tree, u32 used)
{
	return used + sizeof(struct stack_depot_node) > tree->bytes;
}

static void replace_tree(struct work_struct *work)
{
	struct stack_depot_tree *old, *new;

	mutex_lock(&tree_mutex);
	old = stack_depot_tree;
	/* Captures have asked for one more replacement until the last one was in place. */
	if (!is_full(old, atomic_read(&old->used))) {
		mutex_unlock(&tree_mutex);
		return;
	}
	/*
	 * Tags repeat after 2,000 trees. No CPU keeps a reference with an old tag for so
	 * long: see schedule_flush() in stackdepot_refs.c.
	 */
	new = alloc_tree(old->base + old->bytes);
	if (new) {
		/* Pairs with the dependent reads of walks. */
		smp_store_release(&stack_depot_tree, new);
		/* Walks have preemption off. */
		synchronize_rcu();
		free_tree(old);
	}
	mutex_unlock(&tree_mutex);
}

static DECLARE_DELAYED_WORK(replace_work, replace_tree);

static void schedule_replacement(struct irq_work *work)
{
	static unsigned long last, delay = REPLACE_DELAY_MIN;

	if (delayed_work_pending(&replace_work))
		return;
	if (time_before(jiffies, last + 4 * delay))
		delay = min(2 * delay, REPLACE_DELAY_MAX);
	else
		delay = REPLACE_DELAY_MIN;
	last = jiffies;
	schedule_delayed_work(&replace_work, delay);
}

/* A capture can run under any lock, also under the workqueue's. */
static DEFINE_IRQ_WORK(replacement, schedule_replacement);

static struct stack_depot_node *alloc_node(struct stack_depot_tree *tree)
{
	int offset = atomic_read(&tree->used);

	do {
		if (is_full(tree, offset)) {
			if (!delayed_work_pending(&replace_work))
				irq_work_queue(&replacement);
			return NULL;
		}
	} while (!atomic_try_cmpxchg(&tree->used, &offset,
				     offset + sizeof(struct stack_depot_node)));
	return stack_depot_node_at(tree, offset);
}

/* --- Adding and forgetting nodes -------------------------------------------------- */

/**
 * stack_depot_add_node() - add a child to a node
 * @tree: the tree. Preemption is off since it was read.
 * @parent: the node
 * @ip: return address of the child, which stack_depot_can_encode_ip() accepts
 * @template: the child but for @ip, @parent, @next, @child and @handle
 *
 * Return: the child, which another CPU may have added; NULL if the tree is full.
 */
struct stack_depot_node *stack_depot_add_node(struct stack_depot_tree *tree,
					      struct stack_depot_node *parent,
					      unsigned long ip,
					      const struct stack_depot_node *template)
{
	u32 encoded = stack_depot_encode_ip(ip), head;
	u32 *bucket = stack_depot_node_bucket(tree, parent, encoded);
	struct stack_depot_node *nobodys = stack_depot_node_at(tree, STACK_DEPOT_NODE_NONE);
	struct stack_depot_node *node = alloc_node(tree), *other;

	if (!node)
		return NULL;
	*node = *template;
	node->child = nobodys;
	node->ip = encoded;
	node->parent = stack_depot_node_id(parent);
	do {
		head = READ_ONCE(*bucket);
		other = stack_depot_find_child(tree, parent, encoded);
		/* Nobody finds the node that was allocated in vain. */
		if (other)
			return other;
		node->next = head;
		/* Pairs with the dependent reads of stack_depot_find_child(). */
	} while (cmpxchg(bucket, head, stack_depot_node_offset(tree, node)) != head);
	cmpxchg(&parent->child, nobodys, node);
	return node;
}

/**
 * stack_depot_forget_nodes() - forget all nodes whose return address is in a range
 * @start: the first address
 * @size: in bytes
 *
 * The text there is going to be freed, or is new. The nodes below a forgotten one cannot be
 * reached any more. Nodes that are added meanwhile may stay: see add_lasting_node().
 */
void stack_depot_forget_nodes(unsigned long start, unsigned long size)
{
	struct stack_depot_tree *tree;
	u32 offset, used;

	mutex_lock(&tree_mutex);
	tree = stack_depot_tree;
	used = tree ? atomic_read(&tree->used) : 0;
	for (offset = STACK_DEPOT_NODE_FIRST; offset < used;
	     offset += sizeof(struct stack_depot_node)) {
		struct stack_depot_node *node = stack_depot_node_at(tree, offset);

		/* A return address can be just behind the range. */
		if (READ_ONCE(node->ip) - stack_depot_encode_ip(start) - 1 < size)
			WRITE_ONCE(node->ip, STACK_DEPOT_IP_NONE);
	}
	mutex_unlock(&tree_mutex);
}
