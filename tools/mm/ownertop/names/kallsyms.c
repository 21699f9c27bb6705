// SPDX-License-Identifier: GPL-2.0
/*
 * Look up addresses in a copy of /proc/kallsyms. Symbols are sorted by address. Names are
 * stored for functions only: other symbols only end the function before them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"
#include "input/input.h"
#include "names/kallsyms.h"
#include "base/strings.h"

/* Mask of the end of a page. A function without a symbol behind it ends with its page. */
#define PAGE_END 4095ULL

/*
 * Upper limit of a function's size. A longer distance to the next symbol is a gap behind the
 * function.
 */
#define FUNCTION_MAX (1024 * 1024)

/*
 * Limit of the memory for names of symbols. The names of the largest kernels take some 10 MiB.
 */
#define NAMES_MAX (256 * 1024 * 1024)

struct symbol {
	u64 address;
	u32 name;		/* offset of the name in kallsyms.names; 0: not a function */
	u32 module;		/* number in kallsyms.modules; 0: the kernel itself */
};

struct kallsyms {
	struct symbol *symbols;
	u32 n;
	u32 cap;
	char *names;		/* NUL-terminated names one after the other; the first is empty */
	u32 names_len;
	u32 names_size;
	struct strings modules;
	bool any_address;	/* some symbol has an address that is not 0: root read the file */
};

static u32 store_name(struct kallsyms *k, struct text_slice name)
{
	u32 at = k->names_len;

	k->names_len += name.len + 1;
	if (k->names_len > k->names_size) {
		k->names_size = 2 * k->names_len;
		k->names = xrealloc(k->names, k->names_size);
	}
	memcpy(k->names + at, name.s, name.len);
	k->names[at + name.len] = '\0';
	return at;
}

/* Is the text a word: not empty, with printable characters only, and without blanks? */
static bool is_word(struct text_slice t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (t.s[i] <= ' ' || t.s[i] > '~')
			return false;
	return t.len;
}

/* Parse the module of a symbol: "\t[name]", or an empty text for the kernel itself. */
static bool parse_module(struct text_slice t, struct text_slice *module)
{
	*module = (struct text_slice){ "", 0 };
	if (!t.len)
		return true;
	if (t.len < 4 || (t.s[0] != '\t' && t.s[0] != ' ') || t.s[1] != '[' ||
	    t.s[t.len - 1] != ']')
		return false;
	*module = (struct text_slice){ t.s + 2, t.len - 3 };
	return is_word(*module);
}

/* Mapping symbols such as "$x" are inside of functions and do not end them. */
static bool is_mapping_symbol_name(struct text_slice name)
{
	return *name.s == '$' || TEXT_STARTS(name, ".L");
}

/*
 * Parse a line of kallsyms: "ffffffff81000000 T name" or the same with "[module]". Returns
 * false if the line is malformed.
 */
static bool parse_kallsyms_line(struct kallsyms *k, struct text_slice line)
{
	struct text_slice name, module;
	struct symbol symbol;
	const char *end;

	if (line.len && line.s[line.len - 1] == '\r')
		line.len--;
	if (!consume_hex(&line, &symbol.address) || line.len < 4 || line.s[0] != ' ' ||
	    line.s[2] != ' ')
		return false;
	name = (struct text_slice){ line.s + 3, line.len - 3 };
	for (end = name.s; end < name.s + name.len && *end != '\t' && *end != ' '; )
		end++;
	module = (struct text_slice){ end, name.s + name.len - end };
	name.len = end - name.s;
	if (!is_word(name) || !parse_module(module, &module))
		return false;
	k->any_address |= symbol.address;
	if (!symbol.address || is_mapping_symbol_name(name))
		return true;
	symbol.name = memchr("tTwW", line.s[1], 4) ? store_name(k, name) : 0;
	symbol.module = strings_intern(&k->modules, module);
	k->symbols = grow_array(k->symbols, k->n, &k->cap, sizeof(*k->symbols));
	k->symbols[k->n++] = symbol;
	return true;
}

