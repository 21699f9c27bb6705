/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks of page_owner_sort: records whose text, or the part that --cull names, is equal. */
#ifndef OWNERTOP_BLOCKS_H
#define OWNERTOP_BLOCKS_H

#include "names/globs.h"
#include "base/hash_index.h"
#include "base/packed.h"
#include "input/record.h"
#include "base/strings.h"

/* Fields that records are merged by into blocks, and that blocks are sorted by. */
enum block_field {
	BLOCK_TEXT,		/* without the PFN line; with the time if sorted by it */
	BLOCK_STACK,		/* text of the records from the second line on */
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

/*
 * Records of page_owner with equal text, merged into a block. The text is interned with
 * placeholders for pid, tgid and time, so that blocks that differ only in these numbers share it.
 */
struct block {
	int pid;		/* pid of the first record in the block */
	int tgid;
	u32 header;		/* index into blocks.headers */
	u32 stack;		/* index into blocks.stacks: the text from its second line on */
	u64 ts;			/* time stamp; 0 unless blocks are sorted by it */
	u32 allocator;
	u64 times;		/* number of records in the block */
	u64 pages;		/* number of pages of all records in the block */
};

struct block_sort_key {
	enum block_field field;
	bool descending;
};

/* A string that grows, in memory that is used again for the next string. */
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
	struct block_sort_key sort[8];
	u32 nr_sorts;
	bool filter_pid, filter_tgid, filter_comm;
	struct number_list pids, tgids;
	struct globs comms;	/* names of tasks, not patterns */

	struct packed_table v;	/* the blocks */
	u32 *order;		/* block numbers, sorted */
	struct hash_index index;
	struct strings headers;	/* first lines of blocks, with placeholders for numbers */
	struct strings stacks;
	struct stack_info *stack_info;	/* parallel to stacks */
	u32 stack_info_cap;
	struct strings names;
	u32 *header_comm;	/* by header: index into names */
	u32 header_comm_cap;
	struct text_buffer text;	/* text of the record that is being added */
	struct text_buffer packed;	/* header of that record, with placeholders */
	struct text_buffer left;	/* headers of two blocks that are compared */
	struct text_buffer right;
};

/* Is the time part of a block's text because blocks are sorted by it? */
bool blocks_have_times(const struct blocks *b);

struct block unpack_block_fields(const struct blocks *b, u32 id);

/* The next functions are in block_text.c. */
void text_buffer_append(struct text_buffer *buf, struct text_slice t);
/*
 * Intern the header of a record, the first @header_len bytes of b->text, with placeholders for
 * its numbers.
 */
u32 block_intern_header(struct blocks *b, const struct record *rec, size_t header_len);
struct text_slice block_format_header(const struct blocks *b, const struct block *block,
				      struct text_buffer *buf);
struct text_slice block_get_stack(const struct blocks *b, const struct block *block);
int block_compare_texts(struct blocks *b, const struct block *l, const struct block *r);

void blocks_init(struct blocks *b);
/*
 * Add a record to the blocks. @arg: struct blocks. Returns NULL, or why the record is not
 * counted.
 */
const char *add_record_to_blocks(void *arg, const struct record *rec);
void blocks_sort(struct blocks *b);
void blocks_free(struct blocks *b);

#endif
