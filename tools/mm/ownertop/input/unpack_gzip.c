// SPDX-License-Identifier: GPL-2.0
/* Unpack gzip (RFC 1952) with zlib. */
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"
#include "input/unpack.h"

/* Argument of inflateInit2(): the largest window; + 16 selects the gzip format. */
#define WINDOW_BITS (15 + 16)

static bool gzip_recognise(struct text_slice head)
{
	return TEXT_STARTS(head, "\x1f\x8b\x08");
}

static void *gzip_begin(void)
{
	z_stream *z = xcalloc(1, sizeof(*z));

	if (inflateInit2(z, WINDOW_BITS) != Z_OK)
		exit_out_of_memory();
	return z;
}

static enum unpack_result gzip_step(void *state, struct unpack_io *io,
				    const char **reason)
{
	z_stream *z = state;
	int result;

	z->next_in = (const Bytef *)io->in;
	z->avail_in = io->in_len;
	z->next_out = (Bytef *)io->out;
	z->avail_out = io->out_len;
	result = inflate(z, Z_NO_FLUSH);
	io->in = (const char *)z->next_in;
	io->in_len = z->avail_in;
	io->out = (char *)z->next_out;
	io->out_len = z->avail_out;

	switch (result) {
	case Z_OK:
	case Z_BUF_ERROR:	/* no progress was possible, but no data is lost */
		return UNPACK_MORE;
	case Z_STREAM_END:
		inflateReset(z);
		return UNPACK_END;
	case Z_MEM_ERROR:
		exit_out_of_memory();
	default:
		*reason = z->msg ? z->msg : "it is damaged";
		return UNPACK_FAILED;
	}
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

const struct compression_format unpack_gzip = {
	.name = "gzip",
	.recognise = gzip_recognise,
	.begin = gzip_begin,
	.step = gzip_step,
	.end = gzip_end,
};
