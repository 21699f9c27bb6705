// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/allocinfo (memory allocation profiling): a version, a comment, and a
 * line for each place in the source that allocates: bytes, calls, file and
 * line, module, function. Since version 2, "accurate:no" marks some of them.
 */
#include <stdio.h>

#include "number.h"
#include "reading.h"

#define VERSION "allocinfo - version: "
#define VERSION_KNOWN 2

#define SITE_LEN 1024

/* 2^60 bytes can still be added up. */
#define BYTES_MAX (1024ULL << 50)

struct site {
	u64 bytes;
	u64 calls;
	struct text place;	/* file:line */
	struct text module;	/* in brackets, or empty */
	struct text function;
	bool inaccurate;
};

static const char *parse_count(struct text *t, u64 *count)
{
	const char *error;

	take_spaces(t);
	/* Counters of all CPUs are not added up at one moment. */
	if (TEXT_STARTS(*t, "-"))
		return "the number is negative";
	error = take_number(t, count);
	if (!error && *count > BYTES_MAX)
		error = "a number is too large";
	return error;
}

static const char *parse_site(struct text line, struct site *site)
{
	const char *error;

	*site = (struct site){ 0 };
	error = parse_count(&line, &site->bytes);
	if (!error)
		error = parse_count(&line, &site->calls);
	if (error)
		return error;
	take_spaces(&line);
	site->place = take_until_space(&line);
	take_spaces(&line);
	if (TEXT_STARTS(line, "[")) {
		site->module = take_until_space(&line);
		take_spaces(&line);
	}
	if (!memchr(site->place.s, ':', site->place.len) || !take_word(&line, "func:"))
		return "not a place in the source and its function";
	site->function = take_until_space(&line);
	take_spaces(&line);
	site->inaccurate = take_word(&line, "accurate:no");
	return NULL;
}

static bool is_allocinfo(struct text line)
{
	struct site site;

	return TEXT_STARTS(line, VERSION) || !parse_site(line, &site);
}

/* Each line stands for itself. */
static bool line_begins(struct text ahead)
{
	(void)ahead;
	return true;
}

/* The place stands in the chain's one frame. Returns NULL, or what is wrong. */
static const char *add(struct reading *r, const struct site *site, u64 line)
{
	char frame[SITE_LEN];
	int len = snprintf(frame, sizeof(frame), " %.*s %.*s%s%.*s\n",
			   (int)site->function.len, site->function.s,
			   (int)site->place.len, site->place.s,
			   site->module.len ? " " : "",
			   (int)site->module.len, site->module.s);
	struct record rec = {
		.kind = KIND_SITE,
		.summed = true,
		.inaccurate = site->inaccurate,
		.objects = site->calls,
		.bytes = site->bytes,
		.held = site->bytes,
		.ts = TS_UNKNOWN,
		.pid = PID_UNKNOWN,
		.tgid = PID_UNKNOWN,
		.comm.s = "",
		.cache.s = "",
		.stack = { frame, len },
	};

	if (len >= SITE_LEN)
		return "the line is too long";
	/* Most places have never allocated anything. */
	if (site->calls || site->bytes)
		reading_add(r, &rec, line);
	return NULL;
}

static const char *read_version(struct text line)
{
	u64 version;

	if (take_number(&line, &version) || version < 1 || version > VERSION_KNOWN)
		return "allocinfo of a version this program does not know";
	return NULL;
}

static void read_allocinfo(struct reading *r)
{
	struct cursor c = reading_cursor(r), start = c;
	const char *error = NULL;
	struct site site;
	struct text line;

	if (!cursor_line(&c, &line)) {
		reading_no_end(r, &c);
		return;
	}
	if (take_word(&line, VERSION)) {
		error = read_version(line);
	} else if (!TEXT_STARTS(line, "#")) {
		error = parse_site(line, &site);
		if (!error)
			error = add(r, &site, start.line);
	}
	if (error)
		reading_damage(r, &start, error);
	else
		reading_consume(r, &c);
}

const struct format format_allocinfo = {
	.recognise = is_allocinfo,
	.record_begins = line_begins,
	.read = read_allocinfo,
};
