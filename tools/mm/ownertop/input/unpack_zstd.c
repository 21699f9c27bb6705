// SPDX-License-Identifier: GPL-2.0
/* Unpack zstd (RFC 8878) with libzstd. */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "input/unpack.h"

/*
 * Binary logarithm of the largest window that is accepted, to bound memory: 2^23 bytes, which
 * compression levels up to 19 use.
 */
#define WINDOW_LOG_MAX 23

static bool zstd_recognise(struct text_slice head)
{
	/*
	 * zstd input begins with a frame, or with a skippable frame, which some tools write
	 * first.
	 */
	return TEXT_STARTS(head, "\x28\xb5\x2f\xfd") ||
	       (head.len >= UNPACK_MAGIC && (head.s[0] & 0xf0) == 0x50 &&
		!memcmp(head.s + 1, "\x2a\x4d\x18", 3));
}

static void *zstd_begin(void)
{
	ZSTD_DStream *z = ZSTD_createDStream();

	if (!z)
		exit_out_of_memory();
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return z;
}

static const char *describe_zstd_error(size_t result)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_memory_allocation:
		exit_out_of_memory();
	case ZSTD_error_frameParameter_windowTooLarge:
		return "its window is above 8 MiB; use 'zstd -dc --long=31 FILE | ownertop -'";
	default:
		return ZSTD_getErrorName(result);
	}
}

static enum unpack_result zstd_step(void *state, struct unpack_io *io,
				    const char **reason)
{
	ZSTD_inBuffer in = { io->in, io->in_len, 0 };
	ZSTD_outBuffer out = { io->out, io->out_len, 0 };
	size_t result = ZSTD_decompressStream(state, &out, &in);

	io->in += in.pos;
	io->in_len -= in.pos;
	io->out += out.pos;
	io->out_len -= out.pos;
	if (ZSTD_isError(result)) {
		*reason = describe_zstd_error(result);
		return UNPACK_FAILED;
	}
	return result ? UNPACK_MORE : UNPACK_END;
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

const struct compression_format unpack_zstd = {
	.name = "zstd",
	.recognise = zstd_recognise,
	.begin = zstd_begin,
	.step = zstd_step,
	.end = zstd_end,
};
