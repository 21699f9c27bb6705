// SPDX-License-Identifier: GPL-2.0
/* Prints the answer to a query: as text for people, or as rows of values for programs. */

#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>
#include <linux/time64.h>

#include "../escape.h"
#include "../frame.h"
#include "../page/page.h"
#include "../record.h"
#include "../slab/records.h"
#include "../slab/show.h"
#include "query.h"

/* Print a name as one word. */
static void show_name(struct seq_file *m, const char *name)
{
	size_t room, length;
	char *buf;

	room = seq_get_buf(m, &buf);
	length = room ? owner_escape_name(buf, room, *name ? name : "-", " ,") : 0;
	seq_commit(m, length < room ? length : -1);
}

/* Print a user chain as one column of a row. */
static void show_user_row(struct seq_file *m, const u64 *frames, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (i)
			seq_putc(m, ';');
		owner_user_show_frame(m, frames[i]);
	}
	if (!count)
		seq_putc(m, '-');
}

/* Print a number of a key: in text, a bucket with its unit, as the language has it. */
static void show_key_number(struct seq_file *m, const struct owner_group_field *by, u64 number,
			    enum owner_format format)
{
	char text[32];

	if (number == OWNER_QUERY_ABSENT) {
		seq_putc(m, '-');
	} else if (format == OWNER_FORMAT_TSV) {
		seq_printf(m, "%llu", number);
	} else {
		owner_lang_print_group_number(by, number, text, sizeof(text));
		seq_puts(m, text);
	}
}

static noinline_for_stack void show_cgroup(struct seq_file *m, u64 number)
{
	char path[OWNER_CGROUP_MAX];

	owner_cgroup_path(number, path);
	show_name(m, path);
}

static void show_value(struct seq_file *m, const struct owner_group_field *by, const u64 *key,
		       enum owner_format format)
{
	if (owner_query_keeps_name(by->field)) {
		show_name(m, (const char *)key);
		return;
	}
	switch (by->field) {
	case OWNER_FIELD_KIND:
		seq_puts(m, owner_kind_names[*key]);
		break;
	case OWNER_FIELD_GFP: {
		unsigned long flags = *key;

		/* Print the names of the flags, as page_owner does. */
		seq_printf(m, "%pGg", &flags);
		break;
	}
	case OWNER_FIELD_TASK_CGROUP:
		show_cgroup(m, *key);
		break;
	case OWNER_FIELD_FUNC:
		if (*key)
			seq_printf(m, "%ps", (void *)(unsigned long)*key);
		else
			seq_putc(m, '-');
		break;
	case OWNER_FIELD_USER:
		show_user_row(m, key + 1, key[0]);
		break;
	default:
		show_key_number(m, by, *key, format);
	}
}

/*
 * Print frame number @i of a chain, or only its function: in text on a line of its own, otherwise
 * in a column whose frames are separated by ';'.
 */
static noinline_for_stack void show_frame(struct seq_file *m, unsigned long frame, unsigned int i,
					  bool only_function, enum owner_format format)
{
	char text[KSYM_SYMBOL_LEN], module[MODULE_NAME_LEN];

	if (format == OWNER_FORMAT_TEXT || i)
		seq_putc(m, format == OWNER_FORMAT_TSV ? ';' : ' ');
	if (!only_function || !owner_query_print_function(frame, text))
		owner_frame_print(frame, text);
	seq_puts(m, text);
	if (owner_query_find_unloaded(frame, module, sizeof(module)))
		seq_printf(m, " [%s unloaded]", module);
	if (format == OWNER_FORMAT_TEXT)
		seq_putc(m, '\n');
}

static void show_no_frames(struct seq_file *m, enum owner_format format)
{
	if (format == OWNER_FORMAT_TSV)
		seq_putc(m, '-');
}

