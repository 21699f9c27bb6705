// SPDX-License-Identifier: GPL-2.0
/*
 * Merge the settings of an allocation from the rules that match it.
 *
 * The last rule that matches and names a setting decides it. If the fields of a cache
 * alone tell which rules match, the cache keeps the choice until the rules change.
 * Otherwise the rules are evaluated for each allocation from the cache.
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

/* The allocation whose settings are being merged. */
struct allocation {
	struct owner_field_values fields;
	struct stack_depot_caller caller;
	const struct owner_rule_table *table;
	unsigned int number;		/* of the rule that is being evaluated */
	bool chain_is_compared;		/* chain_outcomes is valid */
	u64 chain_outcomes;		/* a bit for each comparison, by find_chain_bit() */
};

static_assert(OWNER_CHAIN_COMPARISONS_MAX <= 64);

/* The bit of a comparison in chain_outcomes. */
static u64 find_chain_bit(const struct allocation *allocation, const struct owner_comparison *c)
{
	const struct owner_rule_table *table = allocation->table;
	const struct owner_sentence *s = table->entries[allocation->number]->sentence;
	unsigned int i, bit = table->first_chain_bit[allocation->number];

	for (i = 0; &s->comparisons[i] != c; i++)
		bit += owner_comparison_needs_chain(&s->comparisons[i]);
	return BIT_ULL(bit);
}

/* Compare a chain with the functions and modules that one rule names. */
static u64 compare_chain(const struct owner_rule_entry *entry, unsigned int bit,
			 const unsigned long *frames, unsigned int count)
{
	const struct owner_sentence *s = entry->sentence;
	u64 outcomes = 0;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		if (!owner_comparison_needs_chain(&s->comparisons[i]))
			continue;
		if (chain_matches(entry, i, frames, count))
			outcomes |= BIT_ULL(bit);
		bit++;
	}
	return outcomes;
}

/*
 * Unwind the stack once, and compare the chain with the rules that remain and that the other
 * fields do not exclude. Preemption is disabled because the buffers are per CPU and context.
 */
static noinline u64 evaluate_chain_comparisons(const struct allocation *allocation)
{
	const struct owner_rule_table *table = allocation->table;
	unsigned int number, count, level = interrupt_context_level();
	unsigned long *frames;
	u64 outcomes = 0;

	if (level >= NR_CONTEXTS)
		return 0;
	preempt_disable();
	frames = this_cpu_ptr(chain_buffers)->frames[level];
	count = stack_depot_get_frames(frames, OWNER_FRAMES_MAX, STACK_DEPOT_FLAG_SKIP,
				       allocation->caller);
	for (number = 1; number <= allocation->number; number++) {
		const struct owner_rule_entry *entry = table->entries[number];

		if (entry->sentence->fields_used & OWNER_FIELDS_OF_CHAIN &&
		    owner_lang_evaluate_known_fields(entry->sentence, &allocation->fields) !=
		    OWNER_VERDICT_FALSE)
			outcomes |= compare_chain(entry, table->first_chain_bit[number], frames,
						  count);
	}
	preempt_enable();
	return outcomes;
}

/* --- Field values of an allocation --------------------------------------------- */

/**
 * owner_gfp_matches() - compare the names of gfp flags
 * @s: a sentence
 * @c: one of its comparisons, of gfp
 * @flags: gfp flags
 *
 * Return: true if one of the names that %pGg prints of @flags matches. A flag that is a part of a
 *	printed combination, as GFP_KERNEL, has no name of its own.
 */
bool owner_gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
		       unsigned long flags)
{
	const struct trace_print_flags *flag;

	for (flag = gfpflag_names; flag->name && flags; flag++) {
		if (!flag->mask || (flags & flag->mask) != flag->mask)
			continue;
		if (owner_lang_word_matches(s, c, flag->name))
			return true;
		flags &= ~flag->mask;
	}
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
 * Compare the cgroup of the current task. In interrupts the field is missing. Printing a path takes
 * a lock that all CPUs share. Therefore each CPU keeps the outcomes for its last cgroup, those of
 * each rule apart: comparisons do not evict each other. A hierarchy does not reuse numbers.
 */
static noinline bool cgroup_matches(const struct owner_rule_entry *entry,
				    const struct owner_comparison *c)
{
	const struct owner_sentence *s = entry->sentence;
	u32 known, holds, bit = BIT(c - s->comparisons);
	u64 cgroup = in_task() ? owner_cgroup_of_task(NULL) : 0;
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
	if (c->field == OWNER_FIELD_TASK_CGROUP)
		return cgroup_matches(allocation->table->entries[allocation->number], c);
	if (!allocation->chain_is_compared) {
		allocation->chain_is_compared = true;
		allocation->chain_outcomes = evaluate_chain_comparisons(allocation);
	}
	return allocation->chain_outcomes & find_chain_bit(allocation, c);
}

/* Fields that have the same value in all allocations from a cache. */
#define FIELDS_OF_CACHE		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_HELD) | \
				 BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_KIND))
