/* SPDX-License-Identifier: GPL-2.0 */
/* Read files of /proc of the machine of a dump. */
#ifndef OWNERTOP_MACHINE_FILE_H
#define OWNERTOP_MACHINE_FILE_H

/*
 * Read the file @name of /proc as it was when @dump was taken: from the snapshot that @dump is in,
 * or of this machine if @dump is NULL. Returns its text, which the caller frees, or NULL if it is
 * unknown.
 */
char *machine_file_read(const char *dump, const char *name);

#endif
