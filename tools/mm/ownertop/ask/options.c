// SPDX-License-Identifier: GPL-2.0
/* From the command line to what is wanted. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "ask/given.h"
#include "ask/skip.h"
#include "ask/usage.h"

#define DEFAULT_INTERVAL_MS 3000
#define SECONDS_MAX 86400
#define PAGE_SIZE_MIN 4096
#define PAGE_SIZE_MAX (1024 * 1024)

/* No --depth, no --top: as the view has it. */
#define UNSET U32_MAX

enum {
	OPT_CACHE = 256,
	OPT_COMM,
	OPT_PID,
	OPT_OLDER,
	OPT_NOW,
	OPT_FOCUS,
	OPT_IGNORE,
	OPT_HIDE,
	OPT_SKIP,
	OPT_NO_SKIP,
	OPT_SKIP_LIST,
	OPT_CALLEES,
	OPT_MIN,
	OPT_DIFF,
	OPT_TIME,
	OPT_PAGE_SIZE,
	OPT_JSON,
	OPT_CSV,
	OPT_LIVE,
	OPT_VMLINUX,
	OPT_MODULES,
	OPT_KALLSYMS,
};

static const struct option longopts[] = {
	{ "depth", required_argument, NULL, 'd' },
	{ "group", required_argument, NULL, 'g' },
	{ "sort", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "older", required_argument, NULL, OPT_OLDER },
	{ "now", required_argument, NULL, OPT_NOW },
	{ "focus", required_argument, NULL, OPT_FOCUS },
	{ "ignore", required_argument, NULL, OPT_IGNORE },
	{ "hide", required_argument, NULL, OPT_HIDE },
	{ "skip", required_argument, NULL, OPT_SKIP },
	{ "no-skip", no_argument, NULL, OPT_NO_SKIP },
	{ "skip-list", no_argument, NULL, OPT_SKIP_LIST },
	{ "callees", no_argument, NULL, OPT_CALLEES },
	{ "min", required_argument, NULL, OPT_MIN },
	{ "diff", required_argument, NULL, OPT_DIFF },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "page-size", required_argument, NULL, OPT_PAGE_SIZE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "live", optional_argument, NULL, OPT_LIVE },
	{ "vmlinux", required_argument, NULL, OPT_VMLINUX },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static u32 parse_page_size(const char *text)
{
	u32 size = usage_count("--page-size", text);

	if (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || size & (size - 1))
		usage_fail("--page-size", text, "is no machine's page size");
	return size;
}

static u32 parse_interval(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= SECONDS_MAX))
		usage_fail("--live", text, "is no number of seconds from 0.1 to 86400");
	return seconds * 1000;
}

static void read_skip_list(struct options *o, const char *path)
{
	globs_free(&o->select.chains.skip);
	if (!globs_read(&o->select.chains.skip, path))
		usage_fail("--skip", path, "cannot be read");
}

