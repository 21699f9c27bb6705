// SPDX-License-Identifier: GPL-2.0
/*
 * Find the rule of an allocation.
 *
 * The last rule that matches decides. If the fields of a cache alone tell which
 * rule that is, the cache keeps its choice until the rules change. Otherwise
 * the rules are evaluated for each allocation from the cache.
 */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/tracepoint-defs.h>

#include "../../internal.h"
#include "../../slab.h"
#include "../cache.h"
#include "../capture.h"
#include "../cgroup.h"
#include "../sample.h"
#include "rules.h"
#include "table.h"

struct owner_rule_table __rcu *owner_rules_table;

static DEFINE_PER_CPU(struct owner_rule_cpu, default_rule_cpu);

struct owner_rule_entry owner_default_rule = {
	.cpu = &default_rule_cpu,
	.published = true,
};

/* The choice of a rule, or the default. */
static struct owner_choice choice_of(const struct owner_rule_entry *entry)
{
	return entry->sentence ? entry->choice : owner_default_choice;
}

/* --- Comparing the call chain -------------------------------------------------- */

/* Task, softirq, hard interrupt: values of interrupt_context_level(). Hooks exclude NMI. */
#define NR_CONTEXTS	3

/* A chain is too large for a stack that may be nearly full. */
struct chain_buffers {
	unsigned long frames[NR_CONTEXTS][OWNER_FRAMES_MAX];
};

static struct chain_buffers __percpu *chain_buffers;

/**
 * owner_rules_alloc_chain_buffers() - prepare for rules that compare call chains
 *
 * Call it before a rule with func or module is published. Idempotent.
 *
 * Return: 0 or -ENOMEM.
 */
int owner_rules_alloc_chain_buffers(void)
{
	if (!chain_buffers)
		chain_buffers = alloc_percpu(struct chain_buffers);
	return chain_buffers ? 0 : -ENOMEM;
}

static bool chain_matches(const struct owner_rule_entry *entry, unsigned int comparison,
			  const unsigned long *frames, unsigned int count)
{
	const struct owner_symbol_ranges *ranges = rcu_dereference(entry->ranges[comparison]);
	const struct owner_sentence *s = entry->sentence;
	unsigned int i;

	if (ranges)
		return owner_symbol_ranges_contain(ranges, frames, count);
	for (i = 0; i < count; i++)
		if (owner_frame_matches(s, &s->comparisons[comparison], frames[i]))
			return true;
	return false;
}

/*
 * Unwind the stack and evaluate all comparisons of func and module. Returns a bit
 * mask of the comparisons that hold. Preemption is disabled because the buffers
 * are per CPU and context.
 */
static noinline u32 evaluate_chain_comparisons(const struct owner_rule_entry *entry,
					       struct stack_depot_caller caller)
{
	unsigned int i, count, level = interrupt_context_level();
	const struct owner_sentence *s = entry->sentence;
	unsigned long *frames;
	u32 outcomes = 0;

	if (level >= NR_CONTEXTS)
		return 0;
	preempt_disable();
	frames = this_cpu_ptr(chain_buffers)->frames[level];
	count = stack_depot_get_frames(frames, OWNER_FRAMES_MAX, STACK_DEPOT_FLAG_SKIP, caller);
	for (i = 0; i < s->nr_comparisons; i++)
		if (owner_comparison_needs_chain(&s->comparisons[i]) &&
		    chain_matches(entry, i, frames, count))
			outcomes |= BIT(i);
	preempt_enable();
	return outcomes;
}

/* --- Field values of an allocation --------------------------------------------- */

/* The allocation whose rule is being looked for. */
struct allocation {
	struct owner_field_values fields;
	struct stack_depot_caller caller;
	const struct owner_rule_entry *entry;	/* the rule that is being evaluated */
	bool chain_compared;			/* chain_outcomes is valid for this rule */
	u32 chain_outcomes;			/* result of evaluate_chain_comparisons() */
};

/**
 * owner_gfp_matches() - compare the names of gfp flags
 * @s: a sentence
 * @c: one of its comparisons, of gfp
 * @flags: gfp flags
 *
 * Return: true if @flags contain all bits of a flag, or of a combination as
 *	GFP_KERNEL, whose name matches.
 */
bool owner_gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
		       unsigned long flags)
{
	const struct trace_print_flags *flag;

	for (flag = gfpflag_names; flag->name; flag++)
		if (flag->mask && (flags & flag->mask) == flag->mask &&
		    owner_lang_word_matches(s, c, flag->name))
			return true;
	return false;
}

