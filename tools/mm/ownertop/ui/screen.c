// SPDX-License-Identifier: GPL-2.0
/* Set up the terminal for live mode, and restore it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ui/screen.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l"	/* alternate screen, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define TOP "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

#define DEFAULT_ROWS 24

/* Time within which the bytes of one key follow each other. */
#define SEQUENCE_MS 50

static struct termios original;
/* Flags that signal handlers set. */
static atomic_bool is_set_up;
static atomic_bool changed;

/*
 * Write all bytes to the terminal. Signal handlers call this, set_up_terminal() and
 * restore_terminal(), so they use no stdio and allocate nothing.
 */
static void write_to_terminal(const char *s, size_t len)
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

static void set_up_terminal(void)
{
	struct termios ours = original;

	ours.c_lflag &= ~(ICANON | ECHO);
	ours.c_cc[VMIN] = 1;
	ours.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &ours);
	write_to_terminal(ENTER, sizeof(ENTER) - 1);
	is_set_up = true;
}

static void restore_terminal(void)
{
	if (!is_set_up)
		return;
	is_set_up = false;
	write_to_terminal(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &original);
}

/* Handle a signal that ends the program: SA_RESETHAND has restored its default action. */
static void handle_ending_signal(int sig)
{
	restore_terminal();
	raise(sig);
}

static void handle_suspend_signal(int sig)
{
	int saved = errno;

	(void)sig;
	restore_terminal();
	raise(SIGSTOP);
	/* After SIGCONT: the shell may have changed the terminal in the meantime. */
	tcgetattr(STDIN_FILENO, &original);
	set_up_terminal();
	changed = true;
	errno = saved;
}

static void handle_resize_signal(int sig)
{
	(void)sig;
	changed = true;
}

static void set_handler(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

bool screen_begin(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t i;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &original))
		return false;
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		set_handler(ends[i], handle_ending_signal, SA_RESETHAND);
	set_handler(SIGTSTP, handle_suspend_signal, SA_RESTART);
	set_handler(SIGWINCH, handle_resize_signal, SA_RESTART);
	atexit(restore_terminal);
	set_up_terminal();
	return true;
}

void screen_end(void)
{
	restore_terminal();
}

size_t screen_count_rows(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		return size.ws_row;
	return DEFAULT_ROWS;
}

/* Draw the lines of @text. One write() for the whole screen avoids flicker. */
void screen_draw_text(struct text_slice text)
{
	size_t rows = screen_count_rows(), row, len;
	char *frame;
	FILE *out = xopen_memstream(&frame, &len);

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
		write_to_terminal(frame, len);
	free(frame);
}

/* Read the rest of the sequence of a key, which follows ESC. */
static int read_key_sequence(void)
{
	static const struct {
		const char *sequence;
		int key;
	} keys[] = {
		{ "[A", SCREEN_UP }, { "[B", SCREEN_DOWN }, { "OA", SCREEN_UP },
		{ "OB", SCREEN_DOWN }, { "[5~", SCREEN_PAGE_UP }, { "[6~", SCREEN_PAGE_DOWN },
		{ "[H", SCREEN_HOME }, { "[F", SCREEN_END }, { "[1~", SCREEN_HOME },
		{ "[4~", SCREEN_END }, { "OH", SCREEN_HOME }, { "OF", SCREEN_END },
	};
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	char sequence[8] = "";
	size_t len = 0, i;

	while (len < sizeof(sequence) - 1 && poll(&keyboard, 1, SEQUENCE_MS) > 0 &&
	       read(STDIN_FILENO, &sequence[len], 1) == 1) {
		char last = sequence[len++];

		if (len > 1 && last != ';' && (last < '0' || last > '9'))
			break;
	}
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(sequence, keys[i].sequence))
			return keys[i].key;
	return len ? SCREEN_CHANGED : SCREEN_ESCAPE;
}

int screen_read_key(int milliseconds)
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
	return key == '\033' ? read_key_sequence() : (unsigned char)key;
}
