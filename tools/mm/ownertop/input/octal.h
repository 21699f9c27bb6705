/* SPDX-License-Identifier: GPL-2.0 */
/* Names in which the kernel has written bytes in octal: control characters, backslashes. */
#ifndef OWNERTOP_OCTAL_H
#define OWNERTOP_OCTAL_H

#include "base/text.h"

/*
 * Decode each \ooo in @name. Returns @name itself if it has none, otherwise a copy in @buf,
 * which has room for @name.
 */
struct text_slice octal_decode(struct text_slice name, char *buf);

#endif
