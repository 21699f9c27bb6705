/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols and the debug information (DWARF) of one ELF file: vmlinux or a module. */
#ifndef OWNERTOP_IMAGE_H
#define OWNERTOP_IMAGE_H

#include "base/text.h"
#include "base/types.h"

struct image;

/*
 * Open an ELF file and read its symbols. @kernel: for a module, the image of its kernel, which
 * may have the same root of sources; NULL for a kernel. Returns NULL and sets @error to a
 * message if the file cannot be used.
 */
struct image *elf_image_open(const char *path, const struct image *kernel, const char **error);
void elf_image_close(struct image *image);

/*
 * Find the address of @func+@offset/@size in an ELF file. Returns false if no function or
 * several functions fit.
 */
bool elf_image_find_address(const struct image *image, struct text_slice func, u64 offset, u64 size,
			    u64 *address);

/* A function at an address, and its source line. */
struct image_line {
	const char *func;	/* an inlined function; NULL: the function of the symbol */
	const char *file;
	int line;
};

typedef void (*image_line_fn)(void *arg, const struct image_line *line);

/*
 * Call @fn for each function at @address: inlined functions first, the innermost before
 * the others.
 */
void elf_image_visit_source_lines(const struct image *image, u64 address,
				  image_line_fn fn, void *arg);

#endif
