/* SPDX-License-Identifier: GPL-2.0 */
/* Recognise valid UTF-8: names of tasks may contain any byte, but JSON and HTML must be UTF-8. */
#ifndef OWNERTOP_UTF8_H
#define OWNERTOP_UTF8_H

#include "base/text.h"

/*
 * Returns the length of the valid UTF-8 character at the beginning of @t, which is not empty,
 * or 0.
 */
size_t utf8_char_len(struct text_slice t);

#endif
