/* SPDX-License-Identifier: GPL-2.0 */
/* Records as page_owner_sort sees them: blocks of text that are equal or not. */
#ifndef OWNERTOP_BLOCKS_H
#define OWNERTOP_BLOCKS_H

#include "globs.h"
#include "index.h"
#include "record.h"
#include "strings.h"

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

struct block_key {
	s64 pid;
	s64 tgid;
	u32 text;		/* 1 + index into blocks.texts */
	u32 comm;		/* 1 + index into blocks.comms */
	u64 allocator;
};

struct block {
	struct block_key key;
	s64 pid;		/* these are of the first record */
	s64 tgid;
	u64 ts;
	u32 text;
	u32 comm;
	u32 allocator;
	size_t stack_at;	/* offset in the text */
	u64 times;		/* these are of all */
	u64 pages;
};

struct block_sort {
	enum block_field field;
	bool descending;
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

	struct block *v;
	u32 n;
	u32 cap;
	struct index index;
	struct strings texts;
	struct strings names;
	char *scratch;
	u32 scratch_cap;
};

/* Returns NULL, or why the record is not counted. @owner: struct blocks. */
const char *blocks_take(void *owner, const struct record *rec);
void blocks_sort(struct blocks *b);
struct text block_text(const struct blocks *b, const struct block *block);
struct text block_stack(const struct blocks *b, const struct block *block);
void blocks_print(const struct blocks *b, FILE *out);
void blocks_free(struct blocks *b);

#endif
