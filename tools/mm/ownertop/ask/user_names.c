// SPDX-License-Identifier: GPL-2.0
/* Choose whether groups have user chains, and open the files with names of user frames. */
#include <stdlib.h>

#include "ask/usage.h"
#include "ask/user_names.h"
#include "base/exit_status.h"

/* The kernel lists the files of all user frames here: it is empty before the first one. */
#define BINARIES "/sys/kernel/debug/owner/binaries"

static bool kernel_has_user_chains(void)
{
	FILE *in = fopen(BINARIES, "re");
	bool any = in && getc(in) != EOF;

	if (in)
		fclose(in);
	return any;
}

void user_names_select_default_groups(struct options *o, const struct group_list *groups)
{
	bool possible = !o->live || kernel_has_user_chains();
	struct group_list *by = &o->select.group;
	unsigned int i;

	by->n = 0;
	for (i = 0; i < groups->n; i++)
		if (groups->v[i].field != OWNER_FIELD_USER || possible)
			by->v[by->n++] = groups->v[i];
	o->select.user.if_any = true;
}

static bool needs_names(const struct record_selection *select)
{
	return field_is_listed(&select->group, OWNER_FIELD_USER) ||
	       field_is_listed(&select->group, OWNER_FIELD_UFUNC) ||
	       select->sentence.fields_used & 1U << OWNER_FIELD_UFUNC;
}

void user_names_open(struct options *o)
{
	const char *error;
	u32 i;

	if (!o->nr_binaries && !needs_names(&o->select))
		return;
	o->select.binaries = binaries_open();
	for (i = 0; i < o->nr_binaries; i++) {
		error = binaries_add_file(o->select.binaries, o->binaries[i]);
		if (error)
			usage_refuse_value("--binary", o->binaries[i], error);
	}
	if (o->live)
		binaries_add_paths(o->select.binaries, BINARIES);
}

void user_names_report_missing(const struct options *o)
{
	const struct binaries *b = o->select.binaries;
	struct missing_frames missing;

	if (!b)
		return;
	missing = binaries_get_not_found(b);
	if (missing.n)
		fprintf(stderr,
			"ownertop: %u user frames, as %s, have no names; --binary FILE names a program or library with its symbols\n",
			missing.n, missing.example);
	binaries_print_unused(b, stderr);
}
