// SPDX-License-Identifier: GPL-2.0
/*
 * The options and the output of tools/mm/page_owner_sort. The program of 6.12 has errors
 * that are not repeated here; tests/against_page_owner_sort.py has a case for each:
 *
 * - It ignores --sort.
 * - It limits the number of records by the size of the input file, so it prints nothing for
 *   a pipe, or for records under 100 bytes. This program has no limit.
 * - It ignores a truncated last record, ends silently at a record over 128 KiB, and counts a
 *   block without a PFN line like the block before it. This program reports damage with its
 *   line number, in the exit status, and in the last line of the output.
 * - It accepts an order of 64, shifts by it, and adds up pages in an int.
 * - Since 6.10 slab is a page type and not a flag, so it recognises slab pages only by the
 *   line "Slab cache page".
 * - It does not recognise vmalloc where __vmalloc_area_node() is not inlined.
 * - It reads before its buffer if vmalloc is in the first frame.
 * - It writes beyond 16 bytes for the name of a task that contains "), ts".
 * - It truncates a number in the name of a task that contains "ts N ns".
 * - It takes comments for the beginning of the first record.
 * - It reads --pid 4294967297 as 1.
 * - It exits with status 0 if its output cannot be written.
 * - It truncates its output file before it knows that there is input.
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

/* Page size for the reader. Blocks have numbers of pages, so its value does not matter. */
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

static noreturn void exit_with_usage_error(const char *format, const char *word)
{
	fputs("page_owner_sort: ", stderr);
	fprintf(stderr, format, word);
	fprintf(stderr, "\n%s", usage);
	exit(STATUS_FAILED);
}

static bool word_equals(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

static bool parse_block_field(const char *word, size_t len, bool cull, enum block_field *field)
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
		if (word_equals(word, len, keys[i].name) || word_equals(word, len, keys[i].brief)) {
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
			exit_with_usage_error("--sort: '%s' has too many keys", list);
		if (!parse_block_field(p, len, false, &b->sort[b->nr_sorts].field))
			exit_with_usage_error("--sort: '%s' is not a list of its keys", p);
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

		if (!parse_block_field(p, len, true, &field))
			exit_with_usage_error("--cull: '%s' is not a list of its keys", p);
		b->cull |= BLOCK_BIT(field);
		if (!p[len])
			return;
		p += len + 1;
	}
}

static void parse_number_list(struct number_list *list, const char *text)
{
	const char *p = text;
	char *end;

	for (;;) {
		s64 v;

		errno = 0;
		v = strtoll(p, &end, 10);
		if (end == p || (*end && *end != ',') || errno || v > PID_MAX || v < -PID_MAX)
			exit_with_usage_error("'%s' is not a list of process numbers", text);
		list->v = grow_array(list->v, list->n, &list->cap, sizeof(*list->v));
		list->v[list->n++] = v;
		if (!*end)
			return;
		p = end + 1;
	}
}

static void parse_task_names(struct globs *names, const char *list)
{
	for (;;) {
		size_t len = strcspn(list, ",");

		globs_add(names, list, len);
		if (!list[len])
			return;
		list += len + 1;
	}
}

static void add_sort_key(struct blocks *b, enum block_field field, bool descending)
{
	if (b->nr_sorts)
		exit_with_usage_error("'%s' is one order too many", "the second");
	b->sort[b->nr_sorts++] = (struct block_sort_key){ field, descending };
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
		add_sort_key(b, BLOCK_TIME, false);
		break;
	case 'm':
		add_sort_key(b, BLOCK_PAGES, true);
		break;
	case 'n':
		add_sort_key(b, BLOCK_COMM, false);
		break;
	case 'p':
		add_sort_key(b, BLOCK_PID, false);
		break;
	case 'P':
		add_sort_key(b, BLOCK_TGID, false);
		break;
	case 's':
		add_sort_key(b, BLOCK_STACK, false);
		break;
	case 't':
		add_sort_key(b, BLOCK_TIMES_SEEN, true);
		break;
	case 'd':
		break;
	case OPT_PID:
		b->filter_pid = true;
		parse_number_list(&b->pids, optarg);
		break;
	case OPT_TGID:
		b->filter_tgid = true;
		parse_number_list(&b->tgids, optarg);
		break;
	case OPT_NAME:
		b->filter_comm = true;
		parse_task_names(&b->comms, optarg);
		break;
	case OPT_CULL:
		parse_cull(b, optarg);
		break;
	case OPT_SORT:
		if (b->nr_sorts)
			exit_with_usage_error("--sort: '%s' is one order too many", optarg);
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
		add_sort_key(b, BLOCK_TIMES_SEEN, true);
	if (argc - optind != 2)
		exit_with_usage_error("'%s' are two files that it takes", "INPUT OUTPUT");
}

