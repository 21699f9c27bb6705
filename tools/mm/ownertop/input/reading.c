// SPDX-License-Identifier: GPL-2.0
/* Going through an input, and around its damage. */
#include "input/reading.h"

struct cursor reading_cursor(struct reading *r)
{
	struct text t = input_ahead(&r->in);

	return (struct cursor){ t.s, t.s + t.len, r->line };
}

struct text cursor_rest(const struct cursor *c)
{
	return (struct text){ c->p, c->end - c->p };
}

const char *cursor_line_end(const struct cursor *c)
{
	return memchr(c->p, '\n', c->end - c->p);
}

bool cursor_line(struct cursor *c, struct text *line)
{
	const char *nl = cursor_line_end(c);

	if (!nl)
		return false;
	*line = (struct text){ c->p, nl - c->p };
	if (line->len && nl[-1] == '\r')
		line->len--;
	c->p = nl + 1;
	c->line++;
	return true;
}

/* Length of the blank line at the start of @t, 0 if there is none. */
static size_t blank_line(struct text t)
{
	if (TEXT_STARTS(t, "\n"))
		return 1;
	return TEXT_STARTS(t, "\r\n") ? 2 : 0;
}

bool cursor_blank(struct cursor *c)
{
	size_t len = blank_line(cursor_rest(c));

	c->p += len;
	c->line += !!len;
	return len;
}

bool cursor_frames(struct cursor *c, struct text *stack)
{
	stack->s = c->p;
	while (c->p < c->end && *c->p == ' ') {
		const char *nl = cursor_line_end(c);

		if (!nl)
			return false;
		c->p = nl + 1;
		c->line++;
	}
	stack->len = c->p - stack->s;
	return true;
}

void reading_consume(struct reading *r, const struct cursor *c)
{
	input_consume(&r->in, c->p - (r->in.buf + r->in.pos));
	r->line = c->line;
}

/*
 * Drops the line at hand and those after it up to a blank line or a record. A
 * line longer than what can be seen ahead is dropped piece by piece.
 */
static void skip_block(struct reading *r, bool at_line_start)
{
	bool first = true;

	for (;;) {
		struct text t = input_ahead(&r->in);
		const char *nl;

		if (!t.len)
			return;
		if (!first && at_line_start &&
		    (blank_line(t) || r->format->record_begins(t)))
			return;
		first = false;
		nl = memchr(t.s, '\n', t.len);
		input_consume(&r->in, nl ? (size_t)(nl + 1 - t.s) : t.len);
		r->line += !!nl;
		at_line_start = nl;
	}
}

void reading_damage(struct reading *r, const struct cursor *c, const char *reason)
{
	health_damage(r->health, r->path, c->line, reason);
	reading_consume(r, c);
	skip_block(r, true);
}

void reading_no_end(struct reading *r, const struct cursor *c)
{
	bool at_line_start = c->end[-1] == '\n';
	const char *reason = "the record is longer than 128 KiB";
	struct cursor stop = { c->end, c->end, c->line };

	if (r->in.eof)
		reason = r->in.failure ? "the record is cut off by a read error" :
					 "the record is cut off by the end of the input";
	health_damage(r->health, r->path, c->line, reason);
	reading_consume(r, &stop);
	if (!at_line_start)
		skip_block(r, false);
}

void reading_line(struct reading *r, const char *(*take)(struct reading *r, struct text line))
{
	struct cursor c = reading_cursor(r), start = c;
	struct text line;
	const char *error;

	if (!cursor_line(&c, &line)) {
		reading_no_end(r, &c);
		return;
	}
	error = take(r, line);
	if (error)
		reading_damage(r, &start, error);
	else
		reading_consume(r, &c);
}

void reading_add(struct reading *r, const struct record *rec, u64 line)
{
	const char *reason = r->sink->take(r->sink->arg, rec);

	if (reason)
		health_damage(r->health, r->path, line, reason);
}

void reading_run(struct reading *r)
{
	for (;;) {
		struct cursor c = reading_cursor(r);

		if (c.p == c.end)
			break;
		if (cursor_blank(&c)) {
			reading_consume(r, &c);
			continue;
		}
		r->anything = true;
		r->format->read(r);
	}
	if (r->in.failure)
		health_unread(r->health, r->path, r->in.failure);
	else if (!r->anything)
		health_unread(r->health, r->path, "the input is empty");
	health_input_done(r->health, r->path);
}
