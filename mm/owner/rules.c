// SPDX-License-Identifier: GPL-2.0
/*
 * Which allocations are captured, how deep, how often.
 *
 * The last rule that matches decides. What the cache alone decides is resolved
 * once for each cache, when it is first asked about after the rules changed, and
 * kept in the cache; only where a rule that asks for more may match is it looked
 * at for each allocation.
 *
 * Rules are changed by making a new table and publishing it: readers are in an
 * RCU read-side critical section. A rule that stays goes from table to table,
 * with its hits.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/tracepoint-defs.h>

#include <asm/setup.h>

#include "../internal.h"
#include "../slab.h"
#include "owner.h"
#include "rules.h"

#define RULES_MAX	64

/* An answer is the number of a rule, or this: it depends on the allocation. */
#define ASK		(RULES_MAX + 1)

struct table {
	/*
	 * What a cache keeps is its answer, added to this. No two tables have the
	 * same, so that a cache is seen to keep another table's.
	 */
	unsigned long first_answer;
	unsigned int count;			/* the last rule's number */
	unsigned char kinds[OWNER_KINDS];	/* the answer where there is no cache */
	struct owner_rule *rules[RULES_MAX + 1];	/* by number; 0 is the rule for the rest */
};

static DEFINE_PER_CPU(unsigned long, rest_hits);

static struct owner_rule rest = { .track = true, .hits = &rest_hits, .published = true };

/**
 * owner_rules_otherwise - what becomes of an allocation that no rule is about
 * @track: is it captured?
 */
void __init owner_rules_otherwise(bool track)
{
	rest.track = track;
}

/* NULL while there are no rules. Changed under table_mutex. */
static struct table __rcu *current_table;
static DEFINE_MUTEX(table_mutex);

/* --- What is known of an allocation ----------------------------------------- */

/* One that a rule asks about. */
struct allocation {
	struct owner_facts facts;
	unsigned long ip;		/* the call chain that counts starts after it */
	unsigned int frames;		/* 0: not unwound yet */
	unsigned long chain[OWNER_FRAMES_MAX];
};

static void unwind(struct allocation *allocation)
{
	unsigned int own, frames;

	frames = stack_trace_save(allocation->chain, ARRAY_SIZE(allocation->chain), 0);
	for (own = 0; own < frames; own++) {
		if (allocation->chain[own] != allocation->ip)
			continue;
		frames -= own + 1;
		memmove(allocation->chain, allocation->chain + own + 1,
			frames * sizeof(*allocation->chain));
		break;
	}
	allocation->frames = frames;
}

static bool chain_matches(struct allocation *allocation, const struct owner_sentence *s,
			  const struct owner_comparison *c)
{
	bool found = false;
	unsigned int i;

	if (!allocation->frames)
		unwind(allocation);
	for (i = 0; i < allocation->frames && !found; i++) {
		/* The call, not what it returns to, which can be the next function. */
		unsigned long call = allocation->chain[i] - 1;

		if (c->field == OWNER_FIELD_FUNC) {
			char name[KSYM_NAME_LEN];

			found = !lookup_symbol_name(call, name) &&
				owner_lang_word_matches(s, c, name);
		} else {
			struct module *module;

			preempt_disable();
			module = __module_address(call);
			found = module && owner_lang_word_matches(s, c, module->name);
			preempt_enable();
		}
	}
	return found;
}

static bool gfp_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			unsigned long flags)
{
	const struct trace_print_flags *flag;

	for (flag = gfpflag_names; flag->name; flag++)
		if (flag->mask && (flags & flag->mask) == flag->mask &&
		    owner_lang_word_matches(s, c, flag->name))
			return true;
	return false;
}

static bool any_matches(const struct owner_facts *facts, const struct owner_sentence *s,
			const struct owner_comparison *c)
{
	if (c->field == OWNER_FIELD_GFP)
		return gfp_matches(s, c, facts->value[OWNER_FIELD_GFP].number);
	return chain_matches(container_of(facts, struct allocation, facts), s, c);
}

