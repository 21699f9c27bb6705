/* SPDX-License-Identifier: GPL-2.0 */
/* Names may hold any byte; some outputs must be UTF-8. */
#ifndef OWNERTOP_UTF8_H
#define OWNERTOP_UTF8_H

#include "base/text.h"

/* Length of the valid character that @t begins with, 0 if there is none. */
size_t utf8_char(struct text t);

#endif
