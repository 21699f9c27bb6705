// SPDX-License-Identifier: GPL-2.0
/*
 * Which allocations are captured, how deep, how often.
 *
 * The last rule that matches decides. What the cache alone decides is resolved
 * once for each cache, when it is first asked about after the rules changed, and
 * kept in the cache; only where a rule that asks for more may match is it looked
 * at for each allocation.
 *
 * How they are changed: rules_change.c.
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
#include "../cgroup.h"
#include "../capture.h"
#include "../sample.h"
#include "rules.h"
#include "table.h"

/* An answer is the number of a rule, or this: it depends on the allocation. */
#define ASK		(RULES_MAX + 1)

static DEFINE_PER_CPU(unsigned long, rest_hits);

struct rule owner_default_rule = {
	.seen = {
		.choice = { .depth = OWNER_DEPTH },
		.plain_depth = OWNER_DEPTH,
		.hits = &rest_hits,
	},
	.published = true,
};

/**
 * owner_rules_set_default - what becomes of an allocation that no rule is about
 * @track: is it captured?
 * @free: is it kept who frees it? Also where a rule does not say.
 */
void __init owner_rules_set_default(bool track, bool free)
{
	owner_rule_set_choice(&owner_default_rule.seen, (struct owner_choice){
		.depth = track ? OWNER_DEPTH : 0,
		.free = free,
	});
}

struct table __rcu *owner_rules_table;

/* --- The call chain of an allocation ------------------------------------------ */

/* As many as interrupt_context_level() tells apart, but for NMI, which is not asked about. */
#define CONTEXTS	3

/* A chain stands here, not on a stack that is deep already. */
struct chains {
	unsigned long frames[CONTEXTS][OWNER_FRAMES_MAX];
};

static struct chains __percpu *chains;

/* A rule is about to ask for call chains. Returns 0 or -ENOMEM. */
int owner_rules_prepare_chains(void)
{
	if (!chains)
		chains = alloc_percpu(struct chains);
	return chains ? 0 : -ENOMEM;
}

static bool chain_matches(const struct rule *rule, unsigned int number,
			  const unsigned long *frames, unsigned int count)
{
	const struct owner_symbol_ranges *places = rcu_dereference(rule->places[number]);
	const struct owner_sentence *s = rule->sentence;
	unsigned int i;

	if (places)
		return owner_symbol_ranges_contain(places, frames, count);
	for (i = 0; i < count; i++)
		if (owner_frame_matches(s, &s->comparisons[number], frames[i]))
			return true;
	return false;
}

/* Which of a rule's comparisons of func or module hold? A bit for each. */
static noinline u32 ask_chain(const struct rule *rule, struct owner_caller caller)
{
	unsigned int i, count, level = interrupt_context_level();
	const struct owner_sentence *s = rule->sentence;
	unsigned long *frames;
	u32 outcomes = 0;

	if (level >= CONTEXTS)
		return 0;
	preempt_disable();
	frames = this_cpu_ptr(chains)->frames[level];
	count = owner_unwind(frames, OWNER_FRAMES_MAX, caller);
	for (i = 0; i < s->nr_comparisons; i++)
		if (looks_at_chain(&s->comparisons[i]) && chain_matches(rule, i, frames, count))
			outcomes |= BIT(i);
	preempt_enable();
	return outcomes;
}

/* --- What is known of an allocation ----------------------------------------- */

/* One that rules are asked about. */
struct allocation {
	struct owner_field_values fields;
	struct owner_caller caller;
	const struct rule *rule;	/* that is asked now */
	bool chain_asked;		/* by this rule */
	u32 outcomes;			/* then: of ask_chain() */
};

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

/*
 * What a comparison said of a cgroup last: to print a path takes a lock that all CPUs
 * share. Both may go, and others come to stand there: not while the generation stays,
 * nor do two cgroups ever have the same number.
 */
struct verdict {
	unsigned long generation;
	const struct owner_comparison *comparison;
	u64 cgroup;
	bool holds;
};

static DEFINE_PER_CPU(struct verdict, verdict);
unsigned long owner_rules_generation = 1;

/* The cgroup of the task that allocates. */
static noinline bool cgroup_matches(const struct owner_sentence *s,
				    const struct owner_comparison *c)
{
	struct verdict known, now = {
		.generation = READ_ONCE(owner_rules_generation),
		.comparison = c,
		.cgroup = owner_cgroup_number(),
	};
	char path[OWNER_CGROUP_MAX];

	if (!now.cgroup)
		return false;
	/* Only tasks come here, and only one at a time is on this CPU. */
	preempt_disable();
	known = *this_cpu_ptr(&verdict);
	preempt_enable();
	if (known.generation == now.generation && known.comparison == c &&
	    known.cgroup == now.cgroup)
		return known.holds;
	now.holds = owner_cgroup_of_task(path) && owner_lang_word_matches(s, c, path);
	preempt_disable();
	*this_cpu_ptr(&verdict) = now;
	preempt_enable();
	return now.holds;
}

