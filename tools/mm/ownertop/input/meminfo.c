// SPDX-License-Identifier: GPL-2.0
/* Read the sizes of a machine's memory. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/meminfo.h"
#include "input/unpack.h"

/* The sizes that are read are in the first lines. */
#define TEXT_LEN 4096

/* Read the first bytes of a file, unpacked. Returns false if it cannot be read. */
static bool read_text(const char *path, char text[TEXT_LEN])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unpacker *unpacker;
	char head[TEXT_LEN];
	ssize_t n, len = 0;

	if (fd < 0)
		return false;
	n = read(fd, head, sizeof(head));
	unpacker = n > 0 ? unpack_begin((struct text_slice){ head, n }, fd) : NULL;
	if (unpacker) {
		while (len < TEXT_LEN - 1 &&
		       (n = unpack_read(unpacker, text + len, TEXT_LEN - 1 - len)) > 0)
			len += n;
		unpack_end(unpacker);
	} else if (n > 0) {
		len = n < TEXT_LEN ? n : TEXT_LEN - 1;
		memcpy(text, head, len);
	}
	close(fd);
	text[len] = '\0';
	return len;
}

/* Find the number of bytes behind @name, which begins a line. Returns 0 if there is none. */
static u64 find_bytes(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	while (line && line != text && line[-1] != '\n')
		line = strstr(line + 1, name);
	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/*
 * Read the copy of /proc/meminfo at @path, which may be compressed. Returns false if it cannot be
 * read, or lacks one of the sizes.
 */
static bool read_meminfo(const char *path, struct meminfo *m)
{
	char text[TEXT_LEN];

	if (!read_text(path, text))
		return false;
	m->total = find_bytes(text, "MemTotal:");
	m->slab = find_bytes(text, "Slab:");
	return m->total && m->slab;
}

bool meminfo_read_of_dump(const char *dump, struct meminfo *m)
{
	const char *name;
	char *path;
	bool found;

	if (!dump)
		return read_meminfo("/proc/meminfo", m);
	name = strrchr(dump, '/');
	if (!name || strcmp(name, "/slab_owner.zst"))
		return false;
	if (asprintf(&path, "%.*s/meminfo.zst", (int)(name - dump), dump) < 0)
		exit_out_of_memory();
	found = read_meminfo(path, m);
	free(path);
	return found;
}
