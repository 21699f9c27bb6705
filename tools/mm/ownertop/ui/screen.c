// SPDX-License-Identifier: GPL-2.0
/* Taking the terminal and giving it back. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "ui/screen.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l"	/* our screen, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define TOP "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

#define USUAL_ROWS 24

static struct termios before;
/* Handlers write to these. */
static atomic_bool taken;
static atomic_bool changed;

/* What follows up to the handlers is called by them: no stdio, no allocation. */
static void put(const char *s, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, s, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			s += n;
			len -= n;
		}
	}
}

static void take(void)
{
	struct termios ours = before;

	ours.c_lflag &= ~(ICANON | ECHO);
	ours.c_cc[VMIN] = 1;
	ours.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &ours);
	put(ENTER, sizeof(ENTER) - 1);
	taken = true;
}

static void give_back(void)
{
	if (!taken)
		return;
	taken = false;
	put(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* SA_RESETHAND has put the default back, which ends the program. */
static void end_by(int sig)
{
	give_back();
	raise(sig);
}

static void stop(int sig)
{
	int saved = errno;

	(void)sig;
	give_back();
	raise(SIGSTOP);
	/* Continued; the shell may have changed the terminal meanwhile. */
	tcgetattr(STDIN_FILENO, &before);
	take();
	changed = true;
	errno = saved;
}

static void resize(int sig)
{
	(void)sig;
	changed = true;
}

static void catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

bool screen_begin(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t i;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return false;
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		catch(ends[i], end_by, SA_RESETHAND);
	catch(SIGTSTP, stop, SA_RESTART);
	catch(SIGWINCH, resize, SA_RESTART);
	atexit(give_back);
	take();
	return true;
}

void screen_end(void)
{
	give_back();
}

size_t screen_rows(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		return size.ws_row;
	return USUAL_ROWS;
}

/* In one write, so that no half-drawn screen is seen. */
void screen_show(struct text text)
{
	size_t rows = screen_rows(), row, len;
	char *frame;
	FILE *out = open_memstream(&frame, &len);

	if (!out)
		return;
	fputs(TOP, out);
	for (row = 0; row < rows && text.len; row++) {
		const char *nl = memchr(text.s, '\n', text.len);
		size_t line = nl ? (size_t)(nl - text.s) : text.len;

		fprintf(out, "%s%.*s" CLEAR_LINE, row ? "\r\n" : "", (int)line, text.s);
		line += !!nl;
		text.s += line;
		text.len -= line;
	}
	fputs(CLEAR_BELOW, out);
	if (!fclose(out))
		put(frame, len);
	free(frame);
}

int screen_key(int milliseconds)
{
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	int n = 0;
	char key;

	if (!changed)
		n = poll(&keyboard, 1, milliseconds);
	if (changed) {
		changed = false;
		return SCREEN_CHANGED;
	}
	if (n < 0 && errno == EINTR)
		return SCREEN_CHANGED;
	if (!n)
		return SCREEN_TIMEOUT;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return SCREEN_GONE;
	return (unsigned char)key;
}