/* Print a call chain by its handle: frames, handle or both, as mode= says. */
static void show_chain(struct seq_file *m, struct owner_query *query, depot_stack_handle_t handle,
		       bool full)
{
	const struct owner_sentence *s = &query->sentence;

	if (s->mode != OWNER_MODE_HANDLE) {
		struct owner_query_chain *chain = owner_query_get_chain(query->chains, handle);
		unsigned int i, first = full ? 0 : chain->first;

		for (i = first; i < chain->count; i++)
			show_frame(m, stack_depot_frame(handle, i), i - first, false, s->format);
		if (first == chain->count)
			show_no_frames(m, s->format);
	}
	if (s->mode == OWNER_MODE_STACK)
		return;
	if (s->format == OWNER_FORMAT_TEXT)
		seq_printf(m, "handle: %u\n", handle);
	else
		seq_printf(m, "%s%u", s->mode == OWNER_MODE_HANDLE ? "" : "\t", handle);
}

/* The frames in a key may be hashes: print those of the group's chain, which are equal. */
static void show_stack(struct seq_file *m, struct owner_query *query,
		       const struct owner_query_group *group, const struct owner_group_field *by)
{
	struct owner_query_chain *chain = owner_query_get_chain(query->chains, group->stack);
	enum owner_format format = query->sentence.format;
	unsigned int i, first, frames;

	if (owner_query_keyed_by_handle(&query->sentence)) {
		show_chain(m, query, group->stack, by->full);
		return;
	}
	frames = owner_query_select_frames(chain, by, &first);
	for (i = 0; i < frames; i++)
		show_frame(m, stack_depot_frame(chain->handle, first + i), i, by->functions,
			   format);
	if (!frames)
		show_no_frames(m, format);
}

/* Names of the columns of a call chain. */
static const char *name_stack_columns(enum owner_mode mode)
{
	static const char * const columns[] = {
		[OWNER_MODE_STACK]		= "stack",
		[OWNER_MODE_HANDLE]		= "handle",
		[OWNER_MODE_STACK_HANDLE]	= "stack\thandle",
	};

	return columns[mode];
}

/* Print an age as one column of a row, '-' if it is unknown. */
static void show_age_ns(struct seq_file *m, const struct owner_sum *sum, u64 age)
{
	if (sum->ageless)
		seq_puts(m, "-\t");
	else
		seq_printf(m, "%llu\t", age);
}

static void show_age(struct seq_file *m, const char *name, u64 age)
{
	seq_printf(m, ", %s %llu.%03llu s", name, age / NSEC_PER_SEC,
		   age % NSEC_PER_SEC / NSEC_PER_MSEC);
}

/* Print the standard errors as the last columns of a row. Those of growth are not known. */
static void show_errors(struct seq_file *m, const struct owner_sum *sum, bool growth)
{
	if (growth)
		seq_puts(m, "-\t-");
	else
		seq_printf(m, "%llu\t%llu", owner_estimate_objects_error(&sum->estimate),
			   owner_estimate_bytes_error(&sum->estimate));
}

/* Round to the nearest object, so that sums over rows are right on average. */
static u64 round_objects(const struct owner_estimate *e)
{
	return e->objects + (e->fraction >> (OWNER_WEIGHT_SHIFT - 1));
}

static void show_sum_columns(struct seq_file *m, const struct owner_sum *sum, bool growth)
{
	const struct owner_estimate *e = &sum->estimate;

	seq_printf(m, "%llu\t%lld\t%lld\t%lld\t%lld\t", sum->groups, round_objects(e),
		   e->bytes, e->held, e->held - e->bytes);
	show_age_ns(m, sum, sum->oldest);
	show_age_ns(m, sum, sum->youngest);
	seq_printf(m, "%lld\t", e->records);
	show_errors(m, sum, growth);
}

