// SPDX-License-Identifier: GPL-2.0
/* Write the figures of a sum in short forms, for text that people read. */
#include <stdio.h>

#include "output/figure.h"

const char *figure_to_text(char buf[HUMAN_LEN], u64 v, enum measure measure)
{
	if (measure != MEASURE_OBJECTS)
		return human_format_bytes(buf, v);
	snprintf(buf, HUMAN_LEN, "%llu", v);
	return buf;
}

const char *figure_error_to_text(char buf[HUMAN_LEN], const struct sum *sum, enum measure measure)
{
	if (!sum_is_estimate(sum))
		return "-";
	return figure_to_text(buf, measure == MEASURE_OBJECTS ? sum_objects_error(sum) :
							sum_bytes_error(sum), measure);
}

const char *figure_error_head(enum measure measure)
{
	return measure == MEASURE_OBJECTS ? "+-OBJECTS" : "+-BYTES";
}

const char *figure_change_to_text(char buf[HUMAN_LEN], struct change c, enum measure measure)
{
	char figure[HUMAN_LEN];

	snprintf(buf, HUMAN_LEN, "%s%.22s", change_get_sign(c),
		 figure_to_text(figure, c.by, measure));
	return buf;
}
