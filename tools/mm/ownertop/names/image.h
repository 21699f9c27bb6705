/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols and DWARF of one ELF file: vmlinux or a module. */
#ifndef OWNERTOP_IMAGE_H
#define OWNERTOP_IMAGE_H

#include "base/text.h"
#include "base/types.h"

struct image;

/*
 * @kernel is what the file is a module of: they may share sources. NULL for a
 * kernel. Returns NULL and says in @error what is wrong with the file.
 */
struct image *image_open(const char *path, const struct image *kernel, const char **error);
void image_close(struct image *image);

/*
 * The address of func+offset/size, as the file has it. Returns false if the
 * file has no such function, or several.
 */
bool image_find(const struct image *image, struct text func, u64 offset, u64 size,
		u64 *address);

/* Where a function is at an address, and whether it was inlined there. */
struct image_line {
	const char *func;	/* NULL: the one that the symbol names */
	const char *file;
	int line;
};

/* The innermost function comes first. */
typedef void (*image_line_fn)(void *arg, const struct image_line *line);

void image_lines(const struct image *image, u64 address, image_line_fn fn, void *arg);

#endif
