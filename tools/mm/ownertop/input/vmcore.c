// SPDX-License-Identifier: GPL-2.0
/* Read memory dumps by running drgn. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "input/vmcore.h"
#include "lang/lang.h"

#define READER_NAME "slab_owner.py"
#define REASON_LEN 160

/* First bytes of dumps that makedumpfile writes, to files and to pipes. */
#define KDUMP_MAGIC "KDUMP   "
#define FLATTENED_MAGIC "makedumpfile"

/* A dump that has been read. */
struct read_dump {
	const char *path;
	int fd;		/* a temporary file with its records */
	struct read_dump *next;
};

bool vmcore_recognise(struct text_slice head)
{
	return TEXT_STARTS(head, ELFMAG) || TEXT_STARTS(head, KDUMP_MAGIC) ||
	       TEXT_STARTS(head, FLATTENED_MAGIC);
}

/* The type of an ELF file is in two bytes, of which the upper one is 0. */
static bool is_core(struct text_slice head)
{
	return head.len > EI_NIDENT + 1 && head.s[EI_NIDENT] + head.s[EI_NIDENT + 1] == ET_CORE;
}

/* Returns why the dump cannot be read, or NULL. */
static const char *find_reason_to_refuse(const char *path, struct text_slice head,
					 const struct vmcore_options *o)
{
	if (TEXT_STARTS(head, FLATTENED_MAGIC))
		return "a flattened dump; convert it: makedumpfile -R vmcore <FILE";
	if (TEXT_STARTS(head, ELFMAG) && !is_core(head))
		return "an ELF file, but no memory dump";
	if (!strcmp(path, "-"))
		return "a memory dump cannot be read from a pipe; name its file";
	if (!o->vmlinux)
		return "a memory dump; add --vmlinux FILE, its kernel with debug information";
	return NULL;
}

/*
 * Find slab_owner.py: where $OWNERTOP_READER says, where make install puts it, or in the
 * source tree. Returns false if there is none.
 */
static bool find_reader(char path[PATH_MAX])
{
	static const char * const places[] = { "../share/ownertop", "..", "../../../tools/mm" };
	const char *named = getenv("OWNERTOP_READER");
	char program[PATH_MAX] = "";
	size_t i;

	if (named) {
		snprintf(path, PATH_MAX, "%s", named);
		return !access(path, R_OK);
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return false;
	dirname(program);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int len = snprintf(path, PATH_MAX, "%s/%s/" READER_NAME, program, places[i]);

		if (len < PATH_MAX && !access(path, R_OK))
			return true;
	}
	return false;
}

const char *vmcore_name_kinds(unsigned int kinds, char text[VMCORE_KINDS_SIZE])
{
	unsigned int i;
	int len = 0;

	if (!kinds)
		kinds = 1U << OWNER_KIND_SLAB | 1U << OWNER_KIND_PERCPU;
	for (i = 0; i < OWNER_KINDS; i++)
		if (kinds & 1U << i)
			len += snprintf(text + len, VMCORE_KINDS_SIZE - len, "%s%s", len ? "," : "",
					owner_kind_names[i]);
	return text;
}

/* Create a temporary file without a name. Returns -1 with errno set on failure. */
static int create_temporary_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	/* /tmp may be in memory, and the records of a large machine take gigabytes. */
	snprintf(path, sizeof(path), "%s/ownertop.XXXXXX", directory ? directory : "/var/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Run @args with standard output to @fd. Returns the exit status, or -1 with errno set. */
static int run_program(const char * const args[], int fd)
{
	int status, error;
	pid_t pid;

	error = process_start(&pid, args, (int[]){ STDIN_FILENO, fd, STDERR_FILENO });
	if (error) {
		errno = error;
		return -1;
	}
	status = process_wait(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns false with *@reason set if the dump's records are not in @fd afterwards. */
static bool print_records(const char *path, const struct vmcore_options *o, int fd,
			  const char **reason)
{
	static char text[REASON_LEN];
	char reader[PATH_MAX], kinds[VMCORE_KINDS_SIZE];
	const char * const args[] = {
		"drgn", "-q", "-c", path, "-s", o->vmlinux, reader, "--records",
		"--source", vmcore_name_kinds(o->kinds, kinds), NULL,
	};
	int status;

	*reason = text;
	if (!find_reader(reader)) {
		*reason = READER_NAME " was not found; set OWNERTOP_READER to its path";
		return false;
	}
	status = run_program(args, fd);
	if (status < 0)
		snprintf(text, sizeof(text), "drgn, which reads memory dumps, cannot be run: %s",
			 strerror(errno));
	else
		snprintf(text, sizeof(text), "drgn has ended with status %d", status);
	return !status;
}

int vmcore_open_records(const char *path, struct text_slice head, const struct vmcore_options *o,
			const char **reason)
{
	static struct read_dump *dumps;
	struct read_dump *dump;
	int fd;

	*reason = find_reason_to_refuse(path, head, o);
	if (*reason)
		return -1;
	for (dump = dumps; dump; dump = dump->next)
		if (!strcmp(dump->path, path))
			break;
	if (!dump) {
		fd = create_temporary_file();
		if (fd < 0) {
			*reason = "no temporary file for its records; set TMPDIR";
			return -1;
		}
		if (!print_records(path, o, fd, reason)) {
			close(fd);
			return -1;
		}
		dump = xcalloc(1, sizeof(*dump));
		*dump = (struct read_dump){ path, fd, dumps };
		dumps = dump;
	}
	/* The copy shares the position with dump->fd. */
	fd = fcntl(dump->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		*reason = strerror(errno);
		return -1;
	}
	return fd;
}
