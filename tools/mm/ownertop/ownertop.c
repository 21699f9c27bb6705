// SPDX-License-Identifier: GPL-2.0
/* Which call chains own the kernel's memory. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "exit_status.h"
#include "live.h"
#include "options.h"
#include "progress.h"
#include "reader.h"
#include "writer.h"

#define LIVE "/sys/kernel/debug/slab_owner"

/* Output that did not arrive must not look as if it had. */
static int close_output(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "ownertop: output: %s\n", strerror(errno));
		return STATUS_FAILED;
	}
	return status;
}

static bool live_is_there(void)
{
	if (!access(LIVE, R_OK))
		return true;
	fprintf(stderr, "ownertop: " LIVE ": %s\n", strerror(errno));
	fputs("This needs root, debugfs, and a kernel booted with slab_owner=on.\n"
	      "Name a FILE to read a dump, '-' to read a pipe.\n", stderr);
	return false;
}

static void write_report(const struct options *o, const struct report *report)
{
	switch (o->format) {
	case FORMAT_TABLE:
		write_table(report, stdout);
		break;
	case FORMAT_JSON:
		write_json(report, stdout);
		break;
	case FORMAT_CSV:
		write_csv(report, stdout);
		break;
	}
}

static void tell_of_names(const struct names *names)
{
	const char *example;
	u32 n = names ? names_not_found(names, &example) : 0;

	if (n)
		fprintf(stderr,
			"ownertop: %u functions, as %s, are not in --vmlinux or --modules\n",
			n, example);
}

static int run(const struct options *o)
{
	char * const live[] = { LIVE };
	char * const *paths = o->nr_inputs ? o->inputs : live;
	int nr_paths = o->nr_inputs ? o->nr_inputs : 1;
	struct health health = { 0 };
	struct report report;
	struct model model;
	bool complete;

	if (!o->nr_inputs && !live_is_there())
		return STATUS_FAILED;
	if (o->interval_ms)
		return close_output(live_run(o, paths, nr_paths));
	progress_allow();
	model_init(&model, &o->view);
	read_inputs(paths, nr_paths, o->page_size, &model, &health);
	report_init(&report, &model, &health, o->sort, o->top);
	write_report(o, &report);
	tell_of_names(o->view.names);
	complete = health_complete(&health);
	report_free(&report);
	model_free(&model);
	return close_output(complete ? STATUS_WHOLE : STATUS_INCOMPLETE);
}

int main(int argc, char *argv[])
{
	struct options options;
	int status;

	options_parse(&options, argc, argv);
	if (options.print_skip_list) {
		skip_print(&options.view.skip, stdout);
		status = close_output(STATUS_WHOLE);
	} else {
		status = run(&options);
	}
	options_free(&options);
	return status;
}
