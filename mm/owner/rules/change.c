// SPDX-License-Identifier: GPL-2.0
/*
 * The rules, as they are written, changed and read.
 *
 * They are changed by making a new table and publishing it: readers are in an
 * RCU read-side critical section. When all of them see the new table, caches
 * forget what they kept. A rule that stays goes from table to table, with its
 * hits.
 */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <asm/setup.h>

#include "../../slab.h"
#include "../cgroup.h"
#include "../capture.h"
#include "../hooks.h"
#include "../page.h"
#include "table.h"

/* Guards owner_rules_table, and what its rules have of places. */
static DEFINE_MUTEX(table_mutex);

static struct table *table_locked(void)
{
	return rcu_dereference_protected(owner_rules_table, lockdep_is_held(&table_mutex));
}

/* --- Making another table ----------------------------------------------------- */

/* A table that is being made, and what of the published one goes with it. */
struct change {
	struct table *table;
	struct rule *gone[RULES_MAX + 1];
	unsigned int nr_gone;
	struct owner_sentence sentence;
	struct owner_lang_error error;
};

static void free_rule(struct rule *rule)
{
	unsigned int i;

	for (i = 0; rule->sentence && i < rule->sentence->nr_comparisons; i++)
		kfree(rcu_dereference_protected(rule->places[i], true));
	free_percpu(rule->seen.hits);
	kfree(rule->sentence);
	kfree(rule);
}

static void find_places(struct rule *rule)
{
	const struct owner_sentence *s = rule->sentence;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++)
		if (looks_at_chain(&s->comparisons[i]))
			RCU_INIT_POINTER(rule->places[i],
					 owner_symbol_ranges_find(s, &s->comparisons[i]));
}

static struct rule *make_rule(const struct owner_sentence *s, int rate)
{
	struct rule *rule = kzalloc(struct_size(rule, places, s->nr_comparisons), GFP_KERNEL);

	if (!rule)
		return NULL;
	owner_rule_set_choice(&rule->seen, (struct owner_choice){
		.depth = s->track ? s->depth ?: OWNER_DEPTH : 0,
		.rate = rate,
		.free = s->settings_given & BIT(OWNER_SET_FREE) ? s->free :
							 owner_default_rule.seen.choice.free,
	});
	/* Without the room that its words do not take. */
	rule->sentence = kmemdup(s, offsetof(struct owner_sentence, words) + s->nr_words,
				 GFP_KERNEL);
	rule->seen.hits = alloc_percpu(unsigned long);
	if (!rule->sentence || !rule->seen.hits ||
	    (s->fields_used & FIELDS_OF_CHAIN && owner_rules_prepare_chains())) {
		free_rule(rule);
		return NULL;
	}
	find_places(rule);
	return rule;
}

