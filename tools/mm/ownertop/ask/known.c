// SPDX-License-Identifier: GPL-2.0
/* Values that may be unknown. */
#include "ask/known.h"
#include "input/record.h"

void print_ts(u64 ts, const char *unknown, FILE *out)
{
	if (ts == TS_UNKNOWN)
		fputs(unknown, out);
	else
		fprintf(out, "%llu", ts);
}
