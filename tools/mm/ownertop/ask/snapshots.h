/* SPDX-License-Identifier: GPL-2.0 */
/* Use directories of "ownertop record" as inputs. */
#ifndef OWNERTOP_ASK_SNAPSHOTS_H
#define OWNERTOP_ASK_SNAPSHOTS_H

#include "ask/options.h"

/*
 * Replace each directory among the inputs of @o by the dumps of its snapshots: of the first and
 * the last for a view that compares two dumps, of all for a view of a series and for explain,
 * else of the last. Warn about snapshots of different boots or kernels. If all inputs are
 * snapshots of one boot, set o->snapshot_kallsyms. Ends the program with a message if a
 * directory has no snapshots.
 */
void snapshots_replace_directories(struct options *o);

#endif
