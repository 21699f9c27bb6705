// SPDX-License-Identifier: GPL-2.0
/*
 * The call chains that hold most, in the kernel's report of its memory: when the OOM killer
 * runs, when a page allocation fails, in a panic with panic_print=, and after sysrq-m.
 *
 * __show_mem() calls owner_show_mem() in any context, with any lock held, and in a panic while
 * other CPUs are stopped. The functions here allocate no memory, wait for no lock, and take no
 * references: dropping the last one would take the depot's lock. The static buffers belong to
 * the context that sets is_printing; a second report at the same time is left out.
 *
 * A walk over the depot reads two or three cache lines of each chain: some 10 ms for 100,000
 * chains. Then it reads the CPU caches, 144 KiB each. With page_owner=on there are two walks.
 * With interrupts or preemption off each walk ends after a millisecond and a half, begins with the
 * chains that the CPU has used last, and the report says so.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/sched/clock.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/time64.h>

#include "../capture.h"
#include "../page/page.h"
#include "../slab/hooks.h"
#include "../slab/records.h"
#include "../totals.h"
#include "oom.h"

/* Rank a chain by its counters, if they add up to at least @least bytes. */
static void rank_counters(struct owner_ranking *top, enum owner_counter bytes,
			  depot_stack_handle_t stack, const long *counters, u64 least)
{
	struct owner_ranked_chain row = { .stack = stack };

	if (bytes == OWNER_PAGES) {
		row.objects = max(counters[OWNER_PAGES], 0L);
		row.bytes = row.objects << PAGE_SHIFT;
	} else {
		row.objects = max(counters[OWNER_OBJECTS], 0L) >> OWNER_WEIGHT_SHIFT;
		row.bytes = max(counters[bytes], 0L);
	}
	if (row.bytes >= least)
		owner_rank_chain(top, &row);
}

static void begin_step(struct owner_oom_find *find)
{
	find->deadline = find->step_ns ? local_clock() + find->step_ns : U64_MAX;
}

/* Must the step end here? */
static bool time_is_up(struct owner_oom_find *find)
{
	if (local_clock() < find->deadline)
		return false;
	find->is_cut = true;
	return true;
}

/* Rank the chains that this CPU has used last: a leak that it fills memory with is among them. */
static void find_candidates_of_cpu(struct owner_oom_find *find, enum owner_counter bytes)
{
	long counters[STACK_DEPOT_COUNTERS];
	s32 on_cpu[STACK_DEPOT_COUNTERS];
	depot_stack_handle_t stack;
	unsigned int place = 0, i;
	bool moving;

	while (!time_is_up(find)) {
		stack = stack_depot_next_on_cpu(raw_smp_processor_id(), &place, on_cpu, &moving);
		if (!stack)
			return;
		rcu_read_lock_sched();
		if (stack_depot_counters(stack, counters) && stack_depot_is_in_use(stack)) {
			for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
				counters[i] += on_cpu[i];
			rank_counters(&find->candidates, bytes, stack, counters, 1);
		}
		rcu_read_unlock_sched();
	}
}

/* Rank all chains by the depot's counters, to which a CPU adds its own once in a second. */
static void find_candidates(struct owner_oom_find *find, enum owner_counter bytes)
{
	long counters[STACK_DEPOT_COUNTERS];
	depot_stack_handle_t stack;
	bool more = true;
	u64 pos = 0;

	while (more && !time_is_up(find)) {
		rcu_read_lock_sched();
		more = stack_depot_peek(&pos, STACK_DEPOT_FLAG_COUNT, &stack);
		if (stack && stack_depot_counters(stack, counters) && stack_depot_is_in_use(stack))
			rank_counters(&find->candidates, bytes, stack, counters, 1);
		rcu_read_unlock_sched();
	}
}

/* Rank a chain by the counters of the depot and of all CPUs. */
static void add_chain(struct owner_ranking *top, enum owner_counter bytes,
		      depot_stack_handle_t stack, u64 least)
{
	long counters[STACK_DEPOT_COUNTERS];
	unsigned int i;

	for (i = 0; i < top->count; i++)
		if (top->row[i].stack == stack)
			return;
	rcu_read_lock_sched();
	if (stack_depot_read_counters(stack, counters) && stack_depot_is_in_use(stack))
		rank_counters(top, bytes, stack, counters, least);
	rcu_read_unlock_sched();
}

/*
 * Add the chains that hold much more than the depot knows: some CPU has a large part of
 * @least in its CPU cache. A leak can fill memory before a CPU tells the depot.
 */
static void add_chains_of_cpus(struct owner_oom_find *find, enum owner_counter bytes, u64 least)
{
	u64 large = div_u64(least, 2 * num_possible_cpus());
	s32 counters[STACK_DEPOT_COUNTERS];
	depot_stack_handle_t stack;
	unsigned int cpu, place;
	bool moving;

	if (bytes == OWNER_PAGES)
		large >>= PAGE_SHIFT;
	for_each_possible_cpu(cpu) {
		if (time_is_up(find))
			return;
		place = 0;
		while ((stack = stack_depot_next_on_cpu(cpu, &place, counters, &moving)) != 0)
			if (counters[bytes] > (s64)large)
				add_chain(&find->top, bytes, stack, least);
	}
}