static void store_cgroup_outcome(const struct owner_rule_entry *entry, u64 cgroup, u32 bit,
				 bool holds)
{
	struct owner_rule_cpu *cpu;

	preempt_disable();
	cpu = this_cpu_ptr(entry->cpu);
	if (cpu->cgroup != cgroup) {
		cpu->cgroup = cgroup;
		cpu->known = 0;
		cpu->holds = 0;
	}
	cpu->known |= bit;
	if (holds)
		cpu->holds |= bit;
	preempt_enable();
}

/*
 * Compare the cgroup of the current task. Interrupts have none. Printing a cgroup's path takes a
 * lock that all CPUs share. Therefore each CPU keeps the outcomes for its last cgroup, those of
 * each rule apart: comparisons do not evict each other. Cgroup numbers are never reused.
 */
static noinline bool cgroup_matches(const struct owner_rule_entry *entry,
				    const struct owner_comparison *c)
{
	const struct owner_sentence *s = entry->sentence;
	u32 known, holds, bit = BIT(c - s->comparisons);
	u64 cgroup = owner_cgroup_number();
	const struct owner_rule_cpu *cpu;
	char path[OWNER_CGROUP_MAX];
	bool match;

	if (!cgroup)
		return false;
	preempt_disable();
	cpu = this_cpu_ptr(entry->cpu);
	known = cpu->cgroup == cgroup ? cpu->known : 0;
	holds = cpu->holds;
	preempt_enable();
	if (known & bit)
		return holds & bit;
	/* The task may have moved since: store the outcome for the cgroup whose path this is. */
	cgroup = owner_cgroup_of_task(path);
	match = cgroup && owner_lang_word_matches(s, c, path);
	if (cgroup)
		store_cgroup_outcome(entry, cgroup, bit, match);
	return match;
}

/* owner_field_values.any_word_matches of an allocation. */
static bool any_word_matches(const struct owner_field_values *fields,
			     const struct owner_sentence *s, const struct owner_comparison *c)
{
	struct allocation *allocation = container_of(fields, struct allocation, fields);

	if (c->field == OWNER_FIELD_GFP)
		return owner_gfp_matches(s, c, fields->value[OWNER_FIELD_GFP].number);
	if (c->field == OWNER_FIELD_CGROUP)
		return cgroup_matches(allocation->entry, c);
	if (!allocation->chain_compared) {
		allocation->chain_compared = true;
		allocation->chain_outcomes = evaluate_chain_comparisons(allocation->entry,
									allocation->caller);
	}
	return allocation->chain_outcomes & BIT(c - s->comparisons);
}

/* Fields that have the same value in all allocations from a cache. */
#define FIELDS_OF_CACHE		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_HELD) | \
				 BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_KIND))
/* Fields that have the same value in all page or per-CPU allocations. */
#define FIELDS_OF_SOURCE	(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND))
/* Fields that a rule can use: enum owner_field has them before OWNER_FIELD_AGE. */
#define FIELDS_OF_ALLOCATION	(BIT(OWNER_FIELD_AGE) - 1)

static void set_cache_fields(struct owner_field_values *fields, const struct kmem_cache *s)
{
	fields->known_fields = FIELDS_OF_CACHE;
	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	fields->value[OWNER_FIELD_CACHE].word = s->name;
	fields->value[OWNER_FIELD_HELD].number = s->size;
	fields->value[OWNER_FIELD_KIND].number = OWNER_SOURCE_SLAB;
}

/* @source: OWNER_SOURCE_PAGE or OWNER_SOURCE_PERCPU. */
static void set_source_fields(struct owner_field_values *fields, enum owner_source source,
			      size_t size)
{
	fields->known_fields = FIELDS_OF_SOURCE;
	fields->absent_fields = BIT(OWNER_FIELD_CACHE);
	fields->value[OWNER_FIELD_KIND].number = source;
	if (source == OWNER_SOURCE_PAGE) {
		fields->value[OWNER_FIELD_ORDER].number = get_order(size);
		fields->value[OWNER_FIELD_HELD].number = PAGE_SIZE << get_order(size);
	} else {
		/* A per-CPU area has pages of many nodes. */
		fields->absent_fields |= BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_NID);
		fields->value[OWNER_FIELD_HELD].number = size;
	}
}

