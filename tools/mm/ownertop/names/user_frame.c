// SPDX-License-Identifier: GPL-2.0
/* Parse one frame of the user's half of a call chain. */
#include "base/number.h"
#include "names/user_frame.h"

static bool is_id(struct text_slice t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (!memchr("0123456789abcdef:", t.s[i], 17))
			return false;
	return t.len;
}

/* Split "name+0xoffset" at its last "+". */
static bool split_name_and_offset(struct text_slice t, struct text_slice *name, u64 *offset)
{
	const char *plus = memrchr(t.s, '+', t.len);

	if (!plus || plus == t.s)
		return false;
	*name = (struct text_slice){ t.s, plus - t.s };
	t = (struct text_slice){ plus + 1, t.s + t.len - plus - 1 };
	return consume_word(&t, "0x") && consume_hex(&t, offset) && !t.len;
}

/* Parse "func+0xoffset [file]". Without the offset, the frame stands for the whole function. */
static bool parse_named_frame(struct text_slice line, const char *space, struct user_frame *frame)
{
	struct text_slice func = { line.s, space - line.s };
	const char *end = line.s + line.len;

	if (end - space < 4 || space[1] != '[' || end[-1] != ']' || !func.len)
		return false;
	frame->file = (struct text_slice){ space + 2, end - space - 3 };
	if (memchr(frame->file.s, ' ', frame->file.len))
		return false;
	if (!split_name_and_offset(func, &frame->func, &frame->offset))
		frame->func = func;
	return true;
}

static bool is_printable(struct text_slice t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if ((unsigned char)t.s[i] < ' ' || t.s[i] == 0x7f)
			return false;
	return t.len;
}

bool user_frame_parse(struct text_slice line, struct user_frame *frame)
{
	const char *space = memchr(line.s, ' ', line.len);
	const char *at = memrchr(line.s, '@', line.len);

	*frame = (struct user_frame){ .file.s = "", .id.s = "", .func.s = "" };
	if (!is_printable(line))
		return false;
	if (space)
		return parse_named_frame(line, space, frame);
	if (at) {
		frame->id = (struct text_slice){ at + 1, line.s + line.len - at - 1 };
		line.len = at - line.s;
		return is_id(frame->id) &&
		       split_name_and_offset(line, &frame->file, &frame->offset);
	}
	if (line.s[0] == '(') {
		frame->is_reason = true;
		return line.len > 2 && line.s[line.len - 1] == ')';
	}
	if (line.s[0] != '[')
		return false;
	if (split_name_and_offset(line, &frame->file, &frame->offset))
		return true;
	frame->file = line;
	return line.s[line.len - 1] == ']';
}

bool user_frame_is_of_libc(const struct user_frame *frame)
{
	return TEXT_STARTS(frame->file, "libc.") || TEXT_STARTS(frame->file, "libc-") ||
	       TEXT_STARTS(frame->file, "ld-linux") || TEXT_STARTS(frame->file, "ld-musl") ||
	       TEXT_STARTS(frame->file, "libpthread");
}
