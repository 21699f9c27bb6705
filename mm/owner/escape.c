// SPDX-License-Identifier: GPL-2.0
/*
 * Print names that a task has chosen, without the control characters in them.
 *
 * A task can give itself any name. A line break in it would split a record, and a terminal
 * would obey an escape sequence. tools/mm/crash compiles this file as well.
 */

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#endif

#include "escape.h"

static bool continues_character(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Length of the UTF-8 character at @p, 0 if there is none or it is a control character. */
static unsigned int printable_length(const unsigned char *p)
{
	/* The first two bytes of a character as one number, to compare with ranges. */
	unsigned int start = p[0] << 8 | (p[0] ? p[1] : 0);

	if (p[0] >= ' ' && p[0] < 0x7f)
		return 1;
	if (start < 0xc2a0 || !continues_character(p[1]))
		return 0;
	if (start < 0xe000)
		return 2;
	/* Neither overlong forms nor surrogates, which terminals may take for something else. */
	if (start < 0xe0a0 || (start >= 0xeda0 && start < 0xee00) || !continues_character(p[2]))
		return 0;
	if (start < 0xf000)
		return 3;
	return start >= 0xf090 && start < 0xf490 && continues_character(p[3]) ? 4 : 0;
}

/**
 * owner_escape_name() - copy a name, with each byte in octal that must not be printed
 * @buf: the copy, cut if it is too long, and terminated
 * @size: of @buf, at least 1; four times the size of @name's buffer is enough
 * @name: the name: UTF-8, or any bytes
 * @also: printable ASCII characters that are escaped, too
 *
 * Control characters, backslashes and bytes that are not UTF-8 are written as \ooo.
 *
 * Return: the length of the complete copy without its NUL, as snprintf().
 */
size_t owner_escape_name(char *buf, size_t size, const char *name, const char *also)
{
	size_t used = 0;

	*buf = '\0';
	while (*name) {
		unsigned int length = printable_length((const unsigned char *)name);
		bool escaped = !length || *name == '\\' || (length == 1 && strchr(also, *name));
		size_t at = used < size ? used : size;

		if (escaped) {
			used += snprintf(buf + at, size - at, "\\%03o", (unsigned char)*name);
			length = 1;
		} else {
			used += snprintf(buf + at, size - at, "%.*s", length, name);
		}
		name += length;
	}
	return used;
}
