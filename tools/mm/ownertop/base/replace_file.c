// SPDX-License-Identifier: GPL-2.0
/* Write a file under a temporary name and rename it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/replace_file.h"

FILE *replace_file_begin(const char *path, char **temporary)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	mode_t mask = umask(0);
	FILE *f;
	int fd;

	umask(mask);
	/* A leading dot: programs that read all files of a directory skip it. */
	if (asprintf(temporary, "%.*s.%s.XXXXXX", (int)(name - path), path, name) < 0)
		exit_out_of_memory();
	fd = mkostemp(*temporary, O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f) {
		fchmod(fd, 0666 & ~mask);
		return f;
	}
	free(*temporary);
	return NULL;
}

bool replace_file_end(FILE *f, char *temporary, const char *path, bool keep)
{
	bool failed = fflush(f) || ferror(f) || fsync(fileno(f));
	int error = errno;

	if (fclose(f) && !failed) {
		failed = true;
		error = errno;
	}
	if (keep && !failed && rename(temporary, path)) {
		failed = true;
		error = errno;
	}
	if (!keep || failed)
		unlink(temporary);
	free(temporary);
	errno = error;
	return keep && !failed;
}