/* What is looked at when memory is allocated. */
#define FIELDS_OF_CACHE		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_HELD) | \
				 BIT(OWNER_FIELD_ORDER) | BIT(OWNER_FIELD_KIND))
#define FIELDS_OF_KIND		(BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_KIND))
#define FIELDS_OF_ALLOCATION	(FIELDS_OF_CACHE | BIT(OWNER_FIELD_SIZE) | BIT(OWNER_FIELD_GFP) | \
				 BIT(OWNER_FIELD_NID) | BIT(OWNER_FIELD_PID) | \
				 BIT(OWNER_FIELD_TGID) | BIT(OWNER_FIELD_COMM) | \
				 BIT(OWNER_FIELD_TS) | BIT(OWNER_FIELD_FUNC) | \
				 BIT(OWNER_FIELD_MODULE))

static void know_cache(struct owner_facts *facts, const struct kmem_cache *s)
{
	facts->known = FIELDS_OF_CACHE;
	facts->absent = BIT(OWNER_FIELD_ORDER);
	facts->value[OWNER_FIELD_CACHE].word = s->name;
	facts->value[OWNER_FIELD_HELD].number = s->size;
	facts->value[OWNER_FIELD_KIND].number = OWNER_KIND_SLAB;
}

static void know_kind(struct owner_facts *facts, enum owner_kind kind, size_t size)
{
	facts->known = FIELDS_OF_KIND;
	facts->absent = BIT(OWNER_FIELD_CACHE);
	facts->value[OWNER_FIELD_KIND].number = kind;
	if (kind == OWNER_KIND_PAGE) {
		facts->value[OWNER_FIELD_ORDER].number = get_order(size);
		facts->value[OWNER_FIELD_HELD].number = PAGE_SIZE << get_order(size);
	} else {
		facts->absent |= BIT(OWNER_FIELD_ORDER);
		facts->value[OWNER_FIELD_HELD].number = size;
	}
}

static void know_allocation(struct owner_facts *facts, gfp_t flags, size_t size, int nid)
{
	facts->known = FIELDS_OF_ALLOCATION;
	facts->value[OWNER_FIELD_SIZE].number = size;
	facts->value[OWNER_FIELD_GFP].number = (__force unsigned long)flags;
	facts->value[OWNER_FIELD_NID].number = nid;
	facts->value[OWNER_FIELD_PID].number = current->pid;
	facts->value[OWNER_FIELD_TGID].number = current->tgid;
	facts->value[OWNER_FIELD_COMM].word = current->comm;
	facts->value[OWNER_FIELD_TS].number = local_clock();
	facts->any_matches = any_matches;
}

/* --- Which rule -------------------------------------------------------------- */

/* The answer by what the facts have, ASK if that is not enough. */
static unsigned int resolve(const struct table *table, const struct owner_facts *facts)
{
	unsigned int number;

	for (number = table->count; number; number--) {
		switch (owner_lang_judge(table->rules[number]->sentence, facts)) {
		case OWNER_TRUE:
			return number;
		case OWNER_DEPENDS:
			return ASK;
		case OWNER_FALSE:
			break;
		}
	}
	return 0;
}

/* One of both: a cache, or the kind of what is in none. */
static unsigned int ask(const struct table *table, const struct kmem_cache *s,
			enum owner_kind kind, gfp_t flags, size_t size, int nid, unsigned long ip)
{
	struct allocation allocation;

	allocation.facts = (struct owner_facts){};
	allocation.ip = ip;
	allocation.frames = 0;
	if (s)
		know_cache(&allocation.facts, s);
	else
		know_kind(&allocation.facts, kind, size);
	know_allocation(&allocation.facts, flags, size, nid);
	return resolve(table, &allocation.facts);
}

