/* SPDX-License-Identifier: GPL-2.0 */
/* What the program says about itself and about a wrong command line. */
#ifndef OWNERTOP_USAGE_H
#define OWNERTOP_USAGE_H

#include <stdnoreturn.h>

#include "types.h"

noreturn void usage_help(void);
noreturn void usage_hint(void);
noreturn void usage_fail(const char *option, const char *value, const char *reason);

/* The value of @option as what it has to be; ends the program if it is not. */

/* A whole number up to @max that ends at @stop or with @text; @end: where. */
u64 usage_number(const char *option, const char *text, u64 max, char stop,
		 const char **end);
u32 usage_count(const char *option, const char *text);
/* "90s", "30m", "2h", "1d" in ns; it ends as a number does. */
u64 usage_duration(const char *option, const char *text, char stop, const char **end);
double usage_percent(const char *option, const char *text);

#endif