static void show_sum_text(struct seq_file *m, const struct owner_sum *sum)
{
	const struct owner_estimate *e = &sum->estimate;

	seq_printf(m, "objects %lld, bytes %lld, held %lld, waste %lld", round_objects(e),
		   e->bytes, e->held, e->held - e->bytes);
	if (!sum->ageless) {
		show_age(m, "oldest", sum->oldest);
		show_age(m, "youngest", sum->youngest);
	}
	/* A sum without samples is exact and has no error. */
	if (e->bytes_variance)
		seq_printf(m, ", from %llu samples: +-%llu objects, +-%llu bytes", e->records,
			   owner_estimate_objects_error(e), owner_estimate_bytes_error(e));
}

/* Print how many slabs have an object of a sum. */
static void show_slabs(struct seq_file *m, const struct owner_sentence *s, u64 slabs)
{
	seq_printf(m, s->format == OWNER_FORMAT_TSV ? "\t%llu" : ", slabs %llu", slabs);
}

static void show_group_row(struct seq_file *m, struct owner_query *query,
			   const struct owner_query_group *group)
{
	const struct owner_sentence *s = &query->sentence;
	const u64 *key = group->key;
	unsigned int i;

	seq_puts(m, "group\t");
	show_sum_columns(m, &group->sum, s->since_mark);
	if (owner_lang_sorts_by(s, OWNER_SORT_SLABS))
		show_slabs(m, s, *owner_query_group_slabs(group));
	for (i = 0; i < s->nr_group_by; i++) {
		const struct owner_group_field *by = &s->group_by[i];

		seq_putc(m, '\t');
		if (by->field == OWNER_FIELD_STACK)
			show_stack(m, query, group, by);
		else
			show_value(m, by, key, s->format);
		key += owner_query_count_key_words(s, by, key);
	}
	seq_putc(m, '\n');
}

static void show_user_lines(struct seq_file *m, const u64 *key)
{
	unsigned int i;

	for (i = 0; i < key[0]; i++) {
		seq_puts(m, " user ");
		owner_user_show_frame(m, key[1 + i]);
		seq_putc(m, '\n');
	}
}

/* Print all fields but the chains in one line, and the chains below it. */
static void show_group_text(struct seq_file *m, struct owner_query *query,
			    const struct owner_query_group *group)
{
	const struct owner_sentence *s = &query->sentence;
	const struct owner_group_field *stack = NULL;
	const u64 *key = group->key, *user = NULL;
	unsigned int i;

	show_sum_text(m, &group->sum);
	if (owner_lang_sorts_by(s, OWNER_SORT_SLABS))
		show_slabs(m, s, *owner_query_group_slabs(group));
	for (i = 0; i < s->nr_group_by; i++) {
		const struct owner_group_field *by = &s->group_by[i];

		if (by->field == OWNER_FIELD_STACK) {
			stack = by;
		} else if (by->field == OWNER_FIELD_USER) {
			user = key;
		} else {
			seq_printf(m, ", %s ", owner_field_names[by->field]);
			show_value(m, by, key, s->format);
		}
		key += owner_query_count_key_words(s, by, key);
	}
	seq_putc(m, '\n');
	if (stack)
		show_stack(m, query, group, stack);
	if (user)
		show_user_lines(m, user);
	seq_putc(m, '\n');
}

/**
 * owner_query_show_group() - print one group
 * @m: the file
 * @query: the query
 * @group: the group
 */
void owner_query_show_group(struct seq_file *m, struct owner_query *query,
			    const struct owner_query_group *group)
{
	if (query->sentence.format == OWNER_FORMAT_TSV)
		show_group_row(m, query, group);
	else
		show_group_text(m, query, group);
}

/*
 * Print a sum of several groups. In a row, '-' replaces each field of the key. A slab can have
 * objects of several groups: their slabs are known of the total only.
 */