static const struct owner_rule *hit(const struct owner_rule *rule)
{
	this_cpu_inc(*rule->hits);
	return rule;
}

/* The cache has no answer, or one that is older than the rules, or ASK. */
static noinline const struct owner_rule *
look_for_rule(const struct table *table, struct kmem_cache *s, gfp_t flags, size_t size, int nid,
	      unsigned long ip)
{
	unsigned long answer = READ_ONCE(s->owner_answer) - table->first_answer;

	if (answer > ASK) {
		struct owner_facts facts = {};

		know_cache(&facts, s);
		answer = resolve(table, &facts);
		/* Who has an older table overwrites this, and it is resolved again. */
		WRITE_ONCE(s->owner_answer, table->first_answer + answer);
	}
	if (answer == ASK)
		answer = ask(table, s, OWNER_KIND_SLAB, flags, size, nid, ip);
	return hit(table->rules[answer]);
}

/**
 * owner_rule_for - the rule for an allocation of a slab object
 * @s: its cache
 * @flags: those of the allocation
 * @size: bytes that were asked for
 * @nid: the object's memory node
 *
 * Context: in an RCU read-side critical section, as long as the rule is used;
 *	not in NMI.
 */
const struct owner_rule *owner_rule_for(struct kmem_cache *s, gfp_t flags, size_t size, int nid)
{
	const struct table *table = rcu_dereference(current_table);
	unsigned long answer;

	if (!table)
		return &rest;
	answer = READ_ONCE(s->owner_answer) - table->first_answer;
	if (unlikely(answer >= ASK))
		return look_for_rule(table, s, flags, size, nid, _RET_IP_);
	return hit(table->rules[answer]);
}

/**
 * owner_rule_for_kind - the rule for an allocation that is in no slab cache
 * @kind: OWNER_KIND_PAGE or OWNER_KIND_PERCPU
 * @flags: those of the allocation
 * @size: bytes that were asked for
 * @nid: the memory node
 *
 * Context: in an RCU read-side critical section, as long as the rule is used;
 *	not in NMI.
 */
const struct owner_rule *owner_rule_for_kind(enum owner_kind kind, gfp_t flags, size_t size,
					     int nid)
{
	const struct table *table = rcu_dereference(current_table);
	unsigned int answer;

	if (!table)
		return &rest;
	answer = table->kinds[kind];
	if (answer == ASK)
		answer = ask(table, NULL, kind, flags, size, nid, _RET_IP_);
	return hit(table->rules[answer]);
}

/* --- Changing the rules ------------------------------------------------------- */

/* A table that is being made, and what of the published one goes with it. */
struct change {
	struct table *table;
	struct owner_rule *gone[RULES_MAX + 1];
	unsigned int nr_gone;
	struct owner_sentence sentence;
	struct owner_lang_error error;
};

static void free_rule(struct owner_rule *rule)
{
	free_percpu(rule->hits);
	kfree(rule->sentence);
	kfree(rule);
}

static struct owner_rule *make_rule(const struct owner_sentence *s)
{
	struct owner_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	if (!rule)
		return NULL;
	rule->depth = s->depth;
	rule->track = s->track;
	/* Without the room that its words do not take. */
	rule->sentence = kmemdup(s, offsetof(struct owner_sentence, words) + s->nr_words,
				 GFP_KERNEL);
	rule->hits = alloc_percpu(unsigned long);
	if (rule->sentence && rule->hits)
		return rule;
	free_rule(rule);
	return NULL;
}

static void remove_rule(struct change *change, unsigned int number)
{
	struct table *table = change->table;
	struct owner_rule *rule = table->rules[number];

	memmove(&table->rules[number], &table->rules[number + 1],
		(table->count - number) * sizeof(rule));
	table->count--;
	if (rule->published)
		change->gone[change->nr_gone++] = rule;
	else
		free_rule(rule);
}