/* Fields that have the same value in all page or per-CPU allocations. */
#define FIELDS_OF_KIND	(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND))
/* Fields that a rule can use: enum owner_field has them before OWNER_FIELD_AGE. */
#define FIELDS_OF_RULES		(BIT(OWNER_FIELD_AGE) - 1)
/* Fields whose values an allocation has. To find the others takes a function call. */
#define FIELDS_OF_ALLOCATION	(FIELDS_OF_RULES & ~(OWNER_FIELDS_OF_CHAIN | \
						     BIT(OWNER_FIELD_TASK_CGROUP)))

/*
 * kmem_cache_alloc() asks for objects of one size. kmalloc() does not, nor does
 * kmem_buckets_alloc(), whose caches have kmalloc's sizes and no mark. If a cache that is created
 * later is merged with this one and has larger objects, a stored choice is that of the smaller
 * size until the rules change.
 */
static bool has_one_size(const struct kmem_cache *s)
{
	if (s->flags & SLAB_KMALLOC)
		return false;
	return !IS_ENABLED(CONFIG_SLAB_BUCKETS) ||
	       kmalloc_size_roundup(s->object_size) != s->object_size;
}

static void set_cache_fields(struct owner_field_values *fields, const struct kmem_cache *s)
{
	fields->known_fields = FIELDS_OF_CACHE;
	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	fields->value[OWNER_FIELD_CACHE].word = s->name;
	fields->value[OWNER_FIELD_HELD].number = s->size;
	fields->value[OWNER_FIELD_KIND].number = OWNER_KIND_SLAB;
}

/* Set all fields that are known before an allocation. */
static void set_known_cache_fields(struct owner_field_values *fields, const struct kmem_cache *s)
{
	set_cache_fields(fields, s);
	if (has_one_size(s)) {
		fields->known_fields |= BIT(OWNER_FIELD_SIZE);
		fields->value[OWNER_FIELD_SIZE].number = s->object_size;
	}
}

/* @kind: OWNER_KIND_PAGE or OWNER_KIND_PERCPU. */
static void set_kind_fields(struct owner_field_values *fields, enum owner_kind kind, size_t size)
{
	fields->known_fields = FIELDS_OF_KIND;
	fields->absent_fields = BIT(OWNER_FIELD_CACHE);
	fields->value[OWNER_FIELD_KIND].number = kind;
	if (kind == OWNER_KIND_PAGE) {
		fields->value[OWNER_FIELD_ORDER].number = get_order(size);
		fields->value[OWNER_FIELD_HELD].number = PAGE_SIZE << get_order(size);
	} else {
		/* A per-CPU area has pages of many nodes. */
		fields->absent_fields |= BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_NID);
		fields->value[OWNER_FIELD_HELD].number = size;
	}
	fields->known_fields |= fields->absent_fields;
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
	fields->value[OWNER_FIELD_TASK_CGROUP].word = NULL;
	if (fields_used & BIT(OWNER_FIELD_TS))
		fields->value[OWNER_FIELD_TS].number = local_clock();
	fields->any_word_matches = any_word_matches;
}

/* --- Merging the settings ------------------------------------------------------ */

/* Pages are not sampled, have no user chain, and their frees are always recorded. */
static const unsigned char settings_of_kind[OWNER_KINDS] = {
	[OWNER_KIND_SLAB]	= BIT(OWNER_SET_MODE) - 1,
	[OWNER_KIND_PAGE]	= BIT(OWNER_SET_TRACK) | BIT(OWNER_SET_DEPTH),
	[OWNER_KIND_PERCPU]	= BIT(OWNER_SET_MODE) - 1,
};

static_assert(OWNER_SET_MODE <= 8);

