/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal in live mode: alternate screen, no echo, single keys. The terminal is
 * restored however the program ends, and while it is stopped.
 */
#ifndef OWNERTOP_SCREEN_H
#define OWNERTOP_SCREEN_H

#include "base/text.h"

enum {
	SCREEN_TIMEOUT = -1,
	SCREEN_CHANGED = -2,	/* the size changed, or the program was stopped and continued */
	SCREEN_GONE = -3,	/* standard input was closed */
};

/* Returns false if standard input and output are not a terminal. */
bool screen_begin(void);
void screen_end(void);

size_t screen_count_rows(void);
/* Draw the lines of @text from the top. Lines that do not fit are left out. */
void screen_draw_text(struct text text);
/* Wait for a key; -1: without a timeout. Returns it, or one of the values above. */
int screen_read_key(int milliseconds);

#endif
