// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes of the call tree: allocate, add, forget, and start a new tree. See
 * include/linux/stackdepot_tree.h.
 */

#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stackdepot_tree.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

struct stack_depot_tree *stack_depot_tree __read_mostly;

/* Protects against two replacements, and a replacement while nodes are forgotten. */
static DEFINE_MUTEX(tree_mutex);

/* With two buckets. 4,096 chains of 16 frames take some 27,000 nodes. */
#define NODE_MEMORY	(sizeof(struct stack_depot_node) + 2 * sizeof(u64))
#define NODES_MAX	BIT(STACK_DEPOT_NODES_MAX_BITS)
/* Buckets behind the last one that a hash selects, for nodes whose own bucket is in use. */
#define SPARE_BUCKETS	1024
/* Share of the machine's memory that a tree may take. */
#define MEMORY_SHARE	64

static void free_tree(struct stack_depot_tree *tree)
{
	kvfree(tree->nodes);
	vfree(tree->buckets);
	kfree(tree);
}

static unsigned long max_nodes(void)
{
	unsigned long nodes = (totalram_pages() << PAGE_SHIFT) / MEMORY_SHARE / NODE_MEMORY;

	return rounddown_pow_of_two(clamp(nodes, STACK_DEPOT_NODES_MIN, NODES_MAX));
}

/* @nodes: a power of two. @first_tag: the tag that the first node gets. */
static struct stack_depot_tree *alloc_tree(unsigned long nodes, u32 first_tag)
{
	struct stack_depot_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL | __GFP_NOWARN);
	struct stack_depot_node *nobody, *root;
	u32 offset;

	if (!tree)
		return NULL;
	tree->bytes = nodes * sizeof(struct stack_depot_node);
	tree->nodes = kvzalloc(tree->bytes, GFP_KERNEL | __GFP_NOWARN);
	/* A little more than a power of two bytes: kmalloc() would take twice as much. */
	tree->buckets = __vmalloc_array(2 * nodes + SPARE_BUCKETS, sizeof(u64),
					GFP_KERNEL | __GFP_NOWARN | __GFP_ZERO);
	tree->bucket_mask = (2 * nodes - 1) * sizeof(u64);
	atomic_set(&tree->used, STACK_DEPOT_NODE_FIRST);
	if (!tree->nodes || !tree->buckets) {
		free_tree(tree);
		return NULL;
	}
	nobody = stack_depot_node_at(tree, STACK_DEPOT_NODE_NOBODY);
	tree->base = first_tag - stack_depot_node_id(nobody);
	nobody->ip = STACK_DEPOT_IP_NONE;
	for (offset = sizeof(*root); offset < STACK_DEPOT_NODE_FIRST;
	     offset += sizeof(*root)) {
		root = stack_depot_node_at(tree, offset);
		root->child = nobody;
		root->back = STACK_DEPOT_BACK_UNKNOWN;
	}
	return tree;
}

/* Nodes of a tree that starts small. */
#define NODES_FEW	BIT(15)

/**
 * stack_depot_tree_init() - allocate the tree
 * @small: start with few nodes. Each replacement has twice as many as the tree before.
 *
 * Before this, and if it fails, chains are left to the kernel's unwinder. A tree that exists
 * stays, also a small one. May sleep.
 */
void stack_depot_tree_init(bool small)
{
	unsigned long nodes = small ? min(NODES_FEW, max_nodes()) : max_nodes();

	mutex_lock(&tree_mutex);
	if (!stack_depot_tree)
		/* Pairs with the dependent reads of walks. */
		smp_store_release(&stack_depot_tree, alloc_tree(nodes, 0));
	mutex_unlock(&tree_mutex);
}

/* Print the bytes that the tree takes, and those of its nodes that are in use. */
void stack_depot_show_tree(struct seq_file *seq)
{
	const struct stack_depot_tree *tree;
	unsigned long bytes = 0, used = 0;

	rcu_read_lock();
	tree = READ_ONCE(stack_depot_tree);
	if (tree) {
		bytes = tree->bytes + tree->bucket_mask + (SPARE_BUCKETS + 1) * sizeof(u64);
		used = atomic_read(&tree->used);
	}
	rcu_read_unlock();
	seq_printf(seq, "tree_bytes: %lu\n", bytes);
	seq_printf(seq, "tree_nodes_bytes: %lu\n", used);
}

/* --- Replacing a tree --------------------------------------------------------------- */

/*
 * A new tree has to learn all chains again. Wait before a tree is replaced: a short time at
 * first, and twice as long if the last replacement was not long ago.
 */
#define REPLACE_DELAY_MIN	(HZ / 20)
#define REPLACE_DELAY_MAX	(10 * HZ)

/* Is there no room for another two nodes if so many bytes are used? */
static bool is_full(const struct stack_depot_tree *tree, u32 used)
{
	return used + 2 * sizeof(struct stack_depot_node) > tree->bytes;
}

/*
 * Is it time for a new tree? The rest of this one has room for the chains that are new until
 * the replacement: looking up the frames of a chain that finds no room takes long.
 */
static bool is_nearly_full(const struct stack_depot_tree *tree, u32 used)
{
	return used > tree->bytes - tree->bytes / 8;
}