static void begin_merge(struct owner_merged_settings *merged, enum owner_kind kind)
{
	*merged = (struct owner_merged_settings){ .wanted = settings_of_kind[kind] };
}

static bool tracking_is_off(const struct owner_merged_settings *merged)
{
	return merged->decided & BIT(OWNER_SET_TRACK) && !merged->track;
}

/* The settings that still matter: none without an owner. */
static unsigned int missing_settings(const struct owner_merged_settings *merged)
{
	return tracking_is_off(merged) ? 0 : merged->wanted & ~merged->decided;
}

/* Take the settings from a rule that matches, unless a later rule has named them. */
static void merge_rule(struct owner_merged_settings *merged, const struct owner_rule_entry *entry)
{
	unsigned int taken = entry->sentence->settings_given & missing_settings(merged);

	merged->decided |= taken;
	if (taken & BIT(OWNER_SET_TRACK))
		merged->track = entry->sentence->track;
	if (taken & BIT(OWNER_SET_DEPTH))
		merged->choice.depth = entry->choice.depth;
	if (taken & BIT(OWNER_SET_SAMPLE))
		merged->choice.rate = entry->choice.rate;
	if (taken & BIT(OWNER_SET_FREE))
		merged->choice.free = entry->choice.free;
	if (taken & BIT(OWNER_SET_USER))
		merged->choice.user = entry->choice.user;
}

/* The choice for slab objects and per-CPU areas. */
static struct owner_choice complete_choice(const struct owner_merged_settings *merged)
{
	struct owner_choice choice = merged->choice;

	if (!merged->decided)
		return owner_default_choice;
	if (tracking_is_off(merged))
		return (struct owner_choice){ };
	if (!choice.depth)
		choice.depth = OWNER_DEPTH;
	if (!(merged->decided & BIT(OWNER_SET_FREE)))
		choice.free = owner_default_choice.free;
	return choice;
}

/* Do the known fields alone tell that track=off decides? Then the other settings do not matter. */
static bool is_known_to_be_off(const struct owner_rule_table *table,
			       const struct owner_field_values *fields)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		const struct owner_sentence *s = table->entries[number]->sentence;
		enum owner_verdict verdict;

		if (!(s->settings_given & BIT(OWNER_SET_TRACK)))
			continue;
		verdict = owner_lang_evaluate_known_fields(s, fields);
		if (verdict != OWNER_VERDICT_FALSE)
			return verdict == OWNER_VERDICT_TRUE && !s->track;
	}
	return false;
}

/* Merge the rules as far as the fields that are known before an allocation tell. */
static void merge_known_rules(const struct owner_rule_table *table, enum owner_kind kind,
			      const struct owner_field_values *fields,
			      struct owner_merged_settings *merged)
{
	unsigned int number;

	begin_merge(merged, kind);
	if (is_known_to_be_off(table, fields))
		merged->decided = BIT(OWNER_SET_TRACK);
	for (number = table->count; number; number--) {
		const struct owner_rule_entry *entry = table->entries[number];
		const struct owner_sentence *s = entry->sentence;

		if (!(s->settings_given & missing_settings(merged)))
			continue;
		switch (owner_lang_evaluate_known_fields(s, fields)) {
		case OWNER_VERDICT_TRUE:
			merge_rule(merged, entry);
			break;
		case OWNER_VERDICT_UNDECIDED:
			merged->per_allocation = true;
			return;
		case OWNER_VERDICT_FALSE:
			break;
		}
	}
}

/**
 * owner_rules_merge_for_kind() - merge the rules for all allocations of a kind
 * @table: a table of rules
 * @kind: OWNER_KIND_PAGE or OWNER_KIND_PERCPU
 * @merged: filled
 */
void owner_rules_merge_for_kind(const struct owner_rule_table *table, enum owner_kind kind,
				struct owner_merged_settings *merged)
{
	struct owner_field_values fields;

	/* The size does not matter: FIELDS_OF_KIND leaves order and held unknown. */
	set_kind_fields(&fields, kind, 1);
	merge_known_rules(table, kind, &fields, merged);
}

/*
 * Merge the rules with all fields of one allocation, and count a hit of each that decides.
 * @kind is OWNER_KIND_SLAB if and only if @s is its cache, not NULL.
 */
