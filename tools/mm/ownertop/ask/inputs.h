/* SPDX-License-Identifier: GPL-2.0 */
/* The inputs of a command line: files, memory dumps and standard input. */
#ifndef OWNERTOP_INPUTS_H
#define OWNERTOP_INPUTS_H

#include "ask/options.h"

/*
 * Add the dump of --vmcore to the inputs. If there is no input then, and --live is not used,
 * add standard input if it is a pipe or a file.
 */
void inputs_add_unnamed(struct options *o);

/*
 * End the program with a message if an input does not exist. @view_is_named: the first input
 * was meant as a file, because a view precedes it.
 */
void inputs_refuse_missing(const struct options *o, bool view_is_named);

#endif
