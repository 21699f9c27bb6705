// SPDX-License-Identifier: GPL-2.0
/*
 * Ask the file owner/query, or open another file, in ways that a shell cannot:
 *
 * owner_ask timer SENTENCE	read the answer while a timer interrupts it, four times in the
 *				time that the answer takes without it
 * owner_ask fault SENTENCE	let the first read() fail, then print the answer
 * owner_ask open FILE		open the file, which collects its text then, while a timer
 *				interrupts that
 * owner_ask read FILE		read the file, which looks for one record after the other, while a
 *				timer interrupts that
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define QUERY	"/sys/kernel/debug/owner/query"

/* More signals than this are not for one answer: it begins again after each. */
#define SIGNALS_MAX	200

static sig_atomic_t signals;
static char answer[1 << 20];

static void count_signal(int number)
{
	static const char failed[] = "no answer after 200 signals\n";

	(void)number;
	if (++signals < SIGNALS_MAX)
		return;
	if (write(STDOUT_FILENO, failed, sizeof(failed) - 1) < 0)
		_exit(2);
	_exit(1);
}

static int write_sentence(const char *sentence)
{
	int fd = open(QUERY, O_RDWR);

	if (fd < 0 || write(fd, sentence, strlen(sentence)) < 0) {
		perror(QUERY);
		_exit(2);
	}
	return fd;
}

static size_t read_answer(int fd)
{
	size_t used = 0;
	ssize_t got;

	while ((got = read(fd, answer + used, sizeof(answer) - used)) > 0)
		used += got;
	if (got < 0) {
		perror("read");
		_exit(1);
	}
	close(fd);
	return used;
}

static void ask_once(const char *sentence)
{
	read_answer(write_sentence(sentence));
}

static int open_file(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0) {
		perror(file);
		_exit(1);
	}
	return fd;
}

static void open_once(const char *file)
{
	close(open_file(file));
}

static void read_once(const char *file)
{
	read_answer(open_file(file));
}

/* The least time of several answers, in microseconds. */
static long measure_answer(void (*ask)(const char *), const char *what)
{
	struct timespec begin, end;
	long took, least = LONG_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		ask(what);
		clock_gettime(CLOCK_MONOTONIC, &end);
		took = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;
		if (took < least)
			least = took;
	}
	return least;
}

/* Let SIGALRM interrupt system calls, which are restarted. */
static void start_timer(long interval)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	struct itimerval timer = { { interval / 1000000, interval % 1000000 },
				   { interval / 1000000, interval % 1000000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void ask_with_timer(const char *sentence)
{
	long interval = measure_answer(ask_once, sentence) / 4;
	int fd = write_sentence(sentence);

	start_timer(interval);
	read_answer(fd);
	printf("interval %ld us\nanswered after %s\n", interval,
	       signals > 1 ? "several signals" : "too few signals");
}

/* Signals that arrive during one system call are one signal at its end. */
static void open_with_timer(const char *file)
{
	start_timer(measure_answer(open_once, file) / 4);
	open_once(file);
	puts(signals ? "opened after a signal" : "no signal");
}

/* The records must be those that a read without a timer finds. A read() can find them all. */
static void read_with_timer(const char *file)
{
	long interval = measure_answer(read_once, file) / 4;
	size_t expected = read_answer(open_file(file));
	int fd = open_file(file);
	size_t got;

	start_timer(interval);
	got = read_answer(fd);
	printf("%zu of %zu bytes after %s\n", got, expected, signals ? "a signal" : "no signal");
}

static void ask_with_fault(const char *sentence)
{
	void *nowhere = mmap(NULL, sizeof(answer), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = write_sentence(sentence);

	if (read(fd, nowhere, sizeof(answer)) >= 0 || errno != EFAULT) {
		puts("no fault");
		_exit(1);
	}
	fwrite(answer, 1, read_answer(fd), stdout);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "timer")) {
		ask_with_timer(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "fault")) {
		ask_with_fault(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "open")) {
		open_with_timer(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "read")) {
		read_with_timer(argv[2]);
	} else {
		fputs("usage: owner_ask timer|fault SENTENCE, owner_ask open|read FILE\n", stderr);
		return 2;
	}
	return 0;
}
