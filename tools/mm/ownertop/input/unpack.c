// SPDX-License-Identifier: GPL-2.0
/*
 * Unpack a compressed file or pipe in a second thread, which writes to a pipe that the reader
 * reads. In one thread, unpacking would take a third of the run time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/progress.h"
#include "input/unpack.h"
#include "input/unpack_formats.h"

#define FAILURE_LEN 160

/* Bytes that are unpacked at a time, and size of the pipe. More would not fit the L2 cache. */
#define BLOCK_SIZE (128 * 1024)

struct unpacker {
	const char *_Atomic failure;	/* set before the end of the pipe, or NULL */
	pthread_t thread;
	int from;			/* end of the pipe that the reader reads */
	int to;				/* end of the pipe that the thread writes */
	u64 reported;			/* compressed bytes that the progress line counts */
	atomic_ullong packed_read;	/* compressed bytes read so far */

	/* The next fields are used by the thread only. */
	const struct compression_format *format;
	void *state;
	int fd;
	bool eof;
	bool between;		/* a stream has ended, and the next has not begun */
	u64 offset;		/* position of @next in the compressed input */
	const char *next;	/* compressed bytes that were read and not unpacked yet */
	size_t left;		/* number of bytes at @next */
	char packed[UNPACK_HEAD_MAX];
	char block[BLOCK_SIZE];
	char reason[FAILURE_LEN];
};

static bool set_unpack_failure(struct unpacker *u, const char *reason)
{
	snprintf(u->reason, sizeof(u->reason), "after byte %llu of the %s data: %s",
		 u->offset, u->format->name, reason);
	u->failure = u->reason;
	return false;
}

/* Wait for compressed input. Returns false if unpack_end() was called. */
static bool wait_for_input(const struct unpacker *u)
{
	struct pollfd fds[] = {
		{ .fd = u->fd, .events = POLLIN },
		{ .fd = u->to },	/* an error if its other end is closed */
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/*
 * Read until at least @len compressed bytes are buffered or the input ends. Returns false
 * on failure, or if unpack_end() was called.
 */
static bool read_compressed_bytes(struct unpacker *u, size_t len)
{
	memmove(u->packed, u->next, u->left);
	u->next = u->packed;
	while (u->left < len && !u->eof) {
		ssize_t n;

		if (!wait_for_input(u))
			return false;
		n = read(u->fd, u->packed + u->left, UNPACK_HEAD_MAX - u->left);
		if (n > 0) {
			u->left += n;
			u->packed_read += n;
		} else if (!n) {
			u->eof = true;
		} else if (errno != EINTR) {
			return set_unpack_failure(u, strerror(errno));
		}
	}
	return true;
}

/*
 * Begin the next stream of compressed input. A file may consist of several streams, but
 * anything else after a stream is an error.
 */
static bool begin_next_stream(struct unpacker *u)
{
	if (!read_compressed_bytes(u, UNPACK_MAGIC) || !u->left)
		return false;
	if (find_compression_format((struct text_slice){ u->next, u->left }) != u->format)
		return set_unpack_failure(u, "something else follows; not read");
	u->format->end(u->state);
	u->state = u->format->begin();
	u->between = false;
	return true;
}

/* Write the unpacked bytes before @end to the pipe. Returns false if unpack_end() was called. */
static bool write_block(const struct unpacker *u, const char *end)
{
	const char *p = u->block;

	while (p < end) {
		ssize_t n = write(u->to, p, end - p);

		if (n > 0)
			p += n;
		else if (errno != EINTR)
			return false;
	}
	return true;
}

/* Unpack a piece of the stream. Returns false on failure, or if unpack_end() was called. */
static bool run_format_step(struct unpacker *u)
{
	struct unpack_io io = { u->next, u->left, u->block, BLOCK_SIZE, false };
	const char *reason = u->format->step(u->state, &io);

	u->offset += io.in - u->next;
	u->next = io.in;
	u->left = io.in_len;
	if (!write_block(u, io.out))
		return false;
	if (reason)
		return set_unpack_failure(u, reason);
	u->between = io.end;
	/* Without input there may still be output, of bytes that the library has buffered. */
	if (!io.end && io.out == u->block && u->eof && !u->left)
		return set_unpack_failure(u, "it is cut off");
	return true;
}

/* Returns false at the end of the input, on failure, or if unpack_end() was called. */
static bool unpack_some_bytes(struct unpacker *u)
{
	if (u->between)
		return begin_next_stream(u);
	return (u->left || read_compressed_bytes(u, 1)) && run_format_step(u);
}

static void *run_unpacker_thread(void *arg)
{
	struct unpacker *u = arg;
	sigset_t set;

	/* Let write() return an error when unpack_end() has closed the other end of the pipe. */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (unpack_some_bytes(u))
		;
	close(u->to);
	return NULL;
}

struct unpacker *unpack_begin(struct text_slice head, int fd)
{
	const struct compression_format *format = find_compression_format(head);
	struct unpacker *u;
	int fds[2];

	if (!format)
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->format = format;
	u->state = format->begin();
	u->fd = fd;
	memcpy(u->packed, head.s, head.len);
	u->next = u->packed;
	u->left = head.len;
	if (pipe2(fds, O_CLOEXEC))
		exit_out_of_memory();
	u->from = fds[0];
	u->to = fds[1];
	fcntl(u->to, F_SETPIPE_SZ, BLOCK_SIZE);
	if (pthread_create(&u->thread, NULL, run_unpacker_thread, u))
		exit_out_of_memory();
	return u;
}

ssize_t unpack_read(struct unpacker *u, char *buf, size_t len)
{
	ssize_t n = read(u->from, buf, len);
	u64 packed = u->packed_read;

	progress_add_bytes(packed - u->reported, false);
	u->reported = packed;
	return n;
}

const char *unpack_get_failure_reason(const struct unpacker *u)
{
	return u->failure;
}

void unpack_end(struct unpacker *u)
{
	/* The thread may wait for the input or for the pipe: this wakes it from either. */
	close(u->from);
	pthread_join(u->thread, NULL);
	u->format->end(u->state);
	free(u);
}
