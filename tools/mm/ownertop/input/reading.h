/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What readers of all formats share: an input while it is read, a place in what
 * is ahead of it, and what to do about damage. A record counts only when it is
 * whole; after damage, reading goes on at the next record.
 */
#ifndef OWNERTOP_READING_H
#define OWNERTOP_READING_H

#include "input/cache_size.h"
#include "input/handles.h"
#include "input/health.h"
#include "input/input.h"
#include "input/record.h"
#include "input/sink.h"

/* The columns of an answer, by the field each is of. */
#define COLUMNS_MAX 32
#define COLUMN_OTHER (-1)

struct columns {
	int v[COLUMNS_MAX];
	u32 n;
	bool groups;		/* rows are of groups, not of objects */
};

struct reading {
	const struct format *format;
	const char *path;	/* NULL: done with */
	struct input in;
	bool open;
	u64 line;		/* number of the line to be read next */
	bool anything;		/* there was more than blank lines */
	u64 page_size;
	struct record_sink *sink;
	struct health *health;
	struct handles *handles;
	struct columns columns;
	struct cache cache;	/* that the input is about, if its text does not say */
};

/* One format of input. */
struct format {
	/* Has no other format such a line? */
	bool (*recognise)(struct text line);
	/* Does this input only tell what others mean? NULL: no input does. */
	bool (*explains)(struct reading *r);
	/* Has this input all slab objects? NULL: no input has. */
	bool (*lists_slabs)(struct reading *r);
	/* Called before the first record; may be NULL. */
	void (*begin)(struct reading *r);
	/* Does a record begin here? Where to go on after damage. */
	bool (*record_begins)(struct text ahead);
	/* Reads what begins here, which is no blank line, and consumes it. */
	void (*read)(struct reading *r);
};

extern const struct format format_text;
extern const struct format format_stacks;
extern const struct format format_alloc_traces;
extern const struct format format_allocinfo;
extern const struct format format_answer;

/* A place in the text ahead, while a record is looked at. */
struct cursor {
	const char *p;
	const char *end;
	u64 line;
};

struct cursor reading_cursor(struct reading *r);
struct text cursor_rest(const struct cursor *c);
const char *cursor_line_end(const struct cursor *c);
/* Moves over a line, its newline left out of @line; false if it has no end. */
bool cursor_line(struct cursor *c, struct text *line);
/* Moves over a blank line, if there is one. */
bool cursor_blank(struct cursor *c);
/* Moves over lines with a leading space; false if the last has no end. */
bool cursor_frames(struct cursor *c, struct text *stack);

/* Consumes what lies before @c. */
void reading_consume(struct reading *r, const struct cursor *c);
/* What is at @c cannot be read. Goes on at the next blank line or record. */
void reading_damage(struct reading *r, const struct cursor *c, const char *reason);
/* The record at @c has no end within what is ahead: the input or patience has. */
void reading_no_end(struct reading *r, const struct cursor *c);
/* Takes the next line by @take, which returns NULL or what is wrong with it. */
void reading_line(struct reading *r, const char *(*take)(struct reading *r, struct text line));
/* Counts @rec, which begins at @line. */
void reading_add(struct reading *r, const struct record *rec, u64 line);

/* Reads to the end of the input. */
void reading_run(struct reading *r);

#endif
