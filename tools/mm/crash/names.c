// SPDX-License-Identifier: GPL-2.0
/*
 * Names of frames, as the kernel prints them, from the tables in the dump.
 *
 * crash has no symbols of modules with --minimal, and vmlinux has symbols that kallsyms leaves
 * out. The kernel's own tables name each address as the live files do.
 */

#include <elf.h>

#include "owner.h"

#define NAME_MAX_LENGTH	512
#define SYMBOLS_MAX	8388608
#define NAMES_MAX	(256UL << 20)
#define MODULES_MAX	4096
#define MODULE_SYMBOLS_MAX	262144

/* kallsyms of the kernel's image. */
static struct {
	bool tried, usable;
	unsigned char *names;	/* compressed, one after another */
	size_t names_size;
	uint32_t *name;		/* where the name of each symbol begins */
	ulong *address;		/* in ascending order */
	uint32_t count;
	unsigned char tokens[65536];
	uint16_t token[256];
	ulong start, end;	/* the image */
} kernel;

/* A module, and its own table of symbols. */
struct owner_module {
	ulong address;
	char name[128];
	/* Text, and that of init functions. Data has no name: it may be where init text was. */
	ulong base[2], size[2];
	Elf64_Sym *symbol;
	uint32_t count;
	char *strings;
	size_t strings_size;
};

static struct owner_module *modules;
static unsigned int nr_modules;
static bool modules_read;

/* --- The kernel's image ----------------------------------------------------------- */

/* Read a table of kallsyms that ends where another symbol is. */
static unsigned char *read_table(const char *from, const char *to, size_t max, size_t *size)
{
	ulong start, end;
	unsigned char *table;

	if (!symbol_exists((char *)from) || !symbol_exists((char *)to))
		return NULL;
	start = symbol_value((char *)from);
	end = symbol_value((char *)to);
	if (end <= start || end - start > max)
		return NULL;
	*size = end - start;
	table = owner_alloc(*size + 1, 1);
	if (table)
		owner_read(start, table, *size);
	return table;
}

/* Read the length of a compressed name. Return: where its tokens begin, 0 at the end. */
static size_t read_name_length(size_t at, unsigned int *length)
{
	if (at + 2 > kernel.names_size)
		return 0;
	*length = kernel.names[at++];
	if (*length & 0x80)
		*length = (*length & 0x7f) | kernel.names[at++] << 7;
	return at + *length <= kernel.names_size ? at : 0;
}

/*
 * Compute the address of each symbol from kallsyms_offsets. Newer kernels have no base, and @base
 * is the address of that table: an offset is that from its own place.
 */
static void compute_addresses(const int32_t *offsets, ulong base, bool has_base)
{
	/* Per-CPU symbols are absolute if, and only if, others have negative offsets. */
	bool absolute = false;
	uint32_t i;

	for (i = 0; i < kernel.count; i++)
		absolute |= offsets[i] < 0;
	for (i = 0; i < kernel.count; i++) {
		if (!has_base)
			kernel.address[i] = base + i * sizeof(*offsets) + offsets[i];
		else if (!absolute)
			kernel.address[i] = base + (uint32_t)offsets[i];
		else if (offsets[i] >= 0)
			kernel.address[i] = offsets[i];
		else
			kernel.address[i] = base - 1 - offsets[i];
		/* A damaged offset would mislead the search: its symbol is left out. */
		if (i && kernel.address[i] < kernel.address[i - 1])
			kernel.address[i] = kernel.address[i - 1];
	}
}

/* Find where each name begins. */
static bool index_names(void)
{
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < kernel.count; i++) {
		unsigned int length = 0;
		size_t tokens = read_name_length(at, &length);

		if (!tokens)
			return false;
		kernel.name[i] = at;
		at = tokens + length;
	}
	return true;
}

/* Expand the name of a symbol, without its type. */
static void expand_name(uint32_t symbol, char *buffer, size_t size)
{
	unsigned int length = 0, used = 0;
	size_t at = read_name_length(kernel.name[symbol], &length);
	bool type = true;

	for (; at && length; length--) {
		uint16_t token = kernel.token[kernel.names[at++]];

		for (; token < sizeof(kernel.tokens) && kernel.tokens[token]; token++) {
			if (type)
				type = false;
			else if (used + 1 < size)
				buffer[used++] = kernel.tokens[token];
		}
	}
	buffer[used] = '\0';
}

