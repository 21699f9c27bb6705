/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the readers of all formats share: the state of an input, scanning of the text in
 * its buffer, and recovery from damage. Only complete records reach the sink. After
 * damage, reading continues at the next record.
 */
#ifndef OWNERTOP_READING_H
#define OWNERTOP_READING_H

#include "input/cache_size.h"
#include "input/handle_map.h"
#include "input/health.h"
#include "input/input.h"
#include "input/record.h"
#include "input/sink.h"

/* Columns of the kernel's answer: the field of each, or one of reader_answer.c's values. */
#define COLUMNS_MAX 32
#define COLUMN_OTHER (-1)

struct columns {
	int v[COLUMNS_MAX];
	u32 n;
	bool groups;		/* the rows are groups, not objects */
};

/* An input while it is read. */
struct reading {
	const struct format *format;
	const char *path;	/* NULL: the input has been read */
	struct input in;
	bool open;
	u64 line;		/* number of the next line of the input */
	bool not_empty;		/* the input has other lines than blank ones */
	u64 page_size;
	struct record_sink *sink;
	struct health *health;
	struct handle_map *handles;
	struct columns columns;	/* used by format_answer */
	struct cache cache;	/* used by format_alloc_traces */
};

/* One format of input. */
struct format {
	/* Is this a line that no other format has? */
	bool (*recognise)(struct text line);
	/* Does this input only map handles to call chains? NULL: no input of the format does. */
	bool (*maps_handles)(struct reading *r);
	/* Does this input list all slab objects? NULL: no input of the format does. */
	bool (*lists_slabs)(struct reading *r);
	/* Called before the first record; may be NULL. */
	void (*begin)(struct reading *r);
	/* Does a record begin here? Reading continues there after damage. */
	bool (*record_begins)(struct text ahead);
	/* Read one record, which begins with a line that is not blank, and consume it. */
	void (*read)(struct reading *r);
};

extern const struct format format_text;
extern const struct format format_stacks;
extern const struct format format_alloc_traces;
extern const struct format format_allocinfo;
extern const struct format format_answer;

/* A position in the buffered text. Nothing is consumed until the record is complete. */
struct scan {
	const char *p;
	const char *end;
	u64 line;
};

/* Returns a scan that starts at the next text of @r. */
struct scan reading_scan(struct reading *r);
/* Returns the text from the position to the end of the buffer. */
struct text scan_rest(const struct scan *c);
/* Returns the newline at the end of the line, or NULL. */
const char *scan_line_end(const struct scan *c);
/* Move over a line and store it in @line without its newline. Returns false if it has none. */
bool scan_line(struct scan *c, struct text *line);
/* Move over a blank line. Returns false if there is none. */
bool scan_blank(struct scan *c);
/* Move over all lines with a leading space. Returns false if the last has no newline. */
bool scan_frames(struct scan *c, struct text *stack);

/* Consume the text before @c. */
void reading_consume(struct reading *r, const struct scan *c);
/* Report damage at @c, and skip to the next blank line or record. */
void reading_damage(struct reading *r, const struct scan *c, const char *reason);
/* Report that the buffer ends before the record at @c does, and skip the record. */
void reading_truncated(struct reading *r, const struct scan *c);
/* Hand the next line to @take, which returns NULL or what is wrong with the line. */
void reading_line(struct reading *r, const char *(*take)(struct reading *r, struct text line));
/* Hand @rec, which begins at @line, to the sink. */
void reading_take(struct reading *r, const struct record *rec, u64 line);

/* Read to the end of the input. */
void reading_run(struct reading *r);

#endif
