// SPDX-License-Identifier: GPL-2.0
/*
 * page_owner_stacks/: show_stacks has the number of pages of each call chain,
 * show_handles of each handle, and show_stacks_handles says which chain a
 * handle stands for. A block has frames with a leading space, "key: number"
 * lines, and a blank line.
 */
#include "number.h"
#include "reading.h"

/* 2^44 pages are far more than any machine has, and their bytes can be added. */
#define PAGES_MAX (16ULL << 40)

struct block {
	struct text stack;
	u64 handle;
	u64 pages;
	bool has_handle;
	bool has_pages;
};

static bool is_stacks(struct text line)
{
	return TEXT_STARTS(line, "nr_base_pages: ") || TEXT_STARTS(line, "handle: ");
}

/* The frames of a block look like any other frames. */
static bool block_begins(struct text ahead)
{
	(void)ahead;
	return false;
}

/* "key: number"; other keys are of kernels to come, and passed over. */
static const char *parse_line(struct text line, struct block *b)
{
	const char *error = NULL;

	if (take_word(&line, "handle: ")) {
		b->has_handle = true;
		error = take_number(&line, &b->handle);
	} else if (take_word(&line, "nr_base_pages: ")) {
		b->has_pages = true;
		error = take_number(&line, &b->pages);
		if (!error && b->pages > PAGES_MAX)
			error = "the number of pages is too large";
	} else {
		struct text key = take_until_space(&line);

		if (!key.len || key.s[key.len - 1] != ':')
			return "neither a call chain, a handle nor a number of pages";
		return NULL;
	}
	if (!error && line.len)
		error = "a number has more behind it";
	return error;
}

enum parsed {
	PARSED_WHOLE,
	PARSED_DAMAGED,		/* @error says how, the cursor where */
	PARSED_NO_END,
};

static enum parsed parse_block(struct cursor *c, struct block *b, const char **error)
{
	*b = (struct block){ 0 };
	if (!cursor_frames(c, &b->stack))
		return PARSED_NO_END;
	for (;;) {
		struct cursor start = *c;
		struct text line;

		if (cursor_blank(c))
			return PARSED_WHOLE;
		if (!cursor_line(c, &line))
			return PARSED_NO_END;
		*error = *start.p == ' ' ? "the block has no blank line at its end" :
					   parse_line(line, b);
		if (*error) {
			*c = start;
			return PARSED_DAMAGED;
		}
	}
}

/* Counts the block's pages, or remembers what its handle stands for. */
static void take_block(struct reading *r, const struct block *b, u64 line)
{
	char name[HANDLE_NAME_LEN];
	struct record rec = {
		.kind = KIND_PAGE,
		.summed = true,
		.objects = b->pages,
		.bytes = b->pages * r->page_size,
		.held = b->pages * r->page_size,
		.ts = TS_UNKNOWN,
		.pid = PID_UNKNOWN,
		.tgid = PID_UNKNOWN,
		.comm.s = "",
		.cache.s = "",
		.stack = b->stack,
	};

	if (b->has_handle && b->stack.len &&
	    !handles_add(r->handles, b->handle, b->stack)) {
		health_damage(r->health, r->path, line,
			      "the handle stood for another call chain before");
		return;
	}
	if (!b->has_pages) {
		if (!b->has_handle || !b->stack.len)
			health_damage(r->health, r->path, line,
				      "the block has no number of pages");
		return;
	}
	if (b->has_handle && !b->stack.len)
		rec.stack = handles_stack(r->handles, b->handle, name);
	reading_add(r, &rec, line);
}

static void read_stacks(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	u64 line = c.line;
	const char *error;
	struct block block;

	switch (parse_block(&c, &block, &error)) {
	case PARSED_WHOLE:
		take_block(r, &block, line);
		reading_consume(r, &c);
		break;
	case PARSED_DAMAGED:
		reading_damage(r, &c, error);
		break;
	case PARSED_NO_END:
		reading_no_end(r, &c);
		break;
	}
}

/* Only frames and handles, as far as can be seen ahead. */
static bool explains_handles(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	struct block block;
	const char *error;

	while (parse_block(&c, &block, &error) == PARSED_WHOLE)
		if (block.has_pages || block.has_handle)
			return block.has_handle && !block.has_pages;
	return false;
}

const struct format format_stacks = {
	.recognise = is_stacks,
	.explains = explains_handles,
	.record_begins = block_begins,
	.read = read_stacks,
};
