/* SPDX-License-Identifier: GPL-2.0 */
/* Run other programs. */
#ifndef OWNERTOP_PROCESS_H
#define OWNERTOP_PROCESS_H

#include <sys/types.h>

/*
 * Start the program @args[0], found in PATH. @fds become its standard input, output and error.
 * Returns 0 with @pid set, or an error number.
 */
int process_start(pid_t *pid, const char * const args[], const int fds[3]);
/* Wait until a process has ended. Returns its status as waitpid() sets it. */
int process_wait(pid_t pid);

#endif