static bool read_kernel_tables(void)
{
	size_t size = 0, tokens_size = 0, token_size = 0;
	unsigned char *tokens = NULL, *token = NULL;
	int32_t *offsets = NULL;
	bool usable = false, has_base = symbol_exists("kallsyms_relative_base");
	ulong base;

	if (!symbol_exists("kallsyms_num_syms") || !symbol_exists("kallsyms_offsets"))
		return false;
	base = symbol_value("kallsyms_offsets");
	if (!owner_read_u32(symbol_value("kallsyms_num_syms"), &kernel.count) ||
	    !kernel.count || kernel.count > SYMBOLS_MAX ||
	    (has_base && !owner_read_ulong(symbol_value("kallsyms_relative_base"), &base)))
		return false;
	kernel.names = read_table("kallsyms_names", "kallsyms_token_table", NAMES_MAX,
				  &kernel.names_size);
	tokens = read_table("kallsyms_token_table", "kallsyms_token_index",
			    sizeof(kernel.tokens), &tokens_size);
	token = read_table("kallsyms_token_index", "kallsyms_offsets", 4096, &token_size);
	size = (size_t)kernel.count * sizeof(*offsets);
	offsets = owner_alloc(size, 1);
	kernel.name = owner_alloc(kernel.count, sizeof(*kernel.name));
	kernel.address = owner_alloc(kernel.count, sizeof(*kernel.address));
	if (kernel.names && tokens && token && offsets && kernel.name && kernel.address &&
	    token_size >= sizeof(kernel.token)) {
		owner_read(symbol_value("kallsyms_offsets"), offsets, size);
		memcpy(kernel.tokens, tokens, tokens_size);
		memcpy(kernel.token, token, sizeof(kernel.token));
		compute_addresses(offsets, base, has_base);
		usable = index_names();
	}
	free(tokens);
	free(token);
	free(offsets);
	kernel.start = symbol_exists("_stext") ? symbol_value("_stext") : 0;
	kernel.end = symbol_exists("_end") ? symbol_value("_end") : 0;
	return usable;
}

static bool have_kernel_tables(void)
{
	if (!kernel.tried) {
		kernel.tried = true;
		kernel.usable = read_kernel_tables();
		if (!kernel.usable)
			owner_note(NOTE_NAMES);
	}
	return kernel.usable;
}

