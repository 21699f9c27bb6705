// SPDX-License-Identifier: GPL-2.0
/*
 * Replace frames of call chains by those that kallsyms and DWARF have. Each frame is looked up
 * once.
 */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"
#include "names/frame.h"
#include "names/image.h"
#include "names/names.h"
#include "base/strings.h"

#define MODULE_NAME_LEN 64

/*
 * Limit of the frames that replace one frame. More are dropped, but functions are not nested so
 * deeply.
 */
#define FRAMES_MAX 64

/* The frames that replace a frame without source lines. */
struct frame_expansion {
	struct text_slice *frames;
	u32 n;
};

struct frame_names {
	struct kallsyms *kallsyms;
	struct image *vmlinux;
	const char *modules_dir;
	struct strings modules;
	struct image **images;	/* by number in modules; NULL: modules_dir has no usable file */
	u32 images_cap;

	struct strings lines;
	struct frame_expansion *expansions;	/* by number of the line in names.lines */
	u32 expansions_cap;
	struct strings frames;
	struct missing_frames not_found;
	struct missing_frames not_covered;
};

struct frame_names *frame_names_open(const char *vmlinux, const char *modules,
				     struct kallsyms *kallsyms, const char **error)
{
	struct frame_names *names = xcalloc(1, sizeof(*names));

	names->kallsyms = kallsyms;
	names->modules_dir = modules;
	if (vmlinux) {
		names->vmlinux = elf_image_open(vmlinux, NULL, error);
		if (!names->vmlinux) {
			frame_names_close(names);
			return NULL;
		}
	}
	return names;
}

/*
 * Is @file the file of @module? It may have dashes where the name of the module has
 * underscores.
 */
static bool is_module_file(const char *file, struct text_slice module)
{
	size_t i;

	for (i = 0; i < module.len; i++)
		if (file[i] != module.s[i] && !(file[i] == '-' && module.s[i] == '_'))
			return false;
	return !strcmp(file + i, ".ko") || !strcmp(file + i, ".ko.debug");
}

static struct image *open_elf_image_of_module(const struct frame_names *names,
					      struct text_slice name)
{
	char * const paths[] = { (char *)names->modules_dir, NULL };
	struct image *image = NULL;
	const char *error;
	FTSENT *entry;
	FTS *fts;

	fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
	if (!fts)
		return NULL;
	while (!image && (entry = fts_read(fts)))
		if (entry->fts_info == FTS_F && is_module_file(entry->fts_name, name))
			image = elf_image_open(entry->fts_path, names->vmlinux, &error);
	fts_close(fts);
	return image;
}

static struct image *find_elf_image_of_module(struct frame_names *names, struct text_slice module)
{
	u32 old_n = names->modules.n, id;

	if (!module.len)
		return names->vmlinux;
	if (!names->modules_dir)
		return NULL;
	id = strings_intern(&names->modules, module);
	if (id == old_n) {
		names->images = grow_array(names->images, id, &names->images_cap,
					   sizeof(*names->images));
		names->images[id] = open_elf_image_of_module(names, module);
	}
	return names->images[id];
}

/* State of one call of expand_frame_to_source_lines(). */
struct line_expander {
	struct frame_names *names;
	struct text_slice symbol;	/* name, offset and size of the function */
	struct text_slice module;	/* module in brackets after a space, or empty */
	struct text_slice frames[FRAMES_MAX];
	u32 n;
};

static struct text_slice intern_frame(struct frame_names *names, const char *frame)
{
	u32 id = strings_intern(&names->frames, (struct text_slice){ frame, strlen(frame) });

	return names->frames.v[id];
}

static void append_expanded_frame(void *arg, const struct image_line *at)
{
	struct line_expander *e = arg;
	char *frame;
	int len;

	if (e->n == FRAMES_MAX)
		return;
	if (at->func)
		len = asprintf(&frame, "%s %s:%d (inlined)%.*s", at->func, at->file,
			       at->line, (int)e->module.len, e->module.s);
	else
		len = asprintf(&frame, "%.*s %s:%d%.*s", (int)e->symbol.len, e->symbol.s,
			       at->file, at->line, (int)e->module.len, e->module.s);
	if (len < 0)
		exit_out_of_memory();
	e->frames[e->n++] = intern_frame(e->names, frame);
	free(frame);
}

