// SPDX-License-Identifier: GPL-2.0
/*
 * Look up handles of the stack depot, which lead to call chains or tasks. See
 * lib/stackdepot/evict.h.
 *
 * Keep the text of each handle: a million objects have some thousand call chains.
 */

#include "owner.h"

#define FRAMES_MAX	512
#define NAME_BYTES	640

/* Copies of pools, by index; NULL if not read yet. */
static unsigned char **pools;
static uint32_t nr_pools;
static ulong pool_array;

/* Chains and tasks by handle: a hash table with linear probing, at most half full. */
static struct owner_handle *table;
static size_t table_size, table_used;

void owner_depot_reset(void)
{
	size_t i;

	for (i = 0; i < nr_pools; i++)
		free(pools[i]);
	free(pools);
	pools = NULL;
	nr_pools = 0;
	for (i = 0; i < table_size; i++) {
		free(table[i].chain);
		free(table[i].task);
		free(table[i].user);
	}
	free(table);
	table = NULL;
	table_size = 0;
	table_used = 0;
	pool_array = 0;
}

/* Count the pools, and prepare to read them. Return: 0 if there are none. */
uint32_t owner_count_pools(void)
{
	uint32_t count = 0, limit;

	if (pools)
		return nr_pools;
	if (!symbol_exists("stack_pools") || !symbol_exists("pools_num"))
		return 0;
	limit = (1U << owner_layout.handle_pool.width) - 1;
	owner_read_u32(symbol_value("pools_num"), &count);
	owner_read_ulong(symbol_value("stack_pools"), &pool_array);
	if (count > limit) {
		owner_note(NOTE_LIST);
		count = limit;
	}
	pools = owner_alloc(count, sizeof(*pools));
	nr_pools = pools ? count : 0;
	return nr_pools;
}

static const unsigned char *read_pool(uint32_t index)
{
	uint32_t bytes = owner_formats.pool_bytes;
	ulong address = 0;

	if (index >= owner_count_pools())
		return NULL;
	if (!pools[index]) {
		pools[index] = owner_alloc(bytes, 1);
		if (pools[index] &&
		    owner_read_ulong(pool_array + index * sizeof(ulong), &address))
			owner_read(address, pools[index], bytes);
	}
	return pools[index];
}

/* A record of the depot, found by its handle and checked. */
struct depot_record {
	const unsigned char *frames;
	uint32_t hash;
	uint32_t count;		/* number of frames */
	bool evictable;
};

/* Find the record of a handle. Return: false if the depot has none, or a damaged one. */
static bool find_record(uint32_t handle, struct depot_record *record)
{
	const struct owner_layout *l = &owner_layout;
	const struct owner_formats *f = &owner_formats;
	uint32_t index = owner_get_bits(handle, &l->handle_pool) - 1;
	size_t offset = (size_t)owner_get_bits(handle, &l->handle_offset) << f->offset_shift;
	uint32_t extra = owner_get_bits(handle, &l->handle_extra), stored, mask;
	const unsigned char *pool = read_pool(index), *at;
	size_t room, frame;

	if (!pool || offset + l->stack_entries > f->pool_bytes)
		return false;
	record->evictable = owner_get_u64(pool, l->pool_tag) == f->evictable_tag;
	at = pool + offset;
	if (record->evictable) {
		size_t unit = l->pool_unit + offset / f->unit_bytes;

		if (offset % f->unit_bytes || unit >= f->pool_bytes ||
		    pool[unit] != (f->unit_carved | extra) || !owner_get_u32(at, l->stack_count))
			return false;
	}
	/* Callers may keep a value of their own in the extra bits of a persistent handle. */
	stored = owner_get_u32(at, l->stack_handle);
	mask = record->evictable ? ~0U :
	       ~(((1U << l->handle_extra.width) - 1) << l->handle_extra.first);
	if ((stored ^ handle) & mask)
		return false;
	record->hash = record->evictable ? owner_get_u32(at, l->stack_hash) : 0;
	record->count = owner_get_u32(at, l->stack_size);
	offset += l->stack_entries;
	if (record->hash & f->hash_counted)
		offset += f->counters * sizeof(ulong);
	if (offset > f->pool_bytes)
		return false;
	frame = record->hash & f->hash_packed ? sizeof(uint32_t) : sizeof(ulong);
	room = (f->pool_bytes - offset) / frame;
	record->frames = pool + offset;
	return record->count <= room && record->count <= FRAMES_MAX &&
	       record->count <= l->stack_room / sizeof(ulong);
}

