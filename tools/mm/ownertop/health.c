// SPDX-License-Identifier: GPL-2.0
/* Messages about damaged inputs. */
#include <stdio.h>

#include "health.h"

#define TELL_AT_MOST 10

void health_damage(struct health *h, const char *input, u64 line,
		   const char *reason)
{
	h->damaged++;
	if (h->told == TELL_AT_MOST) {
		h->untold++;
		return;
	}
	h->told++;
	fprintf(stderr, "ownertop: %s:%llu: %s; not counted\n", input, line,
		reason);
}

void health_unread(struct health *h, const char *input, const char *reason)
{
	h->unread++;
	fprintf(stderr, "ownertop: %s: %s\n", input, reason);
}

void health_input_done(struct health *h, const char *input)
{
	if (h->untold)
		fprintf(stderr, "ownertop: %s: %u more damaged places\n",
			input, h->untold);
	h->told = 0;
	h->untold = 0;
}

bool health_complete(const struct health *h)
{
	return !h->damaged && !h->unread;
}
