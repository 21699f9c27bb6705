/* SPDX-License-Identifier: GPL-2.0 */
/* Parse and check the command line. */
#ifndef OWNERTOP_PARSE_H
#define OWNERTOP_PARSE_H

#include "ask/options.h"

/* Fill @o from the command line. Ends the program with a message if it is wrong. */
void parse_command_line(struct options *o, int argc, char *argv[]);

#endif
