/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the readers of all formats share: they keep the state of an input, scan the
 * text in its buffer, and recover from damage. Only complete records reach the sink. After
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
#include "input/vmcore.h"

/*
 * Limit of the columns of an answer in TSV. A column is a field, or a value of reader_answer.c.
 */
#define COLUMNS_MAX 32
#define COLUMN_OTHER (-1)

struct answer_columns {
	int v[COLUMNS_MAX];
	u32 n;
	bool groups;		/* the rows are groups, not objects */
	bool sentence_has_mark;	/* the sentence that was read last has since=mark */
	bool growth;		/* the rows are differences to a mark */
};

/* The state of one input while it is read. */
struct input_reading {
	const struct input_format *format;
	const char *path;	/* NULL: the input has been read */
	struct input in;
	bool open;
	u64 line;		/* number of the next line of the input */
	bool not_empty;		/* the input has other lines than blank ones */
	u64 page_size;
	const struct vmcore_options *vmcore;
	struct record_sink *sink;
	struct input_health *health;
	struct handle_map *handles;
	struct answer_columns columns;	/* used by format_answer */
	struct cache cache;	/* used by format_alloc_traces */
};

/*
 * A position in the buffered text of an input. Text is consumed only when the record is
 * complete.
 */
struct text_scan {
	const char *p;
	const char *end;
	u64 line;
};

/* One input format, such as page_owner or allocinfo, and the functions that read it. */
struct input_format {
	/* Is @line one that no other input format has? */
	bool (*recognise)(struct text_slice line);
	/* Does the input only map handles to call chains? NULL: no input of the format does. */
	bool (*maps_handles)(struct input_reading *r);
	/*
	 * Find the kind of the objects of which the input lists all. Returns false if that is not
	 * known. NULL: it is known of no input of the format.
	 */
	bool (*find_kind)(struct input_reading *r, enum record_kind *kind);
	/* Prepare for the first record; may be NULL. */
	void (*begin)(struct input_reading *r);
	/* Does @ahead begin with a record? Reading continues there after damage. */
	bool (*record_begins)(struct text_slice ahead);
	/* Read one record, which begins at @c with a line that is not blank, and consume it. */
	void (*read)(struct input_reading *r, struct text_scan *c);
};

extern const struct input_format format_text;
extern const struct input_format format_stacks;
extern const struct input_format format_alloc_traces;
extern const struct input_format format_allocinfo;
extern const struct input_format format_answer;

/* Returns a scan that starts at the next text of the input @r. */
static inline struct text_scan reading_begin_scan(struct input_reading *r)
{
	struct text_slice t = input_peek(&r->in);

	return (struct text_scan){ t.s, t.s + t.len, r->line };
}

/* Returns the text from the position of a scan to the end of the buffer. */
static inline struct text_slice scan_get_rest(const struct text_scan *c)
{
	return (struct text_slice){ c->p, c->end - c->p };
}

/* Returns the newline at the end of the line that a scan is at, or NULL. */
static inline const char *scan_find_line_end(const struct text_scan *c)
{
	return memchr(c->p, '\n', c->end - c->p);
}

/*
 * Move a scan over a line, and store the line in @line without its newline. Returns false if it
 * has none.
 */
static inline bool scan_next_line(struct text_scan *c, struct text_slice *line)
{
	const char *nl = scan_find_line_end(c);

	if (!nl)
		return false;
	*line = (struct text_slice){ c->p, nl - c->p };
	if (line->len && nl[-1] == '\r')
		line->len--;
	c->p = nl + 1;
	c->line++;
	return true;
}

/* Returns the length of the blank line, with its newline, that @t begins with, or 0. */
static inline size_t blank_line_len(struct text_slice t)
{
	if (TEXT_STARTS(t, "\n"))
		return 1;
	return TEXT_STARTS(t, "\r\n") ? 2 : 0;
}

/* Move a scan over a blank line. Returns false if it is not at one. */
static inline bool scan_blank_line(struct text_scan *c)
{
	size_t len = blank_line_len(scan_get_rest(c));

	c->p += len;
	c->line += !!len;
	return len;
}

/*
 * Move a scan over all lines with a leading space, the frames of a call chain and then those of a
 * user chain, which are stored in @user unless it is NULL. Returns false if the last one has no
 * newline.
 */
bool scan_frame_lines(struct text_scan *c, struct text_slice *stack, struct text_slice *user);

/* Consume the text of the input before the scan @c. */
static inline void reading_consume_scanned_bytes(struct input_reading *r, const struct text_scan *c)
{
	input_skip(&r->in, c->p - (r->in.buf + r->in.pos));
	r->line = c->line;
}

/* Report damage of the input at the scan @c, and skip to the next blank line or record. */
void reading_report_damage(struct input_reading *r, const struct text_scan *c, const char *reason);
/* Report that the record at the scan @c is cut off or too long for the buffer, and skip it. */
void reading_report_truncated(struct input_reading *r, const struct text_scan *c);
/* Parse one line of an input. Returns NULL, or what is wrong with the line. */
typedef const char *(*line_parser)(struct input_reading *r, struct text_slice line);
/* Hand the line at the scan @c to @parse, and report the damage that it finds. */
void reading_read_line(struct input_reading *r, struct text_scan *c, line_parser parse);
/* Hand @rec to the sink. @line: number of its first line, for messages. */
void reading_submit_record(struct input_reading *r, const struct record *rec, u64 line);

/* Read a record or a blank line of an input. Returns false at the end of the input. */
bool reading_read_record(struct input_reading *r);
/* Report what is wrong with an input that has been read. */
void reading_finish(struct input_reading *r);

#endif
