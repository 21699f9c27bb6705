/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that belong to the allocator: a chain's first frames, not its owner. */
#ifndef OWNERTOP_SKIP_H
#define OWNERTOP_SKIP_H

#include "base/globs.h"

void skip_builtin(struct globs *globs);

#endif
