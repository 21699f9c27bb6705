// SPDX-License-Identifier: GPL-2.0
/* Unpack a compressed file or pipe with the program of its format, whose output is read. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "input/progress.h"
#include "input/unpack.h"

#define FAILURE_LEN 200
#define NO_PROCESS (-1)

/* One compression format, such as gzip, and the program that unpacks it. */
struct format {
	const char *magic;		/* the first bytes, at most UNPACK_MAGIC */
	const char *args[4];
};

static const struct format formats[] = {
	{ "\x1f\x8b\x08", { "gzip", "-dc" } },
	{ "\x28\xb5\x2f\xfd", { "zstd", "-dcq" } },
	{ "\3757zX", { "xz", "-dc" } },
	{ "BZh", { "bzip2", "-dc" } },
	{ "\x04\x22\x4d\x18", { "lz4", "-dc" } },
};

struct unpacker {
	const struct format *format;
	int fd;				/* the input, which the program reads as well */
	off_t reported;			/* position in a file, as the progress line has it */
	int output;			/* of the program */
	int messages;			/* the program's standard error */
	pid_t program;			/* NO_PROCESS after it has closed its output */
	pid_t feeder;			/* writes the input to the program, or NO_PROCESS */
	char failure[FAILURE_LEN];	/* empty: none */
};

static const struct format *find_format(struct text_slice head)
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

static void open_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		exit_out_of_memory();
}

/* Write all bytes to standard output. Ends the process if nobody reads them any more. */
static void write_all(const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n < 0)
			_exit(0);
		p += n;
		len -= n;
	}
}

/*
 * In a process of its own: write @head and the rest of a pipe to the program. Exits with an error
 * number if the pipe cannot be read.
 */
static noreturn void feed_program(struct text_slice head, int from, int to)
{
	static char block[UNPACK_HEAD_MAX];
	ssize_t n;

	signal(SIGPIPE, SIG_DFL);
	dup2(from, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	/* Nobody else may keep a pipe open whose reader has gone. */
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	write_all(head.s, head.len);
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0)
		write_all(block, n);
	_exit(n ? errno : 0);
}

/*
 * Returns a file descriptor that begins with @head: that of a file, set back, or a pipe. The bytes
 * of @head were read from @u->fd already.
 */
static int rewind_input(struct unpacker *u, struct text_slice head)
{
	int fds[2];

	u->feeder = NO_PROCESS;
	u->reported = lseek(u->fd, -(off_t)head.len, SEEK_CUR);
	if (u->reported >= 0)
		return u->fd;
	open_pipe(fds);
	u->feeder = fork();
	if (!u->feeder)
		feed_program(head, u->fd, fds[1]);
	if (u->feeder < 0)
		exit_out_of_memory();
	close(fds[1]);
	return fds[0];
}

static void set_failure(struct unpacker *u, const char *reason)
{
	snprintf(u->failure, sizeof(u->failure), "'%s %s' has failed: %s", u->format->args[0],
		 u->format->args[1], reason);
}

struct unpacker *unpack_begin(struct text_slice head, int fd)
{
	const struct format *format = find_format(head);
	int in, error, output[2], messages[2];
	struct unpacker *u;

	if (!format)
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->format = format;
	u->fd = fd;
	in = rewind_input(u, head);
	open_pipe(output);
	open_pipe(messages);
	u->output = output[0];
	u->messages = messages[0];
	error = process_start(&u->program, format->args, (int[]){ in, output[1], messages[1] });
	if (error) {
		u->program = NO_PROCESS;
		set_failure(u, error == ENOENT ? "it is not installed" : strerror(error));
	}
	if (in != fd)
		close(in);
	close(output[1]);
	close(messages[1]);
	return u;
}

/* Wait for a process unless that was done. Returns its status. */
static int wait_for_process(pid_t *pid)
{
	int status = *pid != NO_PROCESS ? process_wait(*pid) : 0;

	*pid = NO_PROCESS;
	return status;
}

/* Let the feeder end, which may wait for the input. Returns its exit status, 0 if it was killed. */
static int end_feeder(struct unpacker *u)
{
	int status;

	if (u->feeder != NO_PROCESS)
		kill(u->feeder, SIGTERM);
	status = wait_for_process(&u->feeder);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* The program has closed its output: find out whether it has unpacked everything. */
static void check_end(struct unpacker *u)
{
	char text[4096], *line = text;
	int status, error;
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 &&
	       (n = read(u->messages, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	status = wait_for_process(&u->program);
	error = end_feeder(u);
	line += strspn(line, "\n");
	for (len = strcspn(line, "\n"); len && line[len - 1] == ' '; len--)
		;
	line[len] = '\0';
	if (error)
		set_failure(u, strerror(error));
	else if (*line)
		set_failure(u, line);
	else if (status)
		set_failure(u, "it gives no reason");
}

ssize_t unpack_read(struct unpacker *u, char *buf, size_t len)
{
	ssize_t n = u->program == NO_PROCESS ? 0 : read(u->output, buf, len);
	off_t at = lseek(u->fd, 0, SEEK_CUR);

	if (!n && u->program != NO_PROCESS)
		check_end(u);
	if (at < 0) {
		progress_add_bytes(n > 0 ? n : 0);
	} else {
		progress_add_bytes(at - u->reported);
		u->reported = at;
	}
	return n;
}

const char *unpack_get_failure_reason(const struct unpacker *u)
{
	return u->failure[0] ? u->failure : NULL;
}

void unpack_end(struct unpacker *u)
{
	/* The program may wait for the feeder, or for a reader. */
	close(u->output);
	end_feeder(u);
	wait_for_process(&u->program);
	close(u->messages);
	free(u);
}
