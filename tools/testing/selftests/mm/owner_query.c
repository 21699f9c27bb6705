// SPDX-License-Identifier: GPL-2.0
/*
 * The file owner/query: a sentence is written, and its answer read from the same open file.
 *
 * The test opens pipes and asks for the files that they consist of, which are its own by their
 * pid. Errors, odd sizes and other open files may not change what is answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kselftest.h"

#define DIRECTORY	"/sys/kernel/debug/owner"
#define QUERY		DIRECTORY "/query"
#define PIPES		200
#define ANSWER_SIZE	0x100000
/* Bytes of one write() */
#define LIMIT		4096

static int pipes[PIPES][2];
static char answer[ANSWER_SIZE];

static int open_query(void)
{
	int fd = open(QUERY, O_RDWR);

	if (fd < 0)
		ksft_exit_fail_perror("open " QUERY);
	return fd;
}

/* Returns 0 or the error. */
static int write_sentence(int fd, const char *sentence)
{
	size_t length = strlen(sentence);

	return write(fd, sentence, length) == (ssize_t)length ? 0 : errno;
}

/* Reads up to the end, @step bytes at a time, and returns the answer. */
static const char *read_answer(int fd, size_t step)
{
	size_t length = 0;
	ssize_t got;

	while (length + step < sizeof(answer) && (got = read(fd, answer + length, step)) > 0)
		length += got;
	answer[length] = '\0';
	return answer;
}

static const char *ask(int fd, const char *sentence)
{
	answer[0] = '\0';
	return write_sentence(fd, sentence) ? answer : read_answer(fd, sizeof(answer) / 2);
}

