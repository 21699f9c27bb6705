// SPDX-License-Identifier: GPL-2.0
/* Parse the command line of ownertop into struct options, and check it. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_status.h"
#include "ask/inputs.h"
#include "ask/check.h"
#include "ask/option_list.h"
#include "ask/parse.h"
#include "ask/settings.h"
#include "ask/snapshots.h"
#include "ask/usage.h"
#include "ask/user_names.h"

#define DEFAULT_INTERVAL_MS 3000
#define SECONDS_MAX 86400
#define PAGE_SIZE_MIN 4096
#define PAGE_SIZE_MAX (1024 * 1024)

/* Value of depth and top until an option sets it; otherwise the view's default replaces it. */
#define UNSET U32_MAX

/* getopt_long() returns a letter, or for a long option LONG_OPTION + enum option_id. */
#define LONG_OPTION 256

static u32 parse_page_size(const char *text)
{
	u32 size = usage_parse_count("--page-size", text);

	if (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || size & (size - 1))
		usage_refuse_value("--page-size", text, "is no machine's page size");
	return size;
}

static u32 parse_interval(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= SECONDS_MAX))
		usage_refuse_value("--live", text, "is no number of seconds from 0.1 to 86400");
	return seconds * 1000;
}

static enum frame_key parse_frame_key(const char *text)
{
	if (!strcmp(text, "function"))
		return BY_FUNCTION;
	if (strcmp(text, "site"))
		usage_refuse_value("--by", text, "is neither function nor site");
	return BY_SITE;
}

static enum colour_when parse_colour_when(const char *text)
{
	static const char * const names[] = {
		[COLOUR_AUTO] = "auto",
		[COLOUR_ALWAYS] = "always",
		[COLOUR_NEVER] = "never",
	};
	int when = owner_lang_find_name(text, strlen(text), names, 3);

	if (when < 0)
		usage_refuse_value("--color", text, "is neither auto, always nor never");
	return when;
}

static void choose_format(struct options *o, enum output_format format)
{
	if (o->format != FORMAT_TEXT && o->format != format)
		usage_refuse_value(format_options[format], format_options[o->format],
				   "is used as well: choose one form");
	o->format = format;
}

static void read_skip_patterns(struct options *o, const char *path)
{
	globs_free(&o->select.chains.skip);
	if (!globs_read_file(&o->select.chains.skip, path))
		usage_refuse_value("--skip", path, "cannot be read");
}

