// SPDX-License-Identifier: GPL-2.0
/* Read the symbols and the program headers of user programs, with libelf. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "names/elf_symbols.h"

struct function {
	struct text_slice name;
	u64 address;
	u64 end;
	bool has_size;
};

struct elf_symbols {
	Elf *elf;
	char build_id[BUILD_ID_LEN];
	GElf_Phdr *segments;	/* parts of the file that are loaded as code */
	u32 nr_segments;
	u32 segments_cap;
	struct function *functions;	/* sorted by address */
	u32 nr_functions;
	u32 functions_cap;
};

static void read_build_id(struct elf_symbols *s)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(s->elf, &id), i;

	if (len <= 0 || 2 * len >= BUILD_ID_LEN)
		return;
	for (i = 0; i < len; i++)
		sprintf(&s->build_id[2 * i], "%02x", ((const unsigned char *)id)[i]);
}

static void read_segments(struct elf_symbols *s)
{
	size_t n, i;
	GElf_Phdr p;

	if (elf_getphdrnum(s->elf, &n))
		return;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(s->elf, i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    !p.p_filesz)
			continue;
		s->segments = grow_array(s->segments, s->nr_segments, &s->segments_cap,
					 sizeof(*s->segments));
		s->segments[s->nr_segments++] = p;
	}
}

/* Assembly has functions without a type: those that other files can call count. */
static bool has_type_of_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (type == STT_NOTYPE)
		return GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Any user can write a program: a name that could break a line of the output is skipped. */
static bool is_plain_name(struct text_slice name)
{
	size_t len;

	for (; name.len; name.s += len, name.len -= len) {
		len = utf8_char_len(name);
		if (!len || (unsigned char)*name.s <= ' ' || *name.s == 0x7f || *name.s == ';')
			return false;
		/* U+0080 to U+009F are control characters, too. */
		if ((unsigned char)name.s[0] == 0xc2 && (unsigned char)name.s[1] < 0xa0)
			return false;
	}
	return true;
}

static void add_function(struct elf_symbols *s, const GElf_Sym *sym, const char *symbol)
{
	/* Functions that have versions are "name@VERSION" or "name@@VERSION" in some tables. */
	struct text_slice name = { symbol, strchrnul(symbol, '@') - symbol };
	GElf_Shdr section;

	/* Symbols that are undefined or absolute have no section, or the empty one. */
	if (!name.len || !is_plain_name(name) || !has_type_of_function(sym) ||
	    !gelf_getshdr(elf_getscn(s->elf, sym->st_shndx), &section) ||
	    !(section.sh_flags & SHF_EXECINSTR))
		return;
	s->functions = grow_array(s->functions, s->nr_functions, &s->functions_cap,
				  sizeof(*s->functions));
	s->functions[s->nr_functions++] = (struct function){
		.name = name,
		.address = sym->st_value,
		.end = sym->st_size ? sym->st_value + sym->st_size :
				      section.sh_addr + section.sh_size,
		.has_size = sym->st_size,
	};
}

/* A file has one table of each type: reading all that a damaged file claims could take minutes. */
static void read_symbol_table(struct elf_symbols *s, GElf_Word type)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr head;
	Elf_Data *data;
	GElf_Sym sym;
	size_t n, i;

	do {
		section = elf_nextscn(s->elf, section);
	} while (section && (!gelf_getshdr(section, &head) || head.sh_type != type));
	data = elf_getdata(section, NULL);
	n = data && head.sh_entsize ? head.sh_size / head.sh_entsize : 0;
	for (i = 0; i < n && gelf_getsym(data, i, &sym); i++) {
		name = elf_strptr(s->elf, head.sh_link, sym.st_name);
		if (name)
			add_function(s, &sym, name);
	}
}

