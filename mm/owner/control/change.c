// SPDX-License-Identifier: GPL-2.0
/*
 * Change the rules.
 *
 * A change builds a new table and publishes it with RCU. When no reader uses the
 * old table any more, the rules that caches keep are cleared, so that each cache
 * looks for its rule in the new table. A rule that is not removed moves to the new
 * table with its hits.
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
#include "../capture.h"
#include "../cgroup.h"
#include "../page/page.h"
#include "../rules/table.h"
#include "../slab/hooks.h"
#include "../slab/walk.h"
#include "../user/hooks.h"
#include "show.h"

/* Serializes changes of owner_rules_table and of the symbol ranges of its rules. */
static DEFINE_MUTEX(table_mutex);

/* Call it with table_mutex held. */
static struct owner_rule_table *current_table(void)
{
	return rcu_dereference_protected(owner_rules_table, lockdep_is_held(&table_mutex));
}

/* --- Building a new table ------------------------------------------------------ */

/* The new table, and the rules of the published one that it does not contain. */
struct rule_change {
	struct owner_rule_table *table;
	const struct owner_rule_table *old;	/* NULL if there were no rules */
	struct owner_rule_entry *removed[OWNER_RULES_MAX + 1];
	unsigned int nr_removed;
	unsigned int nr_rates;			/* before the change */
	struct owner_sentence sentence;		/* the sentence that is being applied */
	struct owner_lang_error error;		/* why it is wrong */
};

static void free_rule(struct owner_rule_entry *entry)
{
	unsigned int i;

	for (i = 0; entry->sentence && i < entry->sentence->nr_comparisons; i++)
		kvfree(rcu_dereference_protected(entry->ranges[i], true));
	free_percpu(entry->cpu);
	kfree(entry->sentence);
	kfree(entry);
}

static int find_symbol_ranges(struct owner_rule_entry *entry)
{
	const struct owner_sentence *s = entry->sentence;
	struct owner_symbol_ranges *ranges;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		if (!owner_comparison_needs_chain(&s->comparisons[i]))
			continue;
		ranges = owner_symbol_ranges_find(s, &s->comparisons[i]);
		if (IS_ERR(ranges))
			return PTR_ERR(ranges);
		RCU_INIT_POINTER(entry->ranges[i], ranges);
	}
	return 0;
}

/* Look up the symbols that new rules name: once, when it is known which rules stay. */
static int find_symbols_of_new_rules(const struct owner_rule_table *table)
{
	unsigned int i;
	int error = 0;

	for (i = 1; !error && i <= table->count; i++)
		if (!table->entries[i]->published)
			error = find_symbol_ranges(table->entries[i]);
	return error;
}

static unsigned int count_chain_comparisons(const struct owner_sentence *s)
{
	unsigned int i, count = 0;

	for (i = 0; i < s->nr_comparisons; i++)
		count += owner_comparison_needs_chain(&s->comparisons[i]);
	return count;
}

static unsigned int count_all_chain_comparisons(const struct owner_rule_table *table)
{
	unsigned int i, count = 0;

	for (i = 1; i <= table->count; i++)
		count += count_chain_comparisons(table->entries[i]->sentence);
	return count;
}

static struct owner_rule_entry *alloc_rule(const struct owner_sentence *s, int rate)
{
	struct owner_rule_entry *entry;

	entry = kzalloc(struct_size(entry, ranges, s->nr_comparisons), GFP_KERNEL);
	if (!entry)
		return NULL;
	entry->choice = (struct owner_choice){
		.depth = s->depth,
		.rate = rate,
		.free = s->free,
		.user = s->user,
	};
	/* Copy only the used part of words[], the last member. */
	entry->sentence = kmemdup(s, offsetof(struct owner_sentence, words) + s->nr_words,
				  GFP_KERNEL);
	entry->cpu = alloc_percpu(struct owner_rule_cpu);
	if (!entry->sentence || !entry->cpu ||
	    (s->fields_used & OWNER_FIELDS_OF_CHAIN && owner_rules_alloc_chain_buffers())) {
		free_rule(entry);
		return NULL;
	}
	return entry;
}