/* Parse all lines of kallsyms. Returns NULL, or what is wrong with line number *@line. */
static const char *parse_kallsyms_lines(struct kallsyms *k, struct input *in, u64 *line)
{
	for (*line = 1; ; ++*line) {
		struct text_slice t = input_peek(in);
		const char *nl = memchr(t.s, '\n', t.len);

		if (!nl && in->failure)
			return in->failure;
		if (!t.len)
			return NULL;
		if (!nl)
			return t.len < INPUT_AHEAD ?
					 "the line is cut off; copy all of /proc/kallsyms" :
					 "the line is longer than 128 KiB";
		if (!parse_kallsyms_line(k, (struct text_slice){ t.s, nl - t.s }))
			return "no symbol, as 'ffffffff81000000 T name [module]' would be";
		if (k->names_len > NAMES_MAX)
			return "there are more names than any kernel has";
		input_skip(in, nl + 1 - t.s);
	}
}

/* Returns why a copy of kallsyms without errors has no useful symbols, or NULL if it has. */
static const char *find_kallsyms_unusable_reason(const struct kallsyms *k, u64 lines)
{
	if (!lines)
		return "it is empty; copy /proc/kallsyms with cat, as root";
	if (!k->any_address)
		return "all addresses are 0; copy it as root, with kernel.kptr_restrict below 2";
	if (k->names_len == 1)
		return "it has no functions, which would be of type t, T, w or W";
	return NULL;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/*
	 * At one address functions are first. Of several functions, the kernel prints the one
	 * that kallsyms lists first.
	 */
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static bool read_file(struct kallsyms *k, const char *path)
{
	const char *error;
	struct input in;
	u64 line;

	if (!input_open(&in, path)) {
		fprintf(stderr, "ownertop: --kallsyms: %s: %s\n", path, strerror(errno));
		return false;
	}
	error = parse_kallsyms_lines(k, &in, &line);
	if (error) {
		fprintf(stderr, "ownertop: --kallsyms: %s:%llu: %s\n", path, line, error);
	} else {
		error = find_kallsyms_unusable_reason(k, line - 1);
		if (error)
			fprintf(stderr, "ownertop: --kallsyms: %s: %s\n", path, error);
	}
	input_close(&in);
	return !error;
}

struct kallsyms *kallsyms_open(const char *path)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));
	const struct text_slice none = { "", 0 };

	strings_intern(&k->modules, none);
	store_name(k, none);
	if (!read_file(k, path)) {
		kallsyms_close(k);
		return NULL;
	}
	qsort(k->symbols, k->n, sizeof(*k->symbols), compare_symbols);
	return k;
}

void kallsyms_close(struct kallsyms *k)
{
	free(k->symbols);
	free(k->names);
	strings_free(&k->modules);
	free(k);
}

/* Returns the number of symbols with an address up to @address. */
static u32 count_symbols_up_to(const struct kallsyms *k, u64 address)
{
	u32 from = 0, to = k->n;

	while (from < to) {
		u32 middle = from + (to - from) / 2;

		if (k->symbols[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * Returns the size of the function @s in bytes: it ends at symbol @next, unless that belongs to
 * another module.
 */
static u64 find_symbol_size(const struct kallsyms *k, const struct symbol *s, u32 next)
{
	if (next < k->n && k->symbols[next].module == s->module)
		return k->symbols[next].address - s->address;
	return (s->address | PAGE_END) - s->address + 1;
}

char *kallsyms_format_frame(const struct kallsyms *k, u64 address)
{
	u32 next = count_symbols_up_to(k, address), i = next;
	const struct symbol *s;
	struct text_slice module;
	char *frame;
	u64 size;
	int len;

	if (!i)
		return NULL;
	for (i--; i && k->symbols[i - 1].address == k->symbols[i].address; )
		i--;
	s = &k->symbols[i];
	size = find_symbol_size(k, s, next);
	if (!s->name || address - s->address >= size || size > FUNCTION_MAX)
		return NULL;
	module = k->modules.v[s->module];
	len = asprintf(&frame, "%s+0x%llx/0x%llx%s%s%s", k->names + s->name,
		       address - s->address, size, module.len ? " [" : "", module.s,
		       module.len ? "]" : "");
	if (len < 0)
		exit_out_of_memory();
	return frame;
}
