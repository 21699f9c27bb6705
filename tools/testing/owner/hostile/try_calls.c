// SPDX-License-Identifier: GPL-2.0
/*
 * Make system calls that allocate memory, while faults are injected into this task: with owners no
 * call may fail that does not fail without them.
 *
 *   try_calls ROUNDS	prints for each error of a call: its name, the error, and how often
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ERRORS		136

static int try_open(void)
{
	return open("/dev/null", O_RDONLY);
}

static int try_pipe(void)
{
	int ends[2];

	if (pipe(ends))
		return -1;
	close(ends[1]);
	return ends[0];
}

static int try_eventfd(void)
{
	return eventfd(0, 0);
}

static int try_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fd = eventfd(0, 0), error;

	error = epoll < 0 || fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? errno : 0;
	close(fd);
	if (!error)
		return epoll;
	close(epoll);
	errno = error;
	return -1;
}

static int try_timerfd(void)
{
	return timerfd_create(CLOCK_MONOTONIC, 0);
}

static int try_create(void)
{
	int fd = open("/tmp/try_calls", O_CREAT | O_RDWR, 0600);

	if (fd < 0)
		return -1;
	unlink("/tmp/try_calls");
	if (write(fd, "text", 4) == 4)
		return fd;
	close(fd);
	return -1;
}

static int try_mkdir(void)
{
	/* The last time, it may have failed to remove it. */
	rmdir("/tmp/try_calls.d");
	return mkdir("/tmp/try_calls.d", 0700);
}

static int try_mmap(void)
{
	void *memory = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? -1 : munmap(memory, 1 << 16);
}

static int try_stat(void)
{
	struct stat status;
	char path[40];

	/* A name that has no dentry yet */
	snprintf(path, sizeof(path), "/proc/%u", rand());
	return stat(path, &status) && errno != ENOENT ? -1 : 0;
}

static int try_maps(void)
{
	char text[4096];
	int fd = open("/proc/self/maps", O_RDONLY), error;

	if (fd < 0)
		return -1;
	error = read(fd, text, sizeof(text)) < 0 ? errno : 0;
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{ "open", try_open }, { "pipe", try_pipe }, { "eventfd", try_eventfd },
	{ "epoll", try_epoll }, { "timerfd", try_timerfd }, { "create", try_create },
	{ "mkdir", try_mkdir }, { "mmap", try_mmap }, { "stat", try_stat }, { "maps", try_maps },
};

#define CALLS	(sizeof(calls) / sizeof(calls[0]))

static void ask_for_faults(void)
{
	int fd = open("/proc/self/make-it-fail", O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1) {
		perror("/proc/self/make-it-fail");
		exit(2);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static long errors[CALLS][ERRORS];
	long round = argc == 2 ? atol(argv[1]) : 0;
	unsigned int i, error;
	int result;

	if (!round) {
		fputs("usage: try_calls ROUNDS\n", stderr);
		return 2;
	}
	ask_for_faults();
	while (round--) {
		for (i = 0; i < CALLS; i++) {
			result = calls[i].call();
			if (result > 0)
				close(result);
			errors[i][result < 0 ? errno : 0]++;
		}
	}
	for (i = 0; i < CALLS; i++)
		for (error = 0; error < ERRORS; error++)
			if (errors[i][error])
				printf("%s %s %ld\n", calls[i].name, strerrorname_np(error),
				       errors[i][error]);
	return 0;
}