static void print_text(struct text_slice t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

static void print_allocator_names(u32 allocator, FILE *out)
{
	fputs("allocated by ", out);
	if (allocator & ALLOCATOR_CMA)
		fputs("CMA ", out);
	if (allocator & ALLOCATOR_SLAB)
		fputs("SLAB ", out);
	if (allocator & ALLOCATOR_VMALLOC)
		fputs("VMALLOC ", out);
	if (allocator & ALLOCATOR_OTHERS)
		fputs("OTHERS ", out);
}

static void print_block(struct blocks *b, const struct block *block, FILE *out)
{
	fprintf(out, "%llu times, %llu pages", block->times, block->pages);
	if (!b->cull) {
		fputs(", ", out);
		print_allocator_names(block->allocator, out);
		fputs(":\n", out);
		print_text(block_format_header(b, block, &b->left), out);
		print_text(block_get_stack(b, block), out);
		putc('\n', out);
		return;
	}
	if (b->cull & BLOCK_BIT(BLOCK_PID) || b->filter_pid)
		fprintf(out, ", PID %d", block->pid);
	if (b->cull & BLOCK_BIT(BLOCK_TGID) || b->filter_tgid)
		fprintf(out, ", TGID %d", block->tgid);
	if (b->cull & BLOCK_BIT(BLOCK_COMM) || b->filter_comm) {
		fputs(", task_comm_name: ", out);
		print_text(b->names.v[b->header_comm[block->header]], out);
	}
	if (b->cull & BLOCK_BIT(BLOCK_ALLOCATOR)) {
		fputs(", ", out);
		print_allocator_names(block->allocator, out);
	}
	if (b->cull & BLOCK_BIT(BLOCK_STACK)) {
		fputs(":\n", out);
		print_text(block_get_stack(b, block), out);
	}
	putc('\n', out);
}

static void print_blocks(struct blocks *b, FILE *out)
{
	u32 i;

	for (i = 0; i < b->v.n; i++) {
		struct block block = unpack_block_fields(b, b->order[i]);

		print_block(b, &block, out);
	}
}

/*
 * Print a last line that says that the output is incomplete. No block begins with "#", so a
 * program that reads blocks can tell this line from them.
 */
static void print_incomplete(const struct input_health *h, FILE *out)
{
	fprintf(out, "# incomplete: %s\n", h->first);
}

static int write_blocks(struct blocks *b, const char *path, const struct input_health *h)
{
	FILE *out = fopen(path, "we");
	bool failed;

	if (!out) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", path, strerror(errno));
		return STATUS_FAILED;
	}
	print_blocks(b, out);
	if (!health_is_complete(h))
		print_incomplete(h, out);
	failed = ferror(out);
	if (fclose(out) || failed) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", path, strerror(errno));
		return STATUS_FAILED;
	}
	return health_is_complete(h) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
}

int page_owner_sort_main(int argc, char *argv[])
{
	struct blocks blocks;
	struct record_sink sink = { .add_record = add_record_to_blocks, .arg = &blocks };
	const struct input_options options = { .page_size = PAGE_SIZE };
	struct input_health health = { 0 };
	int status;

	blocks_init(&blocks);
	parse_options(&blocks, argc, argv);
	if (strcmp(argv[optind], "-") && access(argv[optind], R_OK)) {
		fprintf(stderr, "page_owner_sort: %s: %s\n", argv[optind], strerror(errno));
		blocks_free(&blocks);
		return STATUS_FAILED;
	}
	read_records_from_inputs(&argv[optind], 1, &options, &sink, &health);
	blocks_sort(&blocks);
	status = write_blocks(&blocks, argv[optind + 1], &health);
	blocks_free(&blocks);
	return status;
}
