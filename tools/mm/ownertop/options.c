// SPDX-License-Identifier: GPL-2.0
/* From the command line to what is wanted. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "exit_status.h"
#include "options.h"

#define DEFAULT_DEPTH 4
#define DEFAULT_TOP 10
#define DEFAULT_INTERVAL_MS 3000
#define SECONDS_MAX 86400
#define PAGE_SIZE_MIN 4096
#define PAGE_SIZE_MAX (1024 * 1024)

static const char help[] =
"Usage: ownertop [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, '-' for a pipe, or /sys/kernel/debug/slab_owner.\n"
"  -d, --depth N      frames in a group, after the allocator's own; 0: all (4)\n"
"  -g, --group LIST   of stack,cache,comm,pid,tgid,module,kind (stack,cache)\n"
"  -s, --sort KEY     bytes asked for, held by the allocator, or objects (bytes)\n"
"  -n, --top N        groups to show; 0: all (10; all with --json and --csv)\n"
"      --cache GLOB   only objects of these caches\n"
"      --comm GLOB    only what these tasks allocated\n"
"      --pid N[,N]    only what these threads allocated\n"
"      --skip FILE    take the allocator's functions from FILE, one glob a line\n"
"      --no-skip      treat no function as the allocator's\n"
"      --skip-list    print the allocator's functions and exit\n"
"      --page-size N  bytes in a page where the dump was made (as here)\n"
"      --vmlinux FILE, --modules DIR  file:line and inlined functions from these\n"
"      --json, --csv  write for programs\n"
"      --live[=SECS]  read and show again and again; keys sort, pause, quit (3)\n"
"  -h, --help         print this and exit\n"
"Examples:\n"
"  ownertop                                 slab objects of this machine\n"
"  ownertop /sys/kernel/debug/page_owner    its pages\n"
"  ownertop --cache 'kmalloc-*' -d 8 dump.txt\n"
"  ssh host zstd -c dump | ownertop -g module -s objects -\n"
"Exit status: 0 all was read, 1 input was damaged or not read, 2 failed.\n";

enum {
	OPT_CACHE = 256,
	OPT_COMM,
	OPT_PID,
	OPT_SKIP,
	OPT_NO_SKIP,
	OPT_SKIP_LIST,
	OPT_PAGE_SIZE,
	OPT_JSON,
	OPT_CSV,
	OPT_LIVE,
	OPT_VMLINUX,
	OPT_MODULES,
};

static const struct option longopts[] = {
	{ "depth", required_argument, NULL, 'd' },
	{ "group", required_argument, NULL, 'g' },
	{ "sort", required_argument, NULL, 's' },
	{ "top", required_argument, NULL, 'n' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "skip", required_argument, NULL, OPT_SKIP },
	{ "no-skip", no_argument, NULL, OPT_NO_SKIP },
	{ "skip-list", no_argument, NULL, OPT_SKIP_LIST },
	{ "page-size", required_argument, NULL, OPT_PAGE_SIZE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "live", optional_argument, NULL, OPT_LIVE },
	{ "vmlinux", required_argument, NULL, OPT_VMLINUX },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static noreturn void fail(const char *option, const char *value, const char *reason)
{
	fprintf(stderr, "ownertop: %s: '%s' %s\nTry 'ownertop --help'.\n", option,
		value, reason);
	exit(STATUS_FAILED);
}

/* A whole number up to @stop or the end of @text; @end is set to where it ends. */
static u64 parse_number(const char *option, const char *text, u64 max, char stop,
			const char **end)
{
	char *after;
	u64 v;

	v = strtoull(text, &after, 10);	/* saturates, so above max */
	if (*text < '0' || *text > '9' || (*after && *after != stop))
		fail(option, text, "is not a number");
	if (v > max)
		fail(option, text, "is too large a number");
	*end = after;
	return v;
}

static u32 parse_count(const char *option, const char *text)
{
	const char *end;

	return parse_number(option, text, U32_MAX - 1, '\0', &end);
}

static void parse_pids(struct options *o, const char *list)
{
	struct filter *f = &o->view.filter;
	const char *p = list;

	for (;;) {
		o->pids = grow(o->pids, f->nr_pids, &o->pids_cap, sizeof(*o->pids));
		o->pids[f->nr_pids++] = parse_number("--pid", p, PID_MAX, ',', &p);
		if (!*p)
			break;
		p++;
	}
	f->pids = o->pids;
}

