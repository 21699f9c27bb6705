// SPDX-License-Identifier: GPL-2.0
/*
 * Show output that is longer than the terminal in $PAGER, as git does. The output is kept until
 * it exceeds the screen; then the pager is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ui/pager.h"

#define DEFAULT_PAGER "less"

static struct pager {
	const char *command;
	size_t rows;		/* lines that the terminal has room for */
	size_t lines;		/* lines in @text */
	char *text;
	size_t len;
	pid_t pid;		/* the pager, or 0 */
	int fd;			/* pipe to the pager, or standard output */
	bool kept;		/* all output is still in @text */
} pager;

/* Returns the pager that the environment names, or NULL if it asks for none. */
static const char *find_pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return DEFAULT_PAGER;
	return *command && strcmp(command, "cat") ? command : NULL;
}

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		len -= n;
	}
	return true;
}

static void run_pager(int pipe_end)
{
	dup2(pipe_end, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager.command, NULL);
	_exit(127);
}

/* Start the pager. If that is impossible, the output is written to the terminal. */
static void start_pager(void)
{
	int ends[2];

	pager.kept = false;
	if (pipe2(ends, O_CLOEXEC))
		return;
	pager.pid = fork();
	if (!pager.pid)
		run_pager(ends[0]);
	close(ends[0]);
	if (pager.pid < 0) {
		close(ends[1]);
		pager.pid = 0;
		return;
	}
	pager.fd = ends[1];
	/* The pager handles interrupts from the keyboard, and this program waits for it. */
	signal(SIGINT, SIG_IGN);
	/* Output that the user does not read to its end is no error. */
	signal(SIGPIPE, SIG_IGN);
}

static void keep_text(const char *text, size_t len)
{
	size_t i;

	pager.text = xrealloc(pager.text, pager.len + len);
	memcpy(pager.text + pager.len, text, len);
	pager.len += len;
	for (i = 0; i < len; i++)
		pager.lines += text[i] == '\n';
}

static ssize_t write_to_pager(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	if (!pager.kept)
		return write_all(pager.fd, text, len) ? (ssize_t)len : 0;
	keep_text(text, len);
	if (pager.lines < pager.rows)
		return len;
	start_pager();
	return write_all(pager.fd, pager.text, pager.len) ? (ssize_t)len : 0;
}

FILE *pager_open(struct terminal term)
{
	const cookie_io_functions_t functions = { .write = write_to_pager };
	FILE *out;

	pager = (struct pager){
		.command = find_pager_command(),
		.rows = term.rows,
		.fd = STDOUT_FILENO,
		.kept = true,
	};
	if (!term.rows || !pager.command)
		return stdout;
	out = fopencookie(NULL, "w", functions);
	if (!out)
		exit_out_of_memory();
	return out;
}

void pager_close(FILE *out)
{
	if (out == stdout)
		return;
	fclose(out);
	if (pager.kept)
		write_all(STDOUT_FILENO, pager.text, pager.len);
	free(pager.text);
	if (!pager.pid)
		return;
	close(pager.fd);
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
}
