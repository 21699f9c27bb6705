// SPDX-License-Identifier: GPL-2.0
/* Messages about damaged inputs. */
#include <stdarg.h>
#include <stdio.h>

#include "input/health.h"
#include "input/progress.h"

#define TELL_AT_MOST 10

static void say(struct health *h, const char *fmt, ...)
{
	va_list args;

	if (!*h->first) {
		va_start(args, fmt);
		vsnprintf(h->first, sizeof(h->first), fmt, args);
		va_end(args);
	}
	if (h->quiet)
		return;
	progress_hide();
	fputs("ownertop: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
}

void health_damage(struct health *h, const char *input, u64 line,
		   const char *reason)
{
	h->damaged++;
	if (h->told == TELL_AT_MOST) {
		h->untold++;
		return;
	}
	h->told++;
	say(h, "%s:%llu: %s; not counted", input, line, reason);
}

void health_unread(struct health *h, const char *input, const char *reason)
{
	h->unread++;
	say(h, "%s: %s", input, reason);
}

void health_input_done(struct health *h, const char *input)
{
	if (h->untold)
		say(h, "%s: %u more damaged places", input, h->untold);
	h->told = 0;
	h->untold = 0;
}

bool health_complete(const struct health *h)
{
	return !h->damaged && !h->unread;
}
