// SPDX-License-Identifier: GPL-2.0
/* Find the names of the functions of user frames in programs and libraries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "input/octal.h"
#include "names/binaries.h"
#include "names/elf_symbols.h"

#define DEBUG_FILES "/usr/lib/debug/.build-id"

/* A file with symbols. */
struct symbol_file {
	char *path;
	char *id;		/* of the file; NULL: it was named by the user */
	struct elf_symbols *symbols;	/* NULL: not opened yet, or unusable */
	bool opened;
	bool used;
};

/* All files that may have the names of one id. */
struct binary {
	u32 *files;		/* numbers of struct symbol_file */
	u32 n;
	u32 cap;
	const struct elf_symbols *code;	/* converts offsets; NULL: no file does */
	char *name;		/* the file name in the first frame */
};

struct binaries {
	struct symbol_file *files;
	u32 n;
	u32 cap;
	struct strings ids;	/* of the frames that were looked up */
	struct binary *binaries;	/* by number in ids */
	u32 binaries_cap;
	struct strings missing;	/* frames without names */
};

struct binaries *binaries_open(void)
{
	return xcalloc(1, sizeof(struct binaries));
}

static struct symbol_file *add_file(struct binaries *b, const char *path, const char *id)
{
	b->files = grow_array(b->files, b->n, &b->cap, sizeof(*b->files));
	b->files[b->n] = (struct symbol_file){
		.path = xstrndup(path, strlen(path)),
		.id = id ? xstrndup(id, strlen(id)) : NULL,
	};
	return &b->files[b->n++];
}

/* Open a file, unless this was tried. Returns NULL, or what is wrong with it. */
static const char *open_file(struct symbol_file *file)
{
	const char *error = NULL;

	if (!file->opened)
		file->symbols = elf_symbols_open(file->path, &error);
	file->opened = true;
	return error;
}

const char *binaries_add_file(struct binaries *b, const char *path)
{
	return open_file(add_file(b, path, NULL));
}

void binaries_add_paths(struct binaries *b, const char *owner_binaries)
{
	FILE *in = fopen(owner_binaries, "re");
	char *line = NULL, *path;
	size_t cap = 0;
	ssize_t len;

	while (in && (len = getline(&line, &cap, in)) > 0) {
		struct text_slice decoded;

		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, ' ');
		if (!path)
			continue;
		*path++ = '\0';
		decoded = octal_decode((struct text_slice){ path, strlen(path) }, path);
		path[decoded.len] = '\0';
		if (*path == '/')
			add_file(b, path, line);
	}
	free(line);
	if (in)
		fclose(in);
}

/* Does the frame have the device and the inode of the file? */
static bool is_inode_of_file(const char *path, const char *id)
{
	char text[64];
	struct stat st;

	if (stat(path, &st))
		return false;
	snprintf(text, sizeof(text), "%u:%u:%llu", major(st.st_dev), minor(st.st_dev),
		 (unsigned long long)st.st_ino);
	return !strcmp(id, text);
}

/*
 * Is the file that of the frame? Only a file without build-id, which the user named for this
 * input, is believed by its name: the input may be of another machine.
 */
static bool file_fits_frame(const struct symbol_file *file, const char *id, const char *name)
{
	const char *build_id = elf_symbols_get_build_id(file->symbols);

	if (!strchr(id, ':'))
		return !strcmp(id, build_id);
	if (is_inode_of_file(file->path, id))
		return true;
	return !file->id && !*build_id && !strcmp(name, basename(file->path));
}

static void use_file(struct binaries *b, struct binary *binary, u32 i)
{
	struct symbol_file *file = &b->files[i];

	file->used = true;
	binary->files = grow_array(binary->files, binary->n, &binary->cap, sizeof(*binary->files));
	binary->files[binary->n++] = i;
	if (!binary->code && elf_symbols_has_code(file->symbols))
		binary->code = file->symbols;
}

/* Add the file of symbols that a package of debug information has for a build-id. */
static void add_debug_file(struct binaries *b, const char *id)
{
	char path[sizeof(DEBUG_FILES) + BUILD_ID_LEN + sizeof("//.debug")];

	if (strlen(id) < 4 || strlen(id) >= BUILD_ID_LEN || strchr(id, ':'))
		return;
	snprintf(path, sizeof(path), DEBUG_FILES "/%.2s/%s.debug", id, id + 2);
	if (!access(path, R_OK))
		add_file(b, path, id);
}

