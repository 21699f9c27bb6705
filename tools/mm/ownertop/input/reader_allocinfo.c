// SPDX-License-Identifier: GPL-2.0
/*
 * Read /proc/allocinfo (memory allocation profiling): a version, a comment, and a line for
 * each allocation site, which is a source line that allocates. It has bytes, calls, file
 * and line, module and function, and since version 2 perhaps "accurate:no".
 */
#include <stdio.h>

#include "base/number.h"
#include "input/reading.h"

#define VERSION "allocinfo - version: "
#define VERSION_MAX 2

#define SITE_LEN 1024

/* Upper limit of bytes and calls in allocinfo: sums of up to 2^60 bytes do not overflow. */
#define BYTES_MAX (1024ULL << 50)

struct alloc_site {
	u64 bytes;
	u64 calls;
	struct text_slice place;	/* source line, as "file:line" */
	struct text_slice module;	/* module in brackets; empty: the kernel itself */
	struct text_slice function;
	bool inaccurate;
};

static const char *parse_count(struct text_slice *t, u64 *count)
{
	const char *error;

	consume_spaces(t);
	/* The kernel adds up per-CPU counters while they change: a sum may be negative. */
	if (TEXT_STARTS(*t, "-"))
		return "the number is negative";
	error = consume_number(t, count);
	if (!error && *count > BYTES_MAX)
		error = "a number is too large";
	return error;
}

static const char *parse_allocation_site(struct text_slice line, struct alloc_site *site)
{
	const char *error;

	*site = (struct alloc_site){ 0 };
	error = parse_count(&line, &site->bytes);
	if (!error)
		error = parse_count(&line, &site->calls);
	if (error)
		return error;
	consume_spaces(&line);
	site->place = consume_until_space(&line);
	consume_spaces(&line);
	if (TEXT_STARTS(line, "[")) {
		site->module = consume_until_space(&line);
		consume_spaces(&line);
	}
	if (!memchr(site->place.s, ':', site->place.len) || !consume_word(&line, "func:"))
		return "not a place in the source and its function";
	site->function = consume_until_space(&line);
	consume_spaces(&line);
	site->inaccurate = consume_word(&line, "accurate:no");
	return NULL;
}

static bool is_allocinfo_line(struct text_slice line)
{
	struct alloc_site site;

	return TEXT_STARTS(line, VERSION) || !parse_allocation_site(line, &site);
}

/* Every line of allocinfo begins a record. */
static bool text_begins_allocinfo_line(struct text_slice ahead)
{
	(void)ahead;
	return true;
}

/*
 * Submit an allocation site as a record whose call chain is one frame. Returns NULL, or what is
 * wrong with the line.
 */
static const char *submit_site(struct input_reading *r, const struct alloc_site *site)
{
	char frame[SITE_LEN];
	int len = snprintf(frame, sizeof(frame), " %.*s %.*s%s%.*s\n",
			   (int)site->function.len, site->function.s,
			   (int)site->place.len, site->place.s,
			   site->module.len ? " " : "",
			   (int)site->module.len, site->module.s);
	struct record rec = RECORD_UNKNOWN;

	if (len >= SITE_LEN)
		return "the line is too long";
	rec.kind = KIND_SITE;
	rec.summed = true;
	rec.inaccurate = site->inaccurate;
	rec.objects = site->calls;
	rec.bytes = site->bytes;
	rec.held = site->bytes;
	rec.stack = (struct text_slice){ frame, len };
	/* Skip sites without allocations: most sites in the kernel have none. */
	if (site->calls || site->bytes)
		reading_submit_record(r, &rec, r->line);
	return NULL;
}

static const char *check_allocinfo_version(struct text_slice line)
{
	u64 version;

	if (consume_number(&line, &version) || version < 1 || version > VERSION_MAX)
		return "allocinfo of a version this program does not know";
	return NULL;
}

static const char *parse_allocinfo_line(struct input_reading *r, struct text_slice line)
{
	const char *error;
	struct alloc_site site;

	if (consume_word(&line, VERSION))
		return check_allocinfo_version(line);
	if (TEXT_STARTS(line, "#"))
		return NULL;
	error = parse_allocation_site(line, &site);
	return error ? error : submit_site(r, &site);
}

static void read_allocinfo(struct input_reading *r, struct text_scan *c)
{
	reading_read_line(r, c, parse_allocinfo_line);
}

static bool find_kind_of_allocinfo(struct input_reading *r, enum record_kind *kind)
{
	(void)r;
	*kind = KIND_SITE;
	return true;
}

const struct input_format format_allocinfo = {
	.recognise = is_allocinfo_line,
	.find_kind = find_kind_of_allocinfo,
	.record_begins = text_begins_allocinfo_line,
	.read = read_allocinfo,
};