/* Print the name of an address of the kernel's image. Return: false if it is elsewhere. */
static bool print_kernel_name(char *buffer, size_t size, ulong address)
{
	uint32_t low = 0, high, symbol, next;
	char name[NAME_MAX_LENGTH];
	ulong end;

	if (!have_kernel_tables() || address < kernel.start || address > kernel.end)
		return false;
	high = kernel.count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (kernel.address[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	/* Of symbols at one address, the first names it. */
	for (symbol = low; symbol && kernel.address[symbol - 1] == kernel.address[symbol]; symbol--)
		;
	for (next = low + 1; next < kernel.count; next++)
		if (kernel.address[next] > kernel.address[symbol])
			break;
	end = next < kernel.count ? kernel.address[next] : kernel.end;
	expand_name(symbol, name, sizeof(name));
	snprintf(buffer, size, "%s+0x%lx/0x%lx", name, address - kernel.address[symbol],
		 end - kernel.address[symbol]);
	return true;
}

/* Return the address of a symbol as the dump has it, 0 if there is none. */
ulong owner_symbol(const char *name)
{
	char found[NAME_MAX_LENGTH];
	uint32_t i;

	/* Relocation by KASLR must not be applied to per-CPU symbols: the dump knows best. */
	for (i = 0; have_kernel_tables() && i < kernel.count; i++) {
		expand_name(i, found, sizeof(found));
		if (!strcmp(found, name))
			return kernel.address[i];
	}
	return symbol_exists((char *)name) ? symbol_value((char *)name) : 0;
}

/* --- Modules ----------------------------------------------------------------------- */

static void free_modules(void)
{
	while (nr_modules) {
		nr_modules--;
		free(modules[nr_modules].symbol);
		free(modules[nr_modules].strings);
	}
	free(modules);
	modules = NULL;
	modules_read = false;
}

/* Read the symbols of a module. Without them its addresses are printed as numbers. */
static void read_module_symbols(struct owner_module *module, ulong kallsyms)
{
	ulong symtab = 0, strtab = 0;
	uint32_t i, count = 0, last = 0;

	if (!owner_read_ulong(kallsyms + owner_layout.kallsyms_symtab, &symtab) ||
	    !owner_read_u32(kallsyms + owner_layout.kallsyms_count, &count) ||
	    !owner_read_ulong(kallsyms + owner_layout.kallsyms_strtab, &strtab) ||
	    !count || count > MODULE_SYMBOLS_MAX) {
		owner_note(NOTE_NAMES);
		return;
	}
	module->symbol = owner_alloc(count, sizeof(*module->symbol));
	if (!module->symbol)
		return;
	if (!owner_read(symtab, module->symbol, count * sizeof(*module->symbol)))
		owner_note(NOTE_NAMES);
	for (i = 0; i < count; i++)
		if (module->symbol[i].st_name > last && module->symbol[i].st_name < 1U << 24)
			last = module->symbol[i].st_name;
	module->strings_size = last + NAME_MAX_LENGTH;
	/* One byte more: the last string ends, too. */
	module->strings = owner_alloc(module->strings_size + 1, 1);
	if (!module->strings)
		return;
	/* The length of the last string is not known: read it byte by byte. */
	owner_read(strtab, module->strings, last + 1);
	for (i = last; i < module->strings_size && module->strings[i]; i++)
		if (!owner_read(strtab + i + 1, module->strings + i + 1, 1))
			break;
	module->count = count;
}

static void read_module(ulong address)
{
	const struct owner_layout *l = &owner_layout;
	struct owner_module *module, *more;
	ulong kallsyms = 0;
	unsigned int i;

	more = realloc(modules, (nr_modules + 1) * sizeof(*modules));
	if (!more) {
		owner_note(NOTE_MEMORY);
		return;
	}
	modules = more;
	module = &modules[nr_modules];
	memset(module, 0, sizeof(*module));
	module->address = address;
	if (!owner_read_string(address + l->module_name, module->name,
			       MIN((size_t)l->name_size, sizeof(module->name)))) {
		owner_note(NOTE_NAMES);
		return;
	}
	for (i = 0; i < OWNER_LENGTH(module->base); i++) {
		ulong memory = address + l->module_mem + l->text_type[i] * l->module_mem_size;
		uint32_t size = 0;

		owner_read_ulong(memory + l->mem_base, &module->base[i]);
		owner_read_u32(memory + l->mem_bytes, &size);
		module->size[i] = size;
	}
	if (owner_read_ulong(address + l->module_kallsyms, &kallsyms))
		read_module_symbols(module, kallsyms);
	nr_modules++;
}

static bool is_module_known(ulong address)
{
	unsigned int i;

	for (i = 0; i < nr_modules; i++)
		if (modules[i].address == address)
			return true;
	return false;
}

static void read_modules(void)
{
	const struct owner_layout *l = &owner_layout;
	ulong head, node = 0;
	unsigned int i;

	modules_read = true;
	if (!symbol_exists("modules") || l->module_list < 0 || l->module_mem < 0 ||
	    l->module_kallsyms < 0 || l->kallsyms_symtab < 0 || l->name_size <= 0)
		return;
	head = symbol_value("modules");
	if (!owner_read_ulong(head, &node))
		owner_note(NOTE_LIST);
	for (i = 0; node && node != head && i < MODULES_MAX; i++) {
		/* A damaged list can be a cycle. */
		if (is_module_known(node - l->module_list))
			break;
		read_module(node - l->module_list);
		if (!owner_read_ulong(node, &node))
			break;
	}
	if (node != head)
		owner_note(NOTE_LIST);
}

static bool is_mapping_symbol(const char *name)
{
	return (name[0] == '.' && name[1] == 'L') || name[0] == '$' ||
	       (name[0] == 'L' && name[1] == '0');
}

/* Print an address in one memory of a module: between its symbols, as the kernel does. */
static bool print_module_symbol(char *buffer, size_t size, const struct owner_module *module,
				unsigned int type, ulong address)
{
	ulong next = module->base[type] + module->size[type];
	ulong best_address = module->base[type] - 1;
	const char *best = NULL;
	uint32_t i;

	for (i = 1; i < module->count; i++) {
		const Elf64_Sym *symbol = &module->symbol[i];
		const char *name;

		if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= module->strings_size)
			continue;
		name = module->strings + symbol->st_name;
		if (!*name || is_mapping_symbol(name))
			continue;
		if (symbol->st_value <= address && symbol->st_value > best_address) {
			best = name;
			best_address = symbol->st_value;
		}
		if (symbol->st_value > address && symbol->st_value < next)
			next = symbol->st_value;
	}
	if (!best)
		return false;
	snprintf(buffer, size, "%.*s+0x%lx/0x%lx [%s]", NAME_MAX_LENGTH, best,
		 address - best_address, next - best_address, module->name);
	return true;
}

static bool print_module_name(char *buffer, size_t size, ulong address)
{
	unsigned int i, type;

	if (!modules_read)
		read_modules();
	for (i = 0; i < nr_modules; i++)
		for (type = 0; type < OWNER_LENGTH(modules[i].base); type++)
			if (address - modules[i].base[type] < modules[i].size[type])
				return print_module_symbol(buffer, size, &modules[i], type,
							   address);
	return false;
}

/* --- The kernel and its modules ---------------------------------------------------- */

/* Forget modules: on a live system they change. */
void owner_names_reset(void)
{
	free_modules();
}

/* Print a frame as the kernel does: %pS, but no name of data. */
void owner_print_name(char *buffer, size_t size, ulong address)
{
	if (!print_kernel_name(buffer, size, address) &&
	    !print_module_name(buffer, size, address))
		snprintf(buffer, size, "0x%lx", address);
}