/* Keep a rule that is in use until the change is published. */
static void drop_rule(struct rule_change *change, struct owner_rule_entry *entry)
{
	if (entry->published)
		change->removed[change->nr_removed++] = entry;
	else
		free_rule(entry);
}

static void remove_rule(struct rule_change *change, unsigned int number)
{
	struct owner_rule_table *table = change->table;
	struct owner_rule_entry *entry = table->entries[number];

	memmove(&table->entries[number], &table->entries[number + 1],
		(table->count - number) * sizeof(entry));
	table->count--;
	drop_rule(change, entry);
}

/* A rule without a condition is the first; others are added at the end. */
static void insert_rule(struct owner_rule_table *table, struct owner_rule_entry *entry)
{
	unsigned int number = entry->sentence->nr_comparisons ? table->count + 1 : 1;

	memmove(&table->entries[number + 1], &table->entries[number],
		(table->count + 1 - number) * sizeof(entry));
	table->entries[number] = entry;
	table->count++;
}

static bool conditions_are_equal(const struct owner_sentence *a, const struct owner_sentence *b)
{
	return a->nr_comparisons == b->nr_comparisons && a->nr_values == b->nr_values &&
	       a->nr_words == b->nr_words &&
	       !memcmp(a->comparisons, b->comparisons,
		       a->nr_comparisons * sizeof(*a->comparisons)) &&
	       !memcmp(a->values, b->values, a->nr_values * sizeof(*a->values)) &&
	       !memcmp(a->words, b->words, a->nr_words);
}

/* Set the message for a sentence that is valid but cannot be applied. */
static __printf(2, 3) int refuse_sentence(struct rule_change *change, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(change->error.message, sizeof(change->error.message), format, args);
	va_end(args);
	return -EINVAL;
}

/* The number of the rule with the condition of the sentence, or 0. */
static unsigned int find_condition(const struct rule_change *change)
{
	unsigned int number = change->table->count;

	while (number && !conditions_are_equal(change->table->entries[number]->sentence,
					       &change->sentence))
		number--;
	return number;
}

/* Refuse a rule that this kernel cannot evaluate. */
static int check_rule(struct rule_change *change)
{
	const struct owner_sentence *s = &change->sentence;

	if (s->fields_used & BIT(OWNER_FIELD_TASK_CGROUP) && !owner_cgroups_on())
		return refuse_sentence(change, OWNER_CGROUPS_OFF);
	if (s->fields_used & OWNER_FIELDS_OF_CHAIN && !IS_ENABLED(CONFIG_KALLSYMS))
		return refuse_sentence(change,
				       "this kernel has no names of functions: they need CONFIG_KALLSYMS");
	if (s->user && !IS_ENABLED(CONFIG_SLAB_OWNER_USER))
		return refuse_sentence(change,
				       "user=on needs CONFIG_SLAB_OWNER_USER, which is for x86_64 and arm64: leave it out");
	return s->user && owner_user_start() ? -ENOMEM : 0;
}

/* Add the sentence as a rule, or in the place of the rule with its condition. */
static int add_rule(struct rule_change *change)
{
	const struct owner_sentence *s = &change->sentence;
	unsigned int number = find_condition(change);
	struct owner_rule_table *table = change->table;
	struct owner_rule_entry *entry;
	int rate, error;

	error = check_rule(change);
	if (error)
		return error;
	if (!number && table->count == OWNER_RULES_MAX)
		return refuse_sentence(change, "there are at most %d rules", OWNER_RULES_MAX);
	if (!number && count_all_chain_comparisons(table) + count_chain_comparisons(s) >
	    OWNER_CHAIN_COMPARISONS_MAX)
		return refuse_sentence(change,
				       "all rules together can compare func and module %d times: give one comparison a list of names",
				       OWNER_CHAIN_COMPARISONS_MAX);
	rate = owner_register_rate(s->sample_bytes, s->sample_objects);
	if (rate < 0)
		return refuse_sentence(change,
				       "there have been %d different sample= since boot: say one again",
				       OWNER_RATES - 1);
	entry = alloc_rule(s, rate);
	if (!entry)
		return -ENOMEM;
	if (number) {
		drop_rule(change, table->entries[number]);
		table->entries[number] = entry;
	} else {
		insert_rule(table, entry);
	}
	return 0;
}

