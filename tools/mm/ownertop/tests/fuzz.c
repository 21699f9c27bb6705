// SPDX-License-Identifier: GPL-2.0
/*
 * Read inputs of libFuzzer together with a good input, write a view that a hash of the input
 * chooses, and check that groups add up to the total. Sanitizers find other errors. The bytes
 * before the first NUL, if there is one, are a sentence that selects records of the bytes behind
 * it. These are also read as kallsyms, and addresses are looked up in them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "names/kallsyms.h"
#include "ask/answer.h"
#include "ask/options.h"
#include "model/report.h"

#define PAGE_SIZE 4096

/*
 * The dump that views read beside the input of libFuzzer. It maps handles, which that input may
 * contain.
 */
static const char handles[] =
	" vfs_read+0xa3/0x100\nhandle: 42\n\n"
	" vfs_write+0xa3/0x100 [ext4]\nhandle: 43\n\n";

struct memory_file {
	int fd;
	char path[32];
};

static struct memory_file memory_file_create(const char *name)
{
	struct memory_file f = { .fd = memfd_create(name, MFD_CLOEXEC) };

	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

static void memory_file_write(const struct memory_file *f, const void *data, size_t size)
{
	if (ftruncate(f->fd, 0) || pwrite(f->fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void check_groups_add_up(const struct report *r)
{
	const struct sum *total = &r->model->total;
	struct sum sum = r->not_shown;
	u32 i;

	for (i = 0; i < r->shown; i++) {
		struct group g = report_get_group(r, i);

		sum_add(&sum, &g.sum);
	}
	if (!sum_equals(&sum, total))
		abort();
}

/*
 * Parse the bytes of the fuzzed input before the first NUL as a sentence; if it is wrong, @s is
 * empty. Returns where the dump behind it begins.
 */
static const uint8_t *parse_sentence(const uint8_t *data, size_t size, struct owner_sentence *s)
{
	const uint8_t *end = memchr(data, '\0', size);
	struct owner_lang_error error;
	size_t length = end ? end - data : 0;

	if (owner_lang_parse(s, OWNER_QUERY, (const char *)data, length, &error))
		return end ? end + 1 : data;
	if (!owner_lang_parse(s, OWNER_QUERY, "", 0, &error))
		abort();
	return data;
}

static void set_options_from_sentence(struct options *o, const struct owner_sentence *s)
{
	o->select.sentence = *s;
	o->select.by_handle = s->mode != OWNER_MODE_STACK;
	o->nr_order = s->nr_sort_by;
	memcpy(o->order, s->sort_by, sizeof(o->order));
	if (!s->nr_group_by)
		return;
	memcpy(o->select.group.v, s->group_by, sizeof(s->group_by));
	o->select.group.n = s->nr_group_by;
}

static void write_view(const struct view *view, char * const *paths, const struct owner_sentence *s,
		       FILE *nowhere)
{
	u64 times[] = { 0, 1 };
	struct options o = {
		.view = view,
		.select.group = view->group,
		.select.chains.depth = 3,
		.top = 2,
		.input.page_size = PAGE_SIZE,
		.times = { .source = TIME_LIST, .list = times, .n = 2 },
		.old = view->pair || view->takes & TAKES_SINCE ? paths[1] : NULL,
	};
	struct answer a = { .health.quiet = true };
	struct output_options output;
	struct report report;
	unsigned int i;

	set_options_from_sentence(&o, s);
	if (!answer_read(&a, &o, paths, 2)) {
		answer_free_members(&a);
		return;
	}
	if (!a.dumps.n) {
		report_init(&report, &a);
		check_groups_add_up(&report);
		report_free(&report);
	}
	output = make_output_options(&o);
	for (i = 0; i < NR_FORMATS; i++)
		if (view->write[i])
			view->write[i](&a, &output, nowhere);
	free(output.selection_arguments);
	answer_free_members(&a);
}

static void look_up_addresses(const char *path)
{
	struct kallsyms *k = kallsyms_open(path);
	unsigned int i;

	for (i = 0; k && i < 64; i++) {
		free(kallsyms_format_frame(k, U64_MAX << i));
		free(kallsyms_format_frame(k, 0xffffffff81000000 + (i << 7)));
	}
	if (k)
		kallsyms_close(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file good, bad;
	static FILE *nowhere;
	struct owner_sentence s;
	const uint8_t *input;
	char *paths[2];

	if (!nowhere) {
		/*
		 * Discard messages of ownertop. The sanitizers write to the descriptor, not to
		 * stderr.
		 */
		nowhere = fopen("/dev/null", "w");
		stderr = nowhere;
		good = memory_file_create("good");
		memory_file_write(&good, handles, sizeof(handles) - 1);
		bad = memory_file_create("bad");
	}
	input = parse_sentence(data, size, &s);
	memory_file_write(&bad, input, size - (input - data));
	paths[0] = bad.path;
	paths[1] = good.path;
	/* Writing all views for each input makes libFuzzer ten times slower. */
	write_view(&views[XXH3_64bits(data, size) % nr_views], paths, &s, nowhere);
	look_up_addresses(bad.path);
	return 0;
}
