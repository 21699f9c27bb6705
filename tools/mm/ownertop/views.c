// SPDX-License-Identifier: GPL-2.0
/* The views: what each takes, and who writes it. */
#include <string.h>

#include "writer.h"

#define BY_CHAIN_AND_CACHE { { FIELD_STACK, FIELD_CACHE }, 2 }

const struct view views[] = {
	{
		.name = "table",
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.takes = TAKES_TOP | TAKES_LIVE,
		.write = { write_table, write_table_json, write_table_csv },
	},
};

const unsigned int nr_views = sizeof(views) / sizeof(*views);

const struct view *view_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_views; i++)
		if (!strcmp(name, views[i].name))
			return &views[i];
	return NULL;
}
