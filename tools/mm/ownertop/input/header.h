/* SPDX-License-Identifier: GPL-2.0 */
/* The first line of a record: "Page allocated via order 0, ...", or another kind. */
#ifndef OWNERTOP_HEADER_H
#define OWNERTOP_HEADER_H

#include "input/record.h"

/* Does a record begin here, and of what? */
bool header_begins(struct text t, enum kind *kind);

/*
 * Fills @rec from the header of a @what that @t begins with, and sets @end behind
 * its newline. Returns NULL, or what is wrong with it.
 */
const char *header_parse(struct text t, u64 page_size, enum kind what,
			 struct record *rec, const char **end);

/* "8192.123", at least 1. Returns NULL, or what is wrong with it. */
const char *weight_parse(struct text value, u64 *weight);

#endif
