// SPDX-License-Identifier: GPL-2.0
/*
 * The text of page_owner and slab_owner: a header line, a PFN line, frames with
 * a leading space, more lines of any kind, a blank line. A record counts only
 * when it is whole; after damage, reading goes on at the next record.
 */
#include <errno.h>
#include <stdlib.h>

#include "header.h"
#include "input.h"
#include "reader_text.h"

struct reader {
	struct input in;
	const char *path;
	u64 page_size;
	u64 line;		/* number of the line to be read next */
	bool anything;		/* a record or a comment was there */
	struct model *model;
	struct health *health;
};

/* A place in the text ahead, while a record is looked at. */
struct cursor {
	const char *p;
	const char *end;
	u64 line;
};

static struct text rest(const struct cursor *c)
{
	return (struct text){ c->p, c->end - c->p };
}

static const char *line_end(const struct cursor *c)
{
	return memchr(c->p, '\n', c->end - c->p);
}

/* Length of the blank line at the start of @t, 0 if there is none. */
static size_t blank_line(struct text t)
{
	if (TEXT_STARTS(t, "\n"))
		return 1;
	return TEXT_STARTS(t, "\r\n") ? 2 : 0;
}

/* Consumes what lies before @c. */
static void consume_to(struct reader *r, const struct cursor *c)
{
	input_consume(&r->in, c->p - (r->in.buf + r->in.pos));
	r->line = c->line;
}

/*
 * Drops the line at hand and those after it up to a blank line or a header. A
 * line longer than what can be seen ahead is dropped piece by piece.
 */
static void skip_block(struct reader *r, bool at_line_start)
{
	bool first = true;

	for (;;) {
		struct text t = input_ahead(&r->in);
		const char *nl;

		if (!t.len)
			return;
		if (!first && at_line_start && (blank_line(t) || header_begins(t)))
			return;
		first = false;
		nl = memchr(t.s, '\n', t.len);
		input_consume(&r->in, nl ? (size_t)(nl + 1 - t.s) : t.len);
		r->line += !!nl;
		at_line_start = nl;
	}
}

static void damage(struct reader *r, const struct cursor *c, const char *reason)
{
	health_damage(r->health, r->path, c->line, reason);
	consume_to(r, c);
	skip_block(r, true);
}

/* The record does not end within what is ahead: the input or patience does. */
static void no_end(struct reader *r, const struct cursor *c)
{
	bool at_line_start = c->end[-1] == '\n';
	const char *reason = "the record is longer than 128 KiB";
	struct cursor stop = { c->end, c->end, c->line };

	if (r->in.eof)
		reason = r->in.failure ? "the record is cut off by a read error" :
				       "the record is cut off by the end of the input";
	health_damage(r->health, r->path, c->line, reason);
	consume_to(r, &stop);
	if (!at_line_start)
		skip_block(r, false);
}

/* Moves over lines that begin with a space; returns false if the last has no end. */
static bool take_frames(struct cursor *c, struct text *stack)
{
	stack->s = c->p;
	while (c->p < c->end && *c->p == ' ') {
		const char *nl = line_end(c);

		if (!nl)
			return false;
		c->p = nl + 1;
		c->line++;
	}
	stack->len = c->p - stack->s;
	return true;
}

enum tail {
	TAIL_BLANK,	/* as it should be; the blank line is taken */
	TAIL_HEADER,	/* the next record began without one */
	TAIL_NONE,	/* neither is ahead */
};

/*
 * Migration, memory cgroup, and lines of kernels to come: nothing here groups
 * by them, so they are passed over.
 */
static enum tail take_tail(struct cursor *c)
{
	for (;;) {
		size_t blank = blank_line(rest(c));
		const char *nl;

		if (blank) {
			c->p += blank;
			c->line++;
			return TAIL_BLANK;
		}
		if (header_begins(rest(c)))
			return TAIL_HEADER;
		nl = line_end(c);
		if (!nl)
			return TAIL_NONE;
		c->p = nl + 1;
		c->line++;
	}
}