static bool any_word_matches(const struct owner_field_values *fields, const struct owner_sentence *s,
			const struct owner_comparison *c)
{
	struct allocation *allocation = container_of(fields, struct allocation, fields);

	if (c->field == OWNER_FIELD_GFP)
		return owner_gfp_matches(s, c, fields->value[OWNER_FIELD_GFP].number);
	if (c->field == OWNER_FIELD_CGROUP)
		return cgroup_matches(s, c);
	if (!allocation->chain_asked) {
		allocation->chain_asked = true;
		allocation->outcomes = ask_chain(allocation->rule, allocation->caller);
	}
	return allocation->outcomes & BIT(c - s->comparisons);
}

/* What is known when memory is allocated. */
#define FIELDS_OF_CACHE		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_HELD) | \
				 BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_KIND))
#define FIELDS_OF_KIND		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND))
/* All but those that the language does not let rules ask for. */
#define FIELDS_OF_ALLOCATION	(BIT(OWNER_FIELD_AGE) - 1)

static void know_cache(struct owner_field_values *fields, const struct kmem_cache *s)
{
	fields->known_fields = FIELDS_OF_CACHE;
	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	fields->value[OWNER_FIELD_CACHE].word = s->name;
	fields->value[OWNER_FIELD_HELD].number = s->size;
	fields->value[OWNER_FIELD_KIND].number = OWNER_SOURCE_SLAB;
}

static void know_kind(struct owner_field_values *fields, enum owner_source kind, size_t size)
{
	fields->known_fields = FIELDS_OF_KIND;
	fields->absent_fields = BIT(OWNER_FIELD_CACHE);
	fields->value[OWNER_FIELD_KIND].number = kind;
	if (kind == OWNER_SOURCE_PAGE) {
		fields->value[OWNER_FIELD_ORDER].number = get_order(size);
		fields->value[OWNER_FIELD_HELD].number = PAGE_SIZE << get_order(size);
	} else {
		fields->absent_fields |= BIT(OWNER_FIELD_ORDER);
		fields->value[OWNER_FIELD_HELD].number = size;
	}
}

/* All that @uses asks for. */
static void know_allocation(struct owner_field_values *fields, unsigned int uses, gfp_t flags, size_t size,
			    int nid)
{
	fields->known_fields = FIELDS_OF_ALLOCATION;
	fields->value[OWNER_FIELD_SIZE].number = size;
	fields->value[OWNER_FIELD_GFP].number = (__force unsigned long)flags;
	fields->value[OWNER_FIELD_NID].number = nid;
	fields->value[OWNER_FIELD_PID].number = current->pid;
	fields->value[OWNER_FIELD_TGID].number = current->tgid;
	fields->value[OWNER_FIELD_COMM].word = current->comm;
	fields->value[OWNER_FIELD_CGROUP].word = NULL;
	if (uses & BIT(OWNER_FIELD_TS))
		fields->value[OWNER_FIELD_TS].number = local_clock();
	fields->any_word_matches = any_word_matches;
}

/* --- Which rule -------------------------------------------------------------- */

/* The number of the rule that decides; ASK if that depends on what is not known yet. */
static unsigned int resolve(const struct table *table, const struct owner_field_values *fields)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		switch (owner_lang_judge(table->rules[number]->sentence, fields)) {
		case OWNER_VERDICT_TRUE:
			return number;
		case OWNER_VERDICT_UNDECIDED:
			return ASK;
		case OWNER_VERDICT_FALSE:
			break;
		}
	}
	return 0;
}

/* By what all allocations from a cache have in common. */
static unsigned int answer_for_cache(const struct table *table, const struct kmem_cache *s)
{
	struct owner_field_values fields;

	know_cache(&fields, s);
	return resolve(table, &fields);
}

/* By what all of a kind have in common. */
unsigned int owner_rules_answer(const struct table *table, enum owner_source kind)
{
	struct owner_field_values fields;

	/* No more than the kind is known: any size will do. */
	know_kind(&fields, kind, 1);
	return resolve(table, &fields);
}

/* The same where all is known. */
static unsigned int decide(const struct table *table, struct allocation *allocation)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		allocation->rule = table->rules[number];
		allocation->chain_asked = false;
		if (owner_lang_matches(allocation->rule->sentence, &allocation->fields))
			break;
	}
	return number;
}

/* One of both: a cache, or the kind of what is in none. */
static unsigned int ask(const struct table *table, const struct kmem_cache *s,
			enum owner_source kind, gfp_t flags, size_t size, int nid,
			struct owner_caller caller)
{
	struct allocation allocation;

