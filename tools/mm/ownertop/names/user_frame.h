/* SPDX-License-Identifier: GPL-2.0 */
/* Parse one frame of the user's half of a call chain. */
#ifndef OWNERTOP_USER_FRAME_H
#define OWNERTOP_USER_FRAME_H

#include "base/text.h"
#include "base/types.h"

/*
 * A frame as the kernel prints it, "file+0xoffset@id", "[vdso]+0xoffset", "[anon]" or "(reason)",
 * or with a name, "func+0xoffset [file]". Texts that it does not have are empty.
 */
struct user_frame {
	struct text_slice file;	/* name of the file, with octal escapes; "[vdso]" and "[anon]" */
	struct text_slice id;	/* build-id, or "major:minor:inode" */
	struct text_slice func;
	u64 offset;		/* of the return address in the file; in @func if that has a name */
	bool is_reason;		/* no frame, but why there is none, or none behind it */
};

/* Parse a user frame. Returns false if @line is none, because the input is damaged. */
bool user_frame_parse(struct text_slice line, struct user_frame *frame);

/* Is the frame in a library that makes system calls for programs? */
bool user_frame_is_of_libc(const struct user_frame *frame);

#endif
