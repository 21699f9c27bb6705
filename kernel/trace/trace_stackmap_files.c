// SPDX-License-Identifier: GPL-2.0
/*
 * Files of stack ids: stack_map, stack_map_stat and stack_map_size. See
 * Documentation/trace/stackmap.rst.
 */

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_map.h"

static const char *file_errors[] = {
	"Write 0 to drop all ids",
	"The number of ids is from 16 to 262144",
	"No memory for the map",
};

enum { ERROR_NOT_ZERO, ERROR_SIZE, ERROR_MEMORY };

/* Room for a number in the messages. */
#define NUMBER_MAX	24

static int log_error(struct trace_array *tr, const char *file, const char *text,
		     unsigned int error, int code)
{
	tracing_log_err(tr, file, text, file_errors, error, 0);
	return code;
}

/* Copy what was written to @text, and read it as a number. Return: 0 or an error. */
static int read_number(const char __user *user, size_t count, char text[NUMBER_MAX],
		       unsigned long *value)
{
	size_t length = min_t(size_t, count, NUMBER_MAX - 1);

	if (copy_from_user(text, user, length))
		return -EFAULT;
	text[length] = '\0';
	strim(text);
	return count < NUMBER_MAX ? kstrtoul(text, 0, value) : -EINVAL;
}

/* The map stays until stop_slots(). The next read can find another one, with other ids. */
static void *start_slots(struct seq_file *seq, loff_t *pos)
{
	struct trace_array *tr = seq->private;
	struct trace_stack_map *map;

	mutex_lock(&trace_stack_map_mutex);
	map = rcu_dereference_protected(tr->stack_map, lockdep_is_held(&trace_stack_map_mutex));
	return map && *pos < count_slots(map) ? &map->slots[*pos] : NULL;
}

static void *next_slot(struct seq_file *seq, void *slot, loff_t *pos)
{
	struct trace_array *tr = seq->private;
	struct trace_stack_map *map;

	map = rcu_dereference_protected(tr->stack_map, lockdep_is_held(&trace_stack_map_mutex));
	return ++*pos < count_slots(map) ? &map->slots[*pos] : NULL;
}

static void stop_slots(struct seq_file *seq, void *slot)
{
	mutex_unlock(&trace_stack_map_mutex);
}

static int show_slot(struct seq_file *seq, void *data)
{
	struct trace_array *tr = seq->private;
	const struct stack_slot *slot = data;
	const struct trace_stack_map *map;
	unsigned long frames[STACK_DEPOT_CAPTURE_MAX];
	unsigned int count, i, index, id;
	u64 hits = 0;

	if (!has_id(slot))
		return 0;
	map = rcu_dereference_protected(tr->stack_map, lockdep_is_held(&trace_stack_map_mutex));
	index = slot - map->slots;
	id = trace_stack_map_id(map, index);
	for (i = 0; i < map->hit_counters; i++)
		hits += (unsigned int)atomic_read(get_hits(map, i, index));
	count = trace_stack_map_copy(tr, id, frames);
	seq_printf(seq, "id=%u hits=%llu frames=%u\n", id, hits, count);
	for (i = 0; i < count; i++) {
		if (frames[i] == FTRACE_TRAMPOLINE_MARKER)
			seq_puts(seq, " 0 [FTRACE TRAMPOLINE]\n");
		else
			seq_printf(seq, " %lx %pS\n", frames[i], (void *)frames[i]);
	}
	return 0;
}

static const struct seq_operations slots_ops = {
	.start	= start_slots,
	.next	= next_slot,
	.stop	= stop_slots,
	.show	= show_slot,
};

static int open_map(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int error = tracing_check_open_get_tr(tr);

	if (error)
		return error;
	error = seq_open(file, &slots_ops);
	if (error)
		trace_array_put(tr);
	else
		((struct seq_file *)file->private_data)->private = tr;
	return error;
}

static int release_map(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return seq_release(inode, file);
}

static ssize_t reset_map(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	char text[NUMBER_MAX];
	unsigned long value;
	int error;

	error = read_number(user, count, text, &value);
	if (error == -EFAULT)
		return error;
	if (error || value)
		return log_error(tr, "stack_map", text, ERROR_NOT_ZERO, -EINVAL);
	mutex_lock(&trace_types_lock);
	mutex_lock(&trace_stack_map_mutex);
	if (rcu_access_pointer(tr->stack_map))
		error = trace_stack_map_replace(tr, tr->stack_map_size);
	mutex_unlock(&trace_stack_map_mutex);
	mutex_unlock(&trace_types_lock);
	return error ? log_error(tr, "stack_map", text, ERROR_MEMORY, error) : count;
}

