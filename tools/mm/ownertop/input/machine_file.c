// SPDX-License-Identifier: GPL-2.0
/* Read files of /proc of the machine of a dump. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/machine_file.h"
#include "input/unpack.h"

/* Files that are read have a few lines, or one for each cache: a larger one is cut. */
#define TEXT_LEN (256 * 1024)

/* Read from a file, or from the unpacker that has read its first bytes. */
static size_t read_rest(int fd, struct unpacker *unpacker, char *text, size_t len)
{
	ssize_t n;

	do {
		n = unpacker ? unpack_read(unpacker, text + len, TEXT_LEN - 1 - len) :
			       read(fd, text + len, TEXT_LEN - 1 - len);
		len += n > 0 ? n : 0;
	} while (n > 0 && len < TEXT_LEN - 1);
	return len;
}

/* Returns the text of a file, unpacked, or NULL if it cannot be read or is empty. */
static char *read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unpacker *unpacker = NULL;
	char *text, head[4096];
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	text = xmalloc(TEXT_LEN);
	n = read(fd, head, sizeof(head));
	if (n > 0) {
		unpacker = unpack_begin((struct text_slice){ head, n }, fd);
		if (!unpacker)
			memcpy(text, head, n);
		len = read_rest(fd, unpacker, text, unpacker ? 0 : n);
	}
	if (unpacker)
		unpack_end(unpacker);
	close(fd);
	text[len] = '\0';
	if (len)
		return text;
	free(text);
	return NULL;
}

char *machine_file_read(const char *dump, const char *name)
{
	const char *slash = dump ? strrchr(dump, '/') : NULL;
	char *path, *text;
	int len;

	if (!dump)
		len = asprintf(&path, "/proc/%s", name);
	else if (slash && !strcmp(slash, "/slab_owner.zst"))
		len = asprintf(&path, "%.*s/%s.zst", (int)(slash - dump), dump, name);
	else
		return NULL;
	if (len < 0)
		exit_out_of_memory();
	text = read_text(path);
	free(path);
	return text;
}