static bool same_condition(const struct owner_sentence *a, const struct owner_sentence *b)
{
	return a->nr_comparisons == b->nr_comparisons && a->nr_values == b->nr_values &&
	       a->nr_words == b->nr_words &&
	       !memcmp(a->comparisons, b->comparisons,
		       a->nr_comparisons * sizeof(*a->comparisons)) &&
	       !memcmp(a->values, b->values, a->nr_values * sizeof(*a->values)) &&
	       !memcmp(a->words, b->words, a->nr_words);
}

static __printf(2, 3) int refuse(struct change *change, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(change->error.message, sizeof(change->error.message), format, args);
	va_end(args);
	return -EINVAL;
}

/* A rule about the same as another takes its place, as the last. */
static int add_rule(struct change *change)
{
	const struct owner_sentence *s = &change->sentence;
	unsigned int number, unknown = s->uses & ~FIELDS_OF_ALLOCATION;
	struct table *table = change->table;
	struct owner_rule *rule;

	if (s->sample_bytes || s->sample_objects)
		return refuse(change, "there is no sampling yet: say sample=all, or nothing of it");
	if (s->free)
		return refuse(change, "free= is said for all at boot: slab_owner=on,free=on");
	if (unknown)
		return refuse(change, "'%s' does not choose what is captured yet",
			      owner_field_names[__ffs(unknown)]);
	for (number = table->count; number; number--)
		if (same_condition(table->rules[number]->sentence, s))
			remove_rule(change, number);
	if (table->count == RULES_MAX)
		return refuse(change, "there are at most %d rules", RULES_MAX);
	rule = make_rule(s);
	if (!rule)
		return -ENOMEM;
	table->rules[++table->count] = rule;
	return 0;
}

/* Apply the sentence to the table that is being made. */
static int apply(struct change *change)
{
	struct table *table = change->table;
	unsigned int number = change->sentence.number;

	switch (change->sentence.command) {
	case OWNER_CLEAR:
		while (table->count)
			remove_rule(change, table->count);
		return 0;
	case OWNER_DEL:
		if (number > table->count)
			return refuse(change, "there is no rule %u: the last is %u",
				      number, table->count);
		remove_rule(change, number);
		return 0;
	default:
		return add_rule(change);
	}
}

static int apply_all(struct change *change, const char *text, size_t length,
		     char *said, size_t size)
{
	struct owner_lang_text left = { text, length };
	const char *sentence;
	int error = 0;

	while (!error && owner_lang_next(&left, &sentence, &length)) {
		/* What the language has no objection to is refused whole. */
		if (owner_lang_parse(&change->sentence, OWNER_CONTROL, sentence, length,
				     &change->error)) {
			change->error.position = 0;
			change->error.length = length;
			error = apply(change);
		} else {
			error = -EINVAL;
		}
		if (error == -EINVAL)
			owner_lang_render_error(&change->error, sentence, length, said, size);
	}
	return error;
}

static void resolve_kinds(struct table *table)
{
	enum owner_kind kind;

	for (kind = 0; kind < OWNER_KINDS; kind++) {
		struct owner_facts facts = {};

		/* No more than the kind is known: any size will do. */
		know_kind(&facts, kind, 1);
		table->kinds[kind] = resolve(table, &facts);
	}
}

/* Until a rule asks for it, nothing may be captured: slab_owner=ready. */
static int start_if_asked(const struct table *table)
{
	unsigned int i;

	for (i = 1; i <= table->count; i++)
		if (table->rules[i]->track && slab_owner_wanted())
			return owner_capture_start();
	return 0;
}

static void publish(struct change *change, struct table *old)
{
	static unsigned long first_answer;
	struct table *table = change->table;
	unsigned int i;

	/* 0, which a new cache keeps, is no answer of any table. */
	first_answer += ASK + 1;
	table->first_answer = first_answer;
	resolve_kinds(table);
	for (i = 1; i <= table->count; i++)
		table->rules[i]->published = true;
	if (!table->count) {
		kfree(table);
		table = NULL;
	}
	rcu_assign_pointer(current_table, table);
	synchronize_rcu();
	kfree(old);
	for (i = 0; i < change->nr_gone; i++)
		free_rule(change->gone[i]);
}

