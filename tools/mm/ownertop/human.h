/* SPDX-License-Identifier: GPL-2.0 */
/* Figures as a person reads them. */
#ifndef OWNERTOP_HUMAN_H
#define OWNERTOP_HUMAN_H

#include <stddef.h>

#include "types.h"

#define HUMAN_LEN 24

const char *human_bytes(char buf[HUMAN_LEN], u64 bytes);
/* @ns: U64_MAX if not known */
const char *human_age(char buf[HUMAN_LEN], u64 ns);
const char *human_percent(char buf[HUMAN_LEN], u64 part, u64 whole);

#endif
