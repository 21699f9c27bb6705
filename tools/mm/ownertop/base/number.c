// SPDX-License-Identifier: GPL-2.0
/* Parse numbers and words at the beginning of a text. */
#include "base/number.h"

static void skip_bytes(struct text_slice *t, size_t len)
{
	t->s += len;
	t->len -= len;
}

const char *consume_number(struct text_slice *t, u64 *value)
{
	u64 v = 0;
	size_t i;

	for (i = 0; i < t->len && t->s[i] >= '0' && t->s[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, t->s[i] - '0', &v))
			return "a number is too large";
	if (!i)
		return "a number is missing";
	skip_bytes(t, i);
	*value = v;
	return NULL;
}

bool consume_hex(struct text_slice *t, u64 *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	size_t i;

	*value = 0;
	for (i = 0; i < t->len && (digit = memchr(digits, t->s[i], 16)); i++)
		*value = *value << 4 | (digit - digits);
	skip_bytes(t, i);
	return i && i <= 16;
}

struct text_slice consume_until_space(struct text_slice *t)
{
	const char *space = memchr(t->s, ' ', t->len);
	struct text_slice word = { t->s, space ? (size_t)(space - t->s) : t->len };

	skip_bytes(t, word.len);
	return word;
}

void consume_spaces(struct text_slice *t)
{
	while (t->len && *t->s == ' ')
		skip_bytes(t, 1);
}
