// SPDX-License-Identifier: GPL-2.0
/* Merge records into blocks, and sort the blocks. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "page_owner_sort/blocks.h"
#include "names/frame.h"

/*
 * Does @t contain @word? This is faster than memmem() if the first character of @word is rare.
 */
static bool text_contains(struct text_slice t, const char *word)
{
	const char *end = t.s + t.len, *p = t.s;
	size_t len = strlen(word);

	for (; (p = memchr(p, *word, end - p)); p++)
		if (text_starts_with((struct text_slice){ p, end - p }, word, len))
			return true;
	return false;
}

/*
 * Is this the call chain of pages in a vmalloc area, and not of data of the vmalloc allocator
 * itself?
 */
static bool is_vmalloc(struct text_slice stack)
{
	struct text_slice before = { stack.s, 0 };

	while (stack.len) {
		const char *nl = memchr(stack.s, '\n', stack.len);
		size_t len = nl ? (size_t)(nl - stack.s) + 1 : stack.len;
		struct text_slice line = { stack.s, len };

		if (text_contains(line, "__vmalloc_node_range"))
			return text_contains(before, "alloc_pages");
		/* Skip __vmalloc_area_node(), because the compiler may inline it. */
		if (!text_contains(line, "__vmalloc_area_node"))
			before = line;
		stack.s += len;
		stack.len -= len;
	}
	return false;
}

static u32 get_record_allocators(const struct record *rec, bool vmalloc)
{
	u32 allocator = 0;

	if (text_contains(rec->pfn, "CMA"))
		allocator |= ALLOCATOR_CMA;
	if (rec->kind == KIND_SLAB || rec->slab_page || text_contains(rec->pfn, "slab"))
		allocator |= ALLOCATOR_SLAB;
	if (vmalloc)
		allocator |= ALLOCATOR_VMALLOC;
	return allocator ? allocator : ALLOCATOR_OTHERS;
}

static bool is_number_listed(const struct number_list *list, s64 v)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		if (list->v[i] == v)
			return true;
	return false;
}

static bool is_name_listed(const struct globs *names, struct text_slice name)
{
	u32 i;

	for (i = 0; i < names->n; i++)
		if (strlen(names->v[i]) == name.len && !memcmp(names->v[i], name.s, name.len))
			return true;
	return false;
}

/* Returns the number that the kernel's program has for a process. */
static int get_printed_pid(s64 pid)
{
	return pid == PID_UNKNOWN ? -1 : pid;
}

static bool record_passes_filters(const struct blocks *b, const struct record *rec)
{
	return (!b->filter_pid || is_number_listed(&b->pids, get_printed_pid(rec->pid))) &&
	       (!b->filter_tgid || is_number_listed(&b->tgids, get_printed_pid(rec->tgid))) &&
	       (!b->filter_comm || is_name_listed(&b->comms, rec->printed_comm));
}

static const char *find_malformed_frame(struct text_slice stack)
{
	while (stack.len) {
		const char *nl = memchr(stack.s, '\n', stack.len);
		struct text_slice line = { stack.s + 1, nl - stack.s - 1 };
		struct frame f;

		if (line.len && line.s[line.len - 1] == '\r')
			line.len--;
		if (!frame_parse(line, &f))
			return "a frame is malformed";
		stack.len -= nl + 1 - stack.s;
		stack.s = nl + 1;
	}
	return NULL;
}

/* The columns of a block in blocks.v. */
enum {
	COLUMN_PID,		/* pid plus 1, so that -1 is 0 and takes no space */
	COLUMN_TGID,		/* tgid plus 1 */
	COLUMN_HEADER,
	COLUMN_STACK,
	COLUMN_TIME,
	COLUMN_ALLOCATOR,
	COLUMN_TIMES,
	COLUMN_PAGES,
	NR_COLUMNS
};

void blocks_init(struct blocks *b)
{
	*b = (struct blocks){ 0 };
	packed_init(&b->v, NR_COLUMNS);
}

static int unpack_pid(const struct packed_table *v, u32 id, u32 column)
{
	return packed_get(v, id, column) - 1;
}

static struct text_slice unpack_stack_text(const struct blocks *b, u32 id)
{
	return b->stacks.v[packed_get(&b->v, id, COLUMN_STACK)];
}

static struct text_slice unpack_task_name(const struct blocks *b, u32 id)
{
	return b->names.v[b->header_comm[packed_get(&b->v, id, COLUMN_HEADER)]];
}

/*
 * Load the fields of a block that make up its text. Sorting mostly compares texts and needs no
 * other field.
 */
static struct block unpack_block_text_fields(const struct blocks *b, u32 id)
{
	return (struct block){
		.pid = unpack_pid(&b->v, id, COLUMN_PID),
		.tgid = unpack_pid(&b->v, id, COLUMN_TGID),
		.header = packed_get(&b->v, id, COLUMN_HEADER),
		.stack = packed_get(&b->v, id, COLUMN_STACK),
		.ts = packed_get(&b->v, id, COLUMN_TIME),
	};
}

