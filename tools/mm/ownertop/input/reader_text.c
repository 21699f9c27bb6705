// SPDX-License-Identifier: GPL-2.0
/*
 * Read the records of page_owner and slab_owner: a header line, a PFN line, frames with a
 * leading space, more lines of any kind, and a blank line.
 */
#include "input/header.h"
#include "base/number.h"
#include "input/octal.h"
#include "input/reading.h"

static bool text_begins_record(struct text_slice ahead)
{
	enum record_kind kind;

	return header_find_record_kind(ahead, &kind);
}

static bool is_text_line(struct text_slice line)
{
	return text_begins_record(line) || TEXT_STARTS(line, "# slab_owner ");
}

/* Longest name of a cgroup that is decoded: the kernel prints up to 316 bytes. */
#define CGROUP_MAX 512

/* How a record ends after its call chain. */
enum record_end {
	RECORD_END_BLANK,	/* the record ended with a blank line, which has been consumed */
	RECORD_END_HEADER,	/* the header of the next record follows without a blank line */
	RECORD_END_MISSING,	/* the record does not end in the buffer */
};

/* Parse "Charged to memcg NAME" or "Charged (via objcg) to offline memcg NAME". */
static void parse_cgroup_line(struct text_slice line, struct record *rec)
{
	if (!consume_word(&line, "Charged "))
		return;
	consume_word(&line, "(via objcg) ");
	if (!consume_word(&line, "to "))
		return;
	consume_word(&line, "offline ");
	if (consume_word(&line, "memcg "))
		rec->cgroup = line;
}

/* Parse "Slab objects of CACHE: 3 owned, 0 untracked" of pages that are a slab. */
static void parse_slab_line(struct text_slice line, struct record *rec)
{
	const char *colon;

	rec->slab_page |= TEXT_STARTS(line, "Slab cache page");
	if (!consume_word(&line, "Slab objects of "))
		return;
	colon = memrchr(line.s, ':', line.len);
	if (rec->kind != KIND_PAGE || !colon)
		return;
	rec->slab_page = true;
	rec->cache = (struct text_slice){ line.s, colon - line.s };
}

/*
 * Parse the lines of a record after its call chain. Only lines about cgroups and slabs have
 * fields; others, such as the one about migration, are only kept.
 */
static enum record_end parse_record_end(struct text_scan *c, struct record *rec)
{
	struct text_slice line;

	rec->tail.s = c->p;
	rec->cgroup_known = rec->kind == KIND_PAGE;
	for (;;) {
		rec->tail.len = c->p - rec->tail.s;
		if (scan_blank_line(c))
			return RECORD_END_BLANK;
		if (text_begins_record(scan_get_rest(c)))
			return RECORD_END_HEADER;
		if (!scan_next_line(c, &line))
			return RECORD_END_MISSING;
		parse_slab_line(line, rec);
		parse_cgroup_line(line, rec);
	}
}

/* Count the lines of a header: the name of a task may contain newlines. */
static u64 count_newlines(const char *from, const char *to)
{
	u64 n = 0;

	while (from < to) {
		from = memchr(from, '\n', to - from);
		if (!from)
			break;
		from++;
		n++;
	}
	return n;
}

/*
 * Parse the line with the handle of a call chain, which a kernel can be told to print instead
 * of the chain or after it. Returns NULL, or what is wrong with the line.
 */
static const char *parse_handle_line(struct input_reading *r, struct text_scan *c,
				     struct record *rec, char name[HANDLE_NAME_LEN])
{
	struct text_slice line;
	const char *error;

	if (!TEXT_STARTS(scan_get_rest(c), "handle: ") || !scan_next_line(c, &line))
		return NULL;
	consume_word(&line, "handle: ");
	error = consume_number(&line, &rec->handle);
	if (!error && !rec->stack.len) {
		rec->stack = handle_map_lookup(r->handles, rec->handle, name);
		rec->stack_hash = 0;
	}
	return error;
}

/* Report a line that cannot be read, because it is damaged or because its end is missing. */
static void report_unreadable_line(struct input_reading *r, struct text_scan *c,
				   const char *reason)
{
	if (scan_find_line_end(c))
		reading_report_damage(r, c, reason);
	else
		reading_report_truncated(r, c);
}

/*
 * Scan the lines of a record between its header and those about cgroups and slabs, and let the CPU
 * fetch what the sink knows of the chain. Returns false, with @c at the line, if a line has no end
 * or is no PFN.
 */
static bool scan_body(struct input_reading *r, struct text_scan *c, struct record *rec)
{
	struct text_slice line;

	rec->pfn.s = c->p;
	if (!TEXT_STARTS(scan_get_rest(c), "PFN ") || !scan_next_line(c, &line))
		return false;
	rec->pfn.len = c->p - rec->pfn.s;
	if (!scan_frame_lines(c, &rec->stack, &rec->user))
		return false;
	rec->stack_hash = record_hash_stack(rec->stack);
	if (r->sink->expect_chain)
		r->sink->expect_chain(r->sink->arg, rec->stack_hash);
	return true;
}

