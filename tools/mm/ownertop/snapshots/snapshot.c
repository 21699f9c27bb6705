// SPDX-License-Identifier: GPL-2.0
/*
 * Write a snapshot: compress the kernel's files into a directory with a temporary name, and
 * rename it when all is on the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/version.h"
#include "snapshots/snapshot.h"
#include "snapshots/store.h"
#include "snapshots/zstd_file.h"

/* Size of reads: page_owner returns an error if the buffer is too small for a record. */
#define READ_SIZE (128 * 1024)

#define NR_DUMPS 2

#define NO_DUMP \
	"not readable, nor is page_owner: needs root, debugfs, slab_owner=on or page_owner=on"

/* The files of a snapshot. One of the first NR_DUMPS is needed. */
static const struct {
	const char *name;
	const char *source;
} files[] = {
	{ "slab_owner.zst", "/sys/kernel/debug/slab_owner" },
	{ "page_owner.zst", "/sys/kernel/debug/page_owner" },
	{ "kallsyms.zst", "/proc/kallsyms" },
	{ "slabinfo.zst", "/proc/slabinfo" },
	{ "meminfo.zst", "/proc/meminfo" },
};

#define NR_FILES (sizeof(files) / sizeof(*files))

/* A snapshot that is being written. */
struct writing {
	const struct snapshot_options *o;
	int fd;			/* its directory */
	u64 left;		/* bytes that may still be written */
	u32 nr_dumps;
};

static bool report_failure(const char *path, const char *reason)
{
	fprintf(stderr, "ownertop: record: %s: %s\n", path, reason);
	return false;
}

static bool report_write_failure(const struct writing *w, const char *name)
{
	char *path;
	bool result;

	if (asprintf(&path, "%s: %s", w->o->dir, name) < 0)
		exit_out_of_memory();
	result = report_failure(path, errno == EFBIG ?
				"larger than --max-bytes or a limit of file sizes" :
				strerror(errno));
	free(path);
	return result;
}

static char *join_source_path(const struct writing *w, const char *source)
{
	char *path;

	if (asprintf(&path, "%s%s", w->o->root, source) < 0)
		exit_out_of_memory();
	return path;
}

/* Copy the open file @fd. Returns false after a message on failure. */
static bool copy_open_file(struct writing *w, int fd, const char *path, const char *name)
{
	struct zstd_file *file = zstd_file_create(w->fd, name, &w->left);
	char *buf;
	ssize_t n;

	if (!file)
		return report_write_failure(w, name);
	buf = xmalloc(READ_SIZE);
	while ((n = read(fd, buf, READ_SIZE)) && !*w->o->stop) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !zstd_file_write(file, buf, n))
			break;
	}
	free(buf);
	if (!n && !*w->o->stop)
		return zstd_file_finish(file) || report_write_failure(w, name);
	zstd_file_abandon(file);
	if (*w->o->stop)
		return false;
	return n < 0 ? report_failure(path, strerror(errno)) : report_write_failure(w, name);
}

/* Copy a file if it can be opened. Returns false after a message if it cannot be copied. */
static bool copy_file_if_readable(struct writing *w, u32 i)
{
	char *path = join_source_path(w, files[i].source);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = true;

	if (fd >= 0) {
		ok = copy_open_file(w, fd, path, files[i].name);
		close(fd);
		w->nr_dumps += i < NR_DUMPS;
	}
	free(path);
	return ok;
}

static void read_first_line(const struct writing *w, const char *source, char line[STORE_LINE_LEN])
{
	char *path = join_source_path(w, source);
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, STORE_LINE_LEN, f))
		snprintf(line, STORE_LINE_LEN, "unknown");
	line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
	free(path);
}

static bool write_about(struct writing *w, time_t time)
{
	int fd = openat(w->fd, STORE_ABOUT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char boot[STORE_LINE_LEN], release[STORE_LINE_LEN], version[STORE_LINE_LEN];
	struct utsname machine;
	FILE *f;

	if (fd < 0)
		return report_write_failure(w, STORE_ABOUT);
	f = fdopen(fd, "w");
	if (!f)
		exit_out_of_memory();
	read_first_line(w, "/proc/sys/kernel/random/boot_id", boot);
	read_first_line(w, "/proc/sys/kernel/osrelease", release);
	read_first_line(w, "/proc/sys/kernel/version", version);
	uname(&machine);
	fprintf(f, "ownertop " OWNERTOP_VERSION "\ntime %lld\nboot_id %s\n", (long long)time, boot);
	fprintf(f, "kernel %.64s %.128s %s\n", release, version, machine.machine);
	if (fflush(f) || fsync(fd)) {
		fclose(f);
		return report_write_failure(w, STORE_ABOUT);
	}
	return !fclose(f) || report_write_failure(w, STORE_ABOUT);
}

static bool write_files(struct writing *w, time_t time)
{
	u32 i;

	for (i = 0; i < NR_FILES; i++) {
		if (i == NR_DUMPS && !w->nr_dumps)
			return report_failure(files[0].source, NO_DUMP);
		if (!copy_file_if_readable(w, i))
			return false;
	}
	return write_about(w, time) && (!fsync(w->fd) || report_write_failure(w, "fsync"));
}

/* Returns the time of the snapshot, which no other snapshot of the directory has. */
static time_t choose_time(int dir_fd, char name[STORE_NAME_LEN + 1])
{
	for (;;) {
		time_t now = time(NULL);

		store_format_name(name, now);
		if (faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW))
			return now;
		sleep(1);
	}
}

static bool write_partial(struct writing *w, const char *partial, time_t time)
{
	const struct snapshot_options *o = w->o;
	bool ok;

	if (mkdirat(o->dir_fd, partial, 0700))
		return report_failure(o->dir, strerror(errno));
	w->fd = openat(o->dir_fd, partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->fd < 0)
		return report_failure(o->dir, strerror(errno));
	ok = write_files(w, time);
	close(w->fd);
	return ok;
}

bool snapshot_write(const struct snapshot_options *o)
{
	struct writing w = { .o = o, .left = o->max_bytes };
	char name[STORE_NAME_LEN + 1], partial[NAME_MAX];
	time_t time;

	store_remove_leftovers(o->dir_fd);
	time = choose_time(o->dir_fd, name);
	snprintf(partial, sizeof(partial), STORE_PARTIAL "%s", name);
	if (!write_partial(&w, partial, time)) {
		store_remove(o->dir_fd, partial);
		return false;
	}
	if (renameat(o->dir_fd, partial, o->dir_fd, name) || fsync(o->dir_fd)) {
		report_failure(o->dir, strerror(errno));
		store_remove(o->dir_fd, partial);
		return false;
	}
	return store_prune(o->dir_fd, o->keep, o->max_bytes) ||
	       report_failure(o->dir, strerror(errno));
}
