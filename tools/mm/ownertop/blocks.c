// SPDX-License-Identifier: GPL-2.0
/* Records as page_owner_sort sees them. */
#include <stdlib.h>
#include <xxhash.h>

#include "alloc.h"
#include "blocks.h"
#include "frame.h"

static bool contains(struct text t, const char *word)
{
	return memmem(t.s, t.len, word, strlen(word));
}

/* Does vmalloc ask for pages here, and not for memory to keep account of them? */
static bool is_vmalloc(struct text stack)
{
	struct text before = { stack.s, 0 };

	while (stack.len) {
		const char *nl = memchr(stack.s, '\n', stack.len);
		size_t len = nl ? (size_t)(nl - stack.s) + 1 : stack.len;
		struct text line = { stack.s, len };

		if (contains(line, "__vmalloc_node_range"))
			return contains(before, "alloc_pages");
		/* Inlined or not, by the compiler's leave: as if it were. */
		if (!contains(line, "__vmalloc_area_node"))
			before = line;
		stack.s += len;
		stack.len -= len;
	}
	return false;
}

static u32 allocator_of(const struct record *rec)
{
	u32 allocator = 0;

	if (contains(rec->pfn, "CMA"))
		allocator |= ALLOCATOR_CMA;
	if (rec->kind == KIND_SLAB || rec->slab_page || contains(rec->pfn, "slab"))
		allocator |= ALLOCATOR_SLAB;
	if (is_vmalloc(rec->stack))
		allocator |= ALLOCATOR_VMALLOC;
	return allocator ? allocator : ALLOCATOR_OTHERS;
}

static bool listed(const struct number_list *list, s64 v)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		if (list->v[i] == v)
			return true;
	return false;
}

static bool named(const struct globs *names, struct text name)
{
	u32 i;

	for (i = 0; i < names->n; i++)
		if (strlen(names->v[i]) == name.len && !memcmp(names->v[i], name.s, name.len))
			return true;
	return false;
}

static bool passes(const struct blocks *b, const struct record *rec)
{
	return (!b->filter_pid || listed(&b->pids, rec->pid)) &&
	       (!b->filter_tgid || listed(&b->tgids, rec->tgid)) &&
	       (!b->filter_comm || named(&b->comms, rec->comm));
}

