// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds the readers whatever libFuzzer comes up with, beside a good input, and
 * checks what comes out of them: groups add up to the total, and every writer
 * gets through. Sanitizers see to the rest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../reader.h"
#include "../report.h"
#include "../writer.h"

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

	for (i = 0; i < r->shown; i++) {
		const struct sum *s = &report_group(r, i)->sum;

		sum.objects += s->objects;
		sum.bytes += s->bytes;
		sum.held += s->held;
	}
	if (sum.objects != total->objects || sum.bytes != total->bytes ||
	    sum.held != total->held)
		abort();
}

static void write_all(const struct report *r, FILE *nowhere)
{
	write_table(r, nowhere);
	write_json(r, nowhere);
	write_csv(r, nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct file good, bad;
	static FILE *nowhere;
	struct view view = { .group = { { FIELD_STACK, FIELD_CACHE, FIELD_PID }, 3 },
			     .depth = 3 };
	struct health health = { 0 };
	struct report report;
	struct model model;

	if (!nowhere) {
		/* Messages are not what is looked at; the sanitizers use the descriptor. */
		nowhere = fopen("/dev/null", "w");
		stderr = nowhere;
		good = file_new("good");
		file_set(&good, handles, sizeof(handles) - 1);
		bad = file_new("bad");
	}
	file_set(&bad, data, size);
	model_init(&model, &view);
	read_inputs((char *[]){ bad.path, good.path }, 2, PAGE_SIZE, &model, &health);
	report_init(&report, &model, &health, SORT_BYTES, 2);
	check(&report);
	write_all(&report, nowhere);
	report_free(&report);
	model_free(&model);
	return 0;
}
