// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds the readers whatever libFuzzer comes up with, beside a good input, and
 * checks what comes out of them: groups add up to the total, and every view
 * gets through. Sanitizers see to the rest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../options.h"

#define PAGE_SIZE 4096

/* What a handle of the good input stands for, some bad input may ask. */
static const char handles[] =
	" vfs_read+0xa3/0x100\nhandle: 42\n\n"
	" vfs_write+0xa3/0x100 [ext4]\nhandle: 43\n\n";

struct file {
	int fd;
	char path[32];
};

static struct file file_new(const char *name)
{
	struct file f = { .fd = memfd_create(name, MFD_CLOEXEC) };

	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

static void file_set(const struct file *f, const void *data, size_t size)
{
	if (ftruncate(f->fd, 0) || pwrite(f->fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void check(const struct report *r)
{
	const struct sum *total = &r->model->total;
	struct sum sum = r->not_shown;
	u32 i;

	for (i = 0; i < r->shown; i++)
		sum_add(&sum, &report_group(r, i)->sum);
	if (memcmp(&sum, total, sizeof(sum)))
		abort();
}

static void show(const struct view *view, char * const *paths, FILE *nowhere)
{
	u64 times[] = { 0, 1 };
	struct options o = {
		.view = view,
		.select.group = view->group,
		.select.chains.depth = 3,
		.top = 2,
		.page_size = PAGE_SIZE,
		.times = { .source = TIME_GIVEN, .given = times, .n = 2 },
		.old = view->pair || view->takes & TAKES_DIFF ? paths[1] : NULL,
	};
	struct answer a = { .health.quiet = true };
	struct report report;
	unsigned int i;

	if (!answer_read(&a, &o, paths, 2))
		abort();
	if (!a.dumps.n) {
		report_init(&report, &a);
		check(&report);
		report_free(&report);
	}
	for (i = 0; i < NR_FORMATS; i++)
		if (view->write[i])
			view->write[i](&a, nowhere);
	answer_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct file good, bad;
	static FILE *nowhere;
	unsigned int i;

	if (!nowhere) {
		/* Messages are not what is looked at; the sanitizers use the descriptor. */
		nowhere = fopen("/dev/null", "w");
		stderr = nowhere;
		good = file_new("good");
		file_set(&good, handles, sizeof(handles) - 1);
		bad = file_new("bad");
	}
	file_set(&bad, data, size);
	for (i = 0; i < nr_views; i++)
		show(&views[i], (char *[]){ bad.path, good.path }, nowhere);
	return 0;
}