/* Find a rule by its number before the change, or return 0. */
static unsigned int find_old_number(const struct rule_change *change)
{
	const struct owner_rule_entry *entry = change->old->entries[change->sentence.number];
	unsigned int number = change->table->count;

	while (number && change->table->entries[number] != entry)
		number--;
	return number;
}

/* Remove the rule with a number, or with a condition. */
static int delete_rule(struct rule_change *change)
{
	unsigned int wanted = change->sentence.number;
	unsigned int last = change->old ? change->old->count : 0;
	unsigned int number;

	if (wanted > last)
		return refuse_sentence(change, "there is no rule %u: the last is %u", wanted, last);
	number = wanted ? find_old_number(change) : find_condition(change);
	if (!number && wanted)
		return refuse_sentence(change,
				       "this text has removed or replaced rule %u before: numbers are those that were printed",
				       wanted);
	if (!number)
		return refuse_sentence(change, "no rule has this condition");
	remove_rule(change, number);
	return 0;
}

static int apply_sentence(struct rule_change *change)
{
	switch (change->sentence.command) {
	case OWNER_CLEAR:
		while (change->table->count)
			remove_rule(change, change->table->count);
		return 0;
	case OWNER_DEL:
		return delete_rule(change);
	default:
		return add_rule(change);
	}
}

static int apply_control_text(struct rule_change *change, const char *text, size_t length,
			      char *error_text, size_t size)
{
	struct owner_lang_text remaining = { text, length };
	const char *sentence;
	int error = 0;

	while (!error && owner_lang_next_sentence(&remaining, &sentence, &length)) {
		if (owner_lang_parse(&change->sentence, OWNER_CONTROL, sentence, length,
				     &change->error)) {
			/* Mark the whole sentence if it is refused. */
			change->error.position = 0;
			change->error.length = length;
			error = apply_sentence(change);
		} else {
			error = -EINVAL;
		}
		if (error == -EINVAL)
			owner_lang_render_error(&change->error, sentence, length, error_text, size);
	}
	return error;
}

/* --- Publishing a table -------------------------------------------------------- */

/* Fill what the table has of all its rules together. */
static void complete_table(struct owner_rule_table *table)
{
	unsigned int i, chain_comparisons = 0;
	enum owner_kind kind;

	table->fields_used = 0;
	for (i = 1; i <= table->count; i++) {
		table->fields_used |= table->entries[i]->sentence->fields_used;
		table->first_chain_bit[i] = chain_comparisons;
		chain_comparisons += count_chain_comparisons(table->entries[i]->sentence);
	}
	for (kind = OWNER_KIND_PAGE; kind < OWNER_KINDS; kind++)
		owner_rules_merge_for_kind(table, kind, &table->by_kind[kind]);
}

/* With slab_owner=ready, the first rule that captures something enables the hooks. */
static int enable_hooks_if_tracking(const struct owner_rule_table *table)
{
	unsigned int i;

	for (i = 1; i <= table->count; i++)
		if (table->entries[i]->sentence->track && slab_owner_wanted())
			return slab_owner_start();
	return 0;
}

static void clear_cached_choices(void)
{
	struct kmem_cache *s;

	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list) {
		slab_owner_set_rate(s, OWNER_RATE_ALL);
		WRITE_ONCE(s->owner_choice, 0);
	}
	mutex_unlock(&slab_mutex);
}

