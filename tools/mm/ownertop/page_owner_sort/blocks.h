/* SPDX-License-Identifier: GPL-2.0 */
/* Records as page_owner_sort sees them: blocks of text that are equal or not. */
#ifndef OWNERTOP_BLOCKS_H
#define OWNERTOP_BLOCKS_H

#include "names/globs.h"
#include "base/index.h"
#include "base/packed.h"
#include "input/record.h"
#include "base/strings.h"

/* What blocks are merged by, or sorted by. */
enum block_field {
	BLOCK_TEXT,		/* without the PFN line, and the time unless asked for */
	BLOCK_STACK,		/* the same from the second line on */
	BLOCK_PID,
	BLOCK_TGID,
	BLOCK_COMM,
	BLOCK_ALLOCATOR,
	BLOCK_TIME,
	BLOCK_TIMES_SEEN,
	BLOCK_PAGES,
};

#define BLOCK_BIT(field) (1u << (field))

enum {
	ALLOCATOR_CMA = 1 << 1,
	ALLOCATOR_SLAB = 1 << 2,
	ALLOCATOR_VMALLOC = 1 << 3,
	ALLOCATOR_OTHERS = 1 << 4,
};

/* The text is made of what blocks have in common, and of numbers. */
struct block {
	int pid;		/* these are of the first record */
	int tgid;
	u32 header;		/* index into blocks.headers */
	u32 stack;		/* index into blocks.stacks: all from the second line on */
	u64 ts;			/* 0 unless blocks are sorted by it */
	u32 allocator;
	u64 times;		/* these are of all */
	u64 pages;
};

struct block_sort {
	enum block_field field;
	bool descending;
};

/* Text that is put together; its room is kept for the next. */
struct buffer {
	char *s;
	u32 len;
	u32 cap;
};

struct number_list {
	s64 *v;
	u32 n;
	u32 cap;
};

struct blocks {
	unsigned int cull;	/* bits of fields; none: by the whole text */
	struct block_sort sort[8];
	u32 nr_sorts;
	bool filter_pid, filter_tgid, filter_comm;
	struct number_list pids, tgids;
	struct globs comms;	/* plain names */

	struct packed v;	/* there are as many as distinct records */
	u32 *order;		/* of the output, once they are sorted */
	struct index index;
	struct strings headers;	/* with marks where numbers stand */
	struct strings stacks;
	struct stack_info *stack_info;	/* parallel to stacks */
	u32 stack_info_cap;
	struct strings names;
	u32 *header_comm;	/* by header: index into names */
	u32 header_comm_cap;
	struct buffer text;	/* of the record at hand */
	struct buffer packed;
	struct buffer left;	/* of blocks that are compared or printed */
	struct buffer right;
};

/* Is the time part of the text? */
bool blocks_timed(const struct blocks *b);

struct block block_at(const struct blocks *b, u32 id);

/* block_text.c */
void buffer_add(struct buffer *buf, struct text t);
/* The first @header_len bytes of b->text, which begins as @rec: kept without its numbers. */
u32 block_pack_header(struct blocks *b, const struct record *rec, size_t header_len);
struct text block_header(const struct blocks *b, const struct block *block, struct buffer *buf);
struct text block_stack(const struct blocks *b, const struct block *block);
int block_compare_text(struct blocks *b, const struct block *l, const struct block *r);

void blocks_init(struct blocks *b);
/* Returns NULL, or why the record is not counted. @owner: struct blocks. */
const char *blocks_take(void *owner, const struct record *rec);
void blocks_sort(struct blocks *b);
void blocks_print(struct blocks *b, FILE *out);
void blocks_free(struct blocks *b);

#endif
