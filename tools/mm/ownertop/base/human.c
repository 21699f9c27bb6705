// SPDX-License-Identifier: GPL-2.0
/* Short forms of figures and names. Exact figures are in JSON, CSV and TSV. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/human.h"
#include "base/utf8.h"

const char *human_format_bytes(char buf[HUMAN_LEN], u64 bytes)
{
	static const char units[] = "KMGTPE";
	double v = bytes;
	int unit = -1;

	/* From 1023.95 on, %.1f would print 1024.0, so use the next unit. */
	while (v >= (unit < 0 ? 1024 : 1023.95)) {
		v /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, HUMAN_LEN, "%lluB", bytes);
	else
		snprintf(buf, HUMAN_LEN, "%.1f%c", v, units[unit]);
	return buf;
}

const char *human_format_age(char buf[HUMAN_LEN], u64 ns)
{
	static const struct {
		u64 from;	/* use this unit for ages of at least so many seconds */
		u64 secs;
		const char *unit;
	} units[] = {
		{ 2 * 86400, 86400, "d" },
		{ 2 * 3600, 3600, "h" },
		{ 2 * 60, 60, "m" },
		{ 0, 1, "s" },
	};
	u64 secs = ns / 1000000000;
	unsigned int i = 0;

	if (ns == U64_MAX) {
		snprintf(buf, HUMAN_LEN, "-");
		return buf;
	}
	while (secs < units[i].from)
		i++;
	snprintf(buf, HUMAN_LEN, "%llu%s", secs / units[i].secs, units[i].unit);
	return buf;
}

char *human_escape_name(struct text_slice name)
{
	char *shown = xmalloc(name.len * 4 + 1), *p = shown;

	while (name.len) {
		unsigned char c = name.s[0];
		size_t len = utf8_char_len(name);

		if (!len || c < ' ' || c == 0x7f) {
			p += sprintf(p, "\\x%02x", c);
			len = 1;
		} else {
			p = mempcpy(p, name.s, len);
		}
		name.s += len;
		name.len -= len;
	}
	*p = '\0';
	return shown;
}

const char *human_format_percent(char buf[HUMAN_LEN], u64 part, u64 total)
{
	snprintf(buf, HUMAN_LEN, "%.1f%%", total ? 100.0 * part / total : 0.0);
	return buf;
}