static const char *check_frames(struct text stack)
{
	while (stack.len) {
		const char *nl = memchr(stack.s, '\n', stack.len);
		struct text line = { stack.s + 1, nl - stack.s - 1 };
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

static void append(struct blocks *b, u32 *len, const char *from, const char *to)
{
	while (b->scratch_cap - *len < to - from)
		b->scratch = grow(b->scratch, b->scratch_cap, &b->scratch_cap, 1);
	memcpy(b->scratch + *len, from, to - from);
	*len += to - from;
}

/* The block without its PFN line, which no two have in common, nor its time. */
static struct text distinctive(struct blocks *b, const struct record *rec, size_t *stack_at)
{
	static const char before_time[] = "), ts ";
	const char *time = rec->comm.s + rec->comm.len + sizeof(before_time) - 1;
	u32 len = 0;

	append(b, &len, rec->header.s, time);
	if (!b->nr_sorts || b->sort[0].field != BLOCK_TIME)
		while (*time >= '0' && *time <= '9')
			time++;
	append(b, &len, time, rec->pfn.s);
	*stack_at = memchr(b->scratch, '\n', len) - (void *)b->scratch + 1;
	append(b, &len, rec->stack.s, rec->stack.s + rec->stack.len);
	append(b, &len, rec->tail.s, rec->tail.s + rec->tail.len);
	return (struct text){ b->scratch, len };
}

static bool same_block(const void *owner, u32 id, const void *key)
{
	const struct blocks *b = owner;

	return !memcmp(&b->v[id].key, key, sizeof(struct block_key));
}

static struct block_key key_of(struct blocks *b, const struct block *block, struct text text)
{
	struct block_key key = { 0 };

	if (!b->cull)
		key.text = strings_intern(&b->texts, text) + 1;
	if (b->cull & BLOCK_BIT(BLOCK_STACK))
		key.text = strings_intern(&b->texts, (struct text){
			text.s + block->stack_at, text.len - block->stack_at }) + 1;
	if (b->cull & BLOCK_BIT(BLOCK_PID))
		key.pid = block->pid;
	if (b->cull & BLOCK_BIT(BLOCK_TGID))
		key.tgid = block->tgid;
	if (b->cull & BLOCK_BIT(BLOCK_COMM))
		key.comm = block->comm + 1;
	if (b->cull & BLOCK_BIT(BLOCK_ALLOCATOR))
		key.allocator = block->allocator;
	return key;
}

const char *blocks_take(void *owner, const struct record *rec)
{
	const char *reason = rec->header.len ? check_frames(rec->stack) : "not a page_owner record";
	struct blocks *b = owner;
	struct block block;
	struct text text;
	u64 hash;
	u32 id;

	if (reason || !passes(b, rec))
		return reason;
	block = (struct block){
		.pid = rec->pid,
		.tgid = rec->tgid,
		.ts = rec->ts,
		.comm = strings_intern(&b->names, rec->comm),
		.allocator = allocator_of(rec),
	};
	text = distinctive(b, rec, &block.stack_at);
	block.key = key_of(b, &block, text);
	hash = XXH3_64bits(&block.key, sizeof(block.key));
	id = index_find(&b->index, hash, same_block, b, &block.key);
	if (id == INDEX_NONE) {
		block.text = strings_intern(&b->texts, text);
		id = b->n++;
		b->v = grow(b->v, id, &b->cap, sizeof(*b->v));
		b->v[id] = block;
		index_add(&b->index, hash, id);
	}
	b->v[id].times++;
	b->v[id].pages += 1ULL << rec->order;
	return NULL;
}

struct text block_text(const struct blocks *b, const struct block *block)
{
	return b->texts.v[block->text];
}

struct text block_stack(const struct blocks *b, const struct block *block)
{
	struct text t = block_text(b, block);

	return (struct text){ t.s + block->stack_at, t.len - block->stack_at };
}

static int compare_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_s64(s64 a, s64 b)
{
	return (a > b) - (a < b);
}

static int compare_text(struct text a, struct text b)
{
	size_t least = a.len < b.len ? a.len : b.len;
	int order = memcmp(a.s, b.s, least);

	return order ? order : compare_u64(a.len, b.len);
}

static int compare_field(const struct blocks *b, const struct block *l,
			 const struct block *r, enum block_field field)
{
	switch (field) {
	case BLOCK_TEXT:
		return compare_text(block_text(b, l), block_text(b, r));
	case BLOCK_STACK:
		return compare_text(block_stack(b, l), block_stack(b, r));
	case BLOCK_PID:
		return compare_s64(l->pid, r->pid);
	case BLOCK_TGID:
		return compare_s64(l->tgid, r->tgid);
	case BLOCK_COMM:
		return compare_text(b->names.v[l->comm], b->names.v[r->comm]);
	case BLOCK_ALLOCATOR:
		return compare_u64(l->allocator, r->allocator);
	case BLOCK_TIME:
		return compare_u64(l->ts, r->ts);
	case BLOCK_TIMES_SEEN:
		return compare_u64(l->times, r->times);
	case BLOCK_PAGES:
		return compare_u64(l->pages, r->pages);
	}
	return 0;
}

/* What is equal by the order asked for stands in that of what is merged by. */
static int compare(const void *pl, const void *pr, void *arg)
{
	static const enum block_field culled[] = {
		BLOCK_STACK, BLOCK_PID, BLOCK_TGID, BLOCK_COMM, BLOCK_ALLOCATOR };
	const struct block *l = pl, *r = pr;
	const struct blocks *b = arg;
	int order = 0;
	u32 i;

	for (i = 0; i < b->nr_sorts && !order; i++) {
		order = compare_field(b, l, r, b->sort[i].field);
		if (b->sort[i].descending)
			order = -order;
	}
	if (!b->cull && !order)
		order = compare_field(b, l, r, BLOCK_TEXT);
	for (i = 0; i < sizeof(culled) / sizeof(*culled) && !order; i++)
		if (b->cull & BLOCK_BIT(culled[i]))
			order = compare_field(b, l, r, culled[i]);
	return order;
}

void blocks_sort(struct blocks *b)
{
	if (b->n)
		qsort_r(b->v, b->n, sizeof(*b->v), compare, b);
}

void blocks_free(struct blocks *b)
{
	free(b->v);
	index_free(&b->index);
	strings_free(&b->texts);
	strings_free(&b->names);
	globs_free(&b->comms);
	free(b->pids.v);
	free(b->tgids.v);
	free(b->scratch);
}
