// SPDX-License-Identifier: GPL-2.0
/* Write a file that zstd compresses. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "snapshots/zstd_file.h"

#define OUTPUT_SIZE (128 * 1024)

struct zstd_file {
	int fd;
	ZSTD_CCtx *z;
	u64 *left;
	char output[OUTPUT_SIZE];
};

struct zstd_file *zstd_file_create(int dir_fd, const char *name, u64 *left)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct zstd_file *f;

	if (fd < 0)
		return NULL;
	f = xmalloc(sizeof(*f));
	f->fd = fd;
	f->left = left;
	f->z = ZSTD_createCCtx();
	if (!f->z)
		exit_out_of_memory();
	ZSTD_CCtx_setParameter(f->z, ZSTD_c_checksumFlag, 1);
	return f;
}

static bool write_all(struct zstd_file *f, const char *bytes, size_t len)
{
	if (len > *f->left) {
		errno = EFBIG;
		return false;
	}
	*f->left -= len;
	while (len) {
		ssize_t n = write(f->fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			bytes += n;
			len -= n;
		}
	}
	return true;
}

static bool compress_bytes(struct zstd_file *f, ZSTD_inBuffer *in, ZSTD_EndDirective mode)
{
	size_t unfinished;

	do {
		ZSTD_outBuffer out = { f->output, OUTPUT_SIZE, 0 };

		unfinished = ZSTD_compressStream2(f->z, &out, in, mode);
		if (ZSTD_isError(unfinished)) {
			errno = EIO;
			return false;
		}
		if (!write_all(f, f->output, out.pos))
			return false;
	} while (in->pos < in->size || (mode == ZSTD_e_end && unfinished));
	return true;
}

bool zstd_file_write(struct zstd_file *f, const void *bytes, size_t len)
{
	ZSTD_inBuffer in = { bytes, len, 0 };

	return compress_bytes(f, &in, ZSTD_e_continue);
}

bool zstd_file_finish(struct zstd_file *f)
{
	ZSTD_inBuffer in = { NULL, 0, 0 };

	if (!compress_bytes(f, &in, ZSTD_e_end) || fsync(f->fd)) {
		zstd_file_abandon(f);
		return false;
	}
	ZSTD_freeCCtx(f->z);
	if (close(f->fd)) {
		free(f);
		return false;
	}
	free(f);
	return true;
}

void zstd_file_abandon(struct zstd_file *f)
{
	int error = errno;

	close(f->fd);
	ZSTD_freeCCtx(f->z);
	free(f);
	errno = error;
}
