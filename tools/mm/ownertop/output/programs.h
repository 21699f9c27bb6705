/* SPDX-License-Identifier: GPL-2.0 */
/* The programs that asked for most memory, for the view "explain". */
#ifndef OWNERTOP_PROGRAMS_H
#define OWNERTOP_PROGRAMS_H

#include "model/answer.h"
#include "output/json.h"

/* Print the programs with most bytes, up to @top of them; nothing if no object has one. */
void programs_print(const struct answer *a, u32 top, FILE *out);
/* Returns a list of all programs, or NULL if no object has one. */
struct json_object *json_from_programs(const struct answer *a);

#endif
