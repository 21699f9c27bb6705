// SPDX-License-Identifier: GPL-2.0
/*
 * SLUB's alloc_traces of one cache (slab_debug=U): a line with a count, the
 * calling function, what was wasted, ages and tasks; then the call chain, if
 * the kernel keeps chains, and a blank line. Which cache it is, and how large
 * its objects are, is not in it.
 */
#include <stdio.h>

#include "input/cache_size.h"
#include "base/number.h"
#include "input/reading.h"

/* The count is printed to a width of seven, frames are indented by eight. */
#define FRAME_INDENT 8

/* The kernel keeps 16 frames; a symbol has up to 512 bytes and a module. */
#define STACK_MAX (64 * 1024)

/* No machine has so many objects, and their bytes can be added. */
#define COUNT_MAX (1024ULL << 30)

static bool is_frame(struct text line)
{
	struct text rest = line;

	take_spaces(&rest);
	return line.len - rest.len >= FRAME_INDENT;
}

/* "    253 __d_alloc+0x3c/0x270 age=15/25/26 pid=17-41" */
static bool is_summary(struct text line)
{
	u64 count;

	if (is_frame(line))
		return false;
	take_spaces(&line);
	return !take_number(&line, &count) && take_word(&line, " ") &&
	       memmem(line.s, line.len, " age=", 5);
}

static bool summary_begins(struct text ahead)
{
	const char *nl = memchr(ahead.s, '\n', ahead.len);

	return nl && is_summary((struct text){ ahead.s, nl - ahead.s });
}

static bool is_alloc_traces(struct text line)
{
	static const char nothing[] = "No data";

	return is_summary(line) ||
	       (line.len == sizeof(nothing) - 1 && TEXT_STARTS(line, nothing));
}

/* A single number; the pids of several objects may be a range, which is none. */
static const char *parse_pid(struct text value, s64 *pid)
{
	u64 v;
	const char *error = take_number(&value, &v);

	if (!error && v > PID_MAX)
		error = "a process number is too large";
	if (!error && !value.len)
		*pid = v;
	return error;
}

/* "total/each" */
static const char *parse_waste(struct text value, u64 *waste)
{
	const char *error = take_number(&value, waste);

	return !error && !take_word(&value, "/") ? "the waste has no part" : error;
}

struct summary {
	u64 count;
	struct text function;	/* with its module */
	u64 waste;
	s64 pid;
};

static const char *parse_pairs(struct text line, struct summary *s)
{
	const char *error = NULL;

	while (!error && take_word(&line, " ")) {
		struct text pair = take_until_space(&line);

		if (take_word(&pair, "waste="))
			error = parse_waste(pair, &s->waste);
		else if (take_word(&pair, "pid="))
			error = parse_pid(pair, &s->pid);
	}
	return error;
}

static const char *parse_summary(struct text line, struct summary *s)
{
	const char *error, *end;

	*s = (struct summary){ .pid = PID_UNKNOWN };
	take_spaces(&line);
	error = take_number(&line, &s->count);
	if (error)
		return error;
	if (s->count > COUNT_MAX)
		return "the number of objects is too large";
	take_word(&line, " ");
	end = memmem(line.s, line.len, " waste=", 7);
	if (!end)
		end = memmem(line.s, line.len, " age=", 5);
	s->function = (struct text){ line.s, end - line.s };
	return parse_pairs((struct text){ end, line.s + line.len - end }, s);
}

/*
 * Writes frames to @stack as other formats have them, with one space. Returns
 * NULL, or what is wrong.
 */
static const char *take_frames(struct cursor *c, char stack[STACK_MAX], size_t *len)
{
	struct text line;

	for (*len = 0; c->p < c->end && *c->p == ' '; ) {
		struct cursor start = *c;

		if (!cursor_line(c, &line) || !is_frame(line)) {
			*c = start;
			return NULL;
		}
		take_spaces(&line);
		if (line.len + 2 > STACK_MAX - *len)
			return "the call chain is too long";
		*len += sprintf(stack + *len, " %.*s\n", (int)line.len, line.s);
	}
	return NULL;
}

static void add(struct reading *r, const struct summary *s, struct text stack, u64 line)
{
	const struct cache *cache = &r->cache;
	u64 bytes = s->count * cache->object_size;
	struct record rec = RECORD_UNTOLD;

	rec.kind = KIND_SLAB;
	rec.summed = true;
	rec.objects = s->count;
	rec.bytes = bytes > s->waste ? bytes - s->waste : bytes;
	rec.held = s->count * cache->held_size;
	rec.pid = s->pid;
	rec.cache = (struct text){ cache->name, strlen(cache->name) };
	rec.stack = stack;
	reading_add(r, &rec, line);
}

static void read_summary(struct reading *r, struct cursor *c)
{
	struct cursor start = *c;
	char stack[STACK_MAX];
	struct summary s;
	const char *error;
	struct text line;
	size_t len;

	if (!cursor_line(c, &line)) {
		reading_no_end(r, c);
		return;
	}
	error = parse_summary(line, &s);
	if (!error)
		error = take_frames(c, stack, &len);
	if (error) {
		reading_damage(r, &start, error);
		return;
	}
	if (len && !cursor_blank(c)) {
		if (!cursor_line_end(c))
			reading_no_end(r, c);
		else
			reading_damage(r, c, "the call chain has no blank line at its end");
		return;
	}
	if (!len && s.function.s[0] != '<')
		len = sprintf(stack, " %.*s\n", (int)s.function.len, s.function.s);
	add(r, &s, (struct text){ stack, len }, start.line);
	reading_consume(r, c);
}

static void read_alloc_traces(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	struct text line;

	if (summary_begins(cursor_rest(&c))) {
		read_summary(r, &c);
	} else if (cursor_line(&c, &line) && is_alloc_traces(line)) {
		reading_consume(r, &c);
	} else {
		c = reading_cursor(r);
		reading_damage(r, &c, "not a line of alloc_traces");
	}
}

static void begin_alloc_traces(struct reading *r)
{
	cache_of_path(r->path, &r->cache);
}

const struct format format_alloc_traces = {
	.recognise = is_alloc_traces,
	.begin = begin_alloc_traces,
	.record_begins = summary_begins,
	.read = read_alloc_traces,
};
