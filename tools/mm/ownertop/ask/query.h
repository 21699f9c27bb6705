/* SPDX-License-Identifier: GPL-2.0 */
/* Let the kernel of this machine filter and group, through owner/query. */
#ifndef OWNERTOP_QUERY_H
#define OWNERTOP_QUERY_H

#include "ask/options.h"
#include "model/answer.h"

/*
 * Fill @a with the kernel's answer to the sentence of @o. Returns false if the kernel
 * cannot answer it: the caller reads records instead.
 */
bool query_groups(struct answer *a, const struct options *o);

/* Returns the time that the kernel's time stamps count: ns since boot. */
u64 read_monotonic_ns(void);

#endif
