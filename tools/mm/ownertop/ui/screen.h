/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal while it is ours: no echo, keys one by one, a screen of our own.
 * However the program ends or is stopped, the terminal is as it was before.
 */
#ifndef OWNERTOP_SCREEN_H
#define OWNERTOP_SCREEN_H

#include "base/text.h"

enum {
	SCREEN_TIMEOUT = -1,
	SCREEN_CHANGED = -2,	/* has another size, or was not ours for a while */
	SCREEN_GONE = -3,	/* nobody is at the keyboard any more */
};

/* Returns false if standard input and output are not a terminal. */
bool screen_begin(void);
void screen_end(void);

size_t screen_rows(void);
/* Shows the lines of @text from the top; those that do not fit are left out. */
void screen_show(struct text text);
/* Waits for a key for so long, -1: for ever. Returns it, or one of the above. */
int screen_key(int milliseconds);

#endif
