/* SPDX-License-Identifier: GPL-2.0 */
/* Find the width and the colours of the terminal that output is written to. */
#ifndef OWNERTOP_TERMINAL_H
#define OWNERTOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
	size_t width;		/* in columns; 0: not a terminal, lines are not cut */
	bool colour;
};

struct terminal get_terminal_width_and_colour(FILE *out);

#endif