static void replace_tree(struct work_struct *work)
{
	struct stack_depot_tree *old, *new;
	unsigned long nodes;
	u32 first_tag;

	mutex_lock(&tree_mutex);
	old = stack_depot_tree;
	/* Captures have asked for one more replacement until the last one was in place. */
	if (!is_nearly_full(old, atomic_read(&old->used))) {
		mutex_unlock(&tree_mutex);
		return;
	}
	/*
	 * Tags repeat after 512 trees of the largest size, so after 25 seconds or more. No CPU
	 * keeps a reference with an old tag for so long: see schedule_flush() in
	 * stackdepot_refs.c.
	 */
	nodes = min(2 * old->bytes / sizeof(struct stack_depot_node), max_nodes());
	first_tag = stack_depot_node_tag(old, old->nodes) + old->bytes;
	new = alloc_tree(nodes, first_tag) ?: alloc_tree(nodes / 2, first_tag);
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

	/* Captures also ask for a new tree while it is being made. */
	if (work_busy(&replace_work.work))
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

/* Allocate one node, or two neighbours. */
static struct stack_depot_node *alloc_nodes(struct stack_depot_tree *tree, unsigned int count)
{
	int offset = atomic_read(&tree->used);

	if (unlikely(is_nearly_full(tree, offset)) && !delayed_work_pending(&replace_work))
		irq_work_queue(&replacement);
	do {
		if (is_full(tree, offset))
			return NULL;
	} while (!atomic_try_cmpxchg(&tree->used, &offset,
				     offset + count * sizeof(struct stack_depot_node)));
	return stack_depot_node_at(tree, offset);
}

/* The bucket that stays empty. */
static u64 *last_bucket(struct stack_depot_tree *tree)
{
	return (u64 *)(tree->buckets + tree->bucket_mask) + SPARE_BUCKETS;
}

/* --- Adding and forgetting nodes -------------------------------------------------- */

/**
 * stack_depot_add_node() - add a child to a node
 * @tree: the tree. Preemption is off since it was read.
 * @parent: the node
 * @ip: return address of the child, which stack_depot_can_encode_ip() accepts
 * @template: the child but for @ip, @parent, @child and @handle; and the next node if the
 *	child's kind has one
 *
 * Return: the child, which another CPU may have added; NULL if the tree is full.
 */
struct stack_depot_node *stack_depot_add_node(struct stack_depot_tree *tree,
					      struct stack_depot_node *parent,
					      unsigned long ip,
					      const struct stack_depot_node *template)
{
	struct stack_depot_node *nobody = stack_depot_node_at(tree, STACK_DEPOT_NODE_NOBODY);
	unsigned int i, count = stack_depot_node_count(template);
	u64 *bucket, other = 0, word = stack_depot_node_id(parent);
	u32 encoded = stack_depot_encode_ip(ip);
	struct stack_depot_node *node, *child;

	node = alloc_nodes(tree, count);
	if (!node)
		return NULL;
	for (i = 0; i < count; i++) {
		node[i] = template[i];
		node[i].ip = STACK_DEPOT_IP_NONE;
		node[i].child = nobody;
	}
	node->ip = encoded;
	word |= (u64)stack_depot_node_offset(tree, node) << 32;
	bucket = stack_depot_first_bucket(tree, parent, encoded);
	/* Pairs with the dependent reads of stack_depot_find_child(). */
	while (bucket != last_bucket(tree) && (other = cmpxchg(bucket, 0, word)) != 0) {
		/* Nobody finds the node that was allocated in vain. */
		if (stack_depot_bucket_matches(tree, other, parent, encoded))
			return stack_depot_node_at(tree, other >> 32);
		bucket++;
	}
	if (bucket == last_bucket(tree))
		return NULL;
	child = cmpxchg(&parent->child, nobody, node);
	if (child != nobody)
		cmpxchg(&child->sibling, STACK_DEPOT_NODE_NOBODY,
			stack_depot_node_offset(tree, node));
	return node;
}

/**
 * stack_depot_prefer_child() - let walks try a child first
 * @tree: the tree. Preemption is off since it was read.
 * @parent: the node
 * @child: one of its children
 *
 * The child that was first until now comes second. A walk finds other children in the hash table,
 * which takes five times as many instructions.
 *
 * The first capture of a CPU in a tick calls this for each node of its chain, so a child that is
 * used often is most often first. Several CPUs can do so at a time: whichever child is first
 * then, walks find all children.
 */
void stack_depot_prefer_child(const struct stack_depot_tree *tree,
			      struct stack_depot_node *parent, struct stack_depot_node *child)
{
	struct stack_depot_node *first = READ_ONCE(parent->child);

	if (first == child)
		return;
	WRITE_ONCE(child->sibling, stack_depot_node_offset(tree, first));
	/* Pairs with the dependent reads of walks. */
	smp_store_release(&parent->child, child);
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
	struct stack_depot_node *node, *child, *nobody;
	struct stack_depot_tree *tree;
	u32 offset, used;

	mutex_lock(&tree_mutex);
	tree = stack_depot_tree;
	used = tree ? atomic_read(&tree->used) : 0;
	for (offset = STACK_DEPOT_NODE_FIRST; offset < used; offset += sizeof(*node)) {
		node = stack_depot_node_at(tree, offset);
		/* A return address can be just behind the range. */
		if (READ_ONCE(node->ip) - stack_depot_encode_ip(start) - 1 < size)
			WRITE_ONCE(node->ip, STACK_DEPOT_IP_NONE);
	}
	/* Walks shall try the next children that are added first. */
	for (offset = STACK_DEPOT_NODE_ROOT(1, 0); offset < used; offset += sizeof(*node)) {
		node = stack_depot_node_at(tree, offset);
		nobody = stack_depot_node_at(tree, STACK_DEPOT_NODE_NOBODY);
		child = READ_ONCE(node->child);
		/* A node that is being added has no @child yet. */
		if (child && child != nobody && READ_ONCE(child->ip) == STACK_DEPOT_IP_NONE)
			cmpxchg(&node->child, child, nobody);
	}
	mutex_unlock(&tree_mutex);
}
