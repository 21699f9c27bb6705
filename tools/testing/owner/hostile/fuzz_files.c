// SPDX-License-Identifier: GPL-2.0
/*
 * Use the files of slab_owner and page_owner in debugfs as no program should:
 *
 *   fuzz_files SECONDS SEED SENTENCES
 *
 * Four tasks share their open files. Each writes lines of the file SENTENCES, changed at random,
 * and reads at odd sizes and positions, into memory that may be missing. Meanwhile files are
 * duplicated and closed, signals interrupt the tasks, and children are killed. A task asks for
 * injected faults, which the caller may have set up.
 *
 * Sometimes a task has the rules to itself: if they refuse a text they must stay as they were, and
 * what they print must be accepted. Prints counts; the status is 1 if a rule was wrong.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEBUGFS		"/sys/kernel/debug/"
#define RULES		DEBUGFS "owner/control"
#define TASKS		4
#define SLOTS		24
#define SENTENCES_MAX	4096
/* Above the 64 KiB that one write() of rules can have */
#define TEXT_MAX	70000
#define BUFFER_SIZE	(1 << 20)
#define RULES_SIZE	(1 << 17)
#define ERRORS		136

struct task {
	pthread_t thread;
	uint64_t random;
	bool is_child;
	int rules, faults;	/* open files, -1 if the kernel has no fault injection */
	char *buffer;		/* BUFFER_SIZE bytes that end at a page without memory */
	char text[TEXT_MAX];
	char before[RULES_SIZE], after[RULES_SIZE];
};

/* Children count, too: this is memory that they share. */
static struct counts {
	atomic_long operations, accepted, refused, reads, bytes, killed, checked, rewritten, wrong;
	atomic_long signals, errors[ERRORS];
} *counts;

static char *sentences[SENTENCES_MAX];
static unsigned int nr_sentences;
static glob_t files;
static atomic_int slots[SLOTS];
static atomic_bool stop;
static pthread_barrier_t all_are_open;
/* A task that checks the rules writes alone. */
static pthread_rwlock_t rules_lock = PTHREAD_RWLOCK_INITIALIZER;

static unsigned int draw(struct task *t, unsigned int below)
{
	t->random = t->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (t->random >> 33) % below;
}

/* Half of all sizes are near a power of two, or odd and small. */
static size_t draw_size(struct task *t)
{
	size_t size = 1UL << draw(t, 21);

	if (draw(t, 2))
		size += draw(t, 3) - 1;
	else
		size = draw(t, size + 1);
	return size < BUFFER_SIZE ? size : BUFFER_SIZE;
}

static void count_result(ssize_t result)
{
	if (result < 0 && errno < ERRORS)
		counts->errors[errno]++;
}

/* Open a file for the checks, with a number that no slot has: other tasks close those. */
static int open_own(const char *path)
{
	int fd = open(path, O_RDWR), own = fcntl(fd, F_DUPFD, 100);

	close(fd);
	return own;
}

/* Injected faults are for the files, not for the checks. */
static void ask_for_faults(struct task *t, bool on)
{
	while (write(t->faults, on ? "1" : "0", 1) < 0 && errno == EFAULT)
		;
}

/* --- Texts ------------------------------------------------------------------------- */

/* The first lines, which are right as they are, are taken most often. */
static const char *pick_sentence(struct task *t)
{
	return sentences[draw(t, draw(t, draw(t, draw(t, nr_sentences) + 1) + 1) + 1)];
}

static size_t insert(char *text, size_t length, size_t at, const char *more, size_t size)
{
	if (size > TEXT_MAX - length)
		size = TEXT_MAX - length;
	memmove(text + at + size, text + at, length - at);
	memmove(text + at, more, size);
	return length + size;
}

static size_t change_text(struct task *t, char *text, size_t length)
{
	const char *other = pick_sentence(t);
	size_t at = draw(t, length + 1), size = strlen(other), limit;

	switch (draw(t, 7)) {
	case 0:
		if (at < length)
			text[at] = draw(t, 256);
		return length;
	case 1:
		size = draw(t, length - at + 1);
		memmove(text + at, text + at + size, length - at - size);
		return length - size;
	case 2:
		return insert(text, length, at, other, draw(t, size + 1));
	case 3:
		return insert(text, length, at, ";\n# =~!&&||()\"'," + draw(t, 16), 1);
	case 4:
		length = insert(text, length, length, "\n", 1);
		return insert(text, length, length, other, size);
	case 5:
		limit = draw(t, 16) ? 500 : draw(t, TEXT_MAX);
		while (length && length < limit)
			length = insert(text, length, length, other, size + !size);
		return length;
	default:
		return length;
	}
}