static void show_sum_row(struct seq_file *m, const struct owner_query *query, const char *name,
			 const struct owner_sum *sum)
{
	const struct owner_sentence *s = &query->sentence;
	bool with_slabs = owner_lang_sorts_by(s, OWNER_SORT_SLABS);
	bool is_total = sum == &query->total;
	unsigned int i;

	if (s->format == OWNER_FORMAT_TEXT) {
		if (!sum->groups && !is_total)
			return;
		seq_printf(m, "%s: groups %llu, ", name, sum->groups);
		show_sum_text(m, sum);
		if (is_total && with_slabs)
			show_slabs(m, s, query->slabs);
		seq_putc(m, '\n');
		return;
	}
	seq_printf(m, "%s\t", name);
	show_sum_columns(m, sum, s->since_mark);
	if (is_total && with_slabs)
		show_slabs(m, s, query->slabs);
	else if (with_slabs)
		seq_puts(m, "\t-");
	for (i = 0; i < s->nr_group_by; i++)
		seq_puts(m, s->group_by[i].field == OWNER_FIELD_STACK &&
			 s->mode == OWNER_MODE_STACK_HANDLE ? "\t-\t-" : "\t-");
	seq_putc(m, '\n');
}

static void show_group_totals(struct seq_file *m, const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	struct owner_sum not_shown = {};
	unsigned int i;

	for (i = query->nr_shown; i < query->nr_groups; i++) {
		owner_sum_join(&not_shown, &query->groups[i]->sum);
		cond_resched();
	}
	show_sum_row(m, query, s->format == OWNER_FORMAT_TSV ? "not_shown" : "not shown",
		     &not_shown);
	show_sum_row(m, query, "other", &query->other);
	show_sum_row(m, query, "total", &query->total);
	if (owner_lang_sorts_by(s, OWNER_SORT_SLABS))
		seq_printf(m, "# slabs: each group counts all slabs with an object of it%s\n",
			   query->total.estimate.bytes_variance ? " that is a sample" : "");
	if (query->other.groups)
		seq_printf(m, "# other: the groups that were last in this order when there were %u, as %s; some objects may be of groups above\n",
			   query->short_at, query->short_of);
}

static void show_number(struct seq_file *m, const struct owner_field_values *fields,
			enum owner_field field)
{
	if (fields->absent_fields & BIT(field))
		seq_puts(m, "\t-");
	else
		seq_printf(m, "\t%llu", fields->value[field].number);
}

/* Print an address as far as kernel.kptr_restrict allows, in the form that a sentence takes. */
static void show_address(struct seq_file *m, const void *address)
{
	if (address)
		seq_printf(m, "0x%pK", address);
	else
		seq_putc(m, '-');
}

static void show_object_row(struct seq_file *m, struct owner_query *query)
{
	static const unsigned char numbers[] = {
		OWNER_FIELD_NID, OWNER_FIELD_PID, OWNER_FIELD_TGID, OWNER_FIELD_TS,
		OWNER_FIELD_AGE,
	};
	const struct owner_field_values *fields = &query->fields;
	u64 frames[OWNER_USER_WORDS];
	unsigned int i, count;

	seq_printf(m, "object\t%s", owner_kind_names[query->object.kind]);
	show_number(m, fields, OWNER_FIELD_SIZE);
	show_number(m, fields, OWNER_FIELD_HELD);
	seq_putc(m, '\t');
	if (owner_record_rate(&query->object.owner))
		owner_show_weight(m, &query->object);
	else
		seq_putc(m, '-');
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		show_number(m, fields, numbers[i]);
	seq_putc(m, '\t');
	show_name(m, fields->absent_fields & BIT(OWNER_FIELD_CACHE) ? "" : query->object.cache);
	seq_putc(m, '\t');
	show_name(m, fields->absent_fields & BIT(OWNER_FIELD_COMM) ? "" : query->task.comm);
	seq_putc(m, '\t');
	show_chain(m, query, query->object.owner.stack, true);
	seq_putc(m, '\t');
	count = owner_user_fetch(owner_query_object_task(query), frames);
	show_user_row(m, frames, count);
	seq_putc(m, '\t');
	show_address(m, query->object.address);
	seq_putc(m, '\t');
	show_name(m, query->cgroup);
	seq_putc(m, '\t');
	show_name(m, owner_query_task_cgroup(query));
	seq_putc(m, '\n');
}