/* Parse the offset and the size of a frame, "+0x1d/0x30", behind the function's name. */
static bool parse_frame_offset_and_size(struct text_slice line, struct text_slice func,
					u64 *offset, u64 *size)
{
	line.len -= func.s + func.len - line.s;
	line.s = func.s + func.len;
	return consume_word(&line, "+0x") && consume_hex(&line, offset) &&
	       consume_word(&line, "/0x") && consume_hex(&line, size) &&
	       (!line.len || *line.s == ' ');
}

static void count_missing_frame(struct missing_frames *missed, struct text_slice line)
{
	if (!missed->n++)
		missed->example = line.s;
}

/* Replace a frame that is only an address by the frame that kallsyms has for it. */
static struct text_slice replace_address_with_name(struct frame_names *names,
						   struct text_slice line)
{
	char *frame, *end;
	u64 address;

	if (!names->kallsyms || !TEXT_STARTS(line, "0x"))
		return line;
	address = strtoull(line.s, &end, 16);
	if (*end)
		return line;
	frame = kallsyms_format_frame(names->kallsyms, address);
	if (frame) {
		line = intern_frame(names, frame);
		free(frame);
	} else {
		count_missing_frame(&names->not_covered, line);
	}
	return line;
}

/*
 * Look up the frame @line in DWARF. The frames that are found may point into @line, which must
 * stay valid.
 */
static void expand_frame_to_source_lines(struct line_expander *e, struct text_slice line)
{
	const char *space = memchr(line.s, ' ', line.len);
	const char *end = line.s + line.len;
	u64 offset, size, address;
	struct image *image;
	struct frame frame;

	if (!frame_parse(line, &frame) ||
	    !parse_frame_offset_and_size(line, frame.func, &offset, &size))
		return;
	image = find_elf_image_of_module(e->names, frame.module);
	if (!image || !elf_image_find_address(image, frame.func, offset, size, &address)) {
		if (frame.module.len ? !!e->names->modules_dir : !!e->names->vmlinux)
			count_missing_frame(&e->names->not_found, line);
		return;
	}
	e->symbol = (struct text_slice){ line.s, (space ? space : end) - line.s };
	e->module = (struct text_slice){ space ? space : end, space ? end - space : 0 };
	/* The frame is a return address: look up the call instruction before it. */
	elf_image_visit_source_lines(image, offset ? address - 1 : address,
				     append_expanded_frame, e);
}

const struct text_slice *frame_names_expand(struct frame_names *names, struct text_slice line,
					    u32 *n)
{
	u32 old_n = names->lines.n;
	u32 id = strings_intern(&names->lines, line);
	struct line_expander e = { .names = names };
	struct frame_expansion *x;

	if (id == old_n) {
		line = replace_address_with_name(names, names->lines.v[id]);
		expand_frame_to_source_lines(&e, line);
		if (!e.n)
			e.frames[e.n++] = line;
		names->expansions = grow_array(names->expansions, id, &names->expansions_cap,
					       sizeof(*names->expansions));
		x = &names->expansions[id];
		x->n = e.n;
		x->frames = xmalloc(e.n * sizeof(*x->frames));
		memcpy(x->frames, e.frames, e.n * sizeof(*x->frames));
	}
	*n = names->expansions[id].n;
	return names->expansions[id].frames;
}

struct missing_frames frame_names_get_not_found(const struct frame_names *names)
{
	return names->not_found;
}

struct missing_frames frame_names_get_not_covered(const struct frame_names *names)
{
	return names->not_covered;
}

void frame_names_close(struct frame_names *names)
{
	u32 i;

	for (i = 0; i < names->modules.n; i++)
		if (names->images[i])
			elf_image_close(names->images[i]);
	for (i = 0; i < names->lines.n; i++)
		free(names->expansions[i].frames);
	if (names->vmlinux)
		elf_image_close(names->vmlinux);
	if (names->kallsyms)
		kallsyms_close(names->kallsyms);
	free(names->images);
	strings_free(&names->modules);
	free(names->expansions);
	strings_free(&names->lines);
	strings_free(&names->frames);
	free(names);
}
