// SPDX-License-Identifier: GPL-2.0
/* The views: what each takes, and who writes it. */
#include <string.h>

#include "writer.h"

#define BY_CHAIN_AND_CACHE { { FIELD_STACK, FIELD_CACHE }, 2 }
#define BY_CHAIN_AND_LABELS \
	{ { FIELD_STACK, FIELD_CACHE, FIELD_COMM, FIELD_PID, FIELD_AGE }, 5 }
#define EVERYTHING { { FIELD_KIND, FIELD_CACHE, FIELD_COMM, FIELD_PID, FIELD_TGID, \
		       FIELD_STACK }, 6 }
#define BY_CHAIN { { FIELD_STACK }, 1 }

const struct view views[] = {
	{
		.name = "table",
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.takes = TAKES_TOP | TAKES_LIVE,
		.write = { write_table, write_table_json, write_table_csv },
	},
	{
		.name = "tree",
		.group = BY_CHAIN,
		.least_percent = 1,
		.takes = TAKES_TOP | TAKES_CALLEES | TAKES_MIN,
		.write = { write_tree, write_tree_json },
	},
	{
		.name = "diff",
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.takes = TAKES_TOP,
		.pair = true,
		.write = { write_diff, write_diff_json, write_diff_csv },
	},
	{
		.name = "trend",
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.takes = TAKES_TOP | TAKES_TIME,
		.series = true,
		.write = { write_trend, write_trend_json, write_trend_csv },
	},
	{
		.name = "records",
		.group = EVERYTHING,
		.top = 10,
		.takes = TAKES_TOP,
		.write = { write_records, write_table_json, write_table_csv },
	},
	{
		.name = "folded",
		.group = BY_CHAIN,
		.takes = TAKES_DIFF,
		.write = { write_folded },
	},
	{
		.name = "pprof",
		.group = BY_CHAIN_AND_LABELS,
		.no_terminal = true,
		.write = { write_pprof },
	},
	{
		.name = "flame",
		.group = BY_CHAIN,
		.takes = TAKES_DIFF | TAKES_CALLEES,
		.no_terminal = true,
		.write = { write_flame },
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