/*
 * Clear the members of @rec that a record of text can set. The others, of other formats, stay 0:
 * to clear them each time took a twentieth of the time.
 */
static void begin_record(struct record *rec, const char *header, enum record_kind kind)
{
	const struct text_slice none = { "", 0 };

	rec->kind = kind;
	rec->slab_page = false;
	rec->user_known = true;
	rec->objects = 1;
	rec->weight = 0;
	rec->ts = TS_UNKNOWN;
	rec->nid = NID_UNKNOWN;
	rec->handle = HANDLE_UNKNOWN;
	rec->pid = PID_UNKNOWN;
	rec->tgid = PID_UNKNOWN;
	rec->comm = none;
	rec->printed_comm = none;
	rec->printed_ts = none;
	rec->cache = none;
	rec->cgroup = none;
	rec->mask = none;
	rec->header.s = header;
}

/* @keys: length of the text before the first key of the header */
static void read_text_record(struct input_reading *r, struct text_scan *c, enum record_kind kind,
			     size_t keys)
{
	char handle_name[HANDLE_NAME_LEN], comm[COMM_MAX], cgroup[CGROUP_MAX];
	static struct record rec;
	struct text_scan behind = *c;
	u64 first_line = c->line;
	struct text_slice header;
	const char *reason, *eol;
	bool has_body;

	if (!scan_next_line(&behind, &header)) {
		reading_report_truncated(r, c);
		return;
	}
	eol = behind.p - 1;
	/* The body is scanned first, so that the CPU can fetch while the header is parsed. */
	has_body = scan_body(r, &behind, &rec);
	begin_record(&rec, c->p, kind);
	reason = header_parse(&rec, c->p + keys, eol, c->end, r->page_size);
	if (reason) {
		report_unreadable_line(r, c, reason);
		return;
	}
	if (rec.header.s + rec.header.len != rec.pfn.s) {
		/* The name of a task contains a newline. */
		behind = *c;
		behind.p += rec.header.len;
		behind.line += count_newlines(c->p, behind.p);
		has_body = scan_body(r, &behind, &rec);
	}
	*c = behind;
	if (!has_body) {
		report_unreadable_line(r, c, "the record has no PFN line");
		return;
	}
	reason = parse_handle_line(r, c, &rec, handle_name);
	if (reason) {
		reading_report_damage(r, c, reason);
		return;
	}
	switch (parse_record_end(c, &rec)) {
	case RECORD_END_MISSING:
		reading_report_truncated(r, c);
		return;
	case RECORD_END_HEADER:
		health_report_damage(r->health, r->path, first_line,
				     "the record has no blank line at its end");
		break;
	case RECORD_END_BLANK:
		rec.comm = octal_decode(rec.comm, comm);
		if (rec.cgroup.len && rec.cgroup.len <= CGROUP_MAX)
			rec.cgroup = octal_decode(rec.cgroup, cgroup);
		reading_submit_record(r, &rec, first_line);
		break;
	}
	reading_consume_scanned_bytes(r, c);
}

/* Is @t the line with the total at the end of an answer of owner/query? */
static bool is_total_line(struct text_slice t)
{
	return TEXT_STARTS(t, "total: objects ");
}

static void add_tracked_and_untracked(struct input_summary *s, u64 tracked, u64 untracked)
{
	s->coverage_known = true;
	s->tracked += tracked;
	s->untracked += untracked;
}

/* Parse the comment "# tracked N untracked M", and skip other comments. */
static void read_comment(struct input_reading *r, struct text_scan *c)
{
	u64 tracked, untracked;
	struct text_slice line;

	if (!scan_next_line(c, &line)) {
		reading_report_damage(r, c, "the line is cut off or too long");
		return;
	}
	if (consume_word(&line, "# tracked ") && !consume_number(&line, &tracked) &&
	    consume_word(&line, " untracked ") && !consume_number(&line, &untracked))
		add_tracked_and_untracked(&r->sink->summary, tracked, untracked);
	reading_consume_scanned_bytes(r, c);
}

static void read_record_text(struct input_reading *r, struct text_scan *c)
{
	enum record_kind kind;
	size_t keys = header_find_record_kind(scan_get_rest(c), &kind);

	if (keys)
		read_text_record(r, c, kind, keys);
	else if (*c->p == '#' || is_total_line(scan_get_rest(c)))
		read_comment(r, c);
	else
		reading_report_damage(r, c, "not a page_owner or slab_owner record");
}

/*
 * An input lists slab objects if its first record is one: page_owner and slab_owner are
 * separate files.
 */
static bool find_kind_of_text(struct input_reading *r, enum record_kind *kind)
{
	struct text_scan c = reading_begin_scan(r);
	struct text_slice line;

	while (scan_next_line(&c, &line))
		if (header_find_record_kind(line, kind))
			return true;
	return false;
}

const struct input_format format_text = {
	.recognise = is_text_line,
	.find_kind = find_kind_of_text,
	.record_begins = text_begins_record,
	.read = read_record_text,
};