/* Returns the TAKES_ bit of an option that not every view has a use for. */
static unsigned int parse_one(struct options *o, struct given *given, int opt)
{
	struct selection *select = &o->select;
	struct asking *asking = &given->asking;

	switch (opt) {
	case 'd':
		select->chains.depth = usage_count("--depth", optarg);
		given->depth = optarg;
		break;
	case 'g':
		given_group(o, optarg);
		given->group = optarg;
		break;
	case 's':
		given_sort(o, optarg);
		given->sort = optarg;
		break;
	case 'n':
		o->top = usage_count("--top", optarg);
		given->top = optarg;
		return TAKES_TOP;
	case OPT_CACHE:
		asking_word(asking, "--cache", "cache", optarg);
		break;
	case OPT_COMM:
		asking_word(asking, "--comm", "comm", optarg);
		break;
	case OPT_PID:
		asking_number(asking, "--pid", "pid ==", optarg);
		break;
	case OPT_OLDER:
		asking_number(asking, "--older", "age >=", optarg);
		break;
	case OPT_NOW:
		o->now = sentence_time("--now", optarg);
		if (!o->now)
			usage_fail("--now", optarg, "is no time after boot");
		break;
	case OPT_FOCUS:
		asking_function(&asking->focus, optarg);
		break;
	case OPT_IGNORE:
		asking_function(&asking->ignore, optarg);
		break;
	case OPT_HIDE:
		globs_add(&select->chains.hide, optarg, strlen(optarg));
		break;
	case OPT_SKIP:
		read_skip_list(o, optarg);
		break;
	case OPT_NO_SKIP:
		globs_free(&select->chains.skip);
		break;
	case OPT_SKIP_LIST:
		o->print_skip_list = true;
		break;
	case OPT_CALLEES:
		o->callees = true;
		return TAKES_CALLEES;
	case OPT_MIN:
		o->least_percent = usage_percent("--min", optarg);
		return TAKES_MIN;
	case OPT_DIFF:
		o->old = optarg;
		return TAKES_DIFF;
	case OPT_TIME:
		times_parse(&o->times, optarg);
		return TAKES_TIME;
	case OPT_PAGE_SIZE:
		o->page_size = parse_page_size(optarg);
		break;
	case OPT_JSON:
		o->format = FORMAT_JSON;
		break;
	case OPT_CSV:
		o->format = FORMAT_CSV;
		break;
	case OPT_LIVE:
		o->interval_ms = optarg ? parse_interval(optarg) : DEFAULT_INTERVAL_MS;
		return TAKES_LIVE;
	case OPT_VMLINUX:
		o->vmlinux = optarg;
		break;
	case OPT_MODULES:
		o->modules = optarg;
		break;
	case OPT_KALLSYMS:
		o->kallsyms = optarg;
		break;
	case 'h':
		usage_help();
	default:
		usage_hint();
	}
	return 0;
}

