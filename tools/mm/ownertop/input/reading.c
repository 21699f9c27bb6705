// SPDX-License-Identifier: GPL-2.0
/* Read an input record by record, and skip its damaged places. */
#include "input/reading.h"

/* Bytes that need one branch. The CPU compares 16 of them at once. */
#define BLOCK_SIZE 64

/*
 * Move a scan over blocks in which each newline has a space behind it: most bytes of a dump are in
 * lines of frames.
 */
static void skip_blocks_of_frames(struct text_scan *c)
{
	for (; c->end - c->p > BLOCK_SIZE; c->p += BLOCK_SIZE) {
		__attribute__((vector_size(16))) unsigned char byte, next,
			newlines = { 0 }, ends = { 0 };
		u64 halves[2];
		size_t i;

#pragma GCC unroll 4
		for (i = 0; i < BLOCK_SIZE; i += sizeof(byte)) {
			memcpy(&byte, c->p + i, sizeof(byte));
			memcpy(&next, c->p + i + 1, sizeof(next));
			newlines -= byte == '\n';
			ends |= (byte == '\n') & ~(next == ' ');
		}
		memcpy(halves, &ends, sizeof(halves));
		if (halves[0] | halves[1])
			return;
		/* Add up the bytes, each of which is at most 4 in a half. */
		memcpy(halves, &newlines, sizeof(halves));
		c->line += (halves[0] + halves[1]) * 0x0101010101010101 >> 56;
	}
}

/* Move the lines from the first user frame on from @stack to @user. */
static void split_user_lines(struct text_slice *stack, struct text_slice *user)
{
	const char *p = stack->s, *end = stack->s + stack->len;

	while (p < end && !TEXT_STARTS(((struct text_slice){ p, end - p }), USER_LINE))
		p = (const char *)memchr(p, '\n', end - p) + 1;
	*user = (struct text_slice){ p, end - p };
	stack->len = p - stack->s;
}

bool scan_frame_lines(struct text_scan *c, struct text_slice *stack, struct text_slice *user)
{
	struct text_slice line;
	const char *last;

	stack->s = c->p;
	if (c->p < c->end && *c->p == ' ') {
		skip_blocks_of_frames(c);
		do {
			if (!scan_next_line(c, &line))
				return false;
		} while (c->p < c->end && *c->p == ' ');
	}
	stack->len = c->p - stack->s;
	if (!user)
		return true;
	*user = (struct text_slice){ c->p, 0 };
	last = stack->len ? memrchr(stack->s, '\n', stack->len - 1) : NULL;
	last = last ? last + 1 : stack->s;
	if (TEXT_STARTS(((struct text_slice){ last, c->p - last }), USER_LINE))
		split_user_lines(stack, user);
	return true;
}

/*
 * Skip the rest of a damaged record: lines up to a blank line or the beginning of a record. A
 * line that is longer than the buffer is skipped in pieces.
 */
static void skip_damaged_record(struct input_reading *r, bool at_line_start)
{
	bool first = true;

	for (;;) {
		struct text_slice t = input_peek(&r->in);
		const char *nl;

		if (!t.len)
			return;
		if (!first && at_line_start &&
		    (blank_line_len(t) || r->format->record_begins(t)))
			return;
		first = false;
		nl = memchr(t.s, '\n', t.len);
		input_skip(&r->in, nl ? (size_t)(nl + 1 - t.s) : t.len);
		r->line += !!nl;
		at_line_start = nl;
	}
}

void reading_report_damage(struct input_reading *r, const struct text_scan *c, const char *reason)
{
	health_report_damage(r->health, r->path, c->line, reason);
	reading_consume_scanned_bytes(r, c);
	skip_damaged_record(r, true);
}

void reading_report_truncated(struct input_reading *r, const struct text_scan *c)
{
	bool at_line_start = c->end[-1] == '\n';
	const char *reason = "the record is longer than 128 KiB";
	struct text_scan stop = { c->end, c->end, c->line };

	if (c->end - (r->in.buf + r->in.pos) < INPUT_AHEAD)
		reason = r->in.failure ? "the record is cut off by a read error" :
					 "the record is cut off by the end of the input";
	health_report_damage(r->health, r->path, c->line, reason);
	reading_consume_scanned_bytes(r, &stop);
	if (!at_line_start)
		skip_damaged_record(r, false);
}

void reading_read_line(struct input_reading *r, struct text_scan *c, line_parser parse)
{
	struct text_scan start = *c;
	struct text_slice line;
	const char *error;

	if (!scan_next_line(c, &line)) {
		reading_report_truncated(r, c);
		return;
	}
	error = parse(r, line);
	if (error)
		reading_report_damage(r, &start, error);
	else
		reading_consume_scanned_bytes(r, c);
}

void reading_submit_record(struct input_reading *r, const struct record *rec, u64 line)
{
	const char *reason = r->sink->add_record(r->sink->arg, rec);

	if (reason)
		health_report_damage(r->health, r->path, line, reason);
}

bool reading_read_record(struct input_reading *r)
{
	struct text_scan c = reading_begin_scan(r);

	if (c.p == c.end)
		return false;
	if (scan_blank_line(&c)) {
		reading_consume_scanned_bytes(r, &c);
		return true;
	}
	r->not_empty = true;
	r->format->read(r, &c);
	return true;
}

void reading_finish(struct input_reading *r)
{
	if (r->in.failure)
		health_report_unread(r->health, r->path, r->in.failure);
	else if (!r->not_empty)
		health_report_missing(r->health, r->path, "the input is empty");
	health_finish_input(r->health, r->path);
}