/**
 * owner_oom_find() - find the call chains that hold most
 * @find: has its @step_ns; its @top and @is_cut are filled
 * @bytes: OWNER_HELD for slab objects, OWNER_PAGES for pages
 * @least: leave out chains that hold fewer bytes
 */
void owner_oom_find(struct owner_oom_find *find, enum owner_counter bytes, u64 least)
{
	unsigned int i;

	find->candidates = (struct owner_ranking){ .max = OWNER_RANKING_MAX };
	find->top = (struct owner_ranking){ .max = OWNER_OOM_ROWS };
	find->is_cut = false;
	if (find->step_ns) {
		begin_step(find);
		find_candidates_of_cpu(find, bytes);
	}
	begin_step(find);
	find_candidates(find, bytes);
	begin_step(find);
	for (i = 0; i < find->candidates.count && !time_is_up(find); i++)
		add_chain(&find->top, bytes, find->candidates.row[i].stack, least);
	add_chains_of_cpus(find, bytes, least);
}

/* Append the functions of a chain, as many as fit. Return: false if the chain was freed. */
static bool append_chain(char *line, size_t size, depot_stack_handle_t stack)
{
	static const char more[] = " < ...";
	unsigned int count, first, i;
	size_t used = strlen(line);
	bool in_use;

	rcu_read_lock_sched();
	count = stack_depot_copy(stack, NULL, 0);
	first = owner_first_shown_frame(stack, count);
	for (i = first; i < count; i++) {
		const char *between = i > first ? " < " : "";
		void *frame = (void *)stack_depot_frame(stack, i);
		size_t width = snprintf(NULL, 0, "%s%ps", between, frame);

		if (i > first && used + width + (i + 1 < count ? sizeof(more) : 1) > size) {
			scnprintf(line + used, size - used, "%s", more);
			break;
		}
		used += scnprintf(line + used, size - used, "%s%ps", between, frame);
	}
	in_use = stack_depot_is_in_use(stack);
	rcu_read_unlock_sched();
	return in_use;
}

/**
 * owner_oom_format_row() - format what one chain holds, and its functions
 * @line: filled with a string without a newline; empty if the chain was freed meanwhile
 * @size: of @line, at least 80
 * @row: the chain
 * @memory: bytes of memory, of which the line says the share
 * @unit: noun for the objects
 */
void owner_oom_format_row(char *line, size_t size, const struct owner_ranked_chain *row, u64 memory,
			  const char *unit)
{
	u64 percent = mul_u64_u64_div_u64(row->bytes, 100, max(memory, 1ULL));
	char held[16];

	string_get_size(row->bytes, 1, STRING_UNITS_2, held, sizeof(held));
	scnprintf(line, size, "%9s %3llu%% %9llu %s  ", held, percent, row->objects, unit);
	if (!append_chain(line, size, row->stack))
		*line = '\0';
}

/**
 * owner_oom_step_ns() - find how long each of the three rankings may take
 *
 * Without CONFIG_PREEMPT_COUNT, a caller that holds a spinlock is not seen.
 *
 * Return: half a millisecond if the caller keeps interrupts or preemption off, else 0, for any
 * time. After an oops: 0.
 */
u64 owner_oom_step_ns(void)
{
	bool is_short = irqs_disabled() || preempt_count();

	return is_short && !oops_in_progress ? NSEC_PER_MSEC / 2 : 0;
}

/* Print the chains that hold most memory of one kind. The caller has the static buffers. */
static void print_top(enum owner_counter bytes, const char *name, const char *what,
		      const char *unit)
{
	static struct owner_oom_find find;
	static char line[OWNER_OOM_COLUMNS];
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	char all[16];
	unsigned int i;

	find.step_ns = owner_oom_step_ns();
	owner_oom_find(&find, bytes, div_u64(memory, OWNER_OOM_SHARE));
	if (find.is_cut)
		pr_warn("%s: interrupts or preemption are off: read a part of the chains\n", name);
	if (!find.top.count)
		return;
	string_get_size(memory, 1, STRING_UNITS_2, all, sizeof(all));
	pr_warn("%s: call chains that hold most %s, each at least 1%% of %s:\n", name, what, all);
	for (i = 0; i < find.top.count; i++) {
		owner_oom_format_row(line, sizeof(line) - strlen(name) - 2, &find.top.row[i],
				     memory, unit);
		if (*line)
			pr_warn("%s: %s\n", name, line);
	}
}

/**
 * owner_show_mem() - print the call chains that hold most memory
 *
 * Print at most ten of slab objects, and with page_owner=on ten of pages. Print nothing if
 * none holds 1% of memory, or with slab_owner=oom=off. The caller limits the rate.
 *
 * Context: Any context.
 */
void owner_show_mem(void)
{
	static atomic_t is_printing;

	if (!owner_oom_report)
		return;
	if (atomic_xchg_acquire(&is_printing, 1)) {
		pr_warn("slab_owner: another CPU prints the call chains that hold most\n");
		return;
	}
	if (static_key_enabled(&slab_owner_key))
		print_top(OWNER_HELD, "slab_owner",
			  owner_read_samples() ? "slab memory (estimated)" : "slab memory",
			  "objects");
	if (owner_pages_tracked())
		print_top(OWNER_PAGES, "page_owner", "pages", "pages");
	atomic_set_release(&is_printing, 0);
}
