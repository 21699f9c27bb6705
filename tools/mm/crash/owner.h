/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the crash(8) extension that reads owners out of a memory dump.
 *
 * owner.c	the command and its help
 * answer.c	what the command prints: objects, chains that hold most, statistics
 * records.c	records as text, in the grammar of /sys/kernel/debug/slab_owner
 * walk.c	finds slabs, per-CPU areas and the records of pages
 * depot.c	handles: chains and tasks
 * user.c	user chains, to which handles of tasks can lead
 * names.c	names of addresses, from the dump's own kallsyms
 * layout.c	offsets of members, by debug information; versions of formats
 * memory.c	reads the kernel's memory
 *
 * A dump may be damaged. No function trusts a number that it has read; owner_note() counts each
 * damage that is found, and the command prints these counts after the answer. The Makefile hides
 * the extension's symbols (-fvisibility=hidden), so they cannot clash with symbols of crash.
 */
#ifndef _TOOLS_MM_CRASH_OWNER_H
#define _TOOLS_MM_CRASH_OWNER_H

#include "defs.h"

#include <stdbool.h>
#include <stdint.h>

#define OWNER_LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/* --- memory.c ------------------------------------------------------------------- */

/* Damage that was found, by kind. */
enum owner_note {
	NOTE_UNREADABLE,	/* pages of memory that the dump lacks */
	NOTE_CACHE,		/* slabs whose cache cannot be read */
	NOTE_UNLISTED,		/* slabs whose cache is not on slab_caches */
	NOTE_RECORDS,		/* slabs whose records cannot be read */
	NOTE_CHAIN,		/* handles that lead to no chain */
	NOTE_TASK,		/* handles that lead to no task */
	NOTE_BINARY,		/* user frames whose file cannot be read */
	NOTE_LIST,		/* lists that do not end */
	NOTE_NAMES,		/* tables of symbols that cannot be read */
	NOTE_MEMORY,		/* allocations of crash itself that failed */
	NOTE_KINDS
};

void owner_note(enum owner_note note);
void owner_print_notes(FILE *out);
void owner_memory_reset(void);
bool owner_read(ulong address, void *buffer, size_t size);
bool owner_read_u32(ulong address, uint32_t *value);
bool owner_read_ulong(ulong address, ulong *value);
bool owner_read_string(ulong address, char *buffer, size_t size);
ulong owner_vmcoreinfo(const char *name, ulong missing);
void *owner_alloc(size_t count, size_t size);

/* --- layout.c ------------------------------------------------------------------- */

/* A bit field of a structure. */
struct owner_bits {
	unsigned int first;	/* bit of the structure, counted from its lowest */
	unsigned int width;
};

/* Offsets of members, sizes of types: filled by owner_layout_init(). */
struct owner_layout {
	/* struct page, struct mem_section, struct page_ext, struct page_owner */
	long page_type, page_head, page_size, page_flags;
	long section_map, section_ext, section_size;
	long ext_flags, ext_offset;
	long po_order, po_gfp, po_handle, po_free_handle, po_ts, po_free_ts, po_comm;
	long po_pid, po_tgid, po_free_pid, po_free_tgid, po_size;
	/* struct slab, struct kmem_cache */
	long slab_cache, slab_exts;
	long cache_name, cache_size, cache_object_size, cache_list, cache_red_left;
	/* records */
	long records_record, records_exts, freed_record, freed_exts, records_size;
	long record_stack, record_task, record_size_and_rate, record_time, record_size;
	long area_node, area_number, area_area, area_size, area_owner, area_bytes;
	long rate_per_byte, rate_per_object, rate_size;
	long task_comm;
	/* struct owner_binary; -1 in kernels without user chains */
	long binary_id, binary_id_size, binary_dev, binary_ino, binary_name, binary_size;
	long binary_id_room, binary_name_room;
	/* the stack depot */
	long pool_tag, pool_unit;
	long stack_hash, stack_size, stack_handle, stack_count, stack_entries, stack_room;
	/* modules */
	long module_list, module_name, module_mem, module_kallsyms, module_mem_size;
	long mem_base, mem_bytes;
	long kallsyms_symtab, kallsyms_count, kallsyms_strtab;
	long name_size;
	/* values of enumerators, stored because crash takes long to find one */
	long text_type[2], ext_owner, ext_owner_allocated;

	/* struct kfence_metadata; -1 without CONFIG_KFENCE */
	long kfence_address, kfence_size;

	struct owner_bits slab_objects;
	struct owner_bits handle_pool, handle_offset, handle_extra;
};

