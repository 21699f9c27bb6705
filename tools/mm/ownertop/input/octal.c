// SPDX-License-Identifier: GPL-2.0
/* Decode names in which the kernel has written bytes in octal. */
#include "input/octal.h"

static bool is_octal_escape(const char *p, const char *end)
{
	int i;

	if (end - p < 4 || p[0] != '\\' || p[1] > '3')
		return false;
	for (i = 1; i < 4; i++)
		if (p[i] < '0' || p[i] > '7')
			return false;
	return true;
}

struct text_slice octal_decode_escapes(struct text_slice name, char *buf)
{
	const char *p = name.s, *end = name.s + name.len;
	size_t len = 0;

	while (p < end) {
		bool escaped = is_octal_escape(p, end);

		buf[len++] = escaped ? (p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0') : *p;
		p += escaped ? 4 : 1;
	}
	return (struct text_slice){ buf, len };
}
