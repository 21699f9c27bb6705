/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_TERMINAL_H
#define OWNERTOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
	size_t width;		/* 0: not a terminal, nothing is cut */
	bool colour;
};

struct terminal terminal_of(FILE *out);

#endif
