/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a program or library by offset in its file, from its ELF symbols. */
#ifndef OWNERTOP_ELF_SYMBOLS_H
#define OWNERTOP_ELF_SYMBOLS_H

#include <stdbool.h>

#include "base/text.h"
#include "base/types.h"

/* Room for a build-id as text. */
#define BUILD_ID_LEN 129

struct elf_symbols;

/*
 * Read the symbols of an ELF file. Returns NULL and sets @error to a message if it is none. Sets
 * @error also if it has no symbols, but then it can convert offsets for another file. A file with
 * debug information alone has symbols, but cannot convert offsets.
 */
struct elf_symbols *elf_symbols_open(const char *path, const char **error);
void elf_symbols_close(struct elf_symbols *symbols);

/* Returns the build-id in hexadecimal, or "" if the file has none. */
const char *elf_symbols_get_build_id(const struct elf_symbols *symbols);
/* Does the file say where its contents are loaded? Files of debug information alone do not. */
bool elf_symbols_has_code(const struct elf_symbols *symbols);

/* Convert an offset in the file to an address. Returns false if no code is loaded from there. */
bool elf_symbols_find_address(const struct elf_symbols *symbols, u64 file_offset, u64 *address);
/*
 * Find the function around @address, which is a return address. Returns its name, which is
 * empty if it is in no function, and the offset of the address in @offset.
 */
struct text_slice elf_symbols_find_function(const struct elf_symbols *symbols, u64 address,
					    u64 *offset);

#endif
