/* SPDX-License-Identifier: GPL-2.0 */
/* Parse numbers and words at the beginning of a text, and remove them from it. */
#ifndef OWNERTOP_NUMBER_H
#define OWNERTOP_NUMBER_H

#include "base/text.h"
#include "base/types.h"

/*
 * Parse the decimal number at the beginning of @t, and remove it from @t. Returns NULL, or a
 * message if there is no digit or the number does not fit.
 */
const char *consume_number(struct text_slice *t, u64 *value);

/*
 * Parse the hexadecimal number of up to 16 digits at the beginning of @t, and remove it from @t.
 * Returns false if there is none.
 */
bool consume_hex(struct text_slice *t, u64 *value);

/* Remove @word from the beginning of @t. Returns false if @t does not begin with it. */
static inline bool consume_word(struct text_slice *t, const char *word)
{
	size_t len = strlen(word);	/* computed by the compiler if @word is a literal */

	if (!text_starts_with(*t, word, len))
		return false;
	t->s += len;
	t->len -= len;
	return true;
}

/* Remove the text before the next space from @t, and return it. */
struct text_slice consume_until_space(struct text_slice *t);

void consume_spaces(struct text_slice *t);

#endif
