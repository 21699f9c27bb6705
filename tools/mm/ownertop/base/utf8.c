// SPDX-License-Identifier: GPL-2.0
/* Recognise valid UTF-8 characters. */
#include "base/types.h"
#include "base/utf8.h"

size_t utf8_char_len(struct text_slice t)
{
	unsigned char lead = t.s[0];
	u32 code, smallest;
	size_t len, i;

	if (lead < 0x80)
		return 1;
	if (lead >= 0xc0 && lead < 0xe0) {
		len = 2;
		code = lead & 0x1f;
		smallest = 0x80;
	} else if (lead >= 0xe0 && lead < 0xf0) {
		len = 3;
		code = lead & 0x0f;
		smallest = 0x800;
	} else if (lead >= 0xf0 && lead < 0xf8) {
		len = 4;
		code = lead & 0x07;
		smallest = 0x10000;
	} else {
		return 0;
	}
	if (t.len < len)
		return 0;
	for (i = 1; i < len; i++) {
		if ((t.s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (t.s[i] & 0x3f);
	}
	if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}