static size_t make_text(struct task *t)
{
	const char *sentence = pick_sentence(t);
	unsigned int changes = draw(t, 3) ? 0 : draw(t, 4);
	size_t length = strlen(sentence);

	if (!draw(t, 16))
		return snprintf(t->text, TEXT_MAX, "%u", draw(t, INT_MAX));
	memcpy(t->text, sentence, length);
	while (changes--)
		length = change_text(t, t->text, length);
	return length;
}

/* --- Rules --------------------------------------------------------------------------- */

static void report_wrong_rules(struct task *t, const char *what, size_t length)
{
	if (counts->wrong++ < 10)
		printf("wrong: %s\nwrong: the text: %.*s\nwrong: before: %s\nwrong: after: %s\n",
		       what, (int)length, t->text, t->before, t->after);
}

/* Read the rules, without the comments that count what each of them does. */
static void read_rules(struct task *t, char *rules)
{
	size_t length = 0;
	ssize_t got;
	char *from, *end, *to = rules;

	while ((got = pread(t->rules, rules + length, RULES_SIZE - 1 - length, length)) > 0)
		length += got;
	if (got < 0)
		report_wrong_rules(t, "the rules cannot be read", 0);
	rules[length] = '\0';
	for (from = rules; (end = strchr(from, '\n')); from = end + 1) {
		size_t size = *from == '#' ? 0 : strcspn(from, "\t\n");

		memmove(to, from, size);
		to += size;
		if (size)
			*to++ = '\n';
	}
	*to = '\0';
}

/* The rules that are printed are accepted, and are printed again. */
static void rewrite_rules(struct task *t)
{
	int length;

	memcpy(t->before, t->after, sizeof(t->before));
	length = snprintf(t->text, TEXT_MAX, "clear\n%s", t->before);
	if (write(t->rules, t->text, length) != length)
		report_wrong_rules(t, "the rules that were printed are refused", length);
	read_rules(t, t->after);
	if (strcmp(t->before, t->after))
		report_wrong_rules(t, "the rules that were printed are others", length);
	counts->rewritten++;
}

static ssize_t write_rules_and_check(struct task *t, int fd, const char *text, size_t length)
{
	ssize_t written;
	int error;

	pthread_rwlock_wrlock(&rules_lock);
	ask_for_faults(t, false);
	read_rules(t, t->before);
	ask_for_faults(t, true);
	written = write(fd, text, length);
	error = errno;
	ask_for_faults(t, false);
	read_rules(t, t->after);
	counts->checked++;
	if (written < 0 && strcmp(t->before, t->after))
		report_wrong_rules(t, "a text that was refused has changed the rules", length);
	else if (written > 0 && !draw(t, 4))
		rewrite_rules(t);
	ask_for_faults(t, true);
	pthread_rwlock_unlock(&rules_lock);
	errno = error;
	return written;
}

/* --- Operations ---------------------------------------------------------------------- */

/* Close the old file of the slot, unless it was closed before, and another slot has the number. */
static void put_in_slot(struct task *t, int fd)
{
	int i = 0;

	count_result(fd);
	if (fd <= 0)
		return;
	fd = atomic_exchange(&slots[draw(t, SLOTS)], fd);
	while (i < SLOTS && slots[i] != fd)
		i++;
	if (fd > 0 && i == SLOTS)
		close(fd);
}

static void open_any(struct task *t, int unused)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY,
				     O_RDWR | O_NONBLOCK, O_RDWR | O_APPEND | O_TRUNC };
	const char *path = files.gl_pathv[draw(t, files.gl_pathc)];

	(void)unused;
	/* Sentences are for two files: open them as often as all others together. */
	if (draw(t, 2))
		path = draw(t, 3) ? DEBUGFS "owner/query" : RULES;
	put_in_slot(t, open(path, modes[draw(t, 8)]));
}

static void duplicate(struct task *t, int fd)
{
	put_in_slot(t, draw(t, 2) ? dup(fd) : dup2(fd, slots[draw(t, SLOTS)]));
}