static ulong read_frame(const struct depot_record *record, uint32_t index, ulong base)
{
	if (record->hash & owner_formats.hash_packed)
		return base + owner_get_u32(record->frames, index * sizeof(uint32_t));
	return owner_get_u64(record->frames, index * sizeof(ulong));
}

/* Print a chain, one frame on a line. Return: NULL if memory is short. */
static char *print_chain(uint32_t handle)
{
	struct depot_record record;
	char *text, *end;
	ulong base = 0;
	uint32_t i;

	if (!find_record(handle, &record) || record.hash & owner_formats.hash_data) {
		owner_note(NOTE_CHAIN);
		return strdup("");
	}
	if (symbol_exists("stack_depot_frame_base"))
		owner_read_ulong(symbol_value("stack_depot_frame_base"), &base);
	text = owner_alloc(record.count * NAME_BYTES + 1, 1);
	for (i = 0, end = text; text && i < record.count; i++) {
		char name[NAME_BYTES - 2];

		owner_print_name(name, sizeof(name), read_frame(&record, i, base));
		end += sprintf(end, " %s\n", name);
	}
	return text;
}

/* Print a task as records do. */
static char *print_task(uint32_t handle)
{
	const char *unknown = "pid 0, tgid 0 (?)";
	struct depot_record record;
	char comm[64], text[128];
	uint64_t ids;

	if (!handle)
		return strdup(unknown);
	if (!find_record(handle, &record) || record.count < 2) {
		owner_note(NOTE_TASK);
		return strdup(unknown);
	}
	ids = owner_get_u64(record.frames, 0);
	owner_escape_comm(comm, sizeof(comm), (const char *)record.frames + sizeof(ids),
			  MIN((size_t)owner_layout.task_comm,
			      (record.count - 1) * sizeof(ulong)));
	snprintf(text, sizeof(text), "pid %d, tgid %d (%s)", (int)ids, (int)(ids >> 32), comm);
	return strdup(text);
}

/* Copy the words of a handle that leads to data. Return: their number, 0 if it does not. */
uint32_t owner_depot_words(uint32_t handle, uint64_t *words, uint32_t limit)
{
	struct depot_record record;
	uint32_t i;

	if (!find_record(handle, &record) || !(record.hash & owner_formats.hash_data) ||
	    record.count > limit)
		return 0;
	for (i = 0; i < record.count; i++)
		words[i] = owner_get_u64(record.frames, i * sizeof(*words));
	return record.count;
}

static struct owner_handle *probe_table(uint32_t handle)
{
	size_t i = handle * 0x9e3779b97f4a7c15ULL >> 32;

	for (i &= table_size - 1; table[i].handle && table[i].handle != handle;)
		i = (i + 1) & (table_size - 1);
	return &table[i];
}

static bool grow_table(void)
{
	struct owner_handle *old = table;
	size_t old_size = table_size, i;
	struct owner_handle *new = owner_alloc(old_size ? 2 * old_size : 1024, sizeof(*new));

	if (!new)
		return false;
	table = new;
	table_size = old_size ? 2 * old_size : 1024;
	for (i = 0; i < old_size; i++)
		if (old[i].handle)
			*probe_table(old[i].handle) = old[i];
	free(old);
	return true;
}

static struct owner_handle *find_handle(uint32_t handle)
{
	struct owner_handle *entry;

	/* 0 marks unused entries, so store handle 0 as ~0, which is not valid either. */
	if (!handle)
		handle = ~0U;
	if (2 * table_used >= table_size && !grow_table())
		return NULL;
	entry = probe_table(handle);
	if (!entry->handle) {
		entry->handle = handle;
		table_used++;
	}
	return entry;
}

/* Return the entry of a chain, with its text; NULL if memory is short. */
struct owner_handle *owner_chain(uint32_t handle)
{
	struct owner_handle *entry = find_handle(handle);

	if (entry && !entry->chain)
		entry->chain = print_chain(handle);
	return entry;
}

/* Return the entry of a task, with the texts of it and its user chain; NULL if memory is short. */
struct owner_handle *owner_task(uint32_t handle)
{
	struct owner_handle *entry = find_handle(handle);

	if (entry && !entry->task) {
		entry->task = print_task(handle);
		entry->user = owner_make_user_text(handle);
	}
	return entry;
}

/* Return the next entry of the table, NULL at the end. Set *@pos to 0 before the first. */
struct owner_handle *owner_next_handle(size_t *pos)
{
	while (*pos < table_size)
		if (table[(*pos)++].handle)
			return &table[*pos - 1];
	return NULL;
}