struct block unpack_block_fields(const struct blocks *b, u32 id)
{
	struct block block = unpack_block_text_fields(b, id);

	block.allocator = packed_get(&b->v, id, COLUMN_ALLOCATOR);
	block.times = packed_get(&b->v, id, COLUMN_TIMES);
	block.pages = packed_get(&b->v, id, COLUMN_PAGES);
	return block;
}

/* Add a block that no record is counted in yet. */
static u32 add_block(struct blocks *b, const struct block *block)
{
	u32 id = packed_add_row(&b->v);

	packed_set(&b->v, id, COLUMN_PID, block->pid + 1LL);
	packed_set(&b->v, id, COLUMN_TGID, block->tgid + 1LL);
	packed_set(&b->v, id, COLUMN_HEADER, block->header);
	packed_set(&b->v, id, COLUMN_STACK, block->stack);
	packed_set(&b->v, id, COLUMN_TIME, block->ts);
	packed_set(&b->v, id, COLUMN_ALLOCATOR, block->allocator);
	return id;
}

static void add_to_packed_number(struct packed_table *v, u32 id, u32 column, u64 more)
{
	packed_set(v, id, column, packed_get(v, id, column) + more);
}

static bool is_sort_key(const struct blocks *b, enum block_field field)
{
	u32 i;

	for (i = 0; i < b->nr_sorts; i++)
		if (b->sort[i].field == field)
			return true;
	return false;
}

/* Facts about a stack, found once for each distinct stack. */
struct stack_info {
	const char *error;	/* why the stack is malformed, or NULL */
	bool vmalloc;
};

/* Intern the stack of a record: b->text from its second line on. */
static u32 intern_stack(struct blocks *b, const struct record *rec, size_t header_len)
{
	struct text_slice text = { b->text.s + header_len, b->text.len - header_len };
	u32 nr_stacks = b->stacks.n, id = strings_intern(&b->stacks, text);

	if (id == nr_stacks) {
		b->stack_info = grow_array(b->stack_info, id, &b->stack_info_cap,
					   sizeof(*b->stack_info));
		b->stack_info[id] = (struct stack_info){
			.error = find_malformed_frame(rec->stack),
			.vmalloc = is_vmalloc(rec->stack),
		};
	}
	return id;
}

bool blocks_have_times(const struct blocks *b)
{
	return b->nr_sorts && b->sort[0].field == BLOCK_TIME;
}

static void append_range(struct text_buffer *buf, const char *from, const char *to)
{
	text_buffer_append(buf, (struct text_slice){ from, to - from });
}

/*
 * Build the text of a record in b->text, without its PFN line, which no two records have in
 * common, and without its time unless blocks are sorted by it. Returns the length of the first
 * line.
 */
static size_t make_block_text(struct blocks *b, const struct record *rec)
{
	const char *from = rec->header.s;

	b->text.len = 0;
	if (rec->printed_ts.len && !blocks_have_times(b)) {
		append_range(&b->text, from, rec->printed_ts.s);
		from = rec->printed_ts.s + rec->printed_ts.len;
	}
	append_range(&b->text, from, rec->pfn.s);
	text_buffer_append(&b->text, rec->stack);
	text_buffer_append(&b->text, rec->user);
	text_buffer_append(&b->text, rec->tail);
	return (char *)memchr(b->text.s, '\n', b->text.len) - b->text.s + 1;
}

/*
 * Key of a block: records with equal keys are one block. Members that --cull does not name are
 * 0.
 */
struct block_key {
	int pid;
	int tgid;
	u32 header;
	u32 stack;
	u32 comm;
	u32 allocator;
	u64 ts;
};

static struct block_key make_block_key(const struct blocks *b, const struct block *block)
{
	struct block_key key = { 0 };

	if (!b->cull)
		return (struct block_key){
			.pid = block->pid,
			.tgid = block->tgid,
			.header = block->header,
			.stack = block->stack,
			.ts = blocks_have_times(b) ? block->ts : 0,
		};
	if (b->cull & BLOCK_BIT(BLOCK_STACK))
		key.stack = block->stack;
	if (b->cull & BLOCK_BIT(BLOCK_PID))
		key.pid = block->pid;
	if (b->cull & BLOCK_BIT(BLOCK_TGID))
		key.tgid = block->tgid;
	if (b->cull & BLOCK_BIT(BLOCK_COMM))
		key.comm = b->header_comm[block->header];
	if (b->cull & BLOCK_BIT(BLOCK_ALLOCATOR))
		key.allocator = block->allocator;
	return key;
}

static bool block_key_equals(const void *owner, u32 id, const void *key)
{
	const struct blocks *b = owner;
	struct block block = unpack_block_fields(b, id);
	struct block_key block_key = make_block_key(b, &block);

	return !memcmp(&block_key, key, sizeof(block_key));
}