static void find_files_of_binary(struct binaries *b, struct binary *binary, const char *id)
{
	u32 i;

	add_debug_file(b, id);
	for (i = 0; i < b->n; i++) {
		struct symbol_file *file = &b->files[i];

		if (file->id && strcmp(id, file->id))
			continue;
		open_file(file);
		if (file->symbols && file_fits_frame(file, id, binary->name))
			use_file(b, binary, i);
	}
}

static struct binary *find_binary(struct binaries *b, const struct user_frame *frame)
{
	u32 old_n = b->ids.n, id = strings_intern(&b->ids, frame->id);

	if (id == old_n) {
		b->binaries = grow_array(b->binaries, id, &b->binaries_cap, sizeof(*b->binaries));
		b->binaries[id] = (struct binary){
			.name = xstrndup(frame->file.s, frame->file.len),
		};
		find_files_of_binary(b, &b->binaries[id], b->ids.v[id].s);
	}
	return &b->binaries[id];
}

static struct text_slice find_function_in_binary(const struct binaries *b,
						 const struct binary *binary,
						 u64 file_offset, u64 *offset)
{
	struct text_slice name = { NULL, 0 };
	u64 address;
	u32 i;

	if (!binary->code || !elf_symbols_find_address(binary->code, file_offset, &address))
		return name;
	for (i = 0; i < binary->n && !name.len; i++)
		name = elf_symbols_find_function(b->files[binary->files[i]].symbols, address,
						 offset);
	return name;
}

static void note_missing_frame(struct binaries *b, const struct user_frame *frame)
{
	struct text_slice line = { frame->file.s, frame->id.s + frame->id.len - frame->file.s };

	strings_intern(&b->missing, line);
}

struct text_slice binaries_find_function(struct binaries *b, const struct user_frame *frame,
					 u64 *offset)
{
	struct text_slice name = { NULL, 0 };

	if (!frame->id.len)
		return name;
	name = find_function_in_binary(b, find_binary(b, frame), frame->offset, offset);
	if (!name.len)
		note_missing_frame(b, frame);
	return name;
}

/* The example is the first one in the alphabet, wherever it stands in the inputs. */
struct missing_frames binaries_get_not_found(const struct binaries *b)
{
	struct missing_frames missing = { .n = b->missing.n };
	u32 i;

	for (i = 0; i < missing.n; i++)
		if (!missing.example || strcmp(b->missing.v[i].s, missing.example) < 0)
			missing.example = b->missing.v[i].s;
	return missing;
}

/* Print the build-ids of the frames in files of this name, which have other contents. */
static void print_ids_of_name(const struct binaries *b, const char *name, FILE *out)
{
	u32 i;

	for (i = 0; i < b->ids.n; i++)
		if (!strcmp(b->binaries[i].name, name))
			fprintf(out, "; frames of %s have %s", name, b->ids.v[i].s);
}

void binaries_print_unused(const struct binaries *b, FILE *out)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		const struct symbol_file *file = &b->files[i];
		const char *id;

		if (file->id || file->used || !file->symbols)
			continue;
		id = elf_symbols_get_build_id(file->symbols);
		fprintf(out, "ownertop: --binary: %s: no user frame is in a file with ",
			file->path);
		if (*id)
			fprintf(out, "its build-id, %s", id);
		else
			fputs("its name, and it has no build-id", out);
		print_ids_of_name(b, basename(file->path), out);
		putc('\n', out);
	}
	for (i = 0; i < b->ids.n; i++)
		if (b->binaries[i].n && !b->binaries[i].code)
			fprintf(out,
				"ownertop: %s: only its debug information was found, which lacks program headers; name the file itself with --binary\n",
				b->binaries[i].name);
}

void binaries_close(struct binaries *b)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		if (b->files[i].symbols)
			elf_symbols_close(b->files[i].symbols);
		free(b->files[i].path);
		free(b->files[i].id);
	}
	for (i = 0; i < b->ids.n; i++) {
		free(b->binaries[i].files);
		free(b->binaries[i].name);
	}
	free(b->files);
	free(b->binaries);
	strings_free(&b->ids);
	strings_free(&b->missing);
	free(b);
}