static void merge_rules(const struct owner_rule_table *table, const struct kmem_cache *s,
			enum owner_kind kind, gfp_t flags, size_t size, int nid,
			struct stack_depot_caller caller, struct owner_merged_settings *merged)
{
	struct allocation allocation;
	unsigned int number;

	allocation.caller = caller;
	allocation.table = table;
	allocation.chain_is_compared = false;
	if (s)
		set_cache_fields(&allocation.fields, s);
	else
		set_kind_fields(&allocation.fields, kind, size);
	set_allocation_fields(&allocation.fields, table->fields_used, flags, size, nid);
	begin_merge(merged, kind);
	for (number = table->count; number; number--) {
		const struct owner_rule_entry *entry = table->entries[number];

		allocation.number = number;
		if (!(entry->sentence->settings_given & missing_settings(merged)) ||
		    !owner_lang_matches(entry->sentence, &allocation.fields))
			continue;
		merge_rule(merged, entry);
		this_cpu_inc(entry->cpu->hits);
	}
	if (!merged->decided)
		this_cpu_inc(owner_default_rule.cpu->hits);
}

/* Merge and store the choice of a cache. Return: false if its allocations have several. */
static bool resolve_and_store_choice(const struct owner_rule_table *table, struct kmem_cache *s,
				     struct owner_choice *choice)
{
	struct owner_merged_settings merged = { };
	struct owner_field_values fields;

	if (table) {
		set_known_cache_fields(&fields, s);
		merge_known_rules(table, OWNER_KIND_SLAB, &fields, &merged);
	}
	if (merged.per_allocation) {
		owner_store_cache_per_allocation(s);
		return false;
	}
	*choice = complete_choice(&merged);
	owner_store_cache_choice(s, *choice);
	return true;
}

/**
 * owner_rules_store_cache_rule() - merge and store the choice of a cache again
 * @s: the cache
 *
 * Context: table_mutex of control/change.c is held, and an RCU grace period has elapsed since the
 * table was published and the choices of caches were cleared. An allocation that runs at the
 * same time stores the same values.
 */
void owner_rules_store_cache_rule(struct kmem_cache *s)
{
	struct owner_choice choice;

	rcu_read_lock();
	if (!owner_frees_recorded)
		WRITE_ONCE(s->owner_keeps_freed, false);
	resolve_and_store_choice(rcu_dereference(owner_rules_table), s, &choice);
	rcu_read_unlock();
}

/**
 * owner_choose_object_tracking() - choose for an object whose cache has no stored choice
 * @s: the object's cache
 * @flags: gfp flags of the allocation
 * @size: requested bytes
 * @nid: memory node of the object
 * @caller: STACK_DEPOT_CALLER of the allocator's hook
 *
 * Stores the choice of the cache if it has one.
 *
 * Context: in an RCU read-side critical section; not in NMI.
 */
struct owner_choice owner_choose_object_tracking(struct kmem_cache *s, gfp_t flags, size_t size,
						 int nid, struct stack_depot_caller caller)
{
	const struct owner_rule_table *table = rcu_dereference(owner_rules_table);
	struct owner_choice choice = { .word = READ_ONCE(s->owner_choice) };
	struct owner_merged_settings merged;

	/* Without a table, a cache can keep this value only while its choice is being cleared. */
	if (!table || choice.cache != OWNER_CACHE_PER_ALLOCATION)
		if (resolve_and_store_choice(table, s, &choice))
			return choice;
	merge_rules(table, s, OWNER_KIND_SLAB, flags, size, nid, caller, &merged);
	choice = complete_choice(&merged);
	if (choice.free)
		owner_mark_cache_keeps_freed(s);
	return choice;
}

/*
 * Merge the rules of a page or per-CPU allocation. Return: false if there are no rules.
 * Call it with the RCU read lock held.
 */
static bool merge_kind_rules(enum owner_kind kind, gfp_t flags, size_t size, int nid,
			     struct stack_depot_caller caller,
			     struct owner_merged_settings *merged)
{
	const struct owner_rule_table *table = rcu_dereference(owner_rules_table);

	if (!table)
		return false;
	*merged = table->by_kind[kind];
	if (merged->per_allocation)
		merge_rules(table, NULL, kind, flags, size, nid, caller, merged);
	return true;
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
	struct owner_choice choice = owner_default_choice;
	struct owner_merged_settings merged;