typedef void print_pages_fn(struct seq_buf *text, const struct owner_pages *pages);

/* Print to a file by a function that prints to a seq_buf. */
static void print_pages_to_seq_file(struct seq_file *m, const struct owner_pages *pages,
				    print_pages_fn *print)
{
	struct seq_buf text;
	size_t room;
	char *buf;

	room = seq_get_buf(m, &buf);
	if (!room) {
		/* The buffer is full. seq_file shows the object again in a larger one. */
		seq_commit(m, -1);
		return;
	}
	seq_buf_init(&text, buf, room);
	print(&text, pages);
	seq_commit(m, seq_buf_has_overflowed(&text) ? -1 : seq_buf_used(&text));
}

/* Print pages as the file page_owner does. */
static void show_pages_text(struct seq_file *m, struct owner_query *query)
{
	print_pages_to_seq_file(m, &query->object.pages, owner_pages_print_head);
	show_chain(m, query, query->object.pages.owner.handle, true);
	print_pages_to_seq_file(m, &query->object.pages, owner_pages_print_tail);
	seq_putc(m, '\n');
}

/* Print a slab object or a per-CPU area as the file slab_owner does. */
static void show_object_text(struct seq_file *m, struct owner_query *query)
{
	owner_show_object(m, &query->object);
	show_chain(m, query, query->object.owner.stack, true);
	owner_user_show_lines(m, query->object.owner.task);
	seq_putc(m, '\n');
}

/* Print the total. Among rows it is a comment, because its columns are not an object's. */
static void show_object_totals(struct seq_file *m, const struct owner_query *query)
{
	if (query->sentence.format == OWNER_FORMAT_TSV)
		seq_puts(m, "# ");
	seq_puts(m, "total: ");
	show_sum_text(m, &query->total);
	seq_putc(m, '\n');
}

/**
 * owner_query_show_object() - print the object that was found last
 * @m: the file
 * @query: the query
 */
void owner_query_show_object(struct seq_file *m, struct owner_query *query)
{
	if (query->sentence.format == OWNER_FORMAT_TSV)
		show_object_row(m, query);
	else if (query->object.kind == OWNER_KIND_PAGE)
		show_pages_text(m, query);
	else
		show_object_text(m, query);
}

/* Print into the file's buffer: with single objects, the cursor's locks are held. */
static void show_sentence(struct seq_file *m, const struct owner_sentence *s)
{
	size_t room, length;
	char *buf;

	seq_puts(m, "# ");
	room = seq_get_buf(m, &buf);
	length = owner_lang_print(s, buf, room);
	seq_commit(m, length < room ? length : -1);
	seq_putc(m, '\n');
}

/**
 * owner_query_show_head() - print the sentence, the generation and the names of columns
 * @m: the file
 * @query: the query
 */
void owner_query_show_head(struct seq_file *m, const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	unsigned int i;
	char name[32];

	show_sentence(m, s);
	seq_printf(m, "# generation %u\n", query->generation);
	if (s->format == OWNER_FORMAT_TEXT) {
		seq_putc(m, '\n');
		return;
	}
	if (!s->nr_group_by) {
		seq_printf(m, "row\tkind\tsize\theld\tweight\tnid\tpid\ttgid\tts_ns\tage_ns\tcache\tcomm\t%s\tuser\taddress\tcgroup\ttask_cgroup\n",
			   name_stack_columns(s->mode));
		return;
	}
	seq_printf(m, "row\tgroups\tobjects\tbytes\theld\twaste\toldest_ns\tyoungest_ns\trecords\tobjects_error\tbytes_error%s",
		   owner_lang_sorts_by(s, OWNER_SORT_SLABS) ? "\tslabs" : "");
	for (i = 0; i < s->nr_group_by; i++) {
		const struct owner_group_field *by = &s->group_by[i];

		owner_lang_print_column(by, name, sizeof(name));
		seq_printf(m, "\t%s", by->field == OWNER_FIELD_STACK ?
			   name_stack_columns(s->mode) : name);
	}
	seq_putc(m, '\n');
}