/* A name may hold newlines; the line count has to know. */
static u64 lines_between(const char *from, const char *to)
{
	u64 n = 0;

	while (from < to) {
		from = memchr(from, '\n', to - from);
		if (!from)
			break;
		from++;
		n++;
	}
	return n;
}

static void read_record(struct reader *r, struct cursor *c)
{
	struct cursor start = *c;
	const char *reason, *head_end;
	struct record rec;

	if (!line_end(c)) {
		no_end(r, c);
		return;
	}
	reason = header_parse(rest(c), r->page_size, &rec, &head_end);
	if (reason) {
		damage(r, c, reason);
		return;
	}
	c->line += lines_between(c->p, head_end);
	c->p = head_end;

	if (!line_end(c)) {
		no_end(r, c);
		return;
	}
	if (!TEXT_STARTS(rest(c), "PFN 0x")) {
		damage(r, c, "the record has no PFN line");
		return;
	}
	c->p = line_end(c) + 1;
	c->line++;

	if (!take_frames(c, &rec.stack)) {
		no_end(r, c);
		return;
	}
	switch (take_tail(c)) {
	case TAIL_NONE:
		no_end(r, c);
		return;
	case TAIL_HEADER:
		health_damage(r->health, r->path, start.line,
			      "the record has no blank line at its end");
		break;
	case TAIL_BLANK:
		reason = model_add(r->model, &rec);
		if (reason)
			health_damage(r->health, r->path, start.line, reason);
		break;
	}
	consume_to(r, c);
}

/* Reads "@word NUMBER" at @p; returns what follows, or NULL. */
static const char *named_number(const char *p, const char *word, u64 *value)
{
	size_t len = strlen(word);
	char *end;

	if (!p || strncmp(p, word, len) || p[len] < '0' || p[len] > '9')
		return NULL;
	errno = 0;
	*value = strtoull(p + len, &end, 10);
	return errno ? NULL : end;
}

/* "# tracked N untracked M" is understood, other comments are not for us. */
static void read_comment(struct reader *r, struct cursor *c)
{
	u64 tracked, untracked;
	const char *nl = line_end(c);
	char line[128];
	const char *p;

	if (!nl) {
		damage(r, c, "the line is cut off or too long");
		return;
	}
	if (nl - c->p < (ptrdiff_t)sizeof(line)) {
		memcpy(line, c->p, nl - c->p);
		line[nl - c->p] = '\0';
		p = named_number(line, "# tracked ", &tracked);
		if (named_number(p, " untracked ", &untracked))
			model_coverage(r->model, tracked, untracked);
	}
	c->p = nl + 1;
	c->line++;
	consume_to(r, c);
}

static bool read_next(struct reader *r)
{
	struct text t = input_ahead(&r->in);
	struct cursor c = { t.s, t.s + t.len, r->line };
	size_t blank = blank_line(t);

	if (!t.len)
		return false;
	if (blank) {
		c.p += blank;
		c.line++;
		consume_to(r, &c);
		return true;
	}
	r->anything = true;
	if (*t.s == '#')
		read_comment(r, &c);
	else if (header_begins(t))
		read_record(r, &c);
	else
		damage(r, &c, "not a page_owner or slab_owner record");
	return true;
}

void read_text(const char *path, u64 page_size, struct model *model,
	       struct health *health)
{
	struct reader r = {
		.path = path,
		.page_size = page_size,
		.line = 1,
		.model = model,
		.health = health,
	};

	if (!input_open(&r.in, path)) {
		health_unread(health, path, strerror(errno));
		return;
	}
	while (read_next(&r))
		;
	if (r.in.failure)
		health_unread(health, path, r.in.failure);
	else if (!r.anything)
		health_unread(health, path, "the input is empty");
	health_input_done(health, path);
	input_close(&r.in);
}