static void parse_option(struct options *o, struct command_line *line, enum option_id id)
{
	struct record_selection *select = &o->select;
	struct sentence_parts *parts = &line->parts;

	switch (id) {
	case OPT_DEPTH:
		select->chains.depth = usage_parse_count("--depth", optarg);
		line->depth = optarg;
		break;
	case OPT_BY:
		o->by = parse_frame_key(optarg);
		break;
	case OPT_VERBOSE:
		o->unfold = true;
		break;
	case OPT_ONELINE:
		o->oneline = true;
		break;
	case OPT_COLOR:
		o->colour = parse_colour_when(optarg);
		break;
	case OPT_GROUP:
		settings_parse_group(o, optarg);
		line->group = optarg;
		break;
	case OPT_SORT:
		settings_parse_sort(o, optarg);
		line->sort = optarg;
		break;
	case OPT_TOP:
		o->top = usage_parse_count("--top", optarg);
		line->top = optarg;
		break;
	case OPT_CACHE ... OPT_OLDER:
		sentence_add_values(parts, id - OPT_CACHE, optarg);
		break;
	case OPT_KERNEL:
		parts->kernel = true;
		break;
	case OPT_NOW:
		o->now = sentence_parse_time("--now", optarg);
		if (!o->now)
			usage_refuse_value("--now", optarg, "is no time after boot");
		break;
	case OPT_HIDE:
		globs_add(&select->chains.hide, optarg, strlen(optarg));
		break;
	case OPT_KNOWN:
		known_owners_free(&select->chains.known);
		if (!known_owners_read(&select->chains.known, optarg))
			usage_refuse_value("--known", optarg, "cannot be read");
		break;
	case OPT_SKIP:
		read_skip_patterns(o, optarg);
		break;
	case OPT_NO_SKIP:
		globs_free(&select->chains.skip);
		break;
	case OPT_SKIP_LIST:
		o->print_skip_list = true;
		break;
	case OPT_KINDS:
		o->print_kinds = true;
		break;
	case OPT_CALLEES:
		o->callees = true;
		break;
	case OPT_CALLERS:
		o->callers = true;
		break;
	case OPT_MIN:
		o->least_percent = usage_parse_percent("--min", optarg);
		break;
	case OPT_SINCE:
		o->old = optarg;
		break;
	case OPT_TIME:
		dump_times_parse(&o->times, optarg);
		break;
	case OPT_SUM:
		o->input.sum = true;
		break;
	case OPT_PAGE_SIZE:
		o->input.page_size = parse_page_size(optarg);
		break;
	case OPT_JSON:
		choose_format(o, FORMAT_JSON);
		break;
	case OPT_CSV:
		choose_format(o, FORMAT_CSV);
		break;
	case OPT_HTML:
		choose_format(o, FORMAT_HTML);
		break;
	case OPT_OUTPUT:
		o->output = optarg;
		break;
	case OPT_CHECK:
		check_parse(o, LEVEL_CRITICAL, "--check", optarg);
		break;
	case OPT_WARN:
		check_parse(o, LEVEL_WARN, "--warn", optarg);
		break;
	case OPT_LIVE:
		o->interval_ms = optarg ? parse_interval(optarg) : DEFAULT_INTERVAL_MS;
		break;
	case OPT_COUNT:
		o->updates = usage_parse_count("--count", optarg);
		break;
	case OPT_VMCORE:
		o->vmcore = optarg;
		break;
	case OPT_VMLINUX:
		o->vmlinux = optarg;
		break;
	case OPT_MODULES:
		o->modules = optarg;
		break;
	case OPT_KALLSYMS:
		o->kallsyms = optarg;
		break;
	case OPT_BINARY:
		o->binaries = grow_array(o->binaries, o->nr_binaries, &o->binaries_cap,
					 sizeof(*o->binaries));
		o->binaries[o->nr_binaries++] = optarg;
		break;
	case OPT_HELP:
		o->print_help = true;
		break;
	case OPT_VERSION:
		usage_print_version();
	case NR_OPTIONS:
		break;
	}
}

/* Make the arguments of getopt_long() from the list of options. */
static void make_getopt_arguments(char letters[2 * NR_OPTIONS + 1],
				  struct option names[NR_OPTIONS + 1])
{
	int i;

	for (i = 0; i < NR_OPTIONS; i++) {
		const struct option_info *option = &option_list[i];

		names[i] = (struct option){
			.name = option->name,
			.has_arg = option->argument,
			.val = LONG_OPTION + i,
		};
		if (option->letter)
			*letters++ = option->letter;
		if (option->letter && option->argument == required_argument)
			*letters++ = ':';
	}
	names[i] = (struct option){ 0 };
	*letters = '\0';
}

/*
 * Returns the option for a result of getopt_long(), which has read @word. Ends the program if there
 * is none.
 */
static enum option_id find_option_by_getopt_value(int opt, const char *word)
{
	int i;

	if (opt >= LONG_OPTION)
		return opt - LONG_OPTION;
	for (i = 0; i < NR_OPTIONS; i++)
		if (opt == option_list[i].letter)
			return i;
	if (!optopt && !strncmp(word, "--", 2))
		usage_refuse_unknown_option(word);
	usage_exit_with_hint();
}

