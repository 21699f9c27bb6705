// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command in a guest that counts instructions, and print how many it took, and how often
 * the CPU switched to another task.
 *
 *	count_load COMMAND
 *
 * The guest's TSC advances by one for each instruction, and while the CPU is idle it jumps to
 * the next timer. So subtract the idle time, which the kernel knows to the nanosecond. The
 * guest has one CPU; all that runs on it is counted, kernel threads and interrupts as well.
 * The plugin cache_misses.c counts between the marks.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "../modules/owner_marks.h"

struct moment {
	uint64_t instructions;
	uint64_t nanoseconds;
	uint64_t idle;
	uint64_t switches;
};

/* The kernel counts idle time while a task waits for a disk separately. */
static uint64_t read_idle_nanoseconds(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	unsigned long long value, idle = 0;
	int found = 0;
	char line[256];

	while (file && found < 2 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " .idle_sleeptime : %llu", &value) == 1 ||
		    sscanf(line, " .iowait_sleeptime: %llu", &value) == 1) {
			idle += value;
			found++;
		}
	}
	if (found < 2) {
		fprintf(stderr, "count_load: /proc/timer_list has no idle time\n");
		exit(1);
	}
	fclose(file);
	return idle;
}

static uint64_t read_switches(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long switches = 0;
	bool found = false;
	char line[4096];

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "ctxt %llu", &switches) == 1;
	if (!found) {
		fprintf(stderr, "count_load: /proc/stat has no context switches\n");
		exit(1);
	}
	fclose(file);
	return switches;
}

static struct moment read_moment(void)
{
	struct moment now = { .idle = read_idle_nanoseconds(), .switches = read_switches() };
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now.nanoseconds = time.tv_sec * 1000000000ULL + time.tv_nsec;
	now.instructions = __rdtsc();
	return now;
}

int main(int argc, char **argv)
{
	struct moment began, ended;
	double per_nanosecond;
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: %s COMMAND\n", argv[0]);
		return 2;
	}
	began = read_moment();
	mark_begin();
	status = system(argv[1]);
	mark_end();
	ended = read_moment();
	if (status) {
		fprintf(stderr, "count_load: '%s' ended with status %d\n", argv[1], status);
		return 1;
	}
	mark_report();
	/* The kernel calibrates the TSC, so a nanosecond is one instruction only nearly. */
	per_nanosecond = (double)(ended.instructions - began.instructions) /
			 (ended.nanoseconds - began.nanoseconds);
	printf("%.0f %llu\n", ended.instructions - began.instructions -
			      (ended.idle - began.idle) * per_nanosecond,
	       (unsigned long long)(ended.switches - began.switches));
	return 0;
}
