// SPDX-License-Identifier: GPL-2.0
/* "ownertop record": write snapshots of the kernel's files, once or at intervals. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask/sentence.h"
#include "ask/usage.h"
#include "base/exit_status.h"
#include "record/record.h"
#include "snapshots/snapshot.h"

#define DEFAULT_KEEP 24
#define NS_PER_SECOND 1000000000ULL

static const char help[] =
"Usage: ownertop record [-i TIME] [-n N] [--max-bytes SIZE] DIR\n"
"Writes slab_owner, page_owner, kallsyms, slabinfo and meminfo of this machine\n"
"to DIR/<UTC time>/, compressed. 'ownertop diff DIR' and 'trend DIR' read them.\n"
"  -i, --interval TIME    repeat, as 10m, until a signal ends it\n"
"  -n, --keep N           snapshots to keep; default 24\n"
"  --max-bytes SIZE       limit of all snapshots together, as 2G\n"
"  --root PATH            read PATH/proc and PATH/sys instead of /proc and /sys\n"
"Exit status: 0 a snapshot was written, 2 none was.\n";

/* Set by signals that end the command: the snapshot that is being written is removed. */
static atomic_bool stop;

static void handle_ending_signal(int sig)
{
	(void)sig;
	stop = true;
}

static void catch_ending_signals(void)
{
	/* Without SA_RESTART, so that a signal interrupts sleeping and reading. */
	struct sigaction action = { .sa_handler = handle_ending_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* Returns the interval in ns, 0 without one. Ends the program if the command line is wrong. */
static u64 parse_record_options(struct snapshot_options *o, int argc, char *argv[])
{
	enum { MAX_BYTES = 256, ROOT };
	static const struct option names[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "keep", required_argument, NULL, 'n' },
		{ "max-bytes", required_argument, NULL, MAX_BYTES },
		{ "root", required_argument, NULL, ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	u64 interval = 0;
	int opt;

	while ((opt = getopt_long(argc, argv, "i:n:h", names, NULL)) != -1) {
		switch (opt) {
		case 'i':
			interval = sentence_parse_time("--interval", optarg);
			if (interval < NS_PER_SECOND)
				usage_refuse_value("--interval", optarg, "is less than a second");
			break;
		case 'n':
			o->keep = usage_parse_count("--keep", optarg);
			if (!o->keep)
				usage_refuse_value("--keep", optarg, "would keep no snapshot");
			break;
		case MAX_BYTES:
			o->max_bytes = sentence_parse_size("--max-bytes", optarg);
			break;
		case ROOT:
			o->root = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(STATUS_COMPLETE);
		default:
			fputs("Try 'ownertop record --help'.\n", stderr);
			exit(STATUS_FAILED);
		}
	}
	if (argc - optind != 1) {
		fputs("ownertop: record takes one DIR. Try 'ownertop record --help'.\n", stderr);
		exit(STATUS_FAILED);
	}
	o->dir = argv[optind];
	return interval;
}

/* Open and lock the directory: only one command at a time may write to it. */
static bool open_store(struct snapshot_options *o)
{
	if (mkdir(o->dir, 0700) && errno != EEXIST) {
		fprintf(stderr, "ownertop: record: %s: %s\n", o->dir, strerror(errno));
		return false;
	}
	o->dir_fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->dir_fd < 0 || flock(o->dir_fd, LOCK_EX | LOCK_NB)) {
		fprintf(stderr, "ownertop: record: %s: %s\n", o->dir,
			errno == EWOULDBLOCK ? "another ownertop record writes to it" :
					       strerror(errno));
		return false;
	}
	return true;
}

static u64 read_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

static void sleep_until(u64 due)
{
	struct timespec ts = { .tv_sec = due / NS_PER_SECOND, .tv_nsec = due % NS_PER_SECOND };

	while (!stop && clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

int record_main(int argc, char *argv[])
{
	struct snapshot_options o = {
		.root = "", .keep = DEFAULT_KEEP, .max_bytes = U64_MAX, .stop = &stop,
	};
	u64 interval = parse_record_options(&o, argc, argv), due = read_clock_ns();
	bool written;

	if (!open_store(&o))
		return STATUS_FAILED;
	catch_ending_signals();
	for (;;) {
		written = snapshot_write(&o);
		if (!interval || stop)
			break;
		/* After a snapshot that took long, or a suspended machine, skip what is past. */
		due += ((read_clock_ns() - due) / interval + 1) * interval;
		sleep_until(due);
		if (stop)
			break;
	}
	close(o.dir_fd);
	return written ? STATUS_COMPLETE : STATUS_FAILED;
}
