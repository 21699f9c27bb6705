// SPDX-License-Identifier: GPL-2.0
/*
 * From compressed bytes of a file or pipe to what was packed, piece by piece. A thread
 * of its own unpacks while what it has unpacked before is read: unpacking takes a third
 * of the time.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/progress.h"
#include "input/unpack.h"

#define FAILURE_LEN 160

/* Twice what a reader takes at once, so that neither waits for the other to be done. */
#define BLOCK_SIZE (256 * 1024)
#define NR_BLOCKS 4

struct block {
	ssize_t len;		/* 0 at the end, -1 on failure: the last block */
	u64 packed;		/* bytes that were read for it */
	char bytes[BLOCK_SIZE];
};

struct unpack {
	struct block blocks[NR_BLOCKS];
	sem_t empty;		/* blocks that can be filled */
	sem_t full;		/* blocks that can be read */
	pthread_t thread;
	atomic_bool stop;	/* no more is wanted */
	int stopped;		/* an eventfd that says so to who waits for a pipe */

	/* The reader's. */
	struct block *block;	/* the one at hand, or NULL */
	u32 nr_read;
	size_t taken;		/* of the block */

	/* The thread's; the reader may look once it has the last block. */
	const struct unpack_kind *kind;
	void *state;
	int fd;
	bool eof;
	bool between;		/* a stream has ended and no other has begun */
	u64 offset;		/* of what comes next, in the compressed input */
	u64 packed_read;	/* bytes of it */
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

static int fail(struct unpack *u, const char *reason)
{
	snprintf(u->failure, sizeof(u->failure), "after byte %llu of the %s data: %s",
		 u->offset, u->kind->name, reason);
	return -1;
}

/* Waits for input that may never come; false if it is not wanted any more. */
static bool wait_for_input(const struct unpack *u)
{
	struct pollfd fds[] = {
		{ .fd = u->fd, .events = POLLIN },
		{ .fd = u->stopped, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !u->stop;
}

/*
 * Reads so that at least @len compressed bytes are at hand, or all there are. Returns
 * false on failure, or if nobody wants them.
 */
static bool have(struct unpack *u, size_t len)
{
	memmove(u->packed, u->next, u->left);
	u->next = u->packed;
	while (u->left < len && !u->eof && wait_for_input(u)) {
		ssize_t n = read(u->fd, u->packed + u->left, UNPACK_HEAD_MAX - u->left);

		if (n > 0) {
			u->left += n;
			u->packed_read += n;
		} else if (!n) {
			u->eof = true;
		} else if (errno != EINTR) {
			fail(u, strerror(errno));
			return false;
		}
	}
	return !u->stop;
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

/* As read(2). */
static ssize_t unpack_some(struct unpack *u, char *buf, size_t len)
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

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))	/* a signal */
		;
}

static void *fill_blocks(void *arg)
{
	struct unpack *u = arg;
	u64 packed = 0;
	u32 i;

	for (i = 0; ; i++) {
		struct block *block = &u->blocks[i % NR_BLOCKS];
		bool last;

		wait_for(&u->empty);
		if (u->stop)
			return NULL;
		block->len = unpack_some(u, block->bytes, BLOCK_SIZE);
		block->packed = u->packed_read - packed;
		packed = u->packed_read;
		last = block->len <= 0;
		sem_post(&u->full);
		if (last)
			return NULL;
	}
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
	sem_init(&u->empty, 0, NR_BLOCKS);
	sem_init(&u->full, 0, 0);
	u->stopped = eventfd(0, EFD_CLOEXEC);
	if (pthread_create(&u->thread, NULL, fill_blocks, u))
		out_of_memory();
	return u;
}

static void next_block(struct unpack *u)
{
	wait_for(&u->full);
	u->block = &u->blocks[u->nr_read++ % NR_BLOCKS];
	u->taken = 0;
	progress_bytes(u->block->packed);
}

ssize_t unpack_read(struct unpack *u, char *buf, size_t len)
{
	size_t left;

	if (!u->block)
		next_block(u);
	if (u->block->len <= 0)
		return u->block->len;
	left = u->block->len - u->taken;
	if (len > left)
		len = left;
	memcpy(buf, u->block->bytes + u->taken, len);
	u->taken += len;
	if (len == left) {
		u->block = NULL;
		sem_post(&u->empty);
	}
	return len;
}

const char *unpack_failure(const struct unpack *u)
{
	return u->failure;
}

void unpack_end(struct unpack *u)
{
	/*
	 * Before the end of the input, it may wait for room, or for a pipe. To cancel
	 * it would take a library that is loaded only then, and may not be there.
	 */
	u->stop = true;
	sem_post(&u->empty);
	eventfd_write(u->stopped, 1);
	pthread_join(u->thread, NULL);
	close(u->stopped);
	sem_destroy(&u->empty);
	sem_destroy(&u->full);
	u->kind->end(u->state);
	free(u);
}
