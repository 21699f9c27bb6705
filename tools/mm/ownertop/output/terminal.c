// SPDX-License-Identifier: GPL-2.0
/* Find the width and the colours of the terminal that output is written to. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/terminal.h"

#define DEFAULT_WIDTH 80

struct terminal get_terminal_width_and_colour(FILE *out)
{
	struct terminal term = { 0 };
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;

	if (!isatty(fileno(out)))
		return term;
	term.width = DEFAULT_WIDTH;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		term.width = size.ws_col;
	term.colour = !no_color || !*no_color;
	return term;
}