/*
 * Store the choice of each cache. While clear_cached_choices() ran, an allocation may have stored
 * a choice, whose rate was cleared then.
 */
static void store_rules_of_caches(void)
{
	struct kmem_cache *s;

	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list)
		owner_rules_store_cache_rule(s);
	mutex_unlock(&slab_mutex);
}

/* Does an allocation have free=on by the rules, or without one? */
static bool table_records_frees(const struct owner_rule_table *table)
{
	unsigned int i;

	for (i = 1; i <= table->count; i++)
		if (table->entries[i]->choice.free)
			return true;
	return owner_default_choice.free;
}

/*
 * Where to continue erasing the records of frees, if the task that did it was killed. They
 * must be erased before frees are recorded again: objects were allocated in their places.
 */
static u64 erase_pos;
static bool freed_records_left;

static int erase_freed_records(void)
{
	int error = freed_records_left ? owner_slab_erase_freed(&erase_pos) : 0;

	if (!error) {
		erase_pos = 0;
		freed_records_left = false;
	}
	return error;
}

static int start_recording_frees(void)
{
	int error = erase_freed_records();

	if (error || owner_frees_recorded)
		return error;
	WRITE_ONCE(owner_frees_recorded, true);
	/* From now on nobody clears OBJEXTS_OWNER_SLOW. */
	synchronize_rcu();
	return 0;
}

/* No rule has free=on any more, and no cache keeps a rule that has. */
static void stop_recording_frees(void)
{
	WRITE_ONCE(owner_frees_recorded, false);
	/* Wait for tasks that still record a free. Readers no longer show these records. */
	synchronize_rcu();
	/* From now on caches may be sampled. */
	store_rules_of_caches();
	freed_records_left = true;
	/* If this task is killed, the next rule with free=on erases the rest. */
	erase_freed_records();
}

/* Replace @old by the new table and free what only @old contains. Sleeps. */
static void publish_rule_table(struct rule_change *change, struct owner_rule_table *old)
{
	struct owner_rule_table *table = change->table;
	bool record_frees = table_records_frees(table);
	unsigned int i;

	complete_table(table);
	for (i = 1; i <= table->count; i++)
		table->entries[i]->published = true;
	if (!table->count) {
		kfree(table);
		table = NULL;
	}
	rcu_assign_pointer(owner_rules_table, table);
	synchronize_rcu();
	/* Nobody evaluates a rule of the old table any more. */
	clear_cached_choices();
	synchronize_rcu();
	store_rules_of_caches();
	if (owner_frees_recorded && !record_frees)
		stop_recording_frees();
	kfree(old);
	for (i = 0; i < change->nr_removed; i++)
		free_rule(change->removed[i]);
}

/* After an error: free the new table and its new rules. */
static void discard_rule_table(struct rule_change *change)
{
	struct owner_rule_table *table = change->table;
	unsigned int i;

	owner_forget_rates(change->nr_rates);
	for (i = 1; table && i <= table->count; i++)
		if (!table->entries[i]->published)
			free_rule(table->entries[i]);
	kfree(table);
}

/**
 * owner_rules_write() - change the rules
 * @text: sentences of control
 * @length: length of @text in bytes
 * @error_text: set to the error if a sentence is wrong, else untouched
 * @size: size of @error_text
 *
 * Either all sentences take effect, at the same time, or none does.
 *
 * Return: 0, -EINVAL if a sentence is wrong, -ENOMEM, -EINTR or -ERESTARTSYS if the
 *	task is killed.
 */
