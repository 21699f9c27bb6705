// SPDX-License-Identifier: GPL-2.0
/* Find the size and the colours of the terminal that output is written to, and fold lines. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "output/terminal.h"

#define DEFAULT_WIDTH 80

/* Indentation of the second and further lines of a folded line. */
#define FOLD_INDENT 2

struct terminal terminal_describe(FILE *out, enum colour_when when)
{
	struct terminal term = { .colour = when == COLOUR_ALWAYS };
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;

	if (!isatty(fileno(out)))
		return term;
	term.width = DEFAULT_WIDTH;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size)) {
		if (size.ws_col)
			term.width = size.ws_col;
		term.rows = size.ws_row;
	}
	if (when == COLOUR_AUTO)
		term.colour = !no_color || !*no_color;
	return term;
}

FILE *fold_begin(struct folded_text *f)
{
	*f = (struct folded_text){ 0 };
	f->stream = xopen_memstream(&f->text, &f->len);
	return f->stream;
}

/* Returns the length of the escape sequence that sets a colour at @p, or 0. */
static size_t colour_len(const char *p)
{
	return p[0] == '\033' && p[1] == '[' ? strcspn(p, "m") + 1 : 0;
}

/*
 * Returns the number of bytes of the line @p of @len bytes that fit into @room columns: all of
 * them, those before a blank, or those of a word that is too long.
 */
static size_t find_fold(const char *p, size_t len, size_t room)
{
	size_t at = 0, columns = 0, blank = 0;

	while (at < len) {
		size_t colour = colour_len(p + at);

		if (colour) {
			at += colour;
			continue;
		}
		if (p[at] == ' ' && columns)
			blank = at;
		if (columns == room)
			return blank ? blank : at;
		columns++;
		at++;
	}
	return len;
}

static void fold_line(const char *p, size_t len, size_t width, FILE *out)
{
	size_t indent = 0, part;

	for (;;) {
		part = width > indent ? find_fold(p, len, width - indent) : len;
		fprintf(out, "%*s%.*s\n", (int)indent, "", (int)part, p);
		if (part == len)
			return;
		p += part;
		len -= part;
		while (len && *p == ' ') {
			p++;
			len--;
		}
		indent = FOLD_INDENT;
	}
}

void fold_end(struct folded_text *f, struct terminal term, FILE *out)
{
	const char *line;
	size_t len;

	fclose(f->stream);
	for (line = f->text; *line; line += len + 1) {
		len = strcspn(line, "\n");
		fold_line(line, len, term.width, out);
	}
	free(f->text);
}