static void remove_rule(struct change *change, unsigned int number)
{
	struct table *table = change->table;
	struct rule *rule = table->rules[number];

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
	struct table *table = change->table;
	unsigned int number;
	struct rule *rule;
	int rate;

	if (s->fields_used & BIT(OWNER_FIELD_CGROUP) && !owner_cgroups_on())
		return refuse(change, OWNER_CGROUPS_OFF);
	for (number = table->count; number; number--)
		if (same_condition(table->rules[number]->sentence, s))
			remove_rule(change, number);
	if (table->count == RULES_MAX)
		return refuse(change, "there are at most %d rules", RULES_MAX);
	rate = owner_rate_number(s->sample_bytes, s->sample_objects);
	if (rate < 0)
		return refuse(change,
			      "there have been %d different sample= since boot: say one again",
			      OWNER_RATES - 1);
	rule = make_rule(s, rate);
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

	while (!error && owner_lang_next_sentence(&left, &sentence, &length)) {
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

static void resolve(struct table *table)
{
	enum owner_source kind;
	unsigned int i;

	table->fields_used = 0;
	for (i = 1; i <= table->count; i++)
		table->fields_used |= table->rules[i]->sentence->fields_used;
	for (kind = 0; kind < OWNER_SOURCES; kind++)
		table->kinds[kind] = owner_rules_answer(table, kind);
}

/* Until a rule asks for it, nothing may be captured: slab_owner=ready. */
static int start_if_asked(const struct table *table)
{
	unsigned int i;

	for (i = 1; i <= table->count; i++)
		if (table->rules[i]->seen.choice.depth && slab_owner_wanted())
			return slab_owner_start();
	return 0;
}

static void forget_rules(void)
{
	struct kmem_cache *s;

	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list) {
		/* In this order: who has no rule asks for one, whatever its rate is. */
		WRITE_ONCE(s->owner_rate, OWNER_RATE_ALL);
		WRITE_ONCE(s->owner_rule, NULL);
	}
	mutex_unlock(&slab_mutex);
}

static void publish(struct change *change, struct table *old)
{
	struct table *table = change->table;
	unsigned int i;

	resolve(table);
	for (i = 1; i <= table->count; i++)
		table->rules[i]->published = true;
	if (!table->count) {
		kfree(table);
		table = NULL;
	}
	WRITE_ONCE(owner_rules_generation, owner_rules_generation + 1);
	rcu_assign_pointer(owner_rules_table, table);
	synchronize_rcu();
	/* Only caches know of rules that have gone; and who got them from there. */
	forget_rules();
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
	old = table_locked();
	change->table = kzalloc(sizeof(*change->table), GFP_KERNEL);
	if (change->table) {
		if (old)
			*change->table = *old;
		change->table->rules[0] = &owner_default_rule;
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

/* --- Modules come and go ------------------------------------------------------- */

#ifdef CONFIG_MODULES

static void change_places(struct rule *rule, const struct module *module, bool going)
{
	const struct owner_sentence *s = rule->sentence;
	struct owner_symbol_ranges *old, *places;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		if (!looks_at_chain(&s->comparisons[i]))
			continue;
		old = rcu_dereference_protected(rule->places[i], lockdep_is_held(&table_mutex));
		places = owner_symbol_ranges_change(old, s, &s->comparisons[i], module, going);
		rcu_assign_pointer(rule->places[i], places);
		kfree_rcu_mightsleep(old);
	}
}

/*
 * Before its first function is called; when those that it begins with go; and
 * before another module can take its place.
 */
static int module_changes(struct notifier_block *block, unsigned long state, void *module)
{
	const struct table *table;
	unsigned int number;

	mutex_lock(&table_mutex);
	table = table_locked();
	for (number = 1; table && number <= table->count; number++)
		change_places(table->rules[number], module, state == MODULE_STATE_GOING);
	mutex_unlock(&table_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

static void __init watch_modules(void)
{
	register_module_notifier(&module_notifier);
}

#else

static void __init watch_modules(void)
{
}

#endif

/* --- Reading them ------------------------------------------------------------- */

static unsigned long hits_of(const struct rule *rule)
{
	unsigned long hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(*per_cpu_ptr(rule->seen.hits, cpu));
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
	table = table_locked();
	for (number = 1; table && number <= table->count; number++) {
		const struct rule *rule = table->rules[number];

		owner_lang_print(rule->sentence, printed, OWNER_SENTENCE_MAX + 1);
		seq_printf(m, "%s\t# %u: %lu hits\n", printed, number, hits_of(rule));
	}
	if (table)
		seq_printf(m, "# otherwise: %lu hits\n", hits_of(&owner_default_rule));
	else
		seq_printf(m, "# no rules: %s\n",
			   owner_default_rule.seen.choice.depth ? "everything" : "nothing");
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
	static char said[OWNER_ERROR_TEXT_SIZE] __initdata;

	owner_sample_init();
	watch_modules();
	if (!boot_text[0])
		return 0;
	if (!slab_owner_wanted() && !owner_pages_wanted())
		pr_err("owner= on the boot line has no effect without slab_owner=on or ready, or page_owner=on\n");
	else if (owner_rules_write(boot_text, strlen(boot_text), said, sizeof(said)))
		pr_err("owner= on the boot line has no effect: %s\n", said);
	return 0;
}
early_initcall(owner_rules_init);
