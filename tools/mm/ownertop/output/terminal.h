/* SPDX-License-Identifier: GPL-2.0 */
/* Find the size and the colours of the terminal that output is written to, and fold lines. */
#ifndef OWNERTOP_TERMINAL_H
#define OWNERTOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Value of --color. */
enum colour_when {
	COLOUR_AUTO,		/* on a terminal, unless NO_COLOR is set */
	COLOUR_ALWAYS,
	COLOUR_NEVER,
};

struct terminal {
	size_t width;		/* in columns; 0: not a terminal, lines are not cut */
	size_t rows;		/* 0: unknown, or not a terminal */
	bool colour;
};

struct terminal terminal_describe(FILE *out, enum colour_when when);

/* Lines of text that are folded at blanks to the width of a terminal. */
struct folded_text {
	FILE *stream;		/* the lines are written to this */
	char *text;
	size_t len;
};

/* Returns the stream to write lines to. */
FILE *fold_begin(struct folded_text *f);
/* Write the lines to @out. Lines that are too long are continued with an indentation. */
void fold_end(struct folded_text *f, struct terminal term, FILE *out);

#endif
