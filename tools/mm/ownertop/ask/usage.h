/* SPDX-License-Identifier: GPL-2.0 */
/* What the program says about itself and about a wrong command line. */
#ifndef OWNERTOP_USAGE_H
#define OWNERTOP_USAGE_H

#include <stdnoreturn.h>

#include "base/types.h"

noreturn void usage_help(void);
noreturn void usage_hint(void);
noreturn void usage_fail(const char *option, const char *value, const char *reason);
/* With a message that names the value itself. */
noreturn void usage_refuse(const char *option, const char *message);

/* The value of @option as what it has to be; ends the program if it is not. */

u32 usage_count(const char *option, const char *text);
double usage_percent(const char *option, const char *text);

#endif
