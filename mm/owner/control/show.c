// SPDX-License-Identifier: GPL-2.0
/* Print the rules, and what each of them does. */

#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>
#include <linux/string_choices.h>

#include "../page/page.h"
#include "../rules/table.h"
#include "show.h"

/* Does a rule compare names, because there was no memory for addresses? */
static bool lacks_addresses(const struct owner_rule_entry *entry)
{
	const struct owner_sentence *s = entry->sentence;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++)
		if (owner_comparison_needs_chain(&s->comparisons[i]) &&
		    !rcu_access_pointer(entry->ranges[i]))
			return true;
	return false;
}

static unsigned long sum_rule_hits(const struct owner_rule_entry *entry)
{
	unsigned long hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(per_cpu_ptr(entry->cpu, cpu)->hits);
	return hits;
}

/* A line that is composed of parts with commas. */
struct use_line {
	struct seq_file *m;
	const char *comma;
};

static __printf(2, 3) void add_part(struct use_line *line, const char *format, ...)
{
	va_list args;

	seq_puts(line->m, line->comma);
	line->comma = ", ";
	va_start(args, format);
	seq_vprintf(line->m, format, args);
	va_end(args);
}

/* Why caches evaluate a rule for each allocation: "size,func". */
static void show_fields_per_allocation(struct seq_file *m, const struct owner_sentence *s)
{
	unsigned int field, fields = s->fields_used & OWNER_FIELDS_PER_ALLOCATION;
	const char *comma = "";

	for (field = 0; field < OWNER_FIELDS; field++) {
		if (fields & BIT(field)) {
			seq_printf(m, "%s%s", comma, owner_field_names[field]);
			comma = ",";
		}
	}
}

/* Name the comparisons of func and module that hold for no function and no module. */
static void show_names_of_nothing(struct use_line *line, const struct owner_rule_entry *entry,
				  char *printed)
{
	const struct owner_sentence *s = entry->sentence;
	const struct owner_symbol_ranges *ranges;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		ranges = rcu_dereference_protected(entry->ranges[i], true);
		if (!ranges || !owner_symbol_ranges_are_empty(ranges))
			continue;
		owner_lang_print_comparison(s, &s->comparisons[i], printed, OWNER_SENTENCE_MAX + 1);
		add_part(line, "no %s has this name: %s",
			 s->comparisons[i].field == OWNER_FIELD_FUNC ? "function" : "module",
			 printed);
	}
}

/* Allocations whose cache or source has one choice for all are not counted. */
static void show_use(struct use_line *line, const struct owner_rule_entry *entry,
		     const struct owner_rule_use *use)
{
	unsigned long hits = sum_rule_hits(entry);

	if (use->decides)
		add_part(line, "%u cache%s", use->decides, str_plural(use->decides));
	if (use->kinds & BIT(OWNER_KIND_PAGE))
		add_part(line, "pages");
	if (use->kinds & BIT(OWNER_KIND_PERCPU))
		add_part(line, "per-CPU areas");
	if (use->evaluates) {
		add_part(line, "%u cache%s evaluate%s it (", use->evaluates,
			 str_plural(use->evaluates), use->evaluates == 1 ? "s" : "");
		show_fields_per_allocation(line->m, entry->sentence);
		seq_putc(line->m, ')');
	}
	if (hits || use->evaluates || !*line->comma)
		add_part(line, "%lu hit%s", hits, str_plural(hits));
}

/* @printed: room for a sentence. */
static void show_rule(struct seq_file *m, unsigned int number, const struct owner_rule_entry *entry,
		      const struct owner_rule_use *use, char *printed)
{
	struct use_line line = { m, "" };

	owner_lang_print(entry->sentence, printed, OWNER_SENTENCE_MAX + 1);
	seq_printf(m, "%s\t# %u: ", printed, number);
	show_use(&line, entry, use);
	if (!use->can_match)
		add_part(&line, "matches nothing");
	else if (!use->is_reached && use->is_off)
		add_part(&line, "never reached: track=off decides");
	else if (!use->is_reached)
		add_part(&line, "never reached: later rules decide");
	show_names_of_nothing(&line, entry, printed);
	if (lacks_addresses(entry))
		add_part(&line, "slow until a module comes or goes: no memory for addresses");
	seq_putc(m, '\n');
}

static unsigned int tracked_sources(void)
{
	return (slab_owner_wanted() ? BIT(OWNER_KIND_SLAB) | BIT(OWNER_KIND_PERCPU) : 0) |
	       (owner_pages_tracked() ? BIT(OWNER_KIND_PAGE) : 0);
}

/**
 * owner_control_show() - print the rules of a table, and what each of them does
 * @m: the file
 * @table: the table, NULL if there are no rules
 *
 * Comments after the rules have their numbers, for how many caches they decide, how many evaluate
 * them, and their hits in allocations from these.
 *
 * Context: table_mutex of change.c is held; takes slab_mutex.
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed.
 */
int owner_control_show(struct seq_file *m, const struct owner_rule_table *table)
{
	struct use_line line = { m, "" };
	struct owner_rule_use *uses;
	unsigned int number;
	char *printed;
	int error;

	if (!table) {
		seq_printf(m, "# no rules: %s\n",
			   owner_default_choice.depth ? "everything" : "nothing");
		return 0;
	}
	printed = kmalloc(OWNER_SENTENCE_MAX + 1, GFP_KERNEL);
	uses = kmalloc_array(OWNER_RULES_MAX + 1, sizeof(*uses), GFP_KERNEL);
	error = printed && uses ? owner_rules_find_use(table, tracked_sources(), uses) :
				  -ENOMEM;
	if (!error) {
		for (number = 1; number <= table->count; number++)
			show_rule(m, number, table->entries[number], &uses[number], printed);
		seq_puts(m, "# otherwise: ");
		show_use(&line, &owner_default_rule, &uses[0]);
		seq_putc(m, '\n');
	}
	kfree(uses);
	kfree(printed);
	return error;
}
