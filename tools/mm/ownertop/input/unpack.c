// SPDX-License-Identifier: GPL-2.0
/*
 * Unpack a compressed file or pipe in a second thread, which fills blocks while the reader
 * reads earlier ones. In one thread, unpacking would take a third of the run time.
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

/* Twice INPUT_AHEAD, so that the thread fills one block while the reader empties another. */
#define BLOCK_SIZE (256 * 1024)
#define NR_BLOCKS 4

struct unpacked_block {
	ssize_t len;		/* bytes in the block; 0: end of the input, -1: failure */
	u64 packed;		/* compressed bytes that were read to fill the block */
	char bytes[BLOCK_SIZE];
};

struct unpacker {
	struct unpacked_block blocks[NR_BLOCKS];
	sem_t empty;		/* counts blocks that the thread may fill */
	sem_t full;		/* counts blocks that the reader may read */
	pthread_t thread;
	atomic_bool stop;	/* set by unpack_end(): the thread exits */
	int stop_event;		/* eventfd that wakes the thread if it waits for a pipe */

	/* The next fields are used by the reader only. */
	struct unpacked_block *block;	/* the block that is being read, or NULL */
	u32 nr_read;
	size_t taken;		/* bytes of the block that have been read */

	/*
	 * The next fields are used by the thread only, and by the reader after the last block.
	 */
	const struct compression_format *format;
	void *state;
	int fd;
	bool eof;
	bool between;		/* a stream has ended, and the next has not begun */
	u64 offset;		/* position of @next in the compressed input */
	u64 packed_read;	/* compressed bytes read so far */
	const char *next;	/* compressed bytes that were read and not unpacked yet */
	size_t left;		/* number of bytes at @next */
	char packed[UNPACK_HEAD_MAX];
	char failure[FAILURE_LEN];
};

static const struct compression_format * const formats[] = { &unpack_gzip, &unpack_zstd };

static const struct compression_format *find_compression_format(struct text_slice head)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i]->recognise(head))
			return formats[i];
	return NULL;
}

const char *unpack_find_other_program(struct text_slice head)
{
	static const struct {
		struct text_slice magic;
		const char *reason;
	} others[] = {
		{ { "\3757zXZ", 6 },
		  "compressed by xz; read it with: xz -dc FILE | ownertop -" },
		{ { "BZh", 3 },
		  "compressed by bzip2; read it with: bzip2 -dc FILE | ownertop -" },
		{ { "\x04\x22\x4d\x18", 4 },
		  "compressed by lz4; read it with: lz4 -dc FILE | ownertop -" },
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (text_starts_with(head, others[i].magic.s, others[i].magic.len))
			return others[i].reason;
	return NULL;
}

static int set_unpack_failure(struct unpacker *u, const char *reason)
{
	snprintf(u->failure, sizeof(u->failure), "after byte %llu of the %s data: %s",
		 u->offset, u->format->name, reason);
	return -1;
}

/* Wait for compressed input. Returns false if unpack_end() was called. */
static bool wait_for_input(const struct unpacker *u)
{
	struct pollfd fds[] = {
		{ .fd = u->fd, .events = POLLIN },
		{ .fd = u->stop_event, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !u->stop;
}

/*
 * Read until at least @len compressed bytes are buffered or the input ends. Returns false
 * on failure, or if unpack_end() was called.
 */
static bool read_compressed_bytes(struct unpacker *u, size_t len)
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
			set_unpack_failure(u, strerror(errno));
			return false;
		}
	}
	return !u->stop;
}

/*
 * Begin the next stream of compressed input. A file may consist of several streams, but
 * anything else after a stream is an error.
 */
static int begin_next_stream(struct unpacker *u)
{
	if (!read_compressed_bytes(u, UNPACK_MAGIC))
		return -1;
	if (!u->left)
		return 0;
	if (!u->format->recognise((struct text_slice){ u->next, u->left }))
		return set_unpack_failure(u, "something else follows; not read");
	u->between = false;
	return 1;
}

