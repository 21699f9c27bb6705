/* SPDX-License-Identifier: GPL-2.0 */
/* The help text, the messages about a wrong command line, and the parsing of numbers. */
#ifndef OWNERTOP_USAGE_H
#define OWNERTOP_USAGE_H

#include <stdnoreturn.h>

#include "base/types.h"

/* Print the help to standard output and exit with success. */
noreturn void usage_print_help(void);
/* Point at --help and exit with failure. */
noreturn void usage_exit_with_hint(void);
/* Print "option: 'value' reason", then usage_exit_with_hint(). */
noreturn void usage_refuse_value(const char *option, const char *value, const char *reason);
/* As usage_refuse_value(), with a message that already names the value. */
noreturn void usage_refuse_option(const char *option, const char *message);

/* Parse the argument of @option; these end the program with a message if it is wrong. */
u32 usage_parse_count(const char *option, const char *text);
double usage_parse_percent(const char *option, const char *text);

#endif
