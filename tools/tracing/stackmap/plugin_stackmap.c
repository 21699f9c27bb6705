// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of libtraceevent: trace-cmd report shows the stacks of stack ids.
 *
 * The recorded events have ids. Save the stack map after the recording, and name the file to the
 * report:
 *
 *     trace-cmd record -e kmem:kmalloc -O stacktrace -O stackmap COMMAND
 *     cat /sys/kernel/tracing/stack_map > stack_map
 *     trace-cmd report -O stackmap:file=stack_map
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

/* The frames of an id, in an array of all frames. */
struct stack {
	unsigned int id;
	unsigned int count;
	size_t first;
};

struct stack_map {
	struct stack *stacks;
	size_t nr_stacks;
	unsigned long long *frames;
	size_t nr_frames;
	bool loaded;
};

static struct stack_map map;

struct tep_plugin_option TEP_PLUGIN_OPTIONS[] = {
	{
		.name = "file",
		.plugin_alias = "stackmap",
		.description = "a copy of the file stack_map (default: stack_map)",
		.value = "stack_map",
	},
	{
		.name = NULL,
	}
};

/* Make room for one more element. Arrays grow when their length is a power of two. */
static void *grow_array(void *array, size_t length, size_t size)
{
	if (length & (length - 1))
		return array;
	array = realloc(array, (length ? 2 * length : 1) * size);
	if (!array) {
		fprintf(stderr, "stackmap: out of memory\n");
		exit(1);
	}
	return array;
}

static void add_stack(unsigned int id)
{
	map.stacks = grow_array(map.stacks, map.nr_stacks, sizeof(*map.stacks));
	map.stacks[map.nr_stacks++] = (struct stack){ .id = id, .first = map.nr_frames };
}

static void add_frame(unsigned long long address)
{
	map.frames = grow_array(map.frames, map.nr_frames, sizeof(*map.frames));
	map.frames[map.nr_frames++] = address;
	map.stacks[map.nr_stacks - 1].count++;
}

static int compare_ids(const void *a, const void *b)
{
	const struct stack *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/* Read the copy of stack_map. */
static void load_map(void)
{
	const char *name = TEP_PLUGIN_OPTIONS[0].value;
	unsigned long long address;
	size_t line_size = 0, number = 0;
	unsigned int id, count, left = 0;
	char *line = NULL;
	FILE *file;

	map.loaded = true;
	file = fopen(name, "r");
	if (!file) {
		fprintf(stderr, "stackmap: cannot open %s: %s\n"
			"Save /sys/kernel/tracing/stack_map after the recording, and name the copy with -O stackmap:file=FILE\n",
			name, strerror(errno));
		return;
	}
	while (getline(&line, &line_size, file) >= 0) {
		number++;
		if (!left && sscanf(line, "id=%u hits=%*u frames=%u", &id, &count) == 2) {
			add_stack(id);
			left = count;
		} else if (left && sscanf(line, " %llx ", &address) == 1) {
			add_frame(address);
			left--;
		} else {
			fprintf(stderr, "stackmap: %s:%zu: expected %s\n", name, number,
				left ? "an address and a function" : "id=N hits=N frames=N");
			left = 0;
			break;
		}
	}
	if (left)
		fprintf(stderr, "stackmap: %s: the last stack lacks %u frames\n", name, left);
	free(line);
	fclose(file);
	qsort(map.stacks, map.nr_stacks, sizeof(*map.stacks), compare_ids);
}

/* trace-cmd prints the first frames of a whole stack like this. */
static void print_frame(struct trace_seq *s, struct tep_event *event, unsigned long long address)
{
	const char *function = tep_find_function(event->tep, address);

	if (function)
		trace_seq_printf(s, "\t=> %s\n", function);
	else
		trace_seq_printf(s, "\t=> 0x%llx\n", address);
}

static void print_id(struct trace_seq *s, struct tep_event *event, unsigned int id)
{
	struct stack key = { .id = id }, *stack = NULL;
	unsigned int i;

	if (!map.loaded)
		load_map();
	if (map.nr_stacks)
		stack = bsearch(&key, map.stacks, map.nr_stacks, sizeof(key), compare_ids);
	if (!stack)
		trace_seq_printf(s, "<stack %u, which the stack map does not have>", id);
	for (i = 0; stack && i < stack->count; i++)
		print_frame(s, event, map.frames[stack->first + i]);
}

static int print_ids(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		     void *context)
{
	unsigned long long id;

	if (tep_get_field_val(s, event, "id", record, &id, 1))
		return -1;
	print_id(s, event, id);
	/* A stack that goes on in what was interrupted. */
	if (tep_find_field(event, "rest") && !tep_get_field_val(s, event, "rest", record, &id, 1))
		print_id(s, event, id);
	return 0;
}

/*
 * Print all frames of a whole stack: events in the same trace can have ids or whole stacks.
 * Without this plugin, trace-cmd prints eight frames, also if the stack has fewer.
 */
static int print_whole_stack(struct trace_seq *s, struct tep_record *record,
			     struct tep_event *event, void *context)
{
	const char *frame, *end = (const char *)record->data + record->size;
	struct tep_format_field *caller = tep_find_field(event, "caller");
	int size = tep_get_long_size(event->tep);
	unsigned long long count, address;

	if (!caller || tep_get_field_val(s, event, "size", record, &count, 1))
		return -1;
	frame = (const char *)record->data + caller->offset;
	for (; count && frame + size <= end; count--, frame += size) {
		address = tep_read_number(event->tep, frame, size);
		/* The kernel's marker of a trampoline, for which stack_map has 0. */
		if (address == (size == 8 ? ~0ULL : ~0U))
			address = 0;
		print_frame(s, event, address);
	}
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_plugin_add_options("stackmap", TEP_PLUGIN_OPTIONS);
	tep_register_event_handler(tep, -1, "ftrace", "kernel_stack", print_whole_stack, NULL);
	tep_register_event_handler(tep, -1, "ftrace", "kernel_stack_id", print_ids, NULL);
	tep_register_event_handler(tep, -1, "ftrace", "kernel_stack_ids", print_ids, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "ftrace", "kernel_stack", print_whole_stack, NULL);
	tep_unregister_event_handler(tep, -1, "ftrace", "kernel_stack_id", print_ids, NULL);
	tep_unregister_event_handler(tep, -1, "ftrace", "kernel_stack_ids", print_ids, NULL);
	tep_plugin_remove_options(TEP_PLUGIN_OPTIONS);
	free(map.stacks);
	free(map.frames);
}