/* The slot keeps the number, so that closed files are used, too. */
static void close_any(struct task *t, int fd)
{
	(void)t;
	count_result(fd > 2 ? close(fd) : 0);
}

static ssize_t write_without_check(struct task *t, int fd, const char *text, size_t length)
{
	ssize_t written;

	/* The parent has the lock. */
	if (t->is_child)
		return write(fd, text, length);
	pthread_rwlock_rdlock(&rules_lock);
	written = pwrite(fd, text, length, draw(t, 1 << 20));
	if (written < 0 && errno == ESPIPE)
		written = write(fd, text, length);
	pthread_rwlock_unlock(&rules_lock);
	return written;
}

static void write_any(struct task *t, int fd)
{
	size_t length = make_text(t);
	char *text = t->text;
	ssize_t written;

	/* The end of the text, or all of it, has no memory. */
	if (!draw(t, 16)) {
		text = t->buffer + BUFFER_SIZE - draw(t, length + 1);
		memcpy(text, t->text, t->buffer + BUFFER_SIZE - text);
	}
	if (t->is_child || draw(t, 2))
		written = write_without_check(t, fd, text, length);
	else
		written = write_rules_and_check(t, fd, text, length);
	count_result(written);
	*(written < 0 ? &counts->refused : &counts->accepted) += 1;
}

static ssize_t read_somehow(struct task *t, int fd, size_t size)
{
	char *end = t->buffer + BUFFER_SIZE;
	struct iovec pieces[3] = {
		{ t->buffer, size / 3 }, { draw(t, 2) ? NULL : end, size / 3 }, { t->buffer, size },
	};

	switch (draw(t, 16)) {
	case 0:
		return pread(fd, t->buffer, size,
			     draw(t, 64) ? draw(t, 1 << 16) : LLONG_MAX - size);
	case 1:
		return readv(fd, pieces, 3);
	case 2:
		return read(fd, end - draw(t, size + 1), size);
	case 3:
		return sendfile(slots[draw(t, SLOTS)], fd, NULL, size);
	default:
		return read(fd, t->buffer, size);
	}
}

static void read_any(struct task *t, int fd)
{
	unsigned int reads = draw(t, 2) ? 1 : draw(t, 64) + 1;
	ssize_t got;

	do {
		got = read_somehow(t, fd, draw_size(t));
		count_result(got);
		counts->reads++;
		counts->bytes += got > 0 ? got : 0;
	} while (got > 0 && --reads);
}

static void ask(struct task *t, int fd)
{
	write_any(t, fd);
	read_any(t, fd);
}

static void seek(struct task *t, int fd)
{
	static const off_t offsets[] = { -1, 0, 1, 777, 4096, 1LL << 32, LLONG_MAX, LLONG_MIN };

	count_result(lseek(fd, offsets[draw(t, 8)], draw(t, 5)));
}

static void do_odd_thing(struct task *t, int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN | POLLOUT };

	switch (draw(t, 5)) {
	case 0:
		count_result(ioctl(fd, draw(t, INT_MAX), t->buffer));
		break;
	case 1:
		count_result(poll(&polled, 1, 0));
		break;
	case 2:
		count_result(mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
		break;
	case 3:
		count_result(ftruncate(fd, draw(t, 100)));
		break;
	default:
		count_result(fcntl(fd, F_SETFL, draw(t, 2) ? O_NONBLOCK : O_APPEND));
	}
}

static void operate(struct task *t);

/* A child uses files that it has inherited until it is killed. */
static void kill_child(struct task *t, int fd)
{
	pid_t child;

	if (t->is_child || draw(t, 8))
		return;
	/* Nobody checks rules while the child writes some. */
	pthread_rwlock_rdlock(&rules_lock);
	ask_for_faults(t, false);
	child = fork();
	if (!child) {
		t->is_child = true;
		t->random ^= getpid() + fd;
		t->faults = open_own("/proc/thread-self/make-it-fail");
		ask_for_faults(t, true);
		for (;;)
			operate(t);
	}
	usleep(draw(t, 1 << draw(t, 16)));
	if (child > 0)
		kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	counts->killed++;
	ask_for_faults(t, true);
	pthread_rwlock_unlock(&rules_lock);
}