static u32 parse_page_size(const char *text)
{
	u32 size = parse_count("--page-size", text);

	if (size < PAGE_SIZE_MIN || size > PAGE_SIZE_MAX || size & (size - 1))
		fail("--page-size", text, "is no machine's page size");
	return size;
}

static u32 parse_interval(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= SECONDS_MAX))
		fail("--live", text, "is no number of seconds from 0.1 to 86400");
	return seconds * 1000;
}

static void parse_group(struct options *o, const char *list)
{
	const char *bad = field_list_parse(&o->view.group, list);

	if (bad)
		fail("--group", bad, "is not a field, or is named twice");
}

static void read_skip_list(struct options *o, const char *path)
{
	skip_free(&o->view.skip);
	if (!skip_read(&o->view.skip, path))
		fail("--skip", path, "cannot be read");
}

static void parse_one(struct options *o, int opt)
{
	switch (opt) {
	case 'd':
		o->view.depth = parse_count("--depth", optarg);
		break;
	case 'g':
		parse_group(o, optarg);
		break;
	case 's':
		if (!sort_parse(optarg, &o->sort))
			fail("--sort", optarg, "is not bytes, held or objects");
		break;
	case 'n':
		o->top = parse_count("--top", optarg);
		break;
	case OPT_CACHE:
		o->view.filter.cache = optarg;
		break;
	case OPT_COMM:
		o->view.filter.comm = optarg;
		break;
	case OPT_PID:
		parse_pids(o, optarg);
		break;
	case OPT_SKIP:
		read_skip_list(o, optarg);
		break;
	case OPT_NO_SKIP:
		skip_free(&o->view.skip);
		break;
	case OPT_SKIP_LIST:
		o->print_skip_list = true;
		break;
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
		break;
	case OPT_VMLINUX:
		o->vmlinux = optarg;
		break;
	case OPT_MODULES:
		o->modules = optarg;
		break;
	case 'h':
		fputs(help, stdout);
		exit(STATUS_WHOLE);
	default:
		fputs("Try 'ownertop --help'.\n", stderr);
		exit(STATUS_FAILED);
	}
}

/* Once a pipe has been read it is gone, and programs want to be told when. */
static void check_live(const struct options *o)
{
	int i;

	if (o->format != FORMAT_TABLE)
		fail("--live", "--json or --csv", "cannot be had with it");
	for (i = 0; i < o->nr_inputs; i++)
		if (!strcmp(o->inputs[i], "-"))
			fail("--live", "-", "cannot be read twice");
}

static void open_names(struct options *o)
{
	const char *error;

	if (o->modules && access(o->modules, R_OK | X_OK))
		fail("--modules", o->modules, "is no directory that can be read");
	o->view.names = names_open(o->vmlinux, o->modules, &error);
	if (o->view.names)
		return;
	fprintf(stderr, "ownertop: --vmlinux: %s: %s\n", o->vmlinux, error);
	exit(STATUS_FAILED);
}

void options_parse(struct options *o, int argc, char *argv[])
{
	const u32 unset = U32_MAX;
	int opt;

	*o = (struct options){
		.view.group = { { FIELD_STACK, FIELD_CACHE }, 2 },
		.view.depth = DEFAULT_DEPTH,
		.sort = SORT_BYTES,
		.format = FORMAT_TABLE,
		.top = unset,
		.page_size = sysconf(_SC_PAGESIZE),
	};
	skip_builtin(&o->view.skip);
	while ((opt = getopt_long(argc, argv, "d:g:s:n:h", longopts, NULL)) != -1)
		parse_one(o, opt);
	if (o->top == unset)
		o->top = o->format == FORMAT_TABLE ? DEFAULT_TOP : 0;
	o->inputs = argv + optind;
	o->nr_inputs = argc - optind;
	if (o->interval_ms)
		check_live(o);
	if (o->vmlinux || o->modules)
		open_names(o);
}

void options_free(struct options *o)
{
	skip_free(&o->view.skip);
	if (o->view.names)
		names_close(o->view.names);
	free(o->pids);
}
