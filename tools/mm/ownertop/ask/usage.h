/* SPDX-License-Identifier: GPL-2.0 */
/* Print the help text and messages about a wrong command line; parse numbers of options. */
#ifndef OWNERTOP_USAGE_H
#define OWNERTOP_USAGE_H

#include <stdio.h>
#include <stdnoreturn.h>

#include "base/types.h"

void usage_print_help(FILE *out);
/* Print the version to standard output, and exit with success. */
noreturn void usage_print_version(void);
/* Say what an unknown "--NAME" or "--NAME=VALUE" may have meant, and exit with failure. */
noreturn void usage_refuse_unknown_option(const char *option);
/* Print a message that points to --help, and exit with failure. */
noreturn void usage_exit_with_hint(void);
/* Print "@option: '@value' @reason" and a hint, and exit with failure. */
noreturn void usage_refuse_value(const char *option, const char *value, const char *reason);
/* Print "@option: @message" and a hint, and exit with failure: the message names the value. */
noreturn void usage_refuse_option(const char *option, const char *message);

/*
 * The next two functions parse the numeric argument @text of @option. They end the program with
 * a message if it is wrong.
 */
u32 usage_parse_count(const char *option, const char *text);
double usage_parse_percent(const char *option, const char *text);

#endif