/* Has an answer of single objects ended because top= of them were shown? */
static bool ended_at_top(const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;

	return !s->nr_group_by && s->top && query->total.estimate.records == s->top;
}

/* Print why a comparison may have held for no object, if the reason is not a wrong name. */
static void show_reason(struct seq_file *m, const struct owner_query *query,
			const struct owner_comparison *c)
{
	if (c->field == OWNER_FIELD_ADDRESS && query->nr_addresses == 1)
		seq_printf(m, " (%s)",
			   query->no_object ?: "free, not tracked, or between two objects");
	if (c->field == OWNER_FIELD_BINARY)
		seq_puts(m, " (known of objects whose rule has user=on)");
}

/* Print the comparisons that held for no object: the names in them may be wrong. */
static void show_unmatched(struct seq_file *m, const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	size_t room, length;
	unsigned int i;
	char *buf;

	for (i = 0; i < s->nr_comparisons; i++) {
		if (!(query->unmatched & query->compared & BIT(i)))
			continue;
		seq_puts(m, "# nothing matched ");
		room = seq_get_buf(m, &buf);
		length = owner_lang_print_comparison(s, &s->comparisons[i], buf, room);
		seq_commit(m, length < room ? length : -1);
		show_reason(m, query, &s->comparisons[i]);
		seq_putc(m, '\n');
	}
}

/* Say of what and over which time this is the growth. */
static void show_growth(struct seq_file *m, const struct owner_query *query)
{
	/* The mark may have been set by a CPU whose clock is ahead. */
	u64 ms = (query->now_ns - min(query->now_ns, query->mark->now_ns)) / NSEC_PER_MSEC;

	seq_printf(m, "# growth of slab objects and per-CPU areas: held now, less what was held at the mark %llu.%03llu s ago\n",
		   ms / MSEC_PER_SEC, ms % MSEC_PER_SEC);
	if (owner_read_samples())
		seq_puts(m, "# estimated from samples, with an error that is not known\n");
}

/* Print that memory may be counted twice, or how much memory all slabs take. */
static void show_coverage(struct seq_file *m, const struct owner_sentence *s)
{
	unsigned int kinds = owner_lang_asked_kinds(s);

	if (kinds & BIT(OWNER_KIND_PAGE) && kinds != BIT(OWNER_KIND_PAGE))
		seq_puts(m, "# slab objects and per-CPU areas lie in pages that may be counted as well\n");
	else if (kinds & BIT(OWNER_KIND_SLAB) && s->nr_group_by && !s->since_mark &&
		 !(s->fields_used & ~BIT(OWNER_FIELD_KIND)))
		seq_printf(m, "# all slabs and large kmalloc() take %lu bytes, with free slots and objects without an owner\n",
			   (global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) +
			    global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B)) << PAGE_SHIFT);
}

/**
 * owner_query_show_tail() - print the totals, and notes on how exact the answer is
 * @m: the file
 * @query: all of it has been printed
 */
void owner_query_show_tail(struct seq_file *m, const struct owner_query *query)
{
	unsigned int generation = owner_query_generation();

	if (query->sentence.nr_group_by)
		show_group_totals(m, query);
	else
		show_object_totals(m, query);
	if (ended_at_top(query))
		seq_printf(m, "# ended at top=%u: the total is of the objects above, there may be more\n",
			   query->sentence.top);
	else
		show_unmatched(m, query);
	show_coverage(m, &query->sentence);
	if (query->sentence.since_mark)
		show_growth(m, query);
	else if (query->total.ageless)
		seq_puts(m, "# counted as it came and went: for ages, which takes a walk, add oldest to sort=\n");
	if (generation != query->generation)
		seq_printf(m, "# generation %u: a module came or went meanwhile, names above may be wrong\n",
			   generation);
}
