// SPDX-License-Identifier: GPL-2.0
/*
 * The list of ownertop's views (table, tree, flame, ...): default options, and a writer for
 * each output format.
 */
#include <string.h>

#include "ask/views.h"

#define BY(name) { .field = OWNER_FIELD_##name }

#define BY_CHAIN { { BY(STACK) }, 1 }
/* The user chain comes first: its frames call those of the call chain. */
#define BY_BOTH_CHAINS { { BY(USER), BY(STACK) }, 2 }
#define BY_CHAIN_AND_CACHE { { BY(STACK), BY(CACHE) }, 2 }
#define BY_CHAINS_AND_CACHE { { BY(STACK), BY(CACHE), BY(USER) }, 3 }

const struct view views[] = {
	{
		.name = "table",
		.rows = true,
		.summary = true,
		.group = BY_CHAIN_AND_CACHE,
		.live_group = BY_CHAIN,
		.depth = 4,
		.top = 10,
		.ages = true,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_ORDER | TAKES_MODE | TAKES_LIVE |
			 TAKES_BY | TAKES_CHECK | TAKES_CHOICE,
		.write = { write_table, write_table_json, write_table_csv, write_tsv },
	},
	{
		.name = "functions",
		.rows = true,
		.fixed_groups = true,
		.by_function = true,
		.group = BY_CHAIN,
		.top = 20,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_CALLERS,
		.write = { write_functions, write_functions_json, write_functions_csv },
	},
	{
		.name = "explain",
		.explains = true,
		.group = BY_CHAIN_AND_CACHE,
		.fixed_groups = true,
		.by_function = true,
		.depth = 4,
		.top = 3,
		.takes = TAKES_TOP,
		.write = { write_explain, write_explain_json },
	},
	{
		.name = "tree",
		.group = BY_BOTH_CHAINS,
		.least_percent = 1,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_CALLEES | TAKES_MIN,
		.write = { write_tree, write_tree_json },
	},
	{
		.name = "diff",
		.rows = true,
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.by_function = true,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_BY,
		.pair = true,
		.write = { write_diff, write_diff_json, write_diff_csv },
	},
	{
		.name = "trend",
		.rows = true,
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 10,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_TIME | TAKES_BY,
		.series = true,
		.write = { write_trend, write_trend_json, write_trend_csv,
			   [FORMAT_HTML] = write_trend_html },
	},
	{
		.name = "folded",
		.group = BY_BOTH_CHAINS,
		.takes = TAKES_KNOWN | TAKES_SINCE,
		.write = { write_folded },
	},
	{
		.name = "pprof",
		.group = BY_CHAINS_AND_CACHE,
		.takes = TAKES_KNOWN,
		.no_terminal = true,
		.write = { write_pprof },
	},
	{
		.name = "prom",
		.group = BY_CHAIN_AND_CACHE,
		.depth = 4,
		.top = 20,
		.by_function = true,
		.takes = TAKES_KNOWN | TAKES_TOP | TAKES_ORDER | TAKES_BY | TAKES_CHOICE,
		.write = { write_prom },
	},
	{
		.name = "flame",
		.group = BY_BOTH_CHAINS,
		.takes = TAKES_KNOWN | TAKES_SINCE | TAKES_CALLEES,
		.no_terminal = true,
		.write = { write_flame, [FORMAT_HTML] = write_flame },
	},
};

const unsigned int nr_views = sizeof(views) / sizeof(*views);

const struct view *view_find_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_views; i++)
		if (!strcmp(name, views[i].name))
			return &views[i];
	return NULL;
}
