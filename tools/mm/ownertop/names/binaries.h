/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the names of the functions of user frames. A frame says which file it is in by build-id,
 * or by device and inode. The file is one that the user names, or /usr/lib/debug has its symbols,
 * or the kernel of this machine tells its path. Its build-id must be that of the frame.
 */
#ifndef OWNERTOP_BINARIES_H
#define OWNERTOP_BINARIES_H

#include "names/names.h"
#include "names/user_frame.h"

struct binaries;

struct binaries *binaries_open(void);
/* Add a file that the user names. Returns NULL, or what is wrong with it. */
const char *binaries_add_file(struct binaries *b, const char *path);
/* Add the paths of owner/binaries, a file of the kernel that runs. */
void binaries_add_paths(struct binaries *b, const char *owner_binaries);
void binaries_close(struct binaries *b);

/*
 * Find the function of a frame, and the offset of the return address in it. Returns an empty
 * name if no file has it. Each frame is to be looked up once.
 */
struct text_slice binaries_find_function(struct binaries *b, const struct user_frame *frame,
					 u64 *offset);

/* Returns the frames of files without names. */
struct missing_frames binaries_get_not_found(const struct binaries *b);
/* Print a line for each file that the user named and that has no frame. */
void binaries_print_unused(const struct binaries *b, FILE *out);

#endif