/* Of functions at the same address, the one with the first name in the alphabet is first. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return text_slice_compare(x->name, y->name);
}

/* A symbol without a size, as assembly has, ends at the next one, or with its section. */
static void end_functions_without_size(struct elf_symbols *s)
{
	u32 i;

	for (i = 0; i + 1 < s->nr_functions; i++)
		if (!s->functions[i].has_size && s->functions[i].end > s->functions[i + 1].address)
			s->functions[i].end = s->functions[i + 1].address;
}

/* The symbol table has all functions, and may be stripped; the dynamic one has the exported. */
static void read_functions(struct elf_symbols *s)
{
	read_symbol_table(s, SHT_SYMTAB);
	read_symbol_table(s, SHT_DYNSYM);
	if (!s->nr_functions)
		return;
	qsort(s->functions, s->nr_functions, sizeof(*s->functions), compare_functions);
	end_functions_without_size(s);
}

/* A path can lead to a device, which the mere opening can start. Returns -1 and sets @error. */
static int open_regular_file(const char *path, const char **error)
{
	struct stat st;
	int fd;

	if (!stat(path, &st)) {
		if (!S_ISREG(st.st_mode)) {
			*error = "it is no regular file";
			return -1;
		}
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			return fd;
	}
	*error = strerror(errno);
	return -1;
}

struct elf_symbols *elf_symbols_open(const char *path, const char **error)
{
	struct elf_symbols *s;
	int fd = open_regular_file(path, error);

	if (fd < 0)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	elf_version(EV_CURRENT);
	s->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(s->elf) == ELF_K_ELF) {
		read_build_id(s);
		read_segments(s);
		read_functions(s);
		if (!s->nr_functions)
			*error = "it has no symbols: it is stripped";
		/* The strings that were read stay; thousands of files would need descriptors. */
		elf_cntl(s->elf, ELF_C_FDDONE);
	} else {
		*error = "it is no program or library (ELF)";
		elf_symbols_close(s);
		s = NULL;
	}
	close(fd);
	return s;
}

void elf_symbols_close(struct elf_symbols *symbols)
{
	elf_end(symbols->elf);
	free(symbols->segments);
	free(symbols->functions);
	free(symbols);
}

const char *elf_symbols_get_build_id(const struct elf_symbols *symbols)
{
	return symbols->build_id;
}

bool elf_symbols_has_code(const struct elf_symbols *symbols)
{
	return symbols->nr_segments;
}

bool elf_symbols_find_address(const struct elf_symbols *symbols, u64 file_offset, u64 *address)
{
	u32 i;

	for (i = 0; i < symbols->nr_segments; i++) {
		const GElf_Phdr *p = &symbols->segments[i];

		/* A return address is behind the call, so it can be the end of a segment. */
		if (file_offset <= p->p_offset || file_offset - p->p_offset > p->p_filesz)
			continue;
		*address = file_offset - p->p_offset + p->p_vaddr;
		return true;
	}
	return false;
}

/* Returns how many functions begin at or before @address. */
static u32 count_functions_up_to(const struct elf_symbols *s, u64 address)
{
	u32 from = 0, to = s->nr_functions;

	while (from < to) {
		u32 middle = from + (to - from) / 2;

		if (s->functions[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Returns the function around @address, or NULL. */
static const struct function *find_function(const struct elf_symbols *s, u64 address)
{
	u32 n = count_functions_up_to(s, address), i;
	const struct function *found = NULL, *f = s->functions;

	/* Functions at the same address are aliases: take the first name. */
	for (i = n; i-- && f[i].address == f[n - 1].address; )
		if (address < f[i].end)
			found = &f[i];
	return found;
}

struct text_slice elf_symbols_find_function(const struct elf_symbols *symbols, u64 address,
					    u64 *offset)
{
	/* The call is before the return address, which can be in the next function. */
	const struct function *found = find_function(symbols, address - 1);

	/* A signal handler returns to the beginning of a function that nobody called. */
	if (!found)
		found = find_function(symbols, address);
	if (!found)
		return (struct text_slice){ NULL, 0 };
	*offset = address - found->address;
	return found->name;
}
