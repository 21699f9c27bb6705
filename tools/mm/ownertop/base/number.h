/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and fixed words at the beginning of a text. */
#ifndef OWNERTOP_NUMBER_H
#define OWNERTOP_NUMBER_H

#include "base/text.h"
#include "base/types.h"

/*
 * Takes the digits that @t begins with. Returns NULL, or what is wrong: there
 * are none, or the number is too large.
 */
const char *take_number(struct text *t, u64 *value);

/* Takes @word off the beginning of @t; returns false if it is not there. */
static inline bool take_word(struct text *t, const char *word)
{
	size_t len = strlen(word);	/* of a literal, the compiler knows it */

	if (!text_starts(*t, word, len))
		return false;
	t->s += len;
	t->len -= len;
	return true;
}

/* Takes all up to the next space. */
struct text take_until_space(struct text *t);

void take_spaces(struct text *t);

#endif
