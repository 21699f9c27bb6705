// SPDX-License-Identifier: GPL-2.0
/*
 * Read SLUB's alloc_traces of one cache (slab_debug=U). A summary line has the number of
 * objects, the caller, the wasted bytes, ages and tasks. If the kernel keeps call chains,
 * one follows with a blank line after it. The file contains neither the cache nor its size.
 */
#include <stdio.h>

#include "input/cache_size.h"
#include "base/number.h"
#include "input/reading.h"

/*
 * Indentation of frames in alloc_traces. The count in a summary line is padded to seven
 * columns, so it is indented less.
 */
#define FRAME_INDENT 8

/*
 * Limit of the text of a call chain: the kernel keeps 16 frames of up to 512 bytes and a
 * module.
 */
#define STACK_MAX (64 * 1024)

/*
 * Limit of the number of objects: more than any machine has, but few enough that sums of bytes
 * do not overflow.
 */
#define COUNT_MAX (1024ULL << 30)

static bool is_frame_line(struct text_slice line)
{
	struct text_slice unindented = line;

	consume_spaces(&unindented);
	return line.len - unindented.len >= FRAME_INDENT;
}

/*
 * Is @line the summary of a call chain, like " 253 __d_alloc+0x3c/0x270 age=15/25/26
 * pid=17-41"?
 */
static bool is_summary_line(struct text_slice line)
{
	u64 count;

	if (is_frame_line(line))
		return false;
	consume_spaces(&line);
	return !consume_number(&line, &count) && consume_word(&line, " ") &&
	       memmem(line.s, line.len, " age=", 5);
}

static bool text_begins_summary(struct text_slice ahead)
{
	const char *nl = memchr(ahead.s, '\n', ahead.len);

	return nl && is_summary_line((struct text_slice){ ahead.s, nl - ahead.s });
}

static bool is_alloc_traces_line(struct text_slice line)
{
	static const char no_data[] = "No data";

	return is_summary_line(line) ||
	       (line.len == sizeof(no_data) - 1 && TEXT_STARTS(line, no_data));
}

/* Parse the pid of a summary. A range of pids, if tasks differ, leaves it unknown. */
static const char *parse_pid(struct text_slice value, s64 *pid)
{
	u64 v;
	const char *error = consume_number(&value, &v);

	if (!error && v > PID_MAX)
		error = "a process number is too large";
	if (!error && !value.len)
		*pid = v;
	return error;
}

/* Parse the wasted bytes of a summary: "total/each", the sum and the bytes of each object. */
static const char *parse_wasted_bytes(struct text_slice value, u64 *waste)
{
	const char *error = consume_number(&value, waste);

	return !error && !consume_word(&value, "/") ? "the waste has no part" : error;
}

struct alloc_summary {
	u64 count;
	struct text_slice function;	/* the caller, with its module */
	u64 waste;
	s64 pid;
};

static const char *parse_keys_and_values(struct text_slice line, struct alloc_summary *s)
{
	const char *error = NULL;

	while (!error && consume_word(&line, " ")) {
		struct text_slice pair = consume_until_space(&line);

		if (consume_word(&pair, "waste="))
			error = parse_wasted_bytes(pair, &s->waste);
		else if (consume_word(&pair, "pid="))
			error = parse_pid(pair, &s->pid);
	}
	return error;
}

static const char *parse_summary(struct text_slice line, struct alloc_summary *s)
{
	const char *error, *end;

	*s = (struct alloc_summary){ .pid = PID_UNKNOWN };
	consume_spaces(&line);
	error = consume_number(&line, &s->count);
	if (error)
		return error;
	if (s->count > COUNT_MAX)
		return "the number of objects is too large";
	consume_word(&line, " ");
	end = memmem(line.s, line.len, " waste=", 7);
	if (!end)
		end = memmem(line.s, line.len, " age=", 5);
	s->function = (struct text_slice){ line.s, end - line.s };
	return parse_keys_and_values((struct text_slice){ end, line.s + line.len - end }, s);
}

/*
 * Copy the frames of a call chain to @stack, indented by one space as in the other formats.
 * Returns NULL, or what is wrong with a frame.
 */
static const char *copy_frame_lines(struct text_scan *c, char stack[STACK_MAX], size_t *len)
{
	struct text_slice line;

	for (*len = 0; c->p < c->end && *c->p == ' '; ) {
		struct text_scan start = *c;

		if (!scan_next_line(c, &line) || !is_frame_line(line)) {
			*c = start;
			return NULL;
		}
		consume_spaces(&line);
		if (line.len + 2 > STACK_MAX - *len)
			return "the call chain is too long";
		*len += sprintf(stack + *len, " %.*s\n", (int)line.len, line.s);
	}
	return NULL;
}

static void submit_summary(struct input_reading *r, const struct alloc_summary *s,
			   struct text_slice stack, u64 line)
{
	const struct cache *cache = &r->cache;
	u64 bytes = s->count * cache->object_size;
	struct record rec = RECORD_UNKNOWN;

	rec.kind = KIND_SLAB;
	rec.summed = true;
	rec.objects = s->count;
	rec.bytes = bytes > s->waste ? bytes - s->waste : bytes;
	rec.held = s->count * cache->held_size;
	rec.pid = s->pid;
	rec.cache = (struct text_slice){ cache->name, strlen(cache->name) };
	rec.stack = stack;
	reading_submit_record(r, &rec, line);
}

static void read_summary(struct input_reading *r, struct text_scan *c)
{
	struct text_scan start = *c;
	char stack[STACK_MAX];
	struct alloc_summary s;
	const char *error;
	struct text_slice line;
	size_t len;

	if (!scan_next_line(c, &line)) {
		reading_report_truncated(r, c);
		return;
	}
	error = parse_summary(line, &s);
	if (!error)
		error = copy_frame_lines(c, stack, &len);
	if (error) {
		reading_report_damage(r, &start, error);
		return;
	}
	if (len && !scan_blank_line(c)) {
		if (!scan_find_line_end(c))
			reading_report_truncated(r, c);
		else
			reading_report_damage(r, c, "the call chain has no blank line at its end");
		return;
	}
	if (!len && s.function.s[0] != '<')
		len = sprintf(stack, " %.*s\n", (int)s.function.len, s.function.s);
	submit_summary(r, &s, (struct text_slice){ stack, len }, start.line);
	reading_consume_scanned_bytes(r, c);
}

static void read_alloc_traces(struct input_reading *r, struct text_scan *c)
{
	struct text_scan start = *c;
	struct text_slice line;

	if (text_begins_summary(scan_get_rest(c)))
		read_summary(r, c);
	else if (scan_next_line(c, &line) && is_alloc_traces_line(line))
		reading_consume_scanned_bytes(r, c);
	else
		reading_report_damage(r, &start, "not a line of alloc_traces");
}

static void find_cache_of_alloc_traces(struct input_reading *r)
{
	cache_find_name_and_sizes(r->path, &r->cache);
}

const struct input_format format_alloc_traces = {
	.recognise = is_alloc_traces_line,
	.begin = find_cache_of_alloc_traces,
	.record_begins = text_begins_summary,
	.read = read_alloc_traces,
};