static const char *find_line(const char *text, const char *beginning)
{
	size_t length = strlen(beginning);

	while (text && strncmp(text, beginning, length)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* Objects in the row "total" of an answer with format=tsv, -1 if there is no such row */
static long find_total(const char *text)
{
	const char *row = find_line(text, "total\t");
	long groups, objects;

	return row && sscanf(row, "total\t%ld\t%ld", &groups, &objects) == 2 ? objects : -1;
}

static long count_rows(const char *text, const char *beginning)
{
	long rows = 0;

	for (text = find_line(text, beginning); text; text = find_line(text + 1, beginning))
		rows++;
	return rows;
}

/* Objects that this process has allocated and that are held */
static long count_own_files(int fd, const char *settings)
{
	char sentence[200];

	snprintf(sentence, sizeof(sentence), "%s format=tsv if pid == %d && cache == filp",
		 settings, getpid());
	return find_total(ask(fd, sentence));
}

static bool open_pipes(void)
{
	struct rlimit limit = { .rlim_cur = 3 * PIPES, .rlim_max = 3 * PIPES };
	int i;

	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < PIPES; i++) {
		if (pipe(pipes[i]))
			return false;
	}
	return true;
}

static void close_pipes(void)
{
	int i;

	for (i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

/* The second line of an error is the sentence, the third has ^~~~ below the wrong word. */
static bool caret_is_below(const char *error, const char *word)
{
	const char *sentence = strchr(error, '\n');
	const char *caret = sentence ? strchr(sentence + 1, '\n') : NULL;
	const char *found = sentence ? strstr(sentence, word) : NULL;
	size_t column;

	if (!caret || !found || found > caret)
		return false;
	column = found - sentence - 1;
	caret++;
	return strspn(caret, " ") == column && caret[column] == '^' &&
	       strspn(caret + column + 1, "~") == strlen(word) - 1;
}

/* Rules may leave out or sample the files of this task. */
static bool counts_are_exact(int fd)
{
	long before = count_own_files(fd, "group=kind");
	long after;
	int copy[2];

	if (pipe(copy))
		return false;
	after = count_own_files(fd, "group=kind");
	close(copy[0]);
	close(copy[1]);
	return after - before == 2;
}

static void check_pipes(long files, const char *name)
{
	if (files != 2 * PIPES)
		ksft_print_msg("%d pipes have %ld files\n", PIPES, files);
	ksft_test_result(files == 2 * PIPES, "%s\n", name);
}

static void test_counts(int fd)
{
	long before = count_own_files(fd, "group=kind");
	int tries;

	ksft_test_result(open_pipes(), "pipes are opened\n");
	check_pipes(count_own_files(fd, "group=kind") - before, "their files are counted");
	check_pipes(count_own_files(fd, "group=stack.4") - before, "... in groups of call chains");
	count_own_files(fd, "");
	check_pipes(count_rows(answer, "object\t") - before, "... and are listed");
	close_pipes();
	/* The kernel frees the files of a task when it returns to user space, or later. */
	for (tries = 0; tries < 100 && count_own_files(fd, "group=kind") != before; tries++)
		usleep(100000);
	ksft_test_result(count_own_files(fd, "group=kind") == before,
			 "... until they are closed\n");
}

/* An error, which is the same text each time, and an answer, whose rows add up to its total */
static void test_sizes(int fd)
{
	static const size_t steps[] = { 1, 2, 3, 7, 63, 64, 65, 4095, 4097, 65536 };
	char sentence[200], error[1000];
	long sum, objects;
	const char *row;
	bool right = true;
	unsigned int i;

	snprintf(sentence, sizeof(sentence), "group=cachr if comm == %0150d", 0);
	write_sentence(fd, sentence);
	snprintf(error, sizeof(error), "%s", read_answer(fd, sizeof(answer) / 2));
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (write_sentence(fd, sentence) != EINVAL ||
		    strcmp(read_answer(fd, steps[i]), error))
			break;
	}
	ksft_test_result(i == ARRAY_SIZE(steps), "an error is complete at any size of reads\n");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (write_sentence(fd, "group=cache format=tsv if kind == slab"))
			break;
		read_answer(fd, steps[i]);
		sum = 0;
		for (row = find_line(answer, "group\t"); row; row = find_line(row + 1, "group\t"))
			sum += sscanf(row, "group\t%*d\t%ld", &objects) == 1 ? objects : 0;
		if (sum <= 0 || sum != find_total(answer)) {
			ksft_print_msg("%zu bytes at a time: rows have %ld, the total %ld\n",
				       steps[i], sum, find_total(answer));
			right = false;
		}
	}
	ksft_test_result(right && i == ARRAY_SIZE(steps),
			 "... and so is an answer\n");
	ksft_test_result(read(fd, answer, sizeof(answer)) == 0, "... which has an end\n");
}

static void test_errors(int fd)
{
	char *nowhere = mmap(NULL, LIMIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char sentence[LIMIT + 2];

	ksft_test_result(write_sentence(fd, "group=cachr") == EINVAL, "a wrong word is refused\n");
	read_answer(fd, 100);
	ksft_test_result(strstr(answer, "cachr") && caret_is_below(answer, "cachr"),
			 "... with a caret below it\n");
	ksft_test_result(write_sentence(fd, "group=kind if cache == a &&") == EINVAL,
			 "half a sentence is refused\n");
	ksft_test_result(read_answer(fd, 100)[0], "... with a reason\n");
	memset(sentence, 'x', sizeof(sentence));
	sentence[LIMIT + 1] = '\0';
	ksft_test_result(write_sentence(fd, sentence) != 0, "%d bytes are refused\n", LIMIT + 1);
	ksft_test_result(write(fd, nowhere, 10) < 0 && errno == EFAULT,
			 "a sentence that cannot be read is refused\n");
	write_sentence(fd, "group=kind format=tsv if kind == slab");
	ksft_test_result(read(fd, nowhere, 10) < 0 && errno == EFAULT,
			 "... and a buffer that cannot be written\n");
	ksft_test_result(find_total(ask(fd, "group=kind format=tsv if kind == slab")) > 0,
			 "afterwards a right sentence is answered\n");
}

static void test_open_files(int fd)
{
	int other = open_query(), copy;

	ksft_test_result(read_answer(other, 100)[0] == '#', "who has not asked is told how\n");
	write_sentence(fd, "group=cache format=tsv if cache == filp");
	write_sentence(other, "group=cache format=tsv if cache == dentry");
	read_answer(fd, 100);
	ksft_test_result(strstr(answer, "\tfilp\n") && !strstr(answer, "\tdentry\n"),
			 "each open file has its own answer\n");
	copy = dup(other);
	close(other);
	read_answer(copy, 100);
	ksft_test_result(strstr(answer, "\tdentry\n") && !strstr(answer, "\tfilp\n"),
			 "... which a duplicate shares\n");
	close(copy);
}

/* Chains are counted for all tasks together, which may open or close pipes at the same time. */
static void test_growth(int fd)
{
	static const char since[] = "group=func format=tsv since=mark if func ~ alloc_pipe*";
	bool grown = false, back = false;
	int tries;

	ksft_test_result(write_sentence(fd, since) == EINVAL,
			 "without a mark there is no growth\n");
	for (tries = 0; tries < 10 && !(grown && back); tries++) {
		write_sentence(fd, "mark");
		open_pipes();
		grown = find_total(ask(fd, since)) >= PIPES;
		close_pipes();
		usleep(100000 << tries / 2);
		back = find_total(ask(fd, since)) == 0;
	}
	ksft_test_result(grown, "since a mark pipes have grown\n");
	ksft_test_result(back, "... until they are closed\n");
}

int main(void)
{
	struct stat status;
	int fd;

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	if (stat("/sys/kernel/debug/slab_owner", &status))
		ksft_exit_skip("no slab_owner, or it is off: boot with slab_owner=on\n");
	if (stat(QUERY, &status))
		ksft_exit_skip("this kernel has no queries: they need CONFIG_SLAB_OWNER_RULES\n");
	fd = open_query();
	if (!counts_are_exact(fd))
		ksft_exit_skip("rules leave out or sample the files of this test\n");
	ksft_set_plan(23);
	ksft_test_result((status.st_mode & 07777) == 0600, "only root can ask\n");
	test_counts(fd);
	test_sizes(fd);
	test_errors(fd);
	test_open_files(fd);
	test_growth(fd);
	close(fd);
	ksft_finished();
}