static void operate(struct task *t)
{
	static void (* const operations[])(struct task *t, int fd) = {
		open_any, open_any, open_any, open_any, write_any, write_any, write_any,
		ask, ask, ask, read_any, read_any, read_any, read_any,
		seek, do_odd_thing, duplicate, close_any, kill_child,
	};

	int fd = slots[draw(t, SLOTS)], tries;

	/* Use closed files less often than open ones. */
	for (tries = 0; tries < 4 && fcntl(fd, F_GETFD) < 0; tries++)
		fd = slots[draw(t, SLOTS)];
	counts->operations++;
	operations[draw(t, sizeof(operations) / sizeof(*operations))](t, fd);
}

static void *run_task(void *argument)
{
	struct task *t = argument;

	t->faults = open_own("/proc/thread-self/make-it-fail");
	pthread_barrier_wait(&all_are_open);
	ask_for_faults(t, true);
	while (!stop)
		operate(t);
	ask_for_faults(t, false);
	return NULL;
}

/* --- The program ----------------------------------------------------------------------- */

static void count_signal(int number)
{
	(void)number;
	counts->signals++;
}

static void load_sentences(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	while (file && nr_sentences < SENTENCES_MAX && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		sentences[nr_sentences++] = strdup(line);
	}
	if (!nr_sentences) {
		fprintf(stderr, "%s: not a file of sentences\n", path);
		exit(2);
	}
	fclose(file);
}

static void find_files(void)
{
	static const char * const patterns[] = { "*_owner", "*_owner_stacks/*", "owner/*" };
	char path[100];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s", patterns[i]);
		glob(path, i ? GLOB_APPEND : 0, NULL, &files);
	}
	if (access(RULES, W_OK)) {
		perror(RULES);
		exit(2);
	}
}

static void *map_memory(size_t size, int flags)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return memory;
}

static void start_task(struct task *t, uint64_t seed)
{
	t->random = seed;
	t->rules = open_own(RULES);
	t->buffer = map_memory(BUFFER_SIZE + 4096, MAP_PRIVATE);
	mprotect(t->buffer + BUFFER_SIZE, 4096, PROT_NONE);
	pthread_create(&t->thread, NULL, run_task, t);
}

static time_t read_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Interrupt the tasks, with and without SA_RESTART, until time is over. */
static void interrupt_tasks(struct task *t, struct task *tasks, long seconds)
{
	struct sigaction action = { .sa_handler = count_signal };
	time_t began = read_seconds(), shown = began, now;

	while ((now = read_seconds()) < began + seconds) {
		action.sa_flags = draw(t, 2) ? SA_RESTART : 0;
		sigaction(SIGUSR1, &action, NULL);
		pthread_kill(tasks[draw(t, TASKS)].thread, SIGUSR1);
		usleep(draw(t, 1 << draw(t, 16)));
		if (now >= shown + 10) {
			shown = now;
			printf("after %ld s: %ld operations\n", now - began, counts->operations);
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	static struct task tasks[TASKS], own;
	int i;

	if (argc != 4) {
		fputs("usage: fuzz_files SECONDS SEED SENTENCES\n", stderr);
		return 2;
	}
	counts = map_memory(sizeof(*counts), MAP_SHARED);
	load_sentences(argv[3]);
	find_files();
	own.random = strtoull(argv[2], NULL, 0);
	signal(SIGUSR1, count_signal);
	signal(SIGPIPE, SIG_IGN);
	pthread_barrier_init(&all_are_open, NULL, TASKS);
	for (i = 0; i < TASKS; i++)
		start_task(&tasks[i], own.random + i + 1);
	interrupt_tasks(&own, tasks, atol(argv[1]));
	stop = true;
	for (i = 0; i < TASKS; i++)
		pthread_join(tasks[i].thread, NULL);
	printf("operations %ld\naccepted %ld\nrefused %ld\nreads %ld\nbytes %ld\nsignals %ld\n"
	       "killed %ld\nchecked %ld\nrewritten %ld\nwrong %ld\n", counts->operations,
	       counts->accepted, counts->refused, counts->reads, counts->bytes, counts->signals,
	       counts->killed, counts->checked, counts->rewritten, counts->wrong);
	for (i = 0; i < ERRORS; i++)
		if (counts->errors[i])
			printf("error %s %ld\n", strerrorname_np(i), counts->errors[i]);
	return counts->wrong != 0;
}
