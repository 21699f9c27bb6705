/* SPDX-License-Identifier: GPL-2.0 */
/* Values that not every format of input has, printed for programs. */
#ifndef OWNERTOP_KNOWN_H
#define OWNERTOP_KNOWN_H

#include <stdio.h>

#include "base/types.h"

/* @unknown is printed in place of TS_UNKNOWN. */
void print_ts(u64 ts, const char *unknown, FILE *out);

#endif
