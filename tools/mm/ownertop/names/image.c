// SPDX-License-Identifier: GPL-2.0
/* Find source lines in DWARF debug information, with libdw. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "names/image.h"

struct symbol {
	const char *name;
	u64 address;
	u64 size;
	u64 span;		/* bytes to the next symbol: the size that the kernel prints */
	u32 section;
};

struct image {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symbol *symbols;	/* functions, sorted by name */
	u32 nr_symbols;
	u32 symbols_cap;
	char *root;		/* directory of the sources, with a slash; may be empty */
	const struct image *kernel;	/* for a module, the image of its kernel; else NULL */
};

/* Search no directory for separate debug files, because the user names the files to use. */
static const Dwfl_Callbacks callbacks = {
	.section_address = dwfl_offline_section_address,
	.find_debuginfo = dwfl_build_id_find_debuginfo,
	.debuginfo_path = (char *[]){ "" },
};

static int compare_symbol_addresses(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int compare_symbol_names(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * Set the span of each symbol, the bytes to the next one. @v is sorted by address. The last
 * symbol of a section has no limit.
 */
static void set_symbol_spans(struct symbol *v, u32 n)
{
	u32 i, next;

	for (i = 0; i < n; i++) {
		for (next = i + 1; next < n && v[next].address == v[i].address; )
			next++;
		v[i].span = U64_MAX;
		if (next < n && v[next].section == v[i].section)
			v[i].span = v[next].address - v[i].address;
	}
}

static void read_symbols(struct image *image)
{
	int i, n = dwfl_module_getsymtab(image->module);

	for (i = 1; i < n; i++) {
		GElf_Word section;
		GElf_Addr address;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(image->module, i, &sym, &address,
							   &section, NULL, NULL);

		if (!name || !*name || section == SHN_UNDEF ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		image->symbols = grow_array(image->symbols, image->nr_symbols,
					    &image->symbols_cap, sizeof(*image->symbols));
		image->symbols[image->nr_symbols++] = (struct symbol){
			.name = name,
			.address = address,
			.size = sym.st_size,
			.section = section,
		};
	}
	if (!image->nr_symbols)
		return;
	qsort(image->symbols, image->nr_symbols, sizeof(*image->symbols), compare_symbol_addresses);
	set_symbol_spans(image->symbols, image->nr_symbols);
	qsort(image->symbols, image->nr_symbols, sizeof(*image->symbols), compare_symbol_names);
}

/*
 * Find the root of the kernel's sources: the path of init/main.c without that name, or else the
 * directory that the compiler ran in. Paths of sources are printed relative to it.
 */
static void find_source_root(struct image *image)
{
	static const char main_c[] = "init/main.c";
	const char *dir = NULL;
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;

	while ((cu = dwfl_module_nextcu(image->module, cu, &bias))) {
		const char *name = dwarf_diename(cu);
		size_t len = name ? strlen(name) : 0;
		Dwarf_Attribute attr;

		if (len > sizeof(main_c) && *name == '/' &&
		    !strcmp(name + len - (sizeof(main_c) - 1), main_c)) {
			image->root = xstrndup(name, len - (sizeof(main_c) - 1));
			return;
		}
		if (!dir)
			dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
	}
	if (asprintf(&image->root, "%s%s", dir ? dir : "", dir ? "/" : "") < 0)
		exit_out_of_memory();
}

struct image *elf_image_open(const char *path, const struct image *kernel, const char **error)
{
	struct image *image = xcalloc(1, sizeof(*image));
	Dwarf_Addr bias;

	image->kernel = kernel;
	image->dwfl = dwfl_begin(&callbacks);
	if (!image->dwfl)
		exit_out_of_memory();
	dwfl_report_begin(image->dwfl);
	image->module = dwfl_report_offline(image->dwfl, "", path, -1);
	dwfl_report_end(image->dwfl, NULL, NULL);
	if (!image->module) {
		*error = dwfl_errmsg(-1);
	} else if (!dwfl_module_getdwarf(image->module, &bias)) {
		*error = "it has no debug information (CONFIG_DEBUG_INFO)";
	} else {
		read_symbols(image);
		find_source_root(image);
		return image;
	}
	elf_image_close(image);
	return NULL;
}

void elf_image_close(struct image *image)
{
	dwfl_end(image->dwfl);
	free(image->symbols);
	free(image->root);
	free(image);
}

static int compare_function_name(struct text_slice func, const char *name)
{
	int order = strncmp(func.s, name, func.len);

	return order ? order : -!!name[func.len];
}

/* Returns the index of the first symbol whose name sorts at or after @func. */
static u32 find_first_symbol(const struct image *image, struct text_slice func)
{
	u32 from = 0, to = image->nr_symbols;

	while (from < to) {
		u32 middle = from + (to - from) / 2;

		if (compare_function_name(func, image->symbols[middle].name) > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * Can a symbol be the function that the kernel printed with @size? The size may be less than
 * the span, because the kernel also ends a function at symbols that are not functions.
 */
static bool symbol_fits(const struct symbol *s, u64 offset, u64 size)
{
	return offset <= s->size && size >= s->size && size <= s->span;
}

bool elf_image_find_address(const struct image *image, struct text_slice func, u64 offset, u64 size,
			    u64 *address)
{
	const struct symbol *best = NULL;
	bool ambiguous = false;
	u32 i;

	/* Prefer a symbol whose span is exactly the size that the kernel printed. */
	for (i = find_first_symbol(image, func); i < image->nr_symbols &&
	     !compare_function_name(func, image->symbols[i].name); i++) {
		const struct symbol *s = &image->symbols[i];

		if (!symbol_fits(s, offset, size) || (best && best->address == s->address))
			continue;
		if (!best || (s->span == size && best->span != size)) {
			best = s;
			ambiguous = false;
		} else if ((s->span == size) == (best->span == size)) {
			ambiguous = true;
		}
	}
	if (!best || ambiguous)
		return false;
	*address = best->address + offset;
	return true;
}

/* Returns the path of a source file relative to the root of the sources. */
static const char *get_relative_path(const struct image *image, const char *file)
{
	size_t len;

	if (!file)
		return "?";
	for (; image; image = image->kernel) {
		len = strlen(image->root);
		if (!strncmp(file, image->root, len)) {
			file += len;
			break;
		}
	}
	while (!strncmp(file, "./", 2) || !strncmp(file, "../", 3))
		file = strchr(file, '/') + 1;
	return file;
}

/* Returns the file and line from which the inlined function @die is called. */
static struct image_line find_call_site(const struct image *image, Dwarf_Die *cu, Dwarf_Die *die)
{
	struct image_line at = { .file = "?" };
	Dwarf_Word file = 0, line = 0;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) &&
	    !dwarf_getsrcfiles(cu, &files, &n))
		at.file = get_relative_path(image, dwarf_filesrc(files, file, NULL, NULL));
	dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line);
	at.line = line;
	return at;
}

void elf_image_visit_source_lines(const struct image *image, u64 address,
				  image_line_fn fn, void *arg)
{
	Dwarf_Die *cu, *scopes = NULL, *chain = NULL;
	struct image_line at = { .file = "?" };
	Dwfl_Line *line;
	Dwarf_Addr bias;
	int i, n;

	cu = dwfl_module_addrdie(image->module, address, &bias);
	line = dwfl_module_getsrc(image->module, address);
	if (!cu || !line)
		return;
	at.file = get_relative_path(image, dwfl_lineinfo(line, NULL, &at.line, NULL, NULL, NULL));

	/* Get the scopes around the address: inlined functions, then the function itself. */
	n = dwarf_getscopes(cu, address - bias, &scopes);
	n = n > 0 ? dwarf_getscopes_die(&scopes[0], &chain) : 0;
	for (i = 0; i < n; i++) {
		if (dwarf_tag(&chain[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&chain[i]) != DW_TAG_inlined_subroutine)
			continue;
		at.func = dwarf_diename(&chain[i]);
		if (at.func)
			fn(arg, &at);
		at = find_call_site(image, cu, &chain[i]);
	}
	at.func = NULL;
	fn(arg, &at);
	free(chain);
	free(scopes);
}
