/* SPDX-License-Identifier: GPL-2.0 */
/* Reads inputs of any format into the model. */
#ifndef OWNERTOP_READER_H
#define OWNERTOP_READER_H

#include "input/health.h"
#include "model/model.h"

/* Each of @paths is a file, or "-" for standard input. */
void read_inputs(char * const *paths, int n, u64 page_size, struct model *model,
		 struct health *health);

/* An answer of the kernel, from an open file, which is closed. */
void read_open(int fd, char *name, struct model *model, struct health *health);

#endif