static const struct file_operations map_fops = {
	.open		= open_map,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= reset_map,
	.release	= release_map,
};

static const char * const event_names[] = {
	[EVENT_ID]		= "events_with_id",
	[EVENT_TWO_IDS]		= "events_with_two_ids",
	[EVENT_INTERRUPT]	= "whole_interrupt",
	[EVENT_DIFFERS]		= "whole_differs",
	[EVENT_REGS]		= "whole_regs",
	[EVENT_NMI]		= "whole_nmi",
	[EVENT_FULL]		= "whole_full",
	[EVENT_NO_ROOM]		= "whole_no_room",
	[EVENT_NEW]		= "whole_new",
};

static_assert(ARRAY_SIZE(event_names) == NR_EVENT_KINDS);

static size_t count_map_bytes(const struct trace_stack_map *map)
{
	return struct_size(map, slots, count_slots(map)) +
	       count_slots(map) * map->hit_counters * sizeof(*map->hits) +
	       num_possible_cpus() * sizeof(*map->counts);
}

static int show_stat(struct seq_file *seq, void *data)
{
	struct trace_array *tr = seq->private;
	const struct trace_stack_map *map;
	unsigned int cpu, kind, i, ids = 0;
	unsigned long events;

	mutex_lock(&trace_stack_map_mutex);
	map = rcu_dereference_protected(tr->stack_map, lockdep_is_held(&trace_stack_map_mutex));
	for (i = 0; map && i < count_slots(map); i++)
		ids += has_id(&map->slots[i]);
	seq_printf(seq, "ids: %u\n", ids);
	seq_printf(seq, "stacks: %d\n", map ? atomic_read(&map->used) : 0);
	seq_printf(seq, "interrupted: %d\n", map ? atomic_read(&map->rests) : 0);
	seq_printf(seq, "bytes: %zu\n", map ? count_map_bytes(map) : 0);
	for (kind = 0; kind < NR_EVENT_KINDS; kind++) {
		events = 0;
		for_each_possible_cpu(cpu)
			events += map ? READ_ONCE(per_cpu_ptr(map->counts, cpu)->events[kind]) : 0;
		seq_printf(seq, "%s: %lu\n", event_names[kind], events);
	}
	mutex_unlock(&trace_stack_map_mutex);
	return 0;
}

static int show_size(struct seq_file *seq, void *data)
{
	struct trace_array *tr = seq->private;

	seq_printf(seq, "%u\n", READ_ONCE(tr->stack_map_size) ?: TRACE_STACK_MAP_SIZE);
	return 0;
}

static int open_single(struct inode *inode, struct file *file,
		       int (*show)(struct seq_file *seq, void *data))
{
	struct trace_array *tr = inode->i_private;
	int error = tracing_check_open_get_tr(tr);

	if (error)
		return error;
	error = single_open(file, show, tr);
	if (error)
		trace_array_put(tr);
	return error;
}

static int release_single(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return single_release(inode, file);
}

static int open_stat(struct inode *inode, struct file *file)
{
	return open_single(inode, file, show_stat);
}

static const struct file_operations stat_fops = {
	.open		= open_stat,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= release_single,
};

static int open_size(struct inode *inode, struct file *file)
{
	return open_single(inode, file, show_size);
}

static ssize_t write_size(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	char text[NUMBER_MAX];
	unsigned long size;
	int error;

	error = read_number(user, count, text, &size);
	if (error == -EFAULT)
		return error;
	if (error || size < TRACE_STACK_MAP_SIZE_MIN || size > TRACE_STACK_MAP_SIZE_MAX)
		return log_error(tr, "stack_map_size", text, ERROR_SIZE, -EINVAL);
	mutex_lock(&trace_types_lock);
	mutex_lock(&trace_stack_map_mutex);
	if (rcu_access_pointer(tr->stack_map))
		error = trace_stack_map_replace(tr, size);
	else
		tr->stack_map_size = size;
	mutex_unlock(&trace_stack_map_mutex);
	mutex_unlock(&trace_types_lock);
	return error ? log_error(tr, "stack_map_size", text, ERROR_MEMORY, error) : count;
}

static const struct file_operations size_fops = {
	.open		= open_size,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= write_size,
	.release	= release_single,
};

/* Create the files of an instance in its directory. */
void trace_stack_map_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("stack_map", TRACE_MODE_WRITE, parent, tr, &map_fops);
	trace_create_file("stack_map_stat", TRACE_MODE_READ, parent, tr, &stat_fops);
	trace_create_file("stack_map_size", TRACE_MODE_WRITE, parent, tr, &size_fops);
}