	rcu_read_lock();
	if (merge_kind_rules(OWNER_KIND_PERCPU, flags, size, NUMA_NO_NODE, caller, &merged))
		choice = complete_choice(&merged);
	rcu_read_unlock();
	return choice;
}

/**
 * owner_evaluate_pages_depth() - choose the depth for an allocation of pages by the rules
 * @flags: gfp flags of the allocation
 * @order: order of the allocation
 * @nid: memory node of the pages
 * @caller: STACK_DEPOT_CALLER of the allocator's hook
 * @default_depth: depth if no rule sets one
 *
 * Context: not in NMI.
 *
 * Return: frames to keep; 0: the pages get no owner. Pages are never sampled.
 */
unsigned int owner_evaluate_pages_depth(gfp_t flags, unsigned int order, int nid,
					struct stack_depot_caller caller,
					unsigned int default_depth)
{
	struct owner_merged_settings merged;
	unsigned int depth = default_depth;

	rcu_read_lock();
	if (merge_kind_rules(OWNER_KIND_PAGE, flags, PAGE_SIZE << order, nid, caller, &merged))
		depth = tracking_is_off(&merged) ? 0 : merged.choice.depth ?: default_depth;
	rcu_read_unlock();
	return depth;
}

/* --- Finding where each rule counts -------------------------------------------- */

/* Count a cache (OWNER_KIND_SLAB), or pages or per-CPU areas, in the use of each rule. */
static void add_use(const struct owner_rule_table *table, const struct owner_field_values *fields,
		    enum owner_kind kind, struct owner_rule_use *uses)
{
	struct owner_merged_settings merged;
	bool is_off, per_allocation;
	unsigned int number;

	merge_known_rules(table, kind, fields, &merged);
	is_off = tracking_is_off(&merged);
	per_allocation = merged.per_allocation;
	begin_merge(&merged, kind);
	for (number = table->count; number; number--) {
		const struct owner_rule_entry *entry = table->entries[number];
		unsigned int given = entry->sentence->settings_given;
		struct owner_rule_use *use = &uses[number];
		enum owner_verdict verdict;

		verdict = owner_lang_evaluate_known_fields(entry->sentence, fields);
		if (verdict == OWNER_VERDICT_FALSE)
			continue;
		use->can_match = true;
		if (!(given & missing_settings(&merged)))
			continue;
		if (is_off && !(given & BIT(OWNER_SET_TRACK))) {
			use->is_off = true;
			continue;
		}
		use->is_reached = true;
		if (verdict == OWNER_VERDICT_TRUE)
			merge_rule(&merged, entry);
		if (kind != OWNER_KIND_SLAB)
			use->kinds |= per_allocation ? 0 : BIT(kind);
		else if (verdict == OWNER_VERDICT_UNDECIDED)
			use->evaluates++;
		else if (!per_allocation)
			use->decides++;
	}
	if (per_allocation || merged.decided)
		return;
	if (kind == OWNER_KIND_SLAB)
		uses[0].decides++;
	else
		uses[0].kinds |= BIT(kind);
}

/**
 * owner_rules_find_use() - find where each rule counts
 * @table: a table of rules
 * @kinds: bit mask of enum owner_kind: those that are tracked
 * @uses: OWNER_RULES_MAX + 1 of them, filled by the number of the rule
 *
 * Context: takes slab_mutex.
 *
 * Return: 0, -EINTR if the task is killed.
 */
int owner_rules_find_use(const struct owner_rule_table *table, unsigned int kinds,
			 struct owner_rule_use *uses)
{
	struct owner_field_values fields;
	const struct kmem_cache *s;
	enum owner_kind kind;

	memset(uses, 0, (OWNER_RULES_MAX + 1) * sizeof(*uses));
	for (kind = OWNER_KIND_PAGE; kind < OWNER_KINDS; kind++) {
		if (!(kinds & BIT(kind)))
			continue;
		set_kind_fields(&fields, kind, 1);
		add_use(table, &fields, kind, uses);
	}
	if (!(kinds & BIT(OWNER_KIND_SLAB)))
		return 0;
	if (mutex_lock_killable(&slab_mutex))
		return -EINTR;
	list_for_each_entry(s, &slab_caches, list) {
		if (!slab_owner_tracks_cache(s))
			continue;
		set_known_cache_fields(&fields, s);
		add_use(table, &fields, OWNER_KIND_SLAB, uses);
	}
	mutex_unlock(&slab_mutex);
	return 0;
}
