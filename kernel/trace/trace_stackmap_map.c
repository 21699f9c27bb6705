// SPDX-License-Identifier: GPL-2.0
/*
 * Maps of stack ids: allocate, replace and free them, and print the events that have ids. See
 * Documentation/trace/stackmap.rst.
 */

#include <linux/array_size.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "trace.h"
#include "trace_output.h"
#include "trace_stackmap.h"
#include "trace_stackmap_compat.h"
#include "trace_stackmap_map.h"

/* Protects tr->stack_map and tr->stack_map_size. Taken under trace_types_lock. */
DEFINE_MUTEX(trace_stack_map_mutex);

/* --- Printing events --------------------------------------------------------------- */

/*
 * Copy the frames of an id, with a marker in place of the address of a trampoline, which may be
 * gone. Return: their number, 0 if the map does not have the id.
 */
unsigned int trace_stack_map_copy(const struct trace_array *tr, u32 id, unsigned long *frames)
{
	unsigned int index = (id & (BIT(INDEX_BITS) - 1)) - 1, count = 0;
	const struct trace_stack_map *map;
	const struct stack_slot *slot;

	rcu_read_lock();
	map = rcu_dereference(tr->stack_map);
	if (map && map->epoch == id >> INDEX_BITS && index < count_slots(map)) {
		slot = &map->slots[index];
		if (has_id(slot)) {
			count = stack_depot_copy(slot->handle, frames, STACK_DEPOT_CAPTURE_MAX);
			if (slot->trampoline)
				frames[slot->trampoline - 1] = FTRACE_TRAMPOLINE_MARKER;
			if (WARN_ON_ONCE(count <= slot->first))
				count = slot->first;
			count -= slot->first;
			memmove(frames, frames + slot->first, count * sizeof(*frames));
		}
	}
	rcu_read_unlock();
	return count;
}

static void print_frames(struct trace_iterator *iter, u32 id, int flags)
{
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX];
	struct trace_seq *s = &iter->seq;
	unsigned int count, i;

	count = trace_stack_map_copy(iter->tr, id, frames);
	if (!count)
		trace_seq_printf(s, " => [stack %u, which the stack map no longer has]\n", id);
	for (i = 0; i < count && !trace_seq_has_overflowed(s); i++) {
		trace_seq_puts(s, " => ");
		if (frames[i] == FTRACE_TRAMPOLINE_MARKER)
			trace_seq_puts(s, "[FTRACE TRAMPOLINE]");
		else
			seq_print_ip_sym(s, frames[i], flags);
		trace_seq_putc(s, '\n');
	}
}

static enum print_line_t print_stack_id(struct trace_iterator *iter, int flags,
					struct trace_event *event)
{
	struct stack_id_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_puts(&iter->seq, "<stack trace>\n");
	print_frames(iter, field->id, flags);
	return trace_handle_return(&iter->seq);
}

static enum print_line_t print_stack_ids(struct trace_iterator *iter, int flags,
					 struct trace_event *event)
{
	struct stack_ids_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_puts(&iter->seq, "<stack trace>\n");
	print_frames(iter, field->id, flags);
	print_frames(iter, field->rest, flags);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions stack_id_funcs = {
	.trace	= print_stack_id,
};

static struct trace_event stack_id_event = {
	.type	= TRACE_STACK_ID,
	.funcs	= &stack_id_funcs,
};

static struct trace_event_functions stack_ids_funcs = {
	.trace	= print_stack_ids,
};

static struct trace_event stack_ids_event = {
	.type	= TRACE_STACK_IDS,
	.funcs	= &stack_ids_funcs,
};

/* --- Maps ------------------------------------------------------------------------- */

static void free_map(struct trace_stack_map *map)
{
	unsigned int i;

	if (!map)
		return;
	for (i = 0; i < count_slots(map); i++) {
		if (map->slots[i].handle)
			stack_depot_put(map->slots[i].handle);
		cond_resched();
	}
	kvfree(map->hits);
	free_percpu(map->counts);
	kvfree(map);
}

static struct trace_stack_map *alloc_map(unsigned int size, unsigned int epoch)
{
	unsigned int bits = ilog2(roundup_pow_of_two(2 * size));
	struct trace_stack_map *map;