int owner_rules_write(const char *text, size_t length, char *error_text, size_t size)
{
	struct rule_change *change = kvzalloc(sizeof(*change), GFP_KERNEL | __GFP_NOWARN);
	struct owner_rule_table *old;
	int error = -ENOMEM;

	if (!change)
		return -ENOMEM;
	if (mutex_lock_killable(&table_mutex)) {
		kvfree(change);
		return -EINTR;
	}
	old = current_table();
	change->old = old;
	change->nr_rates = owner_count_rates();
	change->table = kzalloc(sizeof(*change->table), GFP_KERNEL);
	if (change->table) {
		if (old)
			*change->table = *old;
		change->table->entries[0] = &owner_default_rule;
		error = apply_control_text(change, text, length, error_text, size);
		if (!error)
			error = find_symbols_of_new_rules(change->table);
		if (!error)
			error = enable_hooks_if_tracking(change->table);
		if (!error && table_records_frees(change->table))
			error = start_recording_frees();
	}
	if (error)
		discard_rule_table(change);
	else
		publish_rule_table(change, old);
	mutex_unlock(&table_mutex);
	kvfree(change);
	return error;
}

/* --- Loading and unloading modules ---------------------------------------------- */

#ifdef CONFIG_MODULES

static void update_symbol_ranges(struct owner_rule_entry *entry, const struct module *module,
				 bool going)
{
	const struct owner_sentence *s = entry->sentence;
	struct owner_symbol_ranges *old, *ranges;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		if (!owner_comparison_needs_chain(&s->comparisons[i]))
			continue;
		old = rcu_dereference_protected(entry->ranges[i], lockdep_is_held(&table_mutex));
		ranges = owner_symbol_ranges_update(old, s, &s->comparisons[i], module, going);
		rcu_assign_pointer(entry->ranges[i], ranges);
		kvfree_rcu_mightsleep(old);
	}
}

/*
 * MODULE_STATE_COMING is notified before the module's first function runs,
 * MODULE_STATE_LIVE before its init text is freed, and MODULE_STATE_GOING before
 * another module can be loaded at the same address.
 */
static int handle_module_event(struct notifier_block *block, unsigned long state, void *module)
{
	const struct owner_rule_table *table;
	unsigned int number;

	mutex_lock(&table_mutex);
	table = current_table();
	for (number = 1; table && number <= table->count; number++)
		update_symbol_ranges(table->entries[number], module, state == MODULE_STATE_GOING);
	mutex_unlock(&table_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = handle_module_event };

static void __init watch_modules(void)
{
	register_module_notifier(&module_notifier);
}

#else

static void __init watch_modules(void)
{
}

#endif

/* --- Printing the rules -------------------------------------------------------- */

/**
 * owner_rules_show() - print the rules in a form that can be written back
 * @m: the file
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed.
 */
int owner_rules_show(struct seq_file *m)
{
	int error;

	if (mutex_lock_killable(&table_mutex))
		return -EINTR;
	error = owner_control_show(m, current_table());
	mutex_unlock(&table_mutex);
	return error;
}

/* --- owner= on the boot line --------------------------------------------------- */

static char boot_text[COMMAND_LINE_SIZE] __initdata;

static int __init set_boot_text(char *str)
{
	size_t used = strlen(boot_text);

	/* owner= can be given several times. */
	snprintf(boot_text + used, sizeof(boot_text) - used, "%s%s", used ? "; " : "", str ?: "");
	return 0;
}
early_param("owner", set_boot_text);

/* An early_initcall() is the first moment when rules can be allocated and RCU waited for. */
static int __init owner_rules_init(void)
{
	static char error_text[OWNER_ERROR_TEXT_SIZE] __initdata;

	watch_modules();
	if (!boot_text[0])
		return 0;
	if (!slab_owner_wanted() && !owner_pages_wanted())
		pr_err("owner= on the boot line has no effect without slab_owner=on or ready, or page_owner=on\n");
	else if (owner_rules_write(boot_text, strlen(boot_text), error_text, sizeof(error_text)))
		pr_err("owner= on the boot line has no effect: %s\n", error_text);
	return 0;
}
early_initcall(owner_rules_init);