	allocation.caller = caller;
	if (s)
		know_cache(&allocation.fields, s);
	else
		know_kind(&allocation.fields, kind, size);
	know_allocation(&allocation.fields, table->fields_used, flags, size, nid);
	return decide(table, &allocation);
}

static struct owner_choice hit(const struct rule *rule)
{
	this_cpu_inc(*rule->seen.hits);
	return rule->seen.choice;
}

/*
 * From now on all allocations from the cache come here: who freed an object is
 * forgotten when the next takes its place, whatever becomes of that.
 */
static void keep_freed(struct kmem_cache *s)
{
	if (!READ_ONCE(s->owner_keeps_freed))
		WRITE_ONCE(s->owner_keeps_freed, true);
}

/* What its own allocations need no more ask for. */
static void settle(struct kmem_cache *s, const struct owner_rule *rule)
{
	u64 rate = OWNER_RATE_ALL;
	bool keeps_one = false;

	if (rule != OWNER_RULE_PER_ALLOCATION) {
		if (rule->choice.free)
			keep_freed(s);
		if (!READ_ONCE(s->owner_keeps_freed))
			rate = rule->choice.depth ? owner_rate_word(rule->choice.rate) :
						    OWNER_RATE_NEVER;
		keeps_one = rule->plain_depth == 1;
	}
	WRITE_ONCE(s->owner_rate, rate);
	WRITE_ONCE(s->owner_depth_is_one, keeps_one);
	/* Who sees the rule sees what is in it. */
	smp_store_release(&s->owner_rule, rule);
}

/**
 * owner_choose_object - what becomes of an allocation whose cache has no rule yet
 * @s: its cache
 * @flags: those of the allocation
 * @size: bytes that were asked for
 * @nid: the object's memory node
 * @caller: OWNER_CALLER of the allocator's hook
 *
 * Context: in an RCU read-side critical section; not in NMI.
 */
struct owner_choice owner_choose_object(struct kmem_cache *s, gfp_t flags, size_t size, int nid,
					struct owner_caller caller)
{
	const struct table *table = rcu_dereference(owner_rules_table);
	struct owner_choice choice;

	if (!table) {
		settle(s, &owner_default_rule.seen);
		return hit(&owner_default_rule);
	}
	if (READ_ONCE(s->owner_rule) != OWNER_RULE_PER_ALLOCATION) {
		unsigned int answer = answer_for_cache(table, s);

		if (answer != ASK) {
			settle(s, &table->rules[answer]->seen);
			return hit(table->rules[answer]);
		}
		settle(s, OWNER_RULE_PER_ALLOCATION);
	}
	choice = hit(table->rules[ask(table, s, OWNER_SOURCE_SLAB, flags, size, nid, caller)]);
	if (choice.free)
		keep_freed(s);
	return choice;
}

/* The rule for what is in no cache. RCU is read-locked. */
static const struct rule *rule_for_kind(enum owner_source kind, gfp_t flags, size_t size, int nid,
					struct owner_caller caller)
{
	const struct table *table = rcu_dereference(owner_rules_table);
	unsigned int answer;

	if (!table)
		return &owner_default_rule;
	answer = table->kinds[kind];
	if (answer == ASK)
		answer = ask(table, NULL, kind, flags, size, nid, caller);
	return table->rules[answer];
}

/**
 * owner_choose_percpu - what becomes of an allocation of a per-CPU area
 * @flags: those of the allocation
 * @size: bytes that it takes on all CPUs
 * @caller: OWNER_CALLER of the allocator's hook
 *
 * Context: not in NMI.
 */
struct owner_choice owner_choose_percpu(gfp_t flags, size_t size, struct owner_caller caller)
{
	struct owner_choice choice;

	rcu_read_lock();
	choice = hit(rule_for_kind(OWNER_SOURCE_PERCPU, flags, size, NUMA_NO_NODE, caller));
	rcu_read_unlock();
	return choice;
}

/**
 * owner_choose_pages - how many frames an allocation of pages keeps
 * @flags: those of the allocation
 * @order: its order
 * @nid: the memory node
 * @caller: OWNER_CALLER of the allocator's hook
 * @otherwise: how many, where no rule says how many
 *
 * Context: not in NMI.
 *
 * Return: 0 if it is to have no owner. Pages are not sampled.
 */
unsigned int owner_choose_pages(gfp_t flags, unsigned int order, int nid,
				struct owner_caller caller, unsigned int otherwise)
{
	const struct rule *rule;
	unsigned int depth = otherwise;

	rcu_read_lock();
	rule = rule_for_kind(OWNER_SOURCE_PAGE, flags, PAGE_SIZE << order, nid, caller);
	hit(rule);
	if (rule->sentence)
		depth = rule->sentence->track ? rule->sentence->depth ?: otherwise : 0;
	rcu_read_unlock();
	return depth;
}
