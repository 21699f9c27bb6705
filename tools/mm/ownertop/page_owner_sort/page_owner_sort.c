// SPDX-License-Identifier: GPL-2.0
/*
 * The options and the output of tools/mm/page_owner_sort. Where the program of
 * 6.12 errs, this does not; tests/against_page_owner_sort.py shows each case:
 *
 * - It ignores --sort. Here it sorts.
 * - It guesses from the size of the input file how many records may come, so
 *   that nothing comes out of a pipe, or of records under 100 bytes. Here there
 *   is no such bound.
 * - It does not see a last record that is cut off, ends silently at one over
 *   128 KiB, and takes a block with no PFN line to be what the one before was.
 *   Here damage is told with its line, shows in the exit status, and the output
 *   ends with a line that says so.
 * - It takes an order of 64, shifts by it, and adds pages up in an int.
 * - It does not know slab pages, since 6.10 made them a page type and not a
 *   flag, but for the line "Slab cache page". Here that line counts.
 * - It does not know vmalloc where __vmalloc_area_node() is not inlined.
 * - It reads in front of its buffer to find out about vmalloc in a first frame.
 * - It writes beyond 16 bytes for a task's name that holds "), ts".
 * - It cuts a number in a task's name where that has "ts N ns" in it.
 * - It takes comments for the beginning of the first record.
 * - It takes --pid 4294967297 for 1.
 * - It says that all is well, with status 0, when its output cannot be written.
 * - It empties its output before it knows that there is input.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "page_owner_sort/blocks.h"
#include "base/exit_status.h"
#include "input/health.h"
#include "page_owner_sort/page_owner_sort.h"
#include "input/reader.h"

/* Only the order is read from it, so that no page's size matters. */
#define PAGE_SIZE 4096

static const char usage[] =
"Usage: page_owner_sort [options] INPUT OUTPUT\n"
"  -a  by time of allocation    -m  by memory, the most first\n"
"  -n  by name of the task      -p  by pid      -P  by tgid\n"
"  -s  by stack trace           -t  by times seen, the most first (default)\n"
"  --sort [+|-]KEY,...  by pid, tgid, name, stacktrace, txt, alloc_ts, allocator\n"
"  --cull KEY,...       merge by pid, tgid, name, stacktrace, allocator\n"
"  --pid N,...   --tgid N,...   --name NAME,...   only such records\n"
"  -d  accepted: what cannot be read is always told\n";

static noreturn void fail(const char *format, const char *word)
{
	fputs("page_owner_sort: ", stderr);
	fprintf(stderr, format, word);
	fprintf(stderr, "\n%s", usage);
	exit(STATUS_FAILED);
}

static bool is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

