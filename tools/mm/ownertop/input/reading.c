// SPDX-License-Identifier: GPL-2.0
/* Read an input record by record, and skip damage. */
#include "input/reading.h"

struct scan reading_scan(struct reading *r)
{
	struct text t = input_ahead(&r->in);

	return (struct scan){ t.s, t.s + t.len, r->line };
}

struct text scan_rest(const struct scan *c)
{
	return (struct text){ c->p, c->end - c->p };
}

const char *scan_line_end(const struct scan *c)
{
	return memchr(c->p, '\n', c->end - c->p);
}

bool scan_line(struct scan *c, struct text *line)
{
	const char *nl = scan_line_end(c);

	if (!nl)
		return false;
	*line = (struct text){ c->p, nl - c->p };
	if (line->len && nl[-1] == '\r')
		line->len--;
	c->p = nl + 1;
	c->line++;
	return true;
}

/* Returns the length of the blank line that @t begins with, or 0. */
static size_t blank_line_len(struct text t)
{
	if (TEXT_STARTS(t, "\n"))
		return 1;
	return TEXT_STARTS(t, "\r\n") ? 2 : 0;
}

bool scan_blank(struct scan *c)
{
	size_t len = blank_line_len(scan_rest(c));

	c->p += len;
	c->line += !!len;
	return len;
}

bool scan_frames(struct scan *c, struct text *stack)
{
	stack->s = c->p;
	while (c->p < c->end && *c->p == ' ') {
		const char *nl = scan_line_end(c);

		if (!nl)
			return false;
		c->p = nl + 1;
		c->line++;
	}
	stack->len = c->p - stack->s;
	return true;
}

void reading_consume(struct reading *r, const struct scan *c)
{
	input_consume(&r->in, c->p - (r->in.buf + r->in.pos));
	r->line = c->line;
}

/*
 * Skip this line and all others up to a blank line or the beginning of a record. A line
 * that is longer than the buffer is skipped in pieces.
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
		    (blank_line_len(t) || r->format->record_begins(t)))
			return;
		first = false;
		nl = memchr(t.s, '\n', t.len);
		input_consume(&r->in, nl ? (size_t)(nl + 1 - t.s) : t.len);
		r->line += !!nl;
		at_line_start = nl;
	}
}

void reading_damage(struct reading *r, const struct scan *c, const char *reason)
{
	health_damage(r->health, r->path, c->line, reason);
	reading_consume(r, c);
	skip_block(r, true);
}

void reading_truncated(struct reading *r, const struct scan *c)
{
	bool at_line_start = c->end[-1] == '\n';
	const char *reason = "the record is longer than 128 KiB";
	struct scan stop = { c->end, c->end, c->line };

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
	struct scan c = reading_scan(r), start = c;
	struct text line;
	const char *error;

	if (!scan_line(&c, &line)) {
		reading_truncated(r, &c);
		return;
	}
	error = take(r, line);
	if (error)
		reading_damage(r, &start, error);
	else
		reading_consume(r, &c);
}

void reading_take(struct reading *r, const struct record *rec, u64 line)
{
	const char *reason = r->sink->take(r->sink->arg, rec);

	if (reason)
		health_damage(r->health, r->path, line, reason);
}

void reading_run(struct reading *r)
{
	for (;;) {
		struct scan c = reading_scan(r);

		if (c.p == c.end)
			break;
		if (scan_blank(&c)) {
			reading_consume(r, &c);
			continue;
		}
		r->not_empty = true;
		r->format->read(r);
	}
	if (r->in.failure)
		health_unread(r->health, r->path, r->in.failure);
	else if (!r->not_empty)
		health_unread(r->health, r->path, "the input is empty");
	health_input_done(r->health, r->path);
}