static void abandon(struct change *change)
{
	struct table *table = change->table;
	unsigned int i;

	for (i = 1; table && i <= table->count; i++)
		if (!table->rules[i]->published)
			free_rule(table->rules[i]);
	kfree(table);
}

/**
 * owner_rules_write - change the rules as a text says
 * @text: sentences of control
 * @length: of @text
 * @said: where it is said what is wrong, if that is the text; else untouched
 * @size: of @said
 *
 * All sentences take effect, and at once, or none.
 *
 * Return: 0, -EINVAL if a sentence is wrong, -ENOMEM.
 */
int owner_rules_write(const char *text, size_t length, char *said, size_t size)
{
	struct change *change = kvzalloc(sizeof(*change), GFP_KERNEL);
	int error = -ENOMEM;
	struct table *old;

	if (!change)
		return -ENOMEM;
	mutex_lock(&table_mutex);
	old = rcu_dereference_protected(current_table, lockdep_is_held(&table_mutex));
	change->table = kzalloc(sizeof(*change->table), GFP_KERNEL);
	if (change->table) {
		if (old)
			*change->table = *old;
		change->table->rules[0] = &rest;
		error = apply_all(change, text, length, said, size);
		if (!error)
			error = start_if_asked(change->table);
	}
	if (error)
		abandon(change);
	else
		publish(change, old);
	mutex_unlock(&table_mutex);
	kvfree(change);
	return error;
}

/* --- Reading them ------------------------------------------------------------- */

static unsigned long hits_of(const struct owner_rule *rule)
{
	unsigned long hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(*per_cpu_ptr(rule->hits, cpu));
	return hits;
}

/**
 * owner_rules_show - print the rules as sentences that can be written back
 * @m: where to
 *
 * Their numbers, and what each has decided so far, are comments.
 */
int owner_rules_show(struct seq_file *m)
{
	char *printed = kmalloc(OWNER_SENTENCE_MAX + 1, GFP_KERNEL);
	const struct table *table;
	unsigned int number;

	if (!printed)
		return -ENOMEM;
	mutex_lock(&table_mutex);
	table = rcu_dereference_protected(current_table, lockdep_is_held(&table_mutex));
	for (number = 1; table && number <= table->count; number++) {
		const struct owner_rule *rule = table->rules[number];

		owner_lang_print(rule->sentence, printed, OWNER_SENTENCE_MAX + 1);
		seq_printf(m, "%s\t# %u: %lu hits\n", printed, number, hits_of(rule));
	}
	if (table)
		seq_printf(m, "# otherwise: %lu hits\n", hits_of(&rest));
	else
		seq_printf(m, "# no rules: %s\n", rest.track ? "everything" : "nothing");
	mutex_unlock(&table_mutex);
	kfree(printed);
	return 0;
}

/* --- The boot line ------------------------------------------------------------ */

static char boot_text[COMMAND_LINE_SIZE] __initdata;

static int __init owner_setup(char *str)
{
	strscpy(boot_text, str ?: "", sizeof(boot_text));
	return 0;
}
early_param("owner", owner_setup);

/* As soon as memory can be had and RCU waited for. */
static int __init owner_rules_init(void)
{
	static char said[OWNER_RENDERED_SIZE] __initdata;

	if (boot_text[0] && !slab_owner_wanted())
		pr_err("owner= on the boot line has no effect without slab_owner=on or ready\n");
	else if (owner_rules_write(boot_text, strlen(boot_text), said, sizeof(said)))
		pr_err("owner= on the boot line has no effect: %s\n", said);
	return 0;
}
early_initcall(owner_rules_init);
