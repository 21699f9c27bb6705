/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks: records whose text, or the part that --cull names, is equal. */
#ifndef OWNERTOP_BLOCKS_H
#define OWNERTOP_BLOCKS_H

#include "names/globs.h"
#include "base/hash_index.h"
#include "base/packed.h"
#include "input/record.h"
#include "base/strings.h"

/* Keys to merge and to sort blocks by. */
enum block_field {
	BLOCK_TEXT,		/* without the PFN line and, unless sorted by it, the time */
	BLOCK_STACK,		/* the text from its second line on */
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

/* The text of a block is interned without its numbers, so that many blocks share it. */
struct block {
	int pid;		/* of the first record */
	int tgid;
	u32 header;		/* index into blocks.headers */
	u32 stack;		/* index into blocks.stacks: the text from its second line on */
	u64 ts;			/* 0 unless blocks are sorted by it */
	u32 allocator;
	u64 times;		/* number of records */
	u64 pages;		/* of all records */
};

struct block_sort {
	enum block_field field;
	bool descending;
};

/* A string that grows; the memory is reused for the next one. */
struct text_buffer {
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
	unsigned int cull;	/* BLOCK_BIT() of the keys to merge by; 0: by the whole text */
	struct block_sort sort[8];
	u32 nr_sorts;
	bool filter_pid, filter_tgid, filter_comm;
	struct number_list pids, tgids;
	struct globs comms;	/* names, not patterns */

	struct packed_table v;	/* the blocks */
	u32 *order;		/* block numbers, sorted */
	struct hash_index index;
	struct strings headers;	/* with marks in place of numbers */
	struct strings stacks;
	struct stack_info *stack_info;	/* parallel to stacks */
	u32 stack_info_cap;
	struct strings names;
	u32 *header_comm;	/* by header: index into names */
	u32 header_comm_cap;
	struct text_buffer text;	/* of the record that is being added */
	struct text_buffer packed;	/* its header, with marks */
	struct text_buffer left;	/* headers of two blocks that are compared */
	struct text_buffer right;
};

/* Is the time part of the text because blocks are sorted by it? */
bool blocks_have_times(const struct blocks *b);

struct block load_block(const struct blocks *b, u32 id);

/* Functions of block_text.c. */
void buffer_append(struct text_buffer *buf, struct text t);
/* Intern the first @header_len bytes of b->text with marks in place of the numbers. */
u32 block_intern_header(struct blocks *b, const struct record *rec, size_t header_len);
struct text block_format_header(const struct blocks *b, const struct block *block,
				struct text_buffer *buf);
struct text block_get_stack(const struct blocks *b, const struct block *block);
int block_compare_texts(struct blocks *b, const struct block *l, const struct block *r);

void blocks_init(struct blocks *b);
/* Add a record to the struct blocks @arg. Returns NULL, or why it is not counted. */
const char *add_record_to_blocks(void *arg, const struct record *rec);
void blocks_sort(struct blocks *b);
void blocks_free(struct blocks *b);

#endif
