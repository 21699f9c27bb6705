// SPDX-License-Identifier: GPL-2.0
/* Count and report damaged and unreadable places of inputs. */
#include <stdarg.h>
#include <stdio.h>

#include "input/health.h"
#include "input/progress.h"

static void print_or_keep_message(struct input_health *h, const char *fmt, ...)
{
	va_list args;

	if (!*h->first) {
		va_start(args, fmt);
		vsnprintf(h->first, sizeof(h->first), fmt, args);
		va_end(args);
	}
	if (h->quiet)
		return;
	progress_erase_line();
	fputs("ownertop: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
}

void health_report_damage(struct input_health *h, const char *input, u64 line,
			  const char *reason)
{
	h->damaged++;
	if (h->reported == HEALTH_MESSAGES_MAX) {
		h->suppressed++;
		return;
	}
	h->reported++;
	print_or_keep_message(h, "%s:%llu: %s; not counted", input, line, reason);
}

void health_report_missing(struct input_health *h, const char *input, const char *reason)
{
	h->missing++;
	health_report_unread(h, input, reason);
}

void health_report_unread(struct input_health *h, const char *input, const char *reason)
{
	h->unread++;
	print_or_keep_message(h, "%s: %s", input, reason);
}

void health_finish_input(struct input_health *h, const char *input)
{
	if (h->suppressed)
		print_or_keep_message(h, "%s: %u more damaged places", input, h->suppressed);
	h->reported = 0;
	h->suppressed = 0;
}

bool health_is_complete(const struct input_health *h)
{
	return !h->damaged && !h->unread;
}
