/* SPDX-License-Identifier: GPL-2.0 */
/* The parts that every JSON output is made of. */
#ifndef OWNERTOP_JSON_H
#define OWNERTOP_JSON_H

#include <stdio.h>

#include "output/writer.h"

/*
 * Always valid JSON: a byte of @t that is not UTF-8 is written as the character
 * of the same number. Inside of HTML, nothing in it ends the script.
 */
void json_string(struct text t, FILE *out);

/* "{", and what all views say: of what this is, and what it leaves out. */
void json_begin(const struct answer *a, const struct output_options *o, FILE *out);
void json_sum(const struct sum *sum, FILE *out);
/* A line: "name": {sum}, */
void json_named_sum(const char *name, const struct sum *sum, FILE *out);
/* A group in a list of them, the @i-th; figures stand in between. */
void json_group_begin(u32 i, FILE *out);
void json_group_end(const struct model *m, u32 group, FILE *out);
/* The end of the list of @n groups, and of the whole. */
void json_end(u32 n, FILE *out);

#endif
