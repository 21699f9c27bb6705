// SPDX-License-Identifier: GPL-2.0
/*
 * page_owner_stacks/ and slab_owner_stacks/: show_stacks has what each call chain
 * holds, show_handles what each handle does, and show_stacks_handles says which
 * chain a handle stands for. A block has frames with a leading space, "key:
 * number" lines, and a blank line.
 */
#include "base/number.h"
#include "input/reading.h"

/* 2^44 pages are far more than any machine has, and their bytes can be added. */
#define PAGES_MAX (16ULL << 40)
#define BYTES_MAX (1024ULL << 50)

struct block {
	struct text stack;
	u64 handle;
	u64 pages;
	u64 objects;
	u64 bytes;
	unsigned int has;
};

enum {
	HAS_HANDLE = 1 << 0,
	HAS_PAGES = 1 << 1,
	HAS_OBJECTS = 1 << 2,
	HAS_BYTES = 1 << 3,

	HAS_SLABS = HAS_OBJECTS | HAS_BYTES,
};

static bool is_stacks(struct text line)
{
	return TEXT_STARTS(line, "nr_base_pages: ") || TEXT_STARTS(line, "handle: ") ||
	       TEXT_STARTS(line, "nr_objects: ");
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
	const struct {
		const char *key;
		u64 *value;
		u64 max;
		unsigned int has;
	} keys[] = {
		{ "handle: ", &b->handle, U64_MAX, HAS_HANDLE },
		{ "nr_base_pages: ", &b->pages, PAGES_MAX, HAS_PAGES },
		{ "nr_objects: ", &b->objects, BYTES_MAX, HAS_OBJECTS },
		{ "nr_bytes: ", &b->bytes, BYTES_MAX, HAS_BYTES },
	};
	struct text key;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *error;

		if (!take_word(&line, keys[i].key))
			continue;
		b->has |= keys[i].has;
		error = take_number(&line, keys[i].value);
		if (!error && *keys[i].value > keys[i].max)
			error = "a number is too large";
		return !error && line.len ? "a number has more behind it" : error;
	}
	key = take_until_space(&line);
	if (!key.len || key.s[key.len - 1] != ':')
		return "neither a call chain nor a number with its name";
	return NULL;
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

/* Returns NULL, or why the block does not count anything. */
static const char *record_of(struct reading *r, const struct block *b, struct record *rec,
			     char handle_name[HANDLE_NAME_LEN])
{
	bool pages = b->has & HAS_PAGES;

	*rec = RECORD_UNTOLD;
	rec->kind = pages ? KIND_PAGE : KIND_SLAB;
	rec->summed = true;
	rec->objects = pages ? b->pages : b->objects;
	rec->bytes = pages ? b->pages * r->page_size : b->bytes;
	rec->held = rec->bytes;
	rec->stack = b->stack;
	if (!pages && (b->has & HAS_SLABS) != HAS_SLABS)
		return b->has & HAS_SLABS ? "the block has no objects or no bytes" :
					    "the block does not say how much";
	if (b->has & HAS_HANDLE)
		rec->handle = b->handle;
	if (b->has & HAS_HANDLE && !b->stack.len)
		rec->stack = handles_stack(r->handles, b->handle, handle_name);
	return NULL;
}

static bool explains(const struct block *b)
{
	return b->has == HAS_HANDLE && b->stack.len;
}

static const char *take_block(struct reading *r, const struct block *b, u64 line)
{
	char handle_name[HANDLE_NAME_LEN];
	const char *error = NULL;
	struct record rec;

	if (b->has & HAS_HANDLE && b->stack.len &&
	    !handles_add(r->handles, b->handle, b->stack))
		return "the handle stood for another call chain before";
	if (explains(b))
		return NULL;
	error = record_of(r, b, &rec, handle_name);
	if (!error)
		reading_add(r, &rec, line);
	return error;
}

static void read_stacks(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	u64 line = c.line;
	const char *error;
	struct block block;

	switch (parse_block(&c, &block, &error)) {
	case PARSED_WHOLE:
		error = take_block(r, &block, line);
		if (error)
			health_damage(r->health, r->path, line, error);
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

/* The first block that has any numbers tells what the file is about. */
static struct block first_block(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	struct block block;
	const char *error;

	while (parse_block(&c, &block, &error) == PARSED_WHOLE)
		if (block.has)
			return block;
	return (struct block){ 0 };
}

static bool explains_handles(struct reading *r)
{
	struct block block = first_block(r);

	return explains(&block);
}

static bool lists_slabs(struct reading *r)
{
	return first_block(r).has & HAS_SLABS;
}

const struct format format_stacks = {
	.recognise = is_stacks,
	.explains = explains_handles,
	.lists_slabs = lists_slabs,
	.record_begins = block_begins,
	.read = read_stacks,
};