	map = kvzalloc(struct_size(map, slots, BIT(bits)), GFP_KERNEL);
	if (!map)
		return NULL;
	map->size = size;
	map->bits = bits;
	map->epoch = epoch & EPOCH_MASK;
	map->counts = alloc_percpu(struct map_counts);
	map->hit_counters = min(roundup_pow_of_two(nr_cpu_ids), MAX_HIT_COUNTERS);
	map->hits = kvcalloc(map->hit_counters, sizeof(*map->hits) << bits, GFP_KERNEL);
	if (map->counts && map->hits)
		return map;
	free_map(map);
	return NULL;
}

/*
 * Drop the events with ids, because the epochs start again and with them the ids. No CPU writes
 * an id meanwhile. A snapshot can swap the buffers, or those of one CPU, at any time: find both
 * under the lock of the swap, and let no CPU's buffer be swapped until both are empty.
 */
static void drop_events(struct trace_array *tr)
{
	struct trace_buffer *buffers[2] = {};
	unsigned int i;

	lockdep_assert_held(&trace_types_lock);

#if TRACE_HAS_SNAPSHOT_BUFFER
	local_irq_disable();
	arch_spin_lock(&tr->max_lock);
	buffers[1] = tr->snapshot_buffer.buffer;
#endif
	buffers[0] = tr->array_buffer.buffer;
#if TRACE_HAS_SNAPSHOT_BUFFER
	arch_spin_unlock(&tr->max_lock);
	local_irq_enable();
#endif
	for (i = 0; i < ARRAY_SIZE(buffers) && buffers[i]; i++)
		ring_buffer_record_disable(buffers[i]);
	/* Swaps run with interrupts disabled: wait for those that saw recording enabled. */
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(buffers) && buffers[i]; i++)
		ring_buffer_reset(buffers[i]);
	for (i = 0; i < ARRAY_SIZE(buffers) && buffers[i]; i++)
		ring_buffer_record_enable(buffers[i]);
}

/*
 * Start a new map, which has none of the old one's ids. The caller holds trace_types_lock and
 * trace_stack_map_mutex.
 */
int trace_stack_map_replace(struct trace_array *tr, unsigned int size)
{
	struct trace_stack_map *old, *map;

	old = rcu_dereference_protected(tr->stack_map, lockdep_is_held(&trace_stack_map_mutex));
	map = alloc_map(size, old ? old->epoch + 1 : 0);
	if (!map)
		return -ENOMEM;
	tr->stack_map_size = size;
	if (old && !map->epoch) {
		/* Have no map until no event has an id: it could be one of the new map's. */
		rcu_assign_pointer(tr->stack_map, NULL);
		synchronize_rcu();
		drop_events(tr);
	}
	rcu_assign_pointer(tr->stack_map, map);
	synchronize_rcu();
	free_map(old);
	return 0;
}

static int create_map(struct trace_array *tr)
{
	int error = stack_depot_capture_init();

	if (error)
		return error;
	stack_depot_refill(GFP_KERNEL);
	mutex_lock(&trace_stack_map_mutex);
	if (!rcu_access_pointer(tr->stack_map))
		error = trace_stack_map_replace(tr, tr->stack_map_size ?: TRACE_STACK_MAP_SIZE);
	mutex_unlock(&trace_stack_map_mutex);
	return error;
}

/**
 * trace_stack_map_enable() - create the map of an instance, for the option "stackmap"
 * @tr: the instance
 *
 * The map stays when the option is cleared: events in the buffer have its ids. At boot,
 * events have whole stacks until the map can be created.
 *
 * Context: May sleep, except at boot. The caller holds trace_types_lock.
 *
 * Return: 0; -EINVAL for a buffer that outlives the kernel; -ENOMEM.
 */
int trace_stack_map_enable(struct trace_array *tr)
{
	static const char *errors[] = { "The ids of a buffer for the next boot have no stacks" };

	if (tr->range_addr_start) {
		tracing_log_err(tr, "trace_options", "stackmap", errors, 0, 0);
		return -EINVAL;
	}
	return system_state < SYSTEM_SCHEDULING ? 0 : create_map(tr);
}

/* Free the map of an instance, which no event and no file uses any more. */
void trace_stack_map_free(struct trace_array *tr)
{
	synchronize_rcu();
	free_map(rcu_dereference_protected(tr->stack_map, true));
}

/* Register the events, and create the maps that the boot line asked for. */
static int __init init_stack_map(void)
{
	struct trace_array *tr;
	int error = 0;

	if (!register_trace_event(&stack_id_event) || !register_trace_event(&stack_ids_event))
		return -ENODEV;
	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list)
		if (!error && tr->trace_flags & TRACE_ITER(STACKMAP))
			error = create_map(tr);
	mutex_unlock(&trace_types_lock);
	if (error)
		pr_warn("no memory for stack ids, trace events have whole stacks\n");
	return error;
}
core_initcall(init_stack_map);
