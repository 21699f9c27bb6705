/* SPDX-License-Identifier: GPL-2.0 */
/* --check and --warn: compare a figure with a limit, as a plugin of a monitoring system. */
#ifndef OWNERTOP_CHECK_H
#define OWNERTOP_CHECK_H

#include "ask/options.h"
#include "ask/sentence.h"
#include "model/answer.h"

/*
 * If the command line has one of the options, print a line and exit with CHECK_UNKNOWN when the
 * program is about to exit with STATUS_FAILED. Called before the command line is parsed.
 */
void check_prepare_exit(int argc, char *argv[]);
/* Parse "figure operator value", the argument @text of @option, as the limit of @level. */
void check_parse(struct options *o, enum check_level level, const char *option, const char *text);
bool check_is_wanted(const struct options *o);
/* Print the line of the plugin. Returns its exit status, which is not one of STATUS_*. */
int check_report(const struct options *o, const struct answer *a, FILE *out);

#endif