static bool parse_key(const char *word, size_t len, bool cull, enum block_field *field)
{
	static const struct {
		const char *name, *brief;
		enum block_field field;
		bool cull;
	} keys[] = {
		{ "pid", "p", BLOCK_PID, true },
		{ "tgid", "tg", BLOCK_TGID, true },
		{ "name", "n", BLOCK_COMM, true },
		{ "stacktrace", "st", BLOCK_STACK, true },
		{ "allocator", "ator", BLOCK_ALLOCATOR, true },
		{ "txt", "T", BLOCK_TEXT, false },
		{ "alloc_ts", "at", BLOCK_TIME, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (is(word, len, keys[i].name) || is(word, len, keys[i].brief)) {
			*field = keys[i].field;
			return !cull || keys[i].cull;
		}
	}
	return false;
}

static void parse_sort(struct blocks *b, const char *list)
{
	const u32 most = sizeof(b->sort) / sizeof(*b->sort);
	const char *p = list;

	b->nr_sorts = 0;
	for (;;) {
		bool descending = *p == '-';
		size_t len;

		p += descending || *p == '+';
		len = strcspn(p, ",");
		if (b->nr_sorts == most)
			fail("--sort: '%s' has too many keys", list);
		if (!parse_key(p, len, false, &b->sort[b->nr_sorts].field))
			fail("--sort: '%s' is not a list of its keys", p);
		b->sort[b->nr_sorts++].descending = descending;
		if (!p[len])
			return;
		p += len + 1;
	}
}

static void parse_cull(struct blocks *b, const char *list)
{
	const char *p = list;

	for (;;) {
		size_t len = strcspn(p, ",");
		enum block_field field;

		if (!parse_key(p, len, true, &field))
			fail("--cull: '%s' is not a list of its keys", p);
		b->cull |= BLOCK_BIT(field);
		if (!p[len])
			return;
		p += len + 1;
	}
}

static void parse_numbers(struct number_list *list, const char *text)
{
	const char *p = text;
	char *end;

	for (;;) {
		s64 v;

		errno = 0;
		v = strtoll(p, &end, 10);
		if (end == p || (*end && *end != ',') || errno || v > PID_MAX || v < -PID_MAX)
			fail("'%s' is not a list of process numbers", text);
		list->v = grow(list->v, list->n, &list->cap, sizeof(*list->v));
		list->v[list->n++] = v;
		if (!*end)
			return;
		p = end + 1;
	}
}

static void parse_names(struct globs *names, const char *list)
{
	for (;;) {
		size_t len = strcspn(list, ",");

		globs_add(names, list, len);
		if (!list[len])
			return;
		list += len + 1;
	}
}

static void sort_by(struct blocks *b, enum block_field field, bool descending)
{
	if (b->nr_sorts)
		fail("'%s' is one order too many", "the second");
	b->sort[b->nr_sorts++] = (struct block_sort){ field, descending };
}

enum {
	OPT_PID = 1,
	OPT_TGID,
	OPT_NAME,
	OPT_CULL,
	OPT_SORT,
};

static void parse_option(struct blocks *b, int opt)
{
	switch (opt) {
	case 'a':
		sort_by(b, BLOCK_TIME, false);
		break;
	case 'm':
		sort_by(b, BLOCK_PAGES, true);
		break;
	case 'n':
		sort_by(b, BLOCK_COMM, false);
		break;
	case 'p':
		sort_by(b, BLOCK_PID, false);
		break;
	case 'P':
		sort_by(b, BLOCK_TGID, false);
		break;
	case 's':
		sort_by(b, BLOCK_STACK, false);
		break;
	case 't':
		sort_by(b, BLOCK_TIMES_SEEN, true);
		break;
	case 'd':
		break;
	case OPT_PID:
		b->filter_pid = true;
		parse_numbers(&b->pids, optarg);
		break;
	case OPT_TGID:
		b->filter_tgid = true;
		parse_numbers(&b->tgids, optarg);
		break;
	case OPT_NAME:
		b->filter_comm = true;
		parse_names(&b->comms, optarg);
		break;
	case OPT_CULL:
		parse_cull(b, optarg);
		break;
	case OPT_SORT:
		if (b->nr_sorts)
			fail("--sort: '%s' is one order too many", optarg);
		parse_sort(b, optarg);
		break;
	default:
		fputs(usage, stderr);
		exit(STATUS_FAILED);
	}
}

static void parse_options(struct blocks *b, int argc, char *argv[])
{
	static const struct option longopts[] = {
		{ "pid", required_argument, NULL, OPT_PID },
		{ "tgid", required_argument, NULL, OPT_TGID },
		{ "name", required_argument, NULL, OPT_NAME },
		{ "cull", required_argument, NULL, OPT_CULL },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ 0 }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "admnpstP", longopts, NULL)) != -1)
		parse_option(b, opt);
	if (!b->nr_sorts)
		sort_by(b, BLOCK_TIMES_SEEN, true);
	if (argc - optind != 2)
		fail("'%s' are two files that it takes", "INPUT OUTPUT");
}

/* Behind the last block, and no block begins like it. */
static void print_incomplete(const struct health *h, FILE *out)
{
	fprintf(out, "# incomplete: %s\n", h->first);
}

static int write_blocks(struct blocks *b, const char *path, const struct health *h)
{
	FILE *out = fopen(path, "we");
	bool failed;

	if (!out) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", path, strerror(errno));
		return STATUS_FAILED;
	}
	blocks_print(b, out);
	if (!health_complete(h))
		print_incomplete(h, out);
	failed = ferror(out);
	if (fclose(out) || failed) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", path, strerror(errno));
		return STATUS_FAILED;
	}
	return health_complete(h) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
}

int page_owner_sort_main(int argc, char *argv[])
{
	struct blocks blocks;
	struct record_sink sink = { .take = blocks_take, .arg = &blocks };
	struct health health = { 0 };
	int status;

	blocks_init(&blocks);
	parse_options(&blocks, argc, argv);
	if (strcmp(argv[optind], "-") && access(argv[optind], R_OK)) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", argv[optind], strerror(errno));
		blocks_free(&blocks);
		return STATUS_FAILED;
	}
	read_inputs(&argv[optind], 1, PAGE_SIZE, &sink, &health);
	blocks_sort(&blocks);
	status = write_blocks(&blocks, argv[optind + 1], &health);
	blocks_free(&blocks);
	return status;
}
