// SPDX-License-Identifier: GPL-2.0
/* Unpack gzip (RFC 1952), zstd (RFC 8878), xz, bzip2 and lz4 with the library of each. */
#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "input/unpack_formats.h"

/* Argument of inflateInit2(): the largest window; + 16 selects the gzip format. */
#define WINDOW_BITS (15 + 16)

/*
 * Binary logarithm of the largest zstd window that is accepted, to bound memory: 2^23 bytes, which
 * compression levels up to 19 use.
 */
#define WINDOW_LOG_MAX 23

/* The highest compression level of xz, which has a dictionary of 64 MiB. */
#define XZ_LEVEL_MAX 9

#define DAMAGED "it is damaged"

static void advance_io(struct unpack_io *io, size_t in, size_t out)
{
	io->in += in;
	io->in_len -= in;
	io->out += out;
	io->out_len -= out;
}

/* Call a function of zlib, liblzma or libbz2, whose streams @z have members of equal names. */
#define RUN_STREAM(io, z, call) ({				\
	struct unpack_io *__io = (io);				\
	typeof(z) __z = (z);					\
	int __result;						\
								\
	__z->next_in = (void *)__io->in;			\
	__z->avail_in = __io->in_len;				\
	__z->next_out = (void *)__io->out;			\
	__z->avail_out = __io->out_len;				\
	__result = (call);					\
	advance_io(__io, __io->in_len - __z->avail_in,		\
		   __io->out_len - __z->avail_out);		\
	__result;						\
})

static void *gzip_begin(void)
{
	z_stream *z = xcalloc(1, sizeof(*z));

	if (inflateInit2(z, WINDOW_BITS) != Z_OK)
		exit_out_of_memory();
	return z;
}

static const char *gzip_step(void *state, struct unpack_io *io)
{
	z_stream *z = state;

	switch (RUN_STREAM(io, z, inflate(z, Z_NO_FLUSH))) {
	case Z_STREAM_END:
		io->end = true;
		return NULL;
	case Z_OK:
	case Z_BUF_ERROR:	/* no progress was possible, but no data is lost */
		return NULL;
	case Z_MEM_ERROR:
		exit_out_of_memory();
	default:
		return z->msg ? z->msg : DAMAGED;
	}
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

static void *zstd_begin(void)
{
	ZSTD_DStream *z = ZSTD_createDStream();

	if (!z)
		exit_out_of_memory();
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return z;
}

static const char *zstd_step(void *state, struct unpack_io *io)
{
	ZSTD_inBuffer in = { io->in, io->in_len, 0 };
	ZSTD_outBuffer out = { io->out, io->out_len, 0 };
	size_t result = ZSTD_decompressStream(state, &out, &in);

	advance_io(io, in.pos, out.pos);
	io->end = !result;
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_no_error:
		return NULL;
	case ZSTD_error_memory_allocation:
		exit_out_of_memory();
	case ZSTD_error_frameParameter_windowTooLarge:
		return "its window is above 8 MiB; use 'zstd -dc --long=31 FILE | ownertop -'";
	default:
		return ZSTD_getErrorName(result);
	}
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

static void *xz_begin(void)
{
	lzma_stream *z = xcalloc(1, sizeof(*z));

	if (lzma_stream_decoder(z, lzma_easy_decoder_memusage(XZ_LEVEL_MAX), 0) != LZMA_OK)
		exit_out_of_memory();
	return z;
}

static const char *xz_step(void *state, struct unpack_io *io)
{
	lzma_stream *z = state;

	switch (RUN_STREAM(io, z, lzma_code(z, LZMA_RUN))) {
	case LZMA_STREAM_END:
		io->end = true;
		return NULL;
	case LZMA_OK:
	case LZMA_BUF_ERROR:	/* as Z_BUF_ERROR */
		return NULL;
	case LZMA_MEM_ERROR:
		exit_out_of_memory();
	case LZMA_MEMLIMIT_ERROR:
		return "its dictionary is above 64 MiB; use 'xz -dc FILE | ownertop -'";
	case LZMA_OPTIONS_ERROR:
		return "it needs a newer liblzma";
	default:
		return DAMAGED;
	}
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

static void *bzip2_begin(void)
{
	bz_stream *z = xcalloc(1, sizeof(*z));

	if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK)
		exit_out_of_memory();
	return z;
}

static const char *bzip2_step(void *state, struct unpack_io *io)
{
	switch (RUN_STREAM(io, (bz_stream *)state, BZ2_bzDecompress(state))) {
	case BZ_STREAM_END:
		io->end = true;
		return NULL;
	case BZ_OK:
		return NULL;
	case BZ_MEM_ERROR:
		exit_out_of_memory();
	default:
		return DAMAGED;
	}
}

static void bzip2_end(void *state)
{
	BZ2_bzDecompressEnd(state);
	free(state);
}

struct lz4_state {
	LZ4F_dctx *z;
	size_t wanted;	/* bytes of input until the end of a block, and until the checksum */
};

static void *lz4_begin(void)
{
	struct lz4_state *s = xmalloc(sizeof(*s));

	s->wanted = LZ4F_HEADER_SIZE_MIN;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&s->z, LZ4F_VERSION)))
		exit_out_of_memory();
	return s;
}

/* Give the library no more than it wants, as it returns no output before a wrong checksum. */
static const char *lz4_step(void *state, struct unpack_io *io)
{
	struct lz4_state *s = state;
	size_t in = s->wanted < io->in_len ? s->wanted : io->in_len, out = io->out_len;

	s->wanted = LZ4F_decompress(s->z, io->out, &out, io->in, &in, NULL);
	if (LZ4F_isError(s->wanted))
		return LZ4F_getErrorName(s->wanted);
	advance_io(io, in, out);
	io->end = !s->wanted;
	return NULL;
}

static void lz4_end(void *state)
{
	struct lz4_state *s = state;

	LZ4F_freeDecompressionContext(s->z);
	free(s);
}

static const struct compression_format formats[] = {
	{ "gzip", "\x1f\x8b\x08", gzip_begin, gzip_step, gzip_end },
	{ "zstd", "\x28\xb5\x2f\xfd", zstd_begin, zstd_step, zstd_end },
	{ "xz", "\3757zX", xz_begin, xz_step, xz_end },
	{ "bzip2", "BZh", bzip2_begin, bzip2_step, bzip2_end },
	{ "lz4", "\x04\x22\x4d\x18", lz4_begin, lz4_step, lz4_end },
};

const struct compression_format *find_compression_format(struct text_slice head)
{
	size_t i;

	/* Some tools write a skippable frame first, of a format that zstd knows. */
	if (head.len >= 4 && (head.s[0] & 0xf0) == 0x50 && !memcmp(head.s + 1, "\x2a\x4d\x18", 3))
		return &formats[1];
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (text_starts_with(head, formats[i].magic, strlen(formats[i].magic)))
			return &formats[i];
	return NULL;
}
