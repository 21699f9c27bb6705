// SPDX-License-Identifier: GPL-2.0
/* One line of a call chain: "func+0x1d/0x30 [module]" or an address. */
#include "frame.h"

static bool printable(struct text t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (t.s[i] < ' ' || t.s[i] > '~')
			return false;
	return t.len > 0;
}

/* What is in the brackets that end the line, up to a build id if there is one. */
static struct text module_of(struct text line)
{
	struct text none = { line.s, 0 };
	const char *open, *space;
	struct text mod;

	if (line.s[line.len - 1] != ']')
		return none;
	open = memrchr(line.s, '[', line.len);
	if (!open)
		return none;
	mod.s = open + 1;
	mod.len = line.s + line.len - 1 - mod.s;
	space = memchr(mod.s, ' ', mod.len);
	if (space)
		mod.len = space - mod.s;
	return mod;
}

bool frame_parse(struct text line, struct frame *frame)
{
	size_t i;

	if (!printable(line))
		return false;
	for (i = 0; i < line.len && line.s[i] != '+' && line.s[i] != ' '; i++)
		;
	frame->func = (struct text){ line.s, i };
	frame->module = module_of(line);
	return true;
}

struct text frame_stem(struct text func)
{
	static const char suffix[] = "_noprof";
	const size_t len = sizeof(suffix) - 1;
	const char *dot = memchr(func.s, '.', func.len);

	if (dot && dot > func.s)
		func.len = dot - func.s;
	if (func.len > len && !memcmp(func.s + func.len - len, suffix, len))
		func.len -= len;
	return func;
}
