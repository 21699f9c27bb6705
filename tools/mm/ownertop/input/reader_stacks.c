// SPDX-License-Identifier: GPL-2.0
/*
 * Read page_owner_stacks/ and slab_owner_stacks/: show_stacks has the sums of each call
 * chain, show_handles those of each handle, and show_stacks_handles maps handles to call
 * chains. A block has frames with a leading space, "key: number" lines and a blank line.
 */
#include "base/number.h"
#include "input/reading.h"

/*
 * Limit of the number of pages: more than any machine has, but few enough that sums of bytes do
 * not overflow.
 */
#define PAGES_MAX (16ULL << 40)
#define BYTES_MAX (1024ULL << 50)

struct stacks_block {
	struct text_slice stack;
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

static bool is_stacks_line(struct text_slice line)
{
	return TEXT_STARTS(line, "nr_base_pages: ") || TEXT_STARTS(line, "handle: ") ||
	       TEXT_STARTS(line, "nr_objects: ");
}

/*
 * Returns false: the first line of a block is a frame, and so are later ones, so no line tells that
 * a block begins. After damage, reading continues behind a blank line.
 */
static bool text_begins_stack_block(struct text_slice ahead)
{
	(void)ahead;
	return false;
}

/*
 * Parse a line "key: number" of a block. Unknown keys are ignored: newer kernels may have more.
 */
static const char *parse_stack_block_number(struct text_slice line, struct stacks_block *b)
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
	struct text_slice key;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *error;

		if (!consume_word(&line, keys[i].key))
			continue;
		b->has |= keys[i].has;
		error = consume_number(&line, keys[i].value);
		if (!error && *keys[i].value > keys[i].max)
			error = "a number is too large";
		return !error && line.len ? "a number has more behind it" : error;
	}
	key = consume_until_space(&line);
	if (!key.len || key.s[key.len - 1] != ':')
		return "neither a call chain nor a number with its name";
	return NULL;
}

enum block_result {
	BLOCK_COMPLETE,
	BLOCK_DAMAGED,		/* the scan is at the damaged line, *@error tells the reason */
	BLOCK_TRUNCATED,
};

static enum block_result parse_stack_block(struct text_scan *c, struct stacks_block *b,
					   const char **error)
{
	*b = (struct stacks_block){ 0 };
	if (!scan_frame_lines(c, &b->stack, NULL))
		return BLOCK_TRUNCATED;
	for (;;) {
		struct text_scan start = *c;
		struct text_slice line;

		if (scan_blank_line(c))
			return BLOCK_COMPLETE;
		if (!scan_next_line(c, &line))
			return BLOCK_TRUNCATED;
		*error = *start.p == ' ' ? "the block has no blank line at its end" :
					   parse_stack_block_number(line, b);
		if (*error) {
			*c = start;
			return BLOCK_DAMAGED;
		}
	}
}

/* Make the record of a block's sum. Returns NULL, or why the block has no sum. */
static const char *make_record_of_stack_block(struct input_reading *r, const struct stacks_block *b,
					      struct record *rec, char handle_name[HANDLE_NAME_LEN])
{
	bool pages = b->has & HAS_PAGES;

	*rec = RECORD_UNKNOWN;
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
		rec->stack = handle_map_lookup(r->handles, b->handle, handle_name);
	return NULL;
}

static bool block_only_maps_handle(const struct stacks_block *b)
{
	return b->has == HAS_HANDLE && b->stack.len;
}

static const char *submit_stack_block(struct input_reading *r, const struct stacks_block *b,
				      u64 line)
{
	char handle_name[HANDLE_NAME_LEN];
	const char *error = NULL;
	struct record rec;

	if (b->has & HAS_HANDLE && b->stack.len &&
	    !handle_map_add(r->handles, b->handle, b->stack))
		return "the handle stood for another call chain before";
	if (block_only_maps_handle(b))
		return NULL;
	error = make_record_of_stack_block(r, b, &rec, handle_name);
	if (!error)
		reading_submit_record(r, &rec, line);
	return error;
}

static void read_stacks(struct input_reading *r, struct text_scan *c)
{
	u64 line = c->line;
	const char *error;
	struct stacks_block block;

	switch (parse_stack_block(c, &block, &error)) {
	case BLOCK_COMPLETE:
		error = submit_stack_block(r, &block, line);
		if (error)
			health_report_damage(r->health, r->path, line, error);
		reading_consume_scanned_bytes(r, c);
		break;
	case BLOCK_DAMAGED:
		reading_report_damage(r, c, error);
		break;
	case BLOCK_TRUNCATED:
		reading_report_truncated(r, c);
		break;
	}
}

/* Returns the first block with a number: all blocks of a file have the same keys. */
static struct stacks_block find_first_block_with_numbers(struct input_reading *r)
{
	struct text_scan c = reading_begin_scan(r);
	struct stacks_block block;
	const char *error;

	while (parse_stack_block(&c, &block, &error) == BLOCK_COMPLETE)
		if (block.has)
			return block;
	return (struct stacks_block){ 0 };
}

static bool input_maps_handles(struct input_reading *r)
{
	struct stacks_block block = find_first_block_with_numbers(r);

	return block_only_maps_handle(&block);
}

static bool find_kind_of_stacks(struct input_reading *r, enum record_kind *kind)
{
	*kind = KIND_SLAB;
	return find_first_block_with_numbers(r).has & HAS_SLABS;
}

const struct input_format format_stacks = {
	.recognise = is_stacks_line,
	.maps_handles = input_maps_handles,
	.find_kind = find_kind_of_stacks,
	.record_begins = text_begins_stack_block,
	.read = read_stacks,
};