static int run_format_step(struct unpacker *u, struct unpack_io *io)
{
	const char *start = io->out, *reason;
	enum unpack_result result;

	io->in = u->next;
	io->in_len = u->left;
	result = u->format->step(u->state, io, &reason);
	u->offset += io->in - u->next;
	u->next = io->in;
	u->left = io->in_len;
	if (result == UNPACK_FAILED)
		return set_unpack_failure(u, reason);
	u->between = result == UNPACK_END;
	/* Without input there may still be output, of bytes that the library has buffered. */
	if (result == UNPACK_MORE && io->out == start && u->eof && !u->left)
		return set_unpack_failure(u, "it is cut off");
	return 1;
}

/* Unpack a piece of the compressed input. Returns 1, 0 at its end, or -1 on failure. */
static int unpack_some_bytes(struct unpacker *u, struct unpack_io *io)
{
	if (*u->failure)
		return -1;
	if (u->between)
		return begin_next_stream(u);
	if (!u->left && !read_compressed_bytes(u, 1))
		return -1;
	return run_format_step(u, io);
}

/* Fill @buf with unpacked bytes. Returns their number, 0 at the end, or -1 on failure. */
static ssize_t unpack_bytes(struct unpacker *u, char *buf, size_t len)
{
	struct unpack_io io = { .out = buf, .out_len = len };

	while (io.out == buf) {
		int result = unpack_some_bytes(u, &io);

		/* Return the bytes before a failure first; the next call returns the failure. */
		if (result <= 0 && io.out == buf)
			return result;
	}
	return io.out - buf;
}

static void wait_semaphore(sem_t *semaphore)
{
	while (sem_wait(semaphore))	/* interrupted by a signal */
		;
}

static void *run_unpacker_thread(void *arg)
{
	struct unpacker *u = arg;
	u64 packed = 0;
	u32 i;

	for (i = 0; ; i++) {
		struct unpacked_block *block = &u->blocks[i % NR_BLOCKS];
		bool last;

		wait_semaphore(&u->empty);
		if (u->stop)
			return NULL;
		block->len = unpack_bytes(u, block->bytes, BLOCK_SIZE);
		block->packed = u->packed_read - packed;
		packed = u->packed_read;
		last = block->len <= 0;
		sem_post(&u->full);
		if (last)
			return NULL;
	}
}

struct unpacker *unpack_begin(struct text_slice head, int fd)
{
	const struct compression_format *format = find_compression_format(head);
	struct unpacker *u;

	if (!format)
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->format = format;
	u->state = format->begin();
	u->fd = fd;
	memcpy(u->packed, head.s, head.len);
	u->next = u->packed;
	u->left = head.len;
	sem_init(&u->empty, 0, NR_BLOCKS);
	sem_init(&u->full, 0, 0);
	u->stop_event = eventfd(0, EFD_CLOEXEC);
	if (pthread_create(&u->thread, NULL, run_unpacker_thread, u))
		exit_out_of_memory();
	return u;
}

static void wait_for_block(struct unpacker *u)
{
	wait_semaphore(&u->full);
	u->block = &u->blocks[u->nr_read++ % NR_BLOCKS];
	u->taken = 0;
	progress_add_bytes(u->block->packed, false);
}

ssize_t unpack_read(struct unpacker *u, char *buf, size_t len)
{
	size_t left;

	if (!u->block)
		wait_for_block(u);
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

const char *unpack_get_failure_reason(const struct unpacker *u)
{
	return u->failure;
}

void unpack_end(struct unpacker *u)
{
	/*
	 * The thread may wait for an empty block or for a pipe: wake it from either.
	 * pthread_cancel() would load a library at run time, which may be missing.
	 */
	u->stop = true;
	sem_post(&u->empty);
	eventfd_write(u->stop_event, 1);
	pthread_join(u->thread, NULL);
	close(u->stop_event);
	sem_destroy(&u->empty);
	sem_destroy(&u->full);
	u->format->end(u->state);
	free(u);
}
