/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the text of /sys/kernel/debug/page_owner and slab_owner. */
#ifndef OWNERTOP_READER_TEXT_H
#define OWNERTOP_READER_TEXT_H

#include "health.h"
#include "model.h"

void read_text(const char *path, u64 page_size, struct model *model,
	       struct health *health);

#endif
