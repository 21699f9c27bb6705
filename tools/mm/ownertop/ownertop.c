// SPDX-License-Identifier: GPL-2.0
/* ownertop: show which call chains own the kernel's memory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/answer.h"
#include "ask/check.h"
#include "ask/options.h"
#include "ask/parse.h"
#include "ask/query.h"
#include "ask/unmatched.h"
#include "ask/usage.h"
#include "ask/user_names.h"
#include "base/alloc.h"
#include "base/exit_status.h"
#include "base/replace_file.h"
#include "input/progress.h"
#include "input/vmcore.h"
#include "page_owner_sort/page_owner_sort.h"
#include "ui/fit.h"
#include "ui/live.h"
#include "ui/pager.h"

/* Name of the program, or its first argument, that makes it behave like page_owner_sort. */
#define PAGE_OWNER_SORT "page_owner_sort"
#define SLABS "/sys/kernel/debug/slab_owner"
#define PAGES "/sys/kernel/debug/page_owner"

/*
 * Flush standard output. Returns @status, or STATUS_FAILED if some output could not be written.
 */
static int close_output(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "ownertop: output: %s\n", strerror(errno));
		return STATUS_FAILED;
	}
	return status;
}

static bool report_unreadable(const char *path, const char *boot)
{
	if (!access(path, R_OK))
		return true;
	fprintf(stderr, "ownertop: %s: %s\n", path, strerror(errno));
	fprintf(stderr, "This needs root, debugfs, and a kernel booted with %s.\n"
		"Name a FILE to read a dump.\n", boot);
	if (strcmp(path, PAGES) && !access(PAGES, R_OK))
		fputs("Of this machine's pages, ask with 'if kind == page'.\n", stderr);
	return false;
}

/*
 * Find the debugfs files with the kinds of memory that the sentence asks for. Returns their
 * number, 0 if one cannot be read.
 */
static int find_live_files(const struct options *o, char *paths[2])
{
	unsigned int kinds = owner_lang_asked_kinds(&o->select.sentence);
	const unsigned int page = 1U << OWNER_KIND_PAGE;
	int n = 0;

	if (kinds != page) {
		if (!report_unreadable(SLABS, "slab_owner=on"))
			return 0;
		paths[n++] = SLABS;
	}
	if (kinds & page) {
		if (!report_unreadable(PAGES, "page_owner=on"))
			return 0;
		paths[n++] = PAGES;
	}
	return n;
}

static void report_missing_names(const struct frame_names *names)
{
	struct missing_frames missed = frame_names_get_not_found(names);

	if (missed.n)
		fprintf(stderr,
			"ownertop: %u functions, as %s, are not in --vmlinux or --modules\n",
			missed.n, missed.example);
	missed = frame_names_get_not_covered(names);
	if (missed.n)
		fprintf(stderr,
			"ownertop: %u addresses, as %s, are in no function of --kallsyms\n",
			missed.n, missed.example);
}

/*
 * On a terminal, messages about damaged input would scroll away: the first one is the last line
 * of the view.
 */
static bool tells_damage_at_end(const struct options *o, const struct output_options *output)
{
	return output->term.width && isatty(STDERR_FILENO) && !o->view->no_terminal &&
	       !o->output && !check_is_wanted(o) && o->format == FORMAT_TEXT;
}

static void print_view(struct answer *a, const struct options *o,
		       const struct output_options *output)
{
	FILE *out = stdout;

	fit_groups_to_screen(a, o, output);
	if (!o->view->no_terminal)
		out = pager_open(output->term);
	o->view->write[o->format](a, output, out);
	pager_close(out);
}

/* Write the view to the file of --output. */
static int write_to_file(const struct answer *a, const struct options *o,
			 struct output_options output)
{
	char *temporary;
	FILE *out = replace_file_begin(o->output, &temporary);

	output.term = (struct terminal){ 0 };
	if (out)
		o->view->write[o->format](a, &output, out);
	if (out && replace_file_end(out, temporary, o->output, true))
		return health_is_complete(&a->health) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
	fprintf(stderr, "ownertop: %s: %s\n", o->output, strerror(errno));
	return STATUS_FAILED;
}

/* Write an answer as the options say. Returns the exit status. */
static int write_answer(struct answer *a, const struct options *o,
			const struct output_options *output)
{
	if (check_is_wanted(o))
		return check_report(o, a, stdout);
	if (o->output)
		return write_to_file(a, o, *output);
	print_view(a, o, output);
	return close_output(health_is_complete(&a->health) ? STATUS_COMPLETE : STATUS_INCOMPLETE);
}

static int run_view(const struct options *o)
{
	char * const *paths = o->inputs;
	int nr_paths = o->nr_inputs;
	struct output_options output;
	struct answer a = { 0 };
	int status = STATUS_FAILED;
	char *live[2];

	if (o->live) {
		paths = live;
		nr_paths = find_live_files(o, live);
		if (!nr_paths)
			return STATUS_FAILED;
	}
	if (o->interval_ms)
		return close_output(live_run_view(o, paths, nr_paths));
	progress_enable();
	output = make_output_options(o);
	a.health.quiet = tells_damage_at_end(o, &output);
	if (answer_read(&a, o, paths, nr_paths)) {
		status = write_answer(&a, o, &output);
		unmatched_report_names(&a, o, paths, nr_paths);
		if (o->select.names)
			report_missing_names(o->select.names);
		user_names_report_missing(o);
	} else {
		answer_report_same_kind(&a);
	}
	if (status == STATUS_FAILED && a.health.quiet && *a.health.first)
		fprintf(stderr, "ownertop: %s\n", a.health.first);
	free(output.selection_arguments);
	answer_free_members(&a);
	return status;
}

/* Run the script that writes snapshots: from where make install puts it, or beside the program. */
static int run_record_script(char *argv[])
{
	static const char * const names[] = { "../libexec/ownertop/record", "ownertop-record" };
	char program[PATH_MAX] = "", path[PATH_MAX * 2] = "/proc/self/exe";
	size_t i;

	if (readlink(path, program, sizeof(program) - 1) > 0)
		*strrchr(program, '/') = '\0';
	for (i = 0; *program && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", program, names[i]);
		execv(path, argv);
		if (errno != ENOENT)
			break;
	}
	fprintf(stderr, "ownertop: record: %s: %s\n", path, strerror(errno));
	return STATUS_FAILED;
}

int main(int argc, char *argv[])
{
	char kinds[VMCORE_KINDS_SIZE];
	struct options options;
	FILE *out;
	int status;

	alloc_map_large_arrays();
	if (argc && !strcmp(basename(argv[0]), PAGE_OWNER_SORT))
		return page_owner_sort_main(argc, argv);
	if (argc > 1 && !strcmp(argv[1], PAGE_OWNER_SORT))
		return page_owner_sort_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "record"))
		return run_record_script(argv + 1);
	check_prepare_exit(argc, argv);
	parse_command_line(&options, argc, argv);
	if (options.print_help) {
		out = pager_open(terminal_describe(stdout, COLOUR_NEVER));
		usage_print_help(out);
		pager_close(out);
		status = close_output(STATUS_COMPLETE);
	} else if (options.print_skip_list) {
		globs_print(&options.select.chains.skip, stdout);
		status = close_output(STATUS_COMPLETE);
	} else if (options.print_kinds) {
		puts(vmcore_name_kinds(options.input.vmcore.kinds, kinds));
		status = close_output(STATUS_COMPLETE);
	} else {
		status = run_view(&options);
	}
	options_free(&options);
	return status;
}
