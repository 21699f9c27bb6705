// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols in the order of their addresses. Only functions have names: of other
 * symbols it is enough to know that the function before them ends there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "input/input.h"
#include "names/kallsyms.h"
#include "base/strings.h"

/* Where nothing follows that would end a function, its page does. */
#define PAGE_END 4095ULL

/* Beyond this, an address is not in the function but in a gap behind it. */
#define FUNCTION_MAX (1024 * 1024)

/* The largest kernels have some 10 MiB. */
#define NAMES_MAX (256 * 1024 * 1024)

#define ADDRESS_DIGITS 16

struct symbol {
	u64 address;
	u32 name;		/* where in names it begins; 0: not a function */
	u32 module;		/* index into modules; 0: the kernel itself */
};

struct kallsyms {
	struct symbol *symbols;
	u32 n;
	u32 cap;
	char *names;		/* each with a NUL; the first is of none */
	u32 names_len;
	u32 names_size;
	struct strings modules;
	bool shown;		/* some address is not 0 */
};

static u32 add_name(struct kallsyms *k, struct text name)
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

/* Takes the hexadecimal digits that @t begins with; false if these are no address. */
static bool take_address(struct text *t, u64 *address)
{
	static const char digits[] = "0123456789abcdef";
	u32 n;

	*address = 0;
	for (n = 0; n < t->len; n++) {
		const char *digit = memchr(digits, t->s[n], sizeof(digits) - 1);

		if (!digit)
			break;
		*address = *address << 4 | (digit - digits);
	}
	t->s += n;
	t->len -= n;
	return n && n <= ADDRESS_DIGITS;
}

/* All of it is printed and has no blank in it. */
static bool is_word(struct text t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (t.s[i] <= ' ' || t.s[i] > '~')
			return false;
	return t.len;
}

/* "\t[name]" or nothing, as the name in front of it leaves it. */
static bool parse_module(struct text t, struct text *module)
{
	*module = (struct text){ "", 0 };
	if (!t.len)
		return true;
	if (t.len < 4 || (t.s[0] != '\t' && t.s[0] != ' ') || t.s[1] != '[' ||
	    t.s[t.len - 1] != ']')
		return false;
	*module = (struct text){ t.s + 2, t.len - 3 };
	return is_word(*module);
}

/* "$x" and the like, in the midst of a function: here code of some kind begins. */
static bool is_mark(struct text name)
{
	return *name.s == '$' || TEXT_STARTS(name, ".L");
}

/* "ffffffff81000000 T name", and perhaps "[module]"; false if it is not. */
static bool add_line(struct kallsyms *k, struct text line)
{
	struct text name, module;
	struct symbol symbol;
	const char *end;

	if (line.len && line.s[line.len - 1] == '\r')
		line.len--;
	if (!take_address(&line, &symbol.address) || line.len < 4 || line.s[0] != ' ' ||
	    line.s[2] != ' ')
		return false;
	name = (struct text){ line.s + 3, line.len - 3 };
	for (end = name.s; end < name.s + name.len && *end != '\t' && *end != ' '; )
		end++;
	module = (struct text){ end, name.s + name.len - end };
	name.len = end - name.s;
	if (!is_word(name) || !parse_module(module, &module))
		return false;
	k->shown |= symbol.address;
	if (!symbol.address || is_mark(name))
		return true;
	symbol.name = memchr("tTwW", line.s[1], 4) ? add_name(k, name) : 0;
	symbol.module = strings_intern(&k->modules, module);
	k->symbols = grow(k->symbols, k->n, &k->cap, sizeof(*k->symbols));
	k->symbols[k->n++] = symbol;
	return true;
}

/* Returns NULL, or what is wrong with the line of number *@line. */
static const char *read_lines(struct kallsyms *k, struct input *in, u64 *line)
{
	for (*line = 1; ; ++*line) {
		struct text t = input_ahead(in);
		const char *nl = memchr(t.s, '\n', t.len);

		if (!nl && in->failure)
			return in->failure;
		if (!t.len)
			return NULL;
		if (!nl)
			return in->eof ? "the line is cut off; copy all of /proc/kallsyms" :
					 "the line is longer than 128 KiB";
		if (!add_line(k, (struct text){ t.s, nl - t.s }))
			return "no symbol, as 'ffffffff81000000 T name [module]' would be";
		if (k->names_len > NAMES_MAX)
			return "there are more names than any kernel has";
		input_consume(in, nl + 1 - t.s);
	}
}

/* Returns NULL, or why a file that could be read is of no use. */
static const char *why_useless(const struct kallsyms *k, u64 lines)
{
	if (!lines)
		return "it is empty; copy /proc/kallsyms with cat, as root";
	if (!k->shown)
		return "all addresses are 0; copy it as root, with kernel.kptr_restrict below 2";
	if (k->names_len == 1)
		return "it has no functions, which would be of type t, T, w or W";
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Of several functions, the kernel takes the one it lists first. */
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
	error = read_lines(k, &in, &line);
	if (error) {
		fprintf(stderr, "ownertop: --kallsyms: %s:%llu: %s\n", path, line, error);
	} else {
		error = why_useless(k, line - 1);
		if (error)
			fprintf(stderr, "ownertop: --kallsyms: %s: %s\n", path, error);
	}
	input_close(&in);
	return !error;
}

struct kallsyms *kallsyms_open(const char *path)
{
	struct kallsyms *k = xcalloc(1, sizeof(*k));
	const struct text none = { "", 0 };

	strings_intern(&k->modules, none);
	add_name(k, none);
	if (!read_file(k, path)) {
		kallsyms_close(k);
		return NULL;
	}
	qsort(k->symbols, k->n, sizeof(*k->symbols), by_address);
	return k;
}

void kallsyms_close(struct kallsyms *k)
{
	free(k->symbols);
	free(k->names);
	strings_free(&k->modules);
	free(k);
}

/* The number of symbols that are not behind @address. */
static u32 symbols_up_to(const struct kallsyms *k, u64 address)
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

/* Bytes up to what follows, which is symbol @next or, of another module, nothing. */
static u64 size_of(const struct kallsyms *k, const struct symbol *s, u32 next)
{
	if (next < k->n && k->symbols[next].module == s->module)
		return k->symbols[next].address - s->address;
	return (s->address | PAGE_END) - s->address + 1;
}

char *kallsyms_frame(const struct kallsyms *k, u64 address)
{
	u32 next = symbols_up_to(k, address), i = next;
	const struct symbol *s;
	struct text module;
	char *frame;
	u64 size;
	int len;

	if (!i)
		return NULL;
	for (i--; i && k->symbols[i - 1].address == k->symbols[i].address; )
		i--;
	s = &k->symbols[i];
	size = size_of(k, s, next);
	if (!s->name || address - s->address >= size || size > FUNCTION_MAX)
		return NULL;
	module = k->modules.v[s->module];
	len = asprintf(&frame, "%s+0x%llx/0x%llx%s%s%s", k->names + s->name,
		       address - s->address, size, module.len ? " [" : "", module.s,
		       module.len ? "]" : "");
	if (len < 0)
		out_of_memory();
	return frame;
}