/* Set the remaining fields. Only the fields in @fields_used must be valid. */
static void set_allocation_fields(struct owner_field_values *fields, unsigned int fields_used,
				  gfp_t flags, size_t size, int nid)
{
	fields->known_fields = FIELDS_OF_ALLOCATION;
	fields->value[OWNER_FIELD_SIZE].number = size;
	fields->value[OWNER_FIELD_GFP].number = (__force unsigned long)flags;
	fields->value[OWNER_FIELD_NID].number = nid;
	fields->value[OWNER_FIELD_PID].number = current->pid;
	fields->value[OWNER_FIELD_TGID].number = current->tgid;
	fields->value[OWNER_FIELD_COMM].word = current->comm;
	fields->value[OWNER_FIELD_CGROUP].word = NULL;
	if (fields_used & BIT(OWNER_FIELD_TS))
		fields->value[OWNER_FIELD_TS].number = local_clock();
	fields->any_word_matches = any_word_matches;
}

/* --- Finding the rule ---------------------------------------------------------- */

/*
 * Find the rule from the fields that are known before an allocation. Returns its
 * number, or OWNER_RESOLVE_PER_ALLOCATION if other fields can change the result.
 */
static unsigned int resolve_rule(const struct owner_rule_table *table,
				 const struct owner_field_values *fields)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		const struct owner_sentence *s = table->entries[number]->sentence;

		switch (owner_lang_evaluate_known_fields(s, fields)) {
		case OWNER_VERDICT_TRUE:
			return number;
		case OWNER_VERDICT_UNDECIDED:
			return OWNER_RESOLVE_PER_ALLOCATION;
		case OWNER_VERDICT_FALSE:
			break;
		}
	}
	return 0;
}

static unsigned int resolve_cache_rule(const struct owner_rule_table *table,
				       const struct kmem_cache *s)
{
	struct owner_field_values fields;

	set_cache_fields(&fields, s);
	return resolve_rule(table, &fields);
}

/**
 * owner_rules_find_common_rule() - find the rule of all allocations from a source
 * @table: a table of rules
 * @source: OWNER_SOURCE_PAGE or OWNER_SOURCE_PERCPU
 *
 * Return: the number of the rule, or OWNER_RESOLVE_PER_ALLOCATION.
 */
unsigned int owner_rules_find_common_rule(const struct owner_rule_table *table,
					  enum owner_source source)
{
	struct owner_field_values fields;

	/* The size does not matter: FIELDS_OF_SOURCE leaves order and held unknown. */
	set_source_fields(&fields, source, 1);
	return resolve_rule(table, &fields);
}

/* Evaluate the rules with all field values. Returns the number of the rule that decides. */
static unsigned int evaluate_rules(const struct owner_rule_table *table,
				   struct allocation *allocation)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		allocation->entry = table->entries[number];
		allocation->chain_compared = false;
		if (owner_lang_matches(allocation->entry->sentence, &allocation->fields))
			break;
	}
	return number;
}

/* Find the rule of one allocation. @source is used if @s, its cache, is NULL. */
static unsigned int find_allocation_rule(const struct owner_rule_table *table,
					 const struct kmem_cache *s, enum owner_source source,
					 gfp_t flags, size_t size, int nid,
					 struct stack_depot_caller caller)
{
	struct allocation allocation;

	allocation.caller = caller;
	if (s)
		set_cache_fields(&allocation.fields, s);
	else
		set_source_fields(&allocation.fields, source, size);
	set_allocation_fields(&allocation.fields, table->fields_used, flags, size, nid);
	return evaluate_rules(table, &allocation);
}

static struct owner_choice count_rule_hit(const struct owner_rule_entry *entry)
{
	this_cpu_inc(entry->cpu->hits);
	return choice_of(entry);
}

/* Resolve and store the rule of a cache. NULL if its allocations have several rules. */
static const struct owner_rule_entry *resolve_and_store_rule(const struct owner_rule_table *table,
							     struct kmem_cache *s)
{
	unsigned int number = table ? resolve_cache_rule(table, s) : 0;
	const struct owner_rule_entry *entry;

	if (number == OWNER_RESOLVE_PER_ALLOCATION) {
		owner_store_cache_per_allocation(s);
		return NULL;
	}
	entry = table ? table->entries[number] : &owner_default_rule;
	owner_store_cache_choice(s, choice_of(entry));
	return entry;
}

/**
 * owner_rules_store_cache_rule() - resolve and store the rule of a cache again
 * @s: the cache
 *
 * Context: table_mutex of control/change.c is held, and an RCU grace period has elapsed since the
 * table was published and the rules of caches were cleared. An allocation that runs at the
 * same time stores the same values.
 */
void owner_rules_store_cache_rule(struct kmem_cache *s)
{
	rcu_read_lock();
	if (!owner_frees_recorded)
		WRITE_ONCE(s->owner_keeps_freed, false);
	resolve_and_store_rule(rcu_dereference(owner_rules_table), s);
	rcu_read_unlock();
}

