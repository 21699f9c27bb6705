/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and shows again and again, until told to stop. */
#ifndef OWNERTOP_LIVE_H
#define OWNERTOP_LIVE_H

#include "ask/options.h"

/* Returns the exit status that the last reading deserves. */
int live_run(const struct options *o, char * const *paths, int n);

#endif