/* Refuses what the view has no use for: ignored, it would seem to be obeyed. */
static void check_taken(const struct options *o, unsigned int given)
{
	static const char * const names[] = {
		"--top", "--diff", "--min", "--callees", "--time", "--live",
		"sort by other than one amount", "groups=", "mode=",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (given & ~o->view->takes & 1 << i)
			usage_fail(names[i], o->view->name, "is a view that has no use for it");
	if (!o->view->write[o->format])
		usage_fail(given_forms[o->format], o->view->name, "is a view without that form");
	if (o->view->no_terminal && isatty(STDOUT_FILENO))
		usage_fail(o->view->name, "standard output",
			   "is a terminal; send it to a file with '>'");
}

/*
 * Once a pipe has been read it is gone. Ages are counted from the newest record,
 * which is found by reading all before.
 */
static void check_readable_twice(const struct options *o, const char *option)
{
	int i;

	for (i = 0; i < o->nr_inputs; i++)
		if (!strcmp(o->inputs[i], "-"))
			usage_fail(option, "-", "cannot be read twice; give it a FILE");
	if (o->old && !strcmp(o->old, "-"))
		usage_fail(option, "-", "cannot be read twice; give it a FILE");
}

/* A view that is misspelt would be a file that is not there, and the rest a table. */
static void check_view(const char *word)
{
	const struct view *meant = view_nearest(word);

	if (!meant || strchr(word, '/') || !access(word, F_OK))
		return;
	fprintf(stderr, "ownertop: '%s' is no view, and no file: did you mean '%s'?\n", word,
		meant->name);
	usage_hint();
}

static void check_inputs(struct options *o)
{
	if (o->view->pair) {
		if (o->nr_inputs != 2)
			usage_fail(o->view->name, "OLD NEW", "are the two dumps it takes");
		o->old = *o->inputs++;
		o->nr_inputs--;
	}
	if (!o->view->series)
		return;
	if (o->nr_inputs < 2)
		usage_fail(o->view->name, "FILE FILE...", "are the dumps it takes, two or more");
	if (o->times.source == TIME_GIVEN && o->times.n != (u32)o->nr_inputs)
		usage_fail("--time", "T,T...", "must have one time for each dump");
}

static void check_live(const struct options *o)
{
	if (o->format != FORMAT_TEXT)
		usage_fail("--live", "--json or --csv", "cannot be had with it");
	check_readable_twice(o, "--live");
}

static void open_names(struct options *o)
{
	struct kallsyms *kallsyms = NULL;
	const char *error;

	if (o->modules && access(o->modules, R_OK | X_OK))
		usage_fail("--modules", o->modules, "is no directory that can be read");
	if (o->kallsyms) {
		kallsyms = kallsyms_open(o->kallsyms);
		if (!kallsyms)
			exit(STATUS_FAILED);
	}
	o->select.names = names_open(o->vmlinux, o->modules, kallsyms, &error);
	if (o->select.names)
		return;
	fprintf(stderr, "ownertop: --vmlinux: %s: %s\n", o->vmlinux, error);
	exit(STATUS_FAILED);
}

/*
 * Of call chains alone, the kernel has the sums at hand, but to tell ages it looks at
 * each object: too much for a screen that is drawn again and again.
 */
static bool needs_ages(const struct options *o)
{
	u32 i;

	for (i = 0; i < o->nr_order; i++)
		if (o->order[i] == OWNER_SORT_OLDEST || o->order[i] == OWNER_SORT_YOUNGEST)
			return true;
	return o->view->ages && !o->interval_ms;
}

/* Nor does it have caches at hand. */
static const struct group_list *usual_groups(const struct options *o)
{
	return o->live && o->interval_ms ? &o->view->redrawn : &o->view->group;
}

static void take_defaults(struct options *o)
{
	if (!o->select.group.n)
		o->select.group = *usual_groups(o);
	if (o->select.chains.depth == UNSET)
		o->select.chains.depth = o->view->depth;
	if (!o->nr_order)
		o->order[o->nr_order++] = OWNER_SORT_BYTES;
	o->sort = sort_measure(o->order, o->nr_order);
	o->ages = needs_ages(o);
	if (o->top == UNSET)
		o->top = o->format == FORMAT_TEXT ? o->view->top : 0;
	if (o->least_percent < 0)
		o->least_percent = o->view->least_percent;
}

void options_parse(struct options *o, int argc, char *argv[])
{
	struct given given = { 0 };
	int opt;

	*o = (struct options){
		.select.chains.depth = UNSET,
		.format = FORMAT_TEXT,
		.top = UNSET,
		.least_percent = -1,
		.page_size = sysconf(_SC_PAGESIZE),
	};
	skip_builtin(&o->select.chains.skip);
	while ((opt = getopt_long(argc, argv, "d:g:s:n:h", longopts, NULL)) != -1)
		given.taken |= parse_one(o, &given, opt);

	o->nr_inputs = argc - optind;
	given_sentence(o, &given, argv + optind);
	o->view = o->nr_inputs ? view_find(*o->inputs) : NULL;
	if (o->view) {
		o->inputs++;
		o->nr_inputs--;
	} else {
		if (o->nr_inputs)
			check_view(*o->inputs);
		o->view = &views[0];
	}
	given_finish(o, &given);
	o->live = !o->nr_inputs;
	check_taken(o, given.taken);
	check_inputs(o);
	if (options_need_newest(o))
		check_readable_twice(o, "age");
	if (o->interval_ms)
		check_live(o);
	if (o->vmlinux || o->modules || o->kallsyms)
		open_names(o);
	take_defaults(o);
}

void options_free(struct options *o)
{
	globs_free(&o->select.chains.skip);
	globs_free(&o->select.chains.hide);
	if (o->select.names)
		names_close(o->select.names);
	times_free(&o->times);
}