const char *add_record_to_blocks(void *arg, const struct record *rec)
{
	struct stack_info *stack_info;
	struct blocks *b = arg;
	struct block_key key;
	struct block block;
	size_t header_len;
	u32 id, stack;
	u64 hash;

	if (!rec->header.len)
		return "not a page_owner record";
	if (!record_passes_filters(b, rec))
		return find_malformed_frame(rec->stack);
	header_len = make_block_text(b, rec);
	stack = intern_stack(b, rec, header_len);
	stack_info = &b->stack_info[stack];
	if (stack_info->error)
		return stack_info->error;
	block = (struct block){
		.pid = get_printed_pid(rec->pid),
		.tgid = get_printed_pid(rec->tgid),
		.ts = is_sort_key(b, BLOCK_TIME) ? rec->ts : 0,
		.allocator = get_record_allocators(rec, stack_info->vmalloc),
		.header = block_intern_header(b, rec, header_len),
		.stack = stack,
	};
	key = make_block_key(b, &block);
	hash = XXH3_64bits(&key, sizeof(key));
	id = hash_index_find(&b->index, hash, block_key_equals, b, &key);
	if (id == HASH_INDEX_NONE) {
		id = add_block(b, &block);
		hash_index_add(&b->index, hash, id);
	}
	add_to_packed_number(&b->v, id, COLUMN_TIMES, 1);
	add_to_packed_number(&b->v, id, COLUMN_PAGES, 1ULL << rec->order);
	return NULL;
}

static int compare_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_s64(s64 a, s64 b)
{
	return (a > b) - (a < b);
}

static int order_blocks_by_text(struct blocks *b, u32 l, u32 r)
{
	struct block left = unpack_block_text_fields(b, l), right = unpack_block_text_fields(b, r);

	return block_compare_texts(b, &left, &right);
}

static int order_blocks_by_field(struct blocks *b, u32 l, u32 r, enum block_field field)
{
	const struct packed_table *v = &b->v;

	switch (field) {
	case BLOCK_TEXT:
		return order_blocks_by_text(b, l, r);
	case BLOCK_STACK:
		return text_slice_compare(unpack_stack_text(b, l), unpack_stack_text(b, r));
	case BLOCK_PID:
		return compare_s64(unpack_pid(v, l, COLUMN_PID), unpack_pid(v, r, COLUMN_PID));
	case BLOCK_TGID:
		return compare_s64(unpack_pid(v, l, COLUMN_TGID), unpack_pid(v, r, COLUMN_TGID));
	case BLOCK_COMM:
		return text_slice_compare(unpack_task_name(b, l), unpack_task_name(b, r));
	case BLOCK_ALLOCATOR:
		return compare_u64(packed_get(v, l, COLUMN_ALLOCATOR),
				   packed_get(v, r, COLUMN_ALLOCATOR));
	case BLOCK_TIME:
		return compare_u64(packed_get(v, l, COLUMN_TIME), packed_get(v, r, COLUMN_TIME));
	case BLOCK_TIMES_SEEN:
		return compare_u64(packed_get(v, l, COLUMN_TIMES), packed_get(v, r, COLUMN_TIMES));
	case BLOCK_PAGES:
		return compare_u64(packed_get(v, l, COLUMN_PAGES), packed_get(v, r, COLUMN_PAGES));
	}
	return 0;
}

/* Compare two blocks by the sort keys, and if these are equal by the keys of --cull. */
static int compare_blocks(const void *pl, const void *pr, void *arg)
{
	static const enum block_field culled[] = {
		BLOCK_STACK, BLOCK_PID, BLOCK_TGID, BLOCK_COMM, BLOCK_ALLOCATOR };
	u32 l = *(const u32 *)pl, r = *(const u32 *)pr, i;
	struct blocks *b = arg;
	int order = 0;

	for (i = 0; i < b->nr_sorts && !order; i++) {
		order = order_blocks_by_field(b, l, r, b->sort[i].field);
		if (b->sort[i].descending)
			order = -order;
	}
	if (!b->cull && !order)
		order = order_blocks_by_field(b, l, r, BLOCK_TEXT);
	for (i = 0; i < sizeof(culled) / sizeof(*culled) && !order; i++)
		if (b->cull & BLOCK_BIT(culled[i]))
			order = order_blocks_by_field(b, l, r, culled[i]);
	return order;
}

void blocks_sort(struct blocks *b)
{
	u32 i;

	b->order = xmalloc(b->v.n * sizeof(*b->order));
	for (i = 0; i < b->v.n; i++)
		b->order[i] = i;
	/* Sort block numbers, not blocks: qsort_r() allocates a copy of the array. */
	qsort_r(b->order, b->v.n, sizeof(*b->order), compare_blocks, b);
}

void blocks_free(struct blocks *b)
{
	packed_free(&b->v);
	free(b->order);
	hash_index_free(&b->index);
	strings_free(&b->headers);
	strings_free(&b->stacks);
	free(b->stack_info);
	free(b->header_comm);
	strings_free(&b->names);
	globs_free(&b->comms);
	free(b->pids.v);
	free(b->tgids.v);
	free(b->text.s);
	free(b->packed.s);
	free(b->left.s);
	free(b->right.s);
}