/* Values that debug information lacks: members of owner_format and stack_depot_format. */
struct owner_formats {
	uint32_t tick_ns, ticks_shift, size_bits, exts_records, exts_mask;
	uint32_t pool_bytes, offset_shift, counters, evictable_tag, unit_bytes, unit_carved;
	uint32_t hash_counted, hash_data, hash_packed;
	/* 0 in kernels without user chains */
	uint32_t context_words, user_reason_shift, user_place_shift;
};

extern struct owner_layout owner_layout;
extern struct owner_formats owner_formats;

bool owner_layout_init(void);
long owner_enumerator(const char *name, long missing);
uint32_t owner_get_u32(const void *base, long offset);
uint64_t owner_get_u64(const void *base, long offset);
uint32_t owner_get_bits(uint64_t word, const struct owner_bits *bits);

/* --- names.c -------------------------------------------------------------------- */

void owner_names_reset(void);
void owner_print_name(char *buffer, size_t size, ulong address);
ulong owner_symbol(const char *name);

/* --- depot.c -------------------------------------------------------------------- */

/* The text of a handle, and the sums of the records that have it. */
struct owner_handle {
	uint32_t handle;
	char *chain;		/* lines of frames, each with a space before it */
	char *task;		/* "pid 1, tgid 1 (init)" */
	char *user;		/* lines of the task's user chain; empty if it has none */
	double objects, bytes, held;
};

void owner_depot_reset(void);
struct owner_handle *owner_chain(uint32_t handle);
struct owner_handle *owner_task(uint32_t handle);
struct owner_handle *owner_next_handle(size_t *pos);
uint32_t owner_count_pools(void);
uint32_t owner_depot_words(uint32_t handle, uint64_t *words, uint32_t limit);

/* --- user.c --------------------------------------------------------------------- */

/* Limit of a struct owner_binary, which holds a name of 64 bytes. */
#define OWNER_BINARY_ROOM	512

char *owner_make_user_text(uint32_t handle);

/* --- walk.c --------------------------------------------------------------------- */

/* A copy of a struct owner_record. */
struct owner_record {
	uint32_t stack;
	uint32_t task;
	uint32_t size;
	uint32_t rate;
	uint32_t time;
};

/* The members of a struct kmem_cache that are needed to decode its slabs. */
struct owner_cache {
	ulong address;
	char name[128];
	uint32_t size;
	uint32_t object_size;
	uint32_t red_left;
};

/* A slab, decoded from a copy of its first struct page. */
struct slab_view {
	ulong pfn;
	const struct owner_cache *cache;
	unsigned int objects;
	ulong exts;
	ulong start;		/* address of the slab's first byte */
	ulong first;		/* address of the object with index 0 */
	const unsigned char *records;	/* NULL if it has none */
};

/* A slab object or a per-CPU area that has an owner. */
struct owner_object {
	bool percpu;
	const char *cache;
	ulong pfn;
	ulong address;
	unsigned int index;
	ulong size;
	ulong held;
	struct owner_record owner;
};

typedef void owner_object_fn(const struct owner_object *object, void *arg);

/* Slab objects and per-CPU areas that have owners; slabs that have records; their records. */
struct owner_walk_counts {
	ulong objects, areas, slabs, slots;
};

void owner_walk_reset(void);
void owner_walk_areas(owner_object_fn *visit, void *arg, struct owner_walk_counts *counts);
void owner_walk(owner_object_fn *visit, void *arg, struct owner_walk_counts *counts);
bool owner_find_slab(ulong address, struct slab_view *slab, unsigned int *index);
void owner_copy_record(const unsigned char *from, struct owner_record *record);
bool owner_object_of(const struct slab_view *slab, unsigned int index,
		     struct owner_object *object);
bool owner_freed_record(const struct slab_view *slab, unsigned int index,
			struct owner_record *freed);
bool owner_page_record(ulong pfn, unsigned char *record, bool *allocated);
ulong owner_address_of(ulong pfn);
bool owner_pfn_of(ulong address, ulong *pfn);

/* --- records.c ------------------------------------------------------------------ */

void owner_records_reset(void);
void owner_escape_comm(char *to, size_t size, const char *from, size_t length);
double owner_weight(const struct owner_record *owner);
unsigned long long owner_time_ns(uint32_t time);
unsigned long long owner_now_ns(void);
void owner_print_record(FILE *out, const struct owner_object *object);
const char *owner_task_text(uint32_t handle);
const char *owner_chain_text(uint32_t handle);
const char *owner_user_text(uint32_t handle);

/* --- answer.c ------------------------------------------------------------------- */

void owner_answer_address(FILE *out, ulong address);
void owner_answer_top(FILE *out, unsigned long rows);
void owner_answer_statistics(FILE *out);
bool owner_write_records(const char *path);
bool owner_ask(const char *sentence);

#endif /* _TOOLS_MM_CRASH_OWNER_H */