static void parse_all_options(struct options *o, struct command_line *line, int argc, char *argv[])
{
	struct option names[NR_OPTIONS + 1];
	char letters[2 * NR_OPTIONS + 1];
	int opt;

	make_getopt_arguments(letters, names);
	while (!o->print_help && (opt = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		enum option_id id = find_option_by_getopt_value(opt, argv[optind - 1]);

		line->takes |= option_list[id].takes;
		parse_option(o, line, id);
	}
}

/* Refuse a sentence for which the kernel lists single objects. */
static void refuse_list_of_objects(const struct options *o)
{
	const unsigned int listing = 1U << OWNER_SET_MODE | 1U << OWNER_SET_FORMAT;

	if (!o->select.group.n && o->select.sentence.settings_given & listing)
		usage_refuse_option("mode= or format=",
				    "views show groups, as of group=; the kernel lists single objects: write\n"
				    "the sentence with format=tsv to /sys/kernel/debug/owner/query, and read the answer");
}

/* Refuse options and settings that the view would ignore. */
static void refuse_ignored_options(const struct options *o, unsigned int used)
{
	static const struct {
		unsigned int takes;
		const char *name;
	} settings[] = {
		{ TAKES_ORDER, "sort by other than one amount" },
		{ TAKES_CHOICE, "min= or each=" },
		{ TAKES_MODE, "mode=" },
	};
	const unsigned int refused = used & ~o->view->takes;
	const char *name = NULL;
	char option[32];
	unsigned int i;

	for (i = 0; i < NR_OPTIONS && !name; i++) {
		if (!(refused & option_list[i].takes))
			continue;
		snprintf(option, sizeof(option), "--%s", option_list[i].name);
		name = option;
	}
	for (i = 0; i < sizeof(settings) / sizeof(*settings) && !name; i++)
		if (refused & settings[i].takes)
			name = settings[i].name;
	if (o->view->fixed_groups && o->select.group.n)
		name = "--group";
	if (name)
		usage_refuse_value(name, o->view->name, "is a view that has no use for it");
	if (!o->view->write[o->format])
		usage_refuse_value(format_options[o->format], o->view->name,
				   "is a view without that form");
	refuse_list_of_objects(o);
	if (check_is_wanted(o) && (o->format != FORMAT_TEXT || o->interval_ms || o->output))
		usage_refuse_option("--check",
				    "takes no --json, --csv, --html, --live nor --output");
	if (o->output && o->interval_ms)
		usage_refuse_value("--output", o->output, "cannot be had with --live");
	if ((o->view->no_terminal || o->format == FORMAT_HTML) && !o->output &&
	    isatty(STDOUT_FILENO))
		usage_refuse_value(o->view->name, "standard output",
				   "is a terminal; send it to a file with '>'");
}

/*
 * Ages are counted from the newest record. answer_read() finds it by reading all
 * inputs once before it reads them to add them up, which a pipe does not allow.
 */
static void refuse_standard_input(const struct options *o, const char *option)
{
	int i;

	for (i = 0; i < o->nr_inputs; i++)
		if (!strcmp(o->inputs[i], "-"))
			usage_refuse_value(option, "-", "cannot be read twice; give it a FILE");
	if (o->old && !strcmp(o->old, "-"))
		usage_refuse_value(option, "-", "cannot be read twice; give it a FILE");
}

static void check_number_of_inputs(struct options *o)
{
	if (o->view->pair) {
		if (o->nr_inputs != 2)
			usage_refuse_option(o->view->name, "name two dumps, the older one first");
		o->old = *o->inputs++;
		o->nr_inputs--;
	}
	if (!o->view->series)
		return;
	if (o->nr_inputs < 2)
		usage_refuse_option(o->view->name, "name two or more dumps, the oldest one first");
	if (o->times.source == TIME_LIST && o->times.n != (u32)o->nr_inputs)
		usage_refuse_value("--time", "T,T...", "must have one time for each dump");
}

static void check_live_options(const struct options *o)
{
	if (o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
		usage_refuse_value("--live", format_options[o->format], "cannot be had with it");
	refuse_standard_input(o, "--live");
}

static void open_frame_names(struct options *o)
{
	struct kallsyms *kallsyms = NULL;
	const char *error;

	if (o->modules && access(o->modules, R_OK | X_OK))
		usage_refuse_value("--modules", o->modules, "is no directory that can be read");
	if (o->kallsyms) {
		kallsyms = kallsyms_open(o->kallsyms);
		if (!kallsyms)
			exit(STATUS_FAILED);
	} else if (o->snapshot_kallsyms) {
		/*
		 * Frames stay as they are if the snapshot's kallsyms is useless, for example
		 * because the kernel hid addresses.
		 */
		kallsyms = kallsyms_open(o->snapshot_kallsyms);
		if (!kallsyms && !o->vmlinux && !o->modules)
			return;
	}
	o->select.names = frame_names_open(o->vmlinux, o->modules, kallsyms, &error);
	if (o->select.names)
		return;
	fprintf(stderr, "ownertop: --vmlinux: %s: %s\n", o->vmlinux, error);
	exit(STATUS_FAILED);
}

/*
 * The kernel answers for call chains from counters, but looks at every object for ages.
 * Live mode, which cannot wait that long, asks for ages only to sort by them.
 */
static bool view_needs_ages(const struct options *o)
{
	return memchr(o->order, OWNER_SORT_OLDEST, o->nr_order) ||
	       (o->view->ages && !o->interval_ms && !check_is_wanted(o));
}

/* The kernel looks at every object to group by cache, too: --live has other groups. */
static const struct group_list *get_default_groups(const struct options *o)
{
	static const struct group_list by_kind = { { { .field = OWNER_FIELD_KIND } }, 1 };

	if (check_is_wanted(o))
		return &by_kind;
	return o->live && o->interval_ms ? &o->view->live_group : &o->view->group;
}

static void select_frame_key(struct options *o)
{
	if (o->by == BY_DEFAULT)
		o->by = o->view->by_function ? BY_FUNCTION : BY_SITE;
	o->select.chains.by_function |= o->by == BY_FUNCTION;
	o->select.user.by_function = o->by == BY_FUNCTION;
}

static void set_default_options(struct options *o)
{
	o->check_groups = o->select.group.n;
	if (!o->select.group.n)
		user_names_select_default_groups(o, get_default_groups(o));
	if (o->select.chains.depth == UNSET)
		o->select.chains.depth = o->view->depth;
	else
		o->unfold = true;
	o->unfold &= !o->oneline;
	select_frame_key(o);
	o->sort_given = o->nr_order;
	if (!o->sort_given)
		o->order[o->nr_order++] = OWNER_SORT_HELD;
	o->sort = measure_find_in_sort_keys(o->order, o->nr_order);
	o->ages = view_needs_ages(o);
	o->fit_screen = o->top == UNSET && !o->unfold && o->view->rows &&
			o->format == FORMAT_TEXT;
	if (o->top == UNSET)
		o->top = o->format == FORMAT_TEXT || o->format == FORMAT_HTML ? o->view->top : 0;
	if (o->least_percent < 0)
		o->least_percent = o->view->least_percent;
}

void parse_command_line(struct options *o, int argc, char *argv[])
{
	struct command_line line = { 0 };
	bool view_is_named;

	*o = (struct options){
		.select.chains.depth = UNSET,
		.format = FORMAT_TEXT,
		.top = UNSET,
		.least_percent = -1,
		.input.page_size = sysconf(_SC_PAGESIZE),
	};
	globs_add_allocator_name_patterns(&o->select.chains.skip);
	parse_all_options(o, &line, argc, argv);
	if (o->print_help)
		return;

	o->nr_inputs = argc - optind;
	settings_extract_sentence(o, &line, argv + optind);
	o->view = o->nr_inputs ? view_find_by_name(*o->inputs) : NULL;
	view_is_named = o->view;
	if (view_is_named) {
		o->inputs++;
		o->nr_inputs--;
	} else {
		o->view = &views[0];
	}
	settings_merge(o, &line);
	snapshots_replace_directories(o);
	inputs_add_unnamed(o);
	o->input.vmcore.vmlinux = o->vmlinux;
	o->input.vmcore.kinds = owner_lang_asked_kinds(&o->select.sentence);
	o->live = !o->nr_inputs;
	refuse_ignored_options(o, line.takes);
	check_number_of_inputs(o);
	inputs_refuse_missing(o, view_is_named);
	if (options_need_newest_record(o) && !o->view->explains)
		refuse_standard_input(o, "age");
	if (o->interval_ms)
		check_live_options(o);
	else if (o->updates)
		usage_refuse_option("--count", "counts the updates of --live");
	if (o->vmlinux || o->modules || o->kallsyms || o->snapshot_kallsyms)
		open_frame_names(o);
	set_default_options(o);
	user_names_open(o);
}
