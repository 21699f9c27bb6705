// SPDX-License-Identifier: GPL-2.0
/*
 * Parse and print one frame of a call chain: "func+0x1d/0x30 [module]" or an address.
 * frame_names_expand() may have added "file:line" and "(inlined)" before the module.
 */
#include "lang/lang.h"
#include "names/frame.h"

/* Least width of a frame, in columns, however narrow the terminal is. */
#define WIDTH_MIN 20

static bool is_printable(struct text_slice t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (t.s[i] < ' ' || t.s[i] > '~')
			return false;
	return true;
}

/* Parse the module of a frame: "[name]" or, with a build id, "[name 0123abcd]". */
static bool parse_module(struct text_slice t, struct text_slice *module)
{
	const char *space;

	if (t.len < 3 || t.s[0] != '[' || t.s[t.len - 1] != ']')
		return false;
	*module = (struct text_slice){ t.s + 1, t.len - 2 };
	space = memchr(module->s, ' ', module->len);
	if (space)
		module->len = space - module->s;
	return true;
}

/*
 * Returns the end of the source line, " file:line" and " (inlined)", at @p; or @p if it has
 * neither.
 */
static const char *skip_source_line(const char *p, const char *end)
{
	const char *space = memchr(p + 1, ' ', end - p - 1);
	const char *stop = space ? space : end;

	if (p[1] == '[' || !memchr(p, ':', stop - p))
		return p;
	if (TEXT_STARTS(((struct text_slice){ stop, end - stop }), " (inlined)"))
		stop += strlen(" (inlined)");
	return stop;
}

bool frame_parse(struct text_slice line, struct frame *frame)
{
	const char *space = memchr(line.s, ' ', line.len);
	const char *word_end = space ? space : line.s + line.len;
	const char *plus = memchr(line.s, '+', word_end - line.s);

	if (!is_printable(line) || word_end == line.s)
		return false;
	*frame = (struct frame){ .func.s = line.s };
	frame->func.len = (plus ? plus : word_end) - line.s;
	if (!space)
		return true;
	frame->place.s = space + 1;
	space = skip_source_line(space, line.s + line.len);
	if (space >= frame->place.s)
		frame->place.len = space - frame->place.s;
	if (space == line.s + line.len)
		return true;
	return parse_module((struct text_slice){ space + 1, line.s + line.len - space - 1 },
			    &frame->module);
}

struct text_slice frame_stem(struct text_slice func)
{
	func.len = owner_lang_function_length(func.s, func.len);
	return func;
}

void frame_print_fitted(struct text_slice line, size_t width, size_t used, FILE *out)
{
	size_t room = width > used + WIDTH_MIN ? width - used : WIDTH_MIN;
	const char *at, *plus, *space;
	size_t name, tail;

	if (!width || line.len <= room) {
		fprintf(out, "%s\n", line.s);
		return;
	}
	/* The offset of a user frame without a name says more than the id of its file. */
	space = strchr(line.s, ' ');
	at = space ? NULL : strrchr(line.s, '@');
	if (at && (size_t)(at - line.s) <= room) {
		fprintf(out, "%.*s\n", (int)(at - line.s), line.s);
		return;
	}
	plus = strchr(line.s, '+');
	name = plus && (!space || plus < space) ? (size_t)(plus - line.s) : line.len;
	tail = space && name < line.len ? strlen(space) : 0;
	if (name + tail <= room)
		fprintf(out, "%.*s%s\n", (int)name, line.s, tail ? space : "");
	else
		fprintf(out, "%.*s...\n", (int)(room - 3), line.s);
}