/**
 * owner_choose_object_tracking() - choose for an object whose cache has no resolved rule
 * @s: the object's cache
 * @flags: gfp flags of the allocation
 * @size: requested bytes
 * @nid: memory node of the object
 * @caller: STACK_DEPOT_CALLER of the allocator's hook
 *
 * Resolves the rule of the cache if it is not stored there yet.
 *
 * Context: in an RCU read-side critical section; not in NMI.
 */
struct owner_choice owner_choose_object_tracking(struct kmem_cache *s, gfp_t flags, size_t size,
						 int nid, struct stack_depot_caller caller)
{
	const struct owner_rule_table *table = rcu_dereference(owner_rules_table);
	struct owner_choice choice = { .word = READ_ONCE(s->owner_choice) };
	const struct owner_rule_entry *entry;
	unsigned int number;

	/* Without a table, a cache can keep this value only while its choice is being cleared. */
	if (!table || choice.cache != OWNER_CACHE_PER_ALLOCATION) {
		entry = resolve_and_store_rule(table, s);
		if (entry)
			return choice_of(entry);
	}
	number = find_allocation_rule(table, s, OWNER_SOURCE_SLAB, flags, size, nid, caller);
	choice = count_rule_hit(table->entries[number]);
	if (choice.free)
		owner_mark_cache_keeps_freed(s);
	return choice;
}

/**
 * owner_rules_count_caches() - count the caches for whose objects one rule decides
 * @table: a table of rules
 * @counts: the counts, by the number of the rule
 *
 * Context: takes slab_mutex.
 *
 * Return: 0, -EINTR if the task is killed.
 */
int owner_rules_count_caches(const struct owner_rule_table *table, unsigned int *counts)
{
	const struct kmem_cache *s;
	unsigned int number;

	memset(counts, 0, (OWNER_RULES_MAX + 1) * sizeof(*counts));
	if (mutex_lock_killable(&slab_mutex))
		return -EINTR;
	list_for_each_entry(s, &slab_caches, list) {
		if (!slab_owner_tracks_cache(s))
			continue;
		number = resolve_cache_rule(table, s);
		if (number != OWNER_RESOLVE_PER_ALLOCATION)
			counts[number]++;
	}
	mutex_unlock(&slab_mutex);
	return 0;
}

/* Find the rule of a page or per-CPU allocation. Call it with the RCU read lock held. */
static const struct owner_rule_entry *find_source_rule(enum owner_source source, gfp_t flags,
						       size_t size, int nid,
						       struct stack_depot_caller caller)
{
	const struct owner_rule_table *table = rcu_dereference(owner_rules_table);
	unsigned int number;

	if (!table)
		return &owner_default_rule;
	number = table->by_source[source];
	if (number == OWNER_RESOLVE_PER_ALLOCATION)
		number = find_allocation_rule(table, NULL, source, flags, size, nid, caller);
	return table->entries[number];
}

/**
 * owner_choose_percpu_tracking() - choose for a per-CPU allocation
 * @flags: gfp flags of the allocation
 * @size: bytes on all CPUs together
 * @caller: STACK_DEPOT_CALLER of the allocator's hook
 *
 * Context: not in NMI.
 */
struct owner_choice owner_choose_percpu_tracking(gfp_t flags, size_t size,
						 struct stack_depot_caller caller)
{
	struct owner_choice choice;

	rcu_read_lock();
	choice = count_rule_hit(find_source_rule(OWNER_SOURCE_PERCPU, flags, size, NUMA_NO_NODE,
						 caller));
	rcu_read_unlock();
	return choice;
}

/**
 * owner_evaluate_pages_depth() - choose the depth for an allocation of pages by the rules
 * @flags: gfp flags of the allocation
 * @order: order of the allocation
 * @nid: memory node of the pages
 * @caller: STACK_DEPOT_CALLER of the allocator's hook
 * @default_depth: depth if no rule matches or the rule sets no depth
 *
 * Context: not in NMI.
 *
 * Return: frames to keep; 0: the pages get no owner. Pages are never sampled.
 */
unsigned int owner_evaluate_pages_depth(gfp_t flags, unsigned int order, int nid,
					struct stack_depot_caller caller,
					unsigned int default_depth)
{
	const struct owner_rule_entry *entry;
	unsigned int depth = default_depth;

	rcu_read_lock();
	entry = find_source_rule(OWNER_SOURCE_PAGE, flags, PAGE_SIZE << order, nid, caller);
	count_rule_hit(entry);
	if (entry->sentence)
		depth = entry->sentence->track ? entry->sentence->depth ?: default_depth : 0;
	rcu_read_unlock();
	return depth;
}
