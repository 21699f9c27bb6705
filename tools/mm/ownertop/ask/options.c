// SPDX-License-Identifier: GPL-2.0
/* Questions about the parsed command line that several files ask. */
#include <stdlib.h>

#include <stdlib.h>
#include <string.h>

#include "ask/options.h"

bool options_order_is_measure(const struct options *o)
{
	return !o->nr_order || (o->nr_order == 1 && measure_is_sort_key(o->order[0]));
}

/* Ages of all records are shown, but standard input cannot be read twice for them. */
static bool explains_ages(const struct options *o)
{
	int i;

	for (i = 0; i < o->nr_inputs; i++)
		if (!strcmp(o->inputs[i], "-"))
			return false;
	return o->view->explains;
}

bool options_need_newest_record(const struct options *o)
{
	return !o->now && (explains_ages(o) ||
			   o->select.sentence.fields_used & 1U << OWNER_FIELD_AGE ||
			   field_is_listed(&o->select.group, OWNER_FIELD_AGE));
}

void options_free(struct options *o)
{
	globs_free(&o->select.chains.skip);
	globs_free(&o->select.chains.hide);
	known_owners_free(&o->select.chains.known);
	if (o->select.names)
		frame_names_close(o->select.names);
	if (o->select.binaries)
		binaries_close(o->select.binaries);
	free(o->binaries);
	dump_times_free(&o->times);
	free(o->input_list);
	free(o->snapshot_kallsyms);
}
