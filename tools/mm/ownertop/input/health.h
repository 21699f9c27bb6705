/* SPDX-License-Identifier: GPL-2.0 */
/* Damage and read errors of the inputs: reported on stderr, and counted for the output. */
#ifndef OWNERTOP_HEALTH_H
#define OWNERTOP_HEALTH_H

#include <stdbool.h>

#include "base/types.h"

/* Number of damaged places of one input that are reported one by one. */
#define HEALTH_MESSAGES_MAX 10

struct input_health {
	u64 damaged;		/* places where one or more records were lost */
	u32 unread;		/* inputs that are empty or were not read to their end */
	u32 missing;		/* inputs that are empty or could not be opened, also in @unread */
	u32 reported;		/* number of messages about the current input */
	u32 suppressed;		/* damaged places of the current input without a message */
	bool quiet;		/* no messages on stderr */
	char first[128];	/* the first message, also if quiet */
};

/* Count and report a damaged place of the current input. */
void health_report_damage(struct input_health *h, const char *input, u64 line,
			  const char *reason);
/* Count and report an input that is empty or cannot be opened. */
void health_report_missing(struct input_health *h, const char *input, const char *reason);
/* Count and report an input that cannot be read to its end. */
void health_report_unread(struct input_health *h, const char *input, const char *reason);
/* Finish the current input: report how many messages about it were suppressed. */
void health_finish_input(struct input_health *h, const char *input);

/* Was every record of every input read? */
bool health_is_complete(const struct input_health *h);

#endif
