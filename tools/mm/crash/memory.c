// SPDX-License-Identifier: GPL-2.0
/*
 * Read the kernel's memory, and count what cannot be read.
 *
 * With --minimal, crash translates only the direct mapping and the kernel's image. The page
 * array and modules are elsewhere, so this walks the kernel's page tables.
 */

#include "owner.h"

static ulong notes[NOTE_KINDS];

static const char * const note_texts[NOTE_KINDS] = {
	[NOTE_UNREADABLE]	= "pages of memory could not be read",
	[NOTE_CACHE]		= "slabs were left out, because their cache could not be read",
	[NOTE_UNLISTED]		= "slabs have a cache that is not on slab_caches",
	[NOTE_RECORDS]		= "slabs were left out, because their records could not be read",
	[NOTE_CHAIN]		= "handles lead to no call chain",
	[NOTE_TASK]		= "handles lead to no task",
	[NOTE_BINARY]		= "user frames are in files that cannot be read",
	[NOTE_LIST]		= "lists do not end where they should",
	[NOTE_NAMES]		= "tables of symbols could not be read",
	[NOTE_MEMORY]		= "allocations of crash itself failed: the answer is incomplete",
};

void owner_note(enum owner_note note)
{
	notes[note]++;
}

void owner_print_notes(FILE *out)
{
	unsigned int i;

	for (i = 0; i < NOTE_KINDS; i++)
		if (notes[i])
			fprintf(out, "note: %lu %s\n", notes[i], note_texts[i]);
}

/* Allocate zeroed memory. Return: NULL if there is none, and the note is counted. */
void *owner_alloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		owner_note(NOTE_MEMORY);
	return memory;
}

/* Return a number of vmcoreinfo, or @missing. */
ulong owner_vmcoreinfo(const char *name, ulong missing)
{
	char *text = pc->read_vmcoreinfo ? pc->read_vmcoreinfo(name) : NULL;
	ulong value = missing;

	if (text) {
		/* A symbol's address has no 0x, a number has it if it is not decimal. */
		value = strtoull(text, NULL, strncmp(name, "SYMBOL", 6) ? 0 : 16);
		free(text);
	}
	return value;
}

#ifdef X86_64

#define TABLE_ENTRIES	512
#define ENTRY_PRESENT	1UL
#define ENTRY_LEAF	0x80UL
#define ENTRY_ADDRESS	(((1UL << 52) - 1) & ~4095UL)
#define CACHED_TABLES	256

/* Tables that were read, by a hash of their physical address. */
static struct cached_table {
	physaddr_t address;
	bool valid, readable;
	uint64_t entry[TABLE_ENTRIES];
} tables[CACHED_TABLES];

static struct cached_table root;
static unsigned int levels;
static ulong encryption_mask;

static void reset_tables(void)
{
	unsigned int i;

	for (i = 0; i < CACHED_TABLES; i++)
		tables[i].valid = false;
	levels = owner_vmcoreinfo("NUMBER(pgtable_l5_enabled)", 0) ? 5 : 4;
	encryption_mask = owner_vmcoreinfo("NUMBER(sme_mask)", 0);
	root.readable = readmem(symbol_value("init_top_pgt"), KVADDR, root.entry,
				sizeof(root.entry), "owner: init_top_pgt",
				RETURN_ON_ERROR | QUIET);
}

static const struct cached_table *read_table(physaddr_t address)
{
	struct cached_table *table = &tables[address / sizeof(table->entry) % CACHED_TABLES];

	if (!table->valid || table->address != address) {
		table->address = address;
		table->valid = true;
		table->readable = readmem(address, PHYSADDR, table->entry, sizeof(table->entry),
					  "owner: page table", RETURN_ON_ERROR | QUIET);
	}
	return table;
}

/*
 * Translate an address of the kernel. Set @length to the bytes that are contiguous from
 * there. Return: false if it is not mapped, or a table cannot be read.
 */
static bool translate_address(ulong address, physaddr_t *physical, size_t *length)
{
	const struct cached_table *table = &root;
	unsigned int level, shift;
	uint64_t entry;

	for (level = levels; level; level--) {
		shift = 12 + 9 * (level - 1);
		if (!table->readable)
			return false;
		entry = table->entry[address >> shift & (TABLE_ENTRIES - 1)];
		if (!(entry & ENTRY_PRESENT))
			return false;
		entry &= ~encryption_mask;
		if (level == 1 || (level <= 3 && entry & ENTRY_LEAF)) {
			ulong inside = address & ((1UL << shift) - 1);

			*physical = (entry & ENTRY_ADDRESS & ~((1UL << shift) - 1)) + inside;
			*length = (1UL << shift) - inside;
			return true;
		}
		table = read_table(entry & ENTRY_ADDRESS);
	}
	return false;
}

static bool read_part(ulong address, void *buffer, size_t *length)
{
	physaddr_t physical;
	size_t contiguous;

	if (!translate_address(address, &physical, &contiguous)) {
		*length = MIN(*length, 4096 - (address & 4095));
		return false;
	}
	*length = MIN(*length, contiguous);
	/* Read one page only: a missing page must not hide its neighbours. */
	if (readmem(physical, PHYSADDR, buffer, *length, "owner", RETURN_ON_ERROR | QUIET))
		return true;
	*length = MIN(*length, 4096 - (address & 4095));
	return readmem(physical, PHYSADDR, buffer, *length, "owner", RETURN_ON_ERROR | QUIET);
}

#else /* X86_64 */

static void reset_tables(void)
{
}

static bool read_part(ulong address, void *buffer, size_t *length)
{
	*length = MIN(*length, PAGESIZE() - PAGEOFFSET(address));
	return readmem(address, KVADDR, buffer, *length, "owner", RETURN_ON_ERROR | QUIET);
}

#endif /* X86_64 */

/* Forget what was read, and all notes: a live system changes. */
void owner_memory_reset(void)
{
	memset(notes, 0, sizeof(notes));
	reset_tables();
}

/*
 * Copy memory of the kernel. Pages that cannot be read are zero in the copy, and counted.
 * Return: false if there was any.
 */
bool owner_read(ulong address, void *buffer, size_t size)
{
	char *to = buffer;
	bool complete = true;

	while (size) {
		size_t length = size;

		if (!read_part(address, to, &length)) {
			memset(to, 0, length);
			owner_note(NOTE_UNREADABLE);
			complete = false;
		}
		address += length;
		to += length;
		size -= length;
	}
	return complete;
}

bool owner_read_u32(ulong address, uint32_t *value)
{
	return owner_read(address, value, sizeof(*value));
}

bool owner_read_ulong(ulong address, ulong *value)
{
	return owner_read(address, value, sizeof(*value));
}

/* Copy a string, cut if it is too long. Return: false if it cannot be read or is empty. */
bool owner_read_string(ulong address, char *buffer, size_t size)
{
	size_t length = MIN(size - 1, 4096 - (address & 4095));

	memset(buffer, 0, size);
	if (!owner_read(address, buffer, length))
		return false;
	/* A string that continues on the next page: a failure there only cuts it. */
	if (strlen(buffer) == length && length < size - 1)
		owner_read(address + length, buffer + length, size - 1 - length);
	return *buffer;
}
