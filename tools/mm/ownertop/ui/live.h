/* SPDX-License-Identifier: GPL-2.0 */
/* Live mode: read and print the table every few seconds. */
#ifndef OWNERTOP_LIVE_H
#define OWNERTOP_LIVE_H

#include "ask/options.h"

/* Run a view in live mode until the user quits. Returns the exit status for the last read. */
int live_run_view(const struct options *o, char * const *paths, int n);

#endif
