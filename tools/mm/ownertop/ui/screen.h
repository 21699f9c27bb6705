/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control the terminal in live mode: alternate screen, no echo, single keys. The terminal is
 * restored however the program ends, and while it is stopped.
 */
#ifndef OWNERTOP_SCREEN_H
#define OWNERTOP_SCREEN_H

#include "base/text.h"

enum {
	SCREEN_TIMEOUT = -1,
	SCREEN_CHANGED = -2,	/* another size, or the program was stopped and continued */
	SCREEN_GONE = -3,	/* standard input was closed */
	SCREEN_UP = -4,
	SCREEN_DOWN = -5,
	SCREEN_PAGE_UP = -6,
	SCREEN_PAGE_DOWN = -7,
	SCREEN_HOME = -8,
	SCREEN_END = -9,
	SCREEN_ESCAPE = -10,
};

/* Set up the screen. Returns false if standard input and output are not a terminal. */
bool screen_begin(void);
void screen_end(void);

size_t screen_count_rows(void);
/* Draw the lines of @text from the top of the screen. Lines that do not fit are left out. */
void screen_draw_text(struct text_slice text);
/*
 * Wait for a key and return it, or one of the SCREEN_ values. @milliseconds: timeout; -1: none.
 */
int screen_read_key(int milliseconds);

#endif
