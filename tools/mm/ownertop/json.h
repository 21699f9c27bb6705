/* SPDX-License-Identifier: GPL-2.0 */
/* The parts that every JSON output is made of. */
#ifndef OWNERTOP_JSON_H
#define OWNERTOP_JSON_H

#include <stdio.h>

#include "views.h"

/*
 * Always valid JSON: a byte of @t that is not UTF-8 is written as the character
 * of the same number. Inside of HTML, nothing in it ends the script.
 */
void json_string(struct text t, FILE *out);

/* "{", and what all views say: of what this is, and what it leaves out. */
void json_begin(const struct answer *a, FILE *out);
void json_sum(const struct sum *sum, FILE *out);
/* A line: "name": {sum}, */
void json_named_sum(const char *name, const struct sum *sum, FILE *out);
/* The fields of a group, each with a comma before it. */
void json_fields(const struct model *m, const struct group *g, FILE *out);

#endif
