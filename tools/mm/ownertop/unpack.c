// SPDX-License-Identifier: GPL-2.0
/* From compressed bytes of a file or pipe to what was packed, piece by piece. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "progress.h"
#include "unpack.h"

#define FAILURE_LEN 160

struct unpack {
	const struct unpack_kind *kind;
	void *state;
	int fd;
	bool eof;
	bool between;		/* a stream has ended and no other has begun */
	u64 offset;		/* of what comes next, in the compressed input */
	const char *next;
	size_t left;
	char packed[UNPACK_HEAD_MAX];
	char failure[FAILURE_LEN];
};

static const struct unpack_kind * const kinds[] = { &unpack_gzip, &unpack_zstd };

static const struct unpack_kind *kind_of(struct text head)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i]->recognise(head))
			return kinds[i];
	return NULL;
}

struct unpack *unpack_begin(struct text head, int fd)
{
	const struct unpack_kind *kind = kind_of(head);
	struct unpack *u;

	if (!kind)
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->kind = kind;
	u->state = kind->begin();
	u->fd = fd;
	memcpy(u->packed, head.s, head.len);
	u->next = u->packed;
	u->left = head.len;
	return u;
}

static int fail(struct unpack *u, const char *reason)
{
	snprintf(u->failure, sizeof(u->failure), "after byte %llu of the %s data: %s",
		 u->offset, u->kind->name, reason);
	return -1;
}

/* Reads so that at least @len compressed bytes are at hand, or all there are. */
static bool have(struct unpack *u, size_t len)
{
	memmove(u->packed, u->next, u->left);
	u->next = u->packed;
	while (u->left < len && !u->eof) {
		ssize_t n = read(u->fd, u->packed + u->left, UNPACK_HEAD_MAX - u->left);

		if (n > 0) {
			u->left += n;
			progress_bytes(n);
		} else if (!n) {
			u->eof = true;
		} else if (errno != EINTR) {
			fail(u, strerror(errno));
			return false;
		}
	}
	return true;
}

/* Streams may follow one another; anything else is no data of this kind. */
static int next_stream(struct unpack *u)
{
	if (!have(u, UNPACK_MAGIC))
		return -1;
	if (!u->left)
		return 0;
	if (!u->kind->recognise((struct text){ u->next, u->left }))
		return fail(u, "something else follows; not read");
	u->between = false;
	return 1;
}

static int step(struct unpack *u, struct unpack_io *io)
{
	const char *start = io->out, *reason;
	enum unpack_result result;

	io->in = u->next;
	io->in_len = u->left;
	result = u->kind->step(u->state, io, &reason);
	u->offset += io->in - u->next;
	u->next = io->in;
	u->left = io->in_len;
	if (result == UNPACK_FAILED)
		return fail(u, reason);
	u->between = result == UNPACK_END;
	/* Even without input there may be output of what was taken before. */
	if (result == UNPACK_MORE && io->out == start && u->eof && !u->left)
		return fail(u, "it is cut off");
	return 1;
}

/* A step towards more output: 1 if it was one, 0 at the end, -1 on failure. */
static int advance(struct unpack *u, struct unpack_io *io)
{
	if (*u->failure)
		return -1;
	if (u->between)
		return next_stream(u);
	if (!u->left && !have(u, 1))
		return -1;
	return step(u, io);
}

ssize_t unpack_read(struct unpack *u, char *buf, size_t len)
{
	struct unpack_io io = { .out = buf, .out_len = len };

	while (io.out == buf) {
		int went = advance(u, &io);

		/* What came out before the failure is told of first. */
		if (went <= 0 && io.out == buf)
			return went;
	}
	return io.out - buf;
}

const char *unpack_failure(const struct unpack *u)
{
	return u->failure;
}

void unpack_end(struct unpack *u)
{
	u->kind->end(u->state);
	free(u);
}
