// SPDX-License-Identifier: GPL-2.0
/*
 * Read offsets of members from the kernel's debug information, and values that are not in it
 * from two structures of the kernel: owner_format (mm/owner/report/format.c) and stack_depot_format
 * (lib/stackdepot/format.c).
 */

#include "owner.h"

/* The versions that this reader knows. */
#define OWNER_FORMAT		3
#define STACK_DEPOT_FORMAT	1

struct owner_layout owner_layout;
struct owner_formats owner_formats;

/* A member of the kernel's structures, and where in owner_layout its offset is stored. */
static const struct member {
	const char *type;
	const char *member;	/* NULL: the size of the type */
	long *offset;
	bool optional;
	const char *older;	/* name of the member in older kernels */
} members[] = {
	{ "page", "page_type", &owner_layout.page_type },
	{ "page", "compound_info", &owner_layout.page_head, .older = "compound_head" },
	{ "page", "flags", &owner_layout.page_flags },
	{ "page", NULL, &owner_layout.page_size },
	{ "mem_section", "section_mem_map", &owner_layout.section_map },
	{ "mem_section", "page_ext", &owner_layout.section_ext, true },
	{ "mem_section", NULL, &owner_layout.section_size },
	{ "page_ext", "flags", &owner_layout.ext_flags, true },
	{ "page_ext_operations", "offset", &owner_layout.ext_offset, true },
	{ "page_owner", "order", &owner_layout.po_order, true },
	{ "page_owner", "gfp_mask", &owner_layout.po_gfp, true },
	{ "page_owner", "handle", &owner_layout.po_handle, true },
	{ "page_owner", "free_handle", &owner_layout.po_free_handle, true },
	{ "page_owner", "ts_nsec", &owner_layout.po_ts, true },
	{ "page_owner", "free_ts_nsec", &owner_layout.po_free_ts, true },
	{ "page_owner", "comm", &owner_layout.po_comm, true },
	{ "page_owner", "pid", &owner_layout.po_pid, true },
	{ "page_owner", "tgid", &owner_layout.po_tgid, true },
	{ "page_owner", "free_pid", &owner_layout.po_free_pid, true },
	{ "page_owner", "free_tgid", &owner_layout.po_free_tgid, true },
	{ "page_owner", NULL, &owner_layout.po_size, true },
	{ "slab", "slab_cache", &owner_layout.slab_cache },
	{ "slab", "obj_exts", &owner_layout.slab_exts },
	{ "kmem_cache", "name", &owner_layout.cache_name },
	{ "kmem_cache", "size", &owner_layout.cache_size },
	{ "kmem_cache", "object_size", &owner_layout.cache_object_size },
	{ "kmem_cache", "list", &owner_layout.cache_list },
	{ "kmem_cache", "red_left_pad", &owner_layout.cache_red_left, true },
	{ "kfence_metadata", "addr", &owner_layout.kfence_address, true },
	{ "kfence_metadata", NULL, &owner_layout.kfence_size, true },
	{ "owner_slab_records", "record", &owner_layout.records_record },
	{ "owner_slab_records", "obj_exts", &owner_layout.records_exts },
	{ "owner_slab_records", NULL, &owner_layout.records_size },
	{ "owner_freed_records", "record", &owner_layout.freed_record },
	{ "owner_freed_records", "obj_exts", &owner_layout.freed_exts },
	{ "owner_record", "stack", &owner_layout.record_stack },
	{ "owner_record", "task", &owner_layout.record_task },
	{ "owner_record", "size_and_rate", &owner_layout.record_size_and_rate },
	{ "owner_record", "time", &owner_layout.record_time },
	{ "owner_record", NULL, &owner_layout.record_size },
	{ "owner_percpu_record", "node", &owner_layout.area_node },
	{ "owner_percpu_record", "number", &owner_layout.area_number },
	{ "owner_percpu_record", "area", &owner_layout.area_area },
	{ "owner_percpu_record", "size", &owner_layout.area_size },
	{ "owner_percpu_record", "owner", &owner_layout.area_owner },
	{ "owner_percpu_record", NULL, &owner_layout.area_bytes },
	{ "owner_rate", "per_byte", &owner_layout.rate_per_byte },
	{ "owner_rate", "per_object", &owner_layout.rate_per_object },
	{ "owner_rate", NULL, &owner_layout.rate_size },
	{ "owner_binary", "build_id", &owner_layout.binary_id, true },
	{ "owner_binary", "build_id_size", &owner_layout.binary_id_size, true },
	{ "owner_binary", "dev", &owner_layout.binary_dev, true },
	{ "owner_binary", "ino", &owner_layout.binary_ino, true },
	{ "owner_binary", "name", &owner_layout.binary_name, true },
	{ "owner_binary", NULL, &owner_layout.binary_size, true },
	{ "evictable_pool", "tag", &owner_layout.pool_tag },
	{ "evictable_pool", "unit", &owner_layout.pool_unit },
	{ "stack_record", "hash", &owner_layout.stack_hash },
	{ "stack_record", "size", &owner_layout.stack_size },
	{ "stack_record", "handle", &owner_layout.stack_handle },
	{ "stack_record", "count", &owner_layout.stack_count },
	{ "stack_record", "entries", &owner_layout.stack_entries },
	{ "module", "list", &owner_layout.module_list, true },
	{ "module", "name", &owner_layout.module_name, true },
	{ "module", "mem", &owner_layout.module_mem, true },
	{ "module", "kallsyms", &owner_layout.module_kallsyms, true },
	{ "module_memory", "base", &owner_layout.mem_base, true },
	{ "module_memory", "size", &owner_layout.mem_bytes, true },
	{ "module_memory", NULL, &owner_layout.module_mem_size, true },
	{ "mod_kallsyms", "symtab", &owner_layout.kallsyms_symtab, true },
	{ "mod_kallsyms", "num_symtab", &owner_layout.kallsyms_count, true },
	{ "mod_kallsyms", "strtab", &owner_layout.kallsyms_strtab, true },
};

static const struct format_value {
	const char *member;
	uint32_t *value;
	bool optional;		/* older kernels lack it: it is 0 */
} owner_values[] = {
	{ "tick_ns", &owner_formats.tick_ns },
	{ "ticks_shift", &owner_formats.ticks_shift },
	{ "size_bits", &owner_formats.size_bits },
	{ "exts_records", &owner_formats.exts_records },
	{ "exts_mask", &owner_formats.exts_mask },
	{ "context_words", &owner_formats.context_words, true },
	{ "user_reason_shift", &owner_formats.user_reason_shift, true },
	{ "user_place_shift", &owner_formats.user_place_shift, true },
}, depot_values[] = {
	{ "pool_bytes", &owner_formats.pool_bytes },
	{ "offset_shift", &owner_formats.offset_shift },
	{ "counters", &owner_formats.counters },
	{ "evictable_tag", &owner_formats.evictable_tag },
	{ "unit_bytes", &owner_formats.unit_bytes },
	{ "unit_carved", &owner_formats.unit_carved },
	{ "hash_counted", &owner_formats.hash_counted },
	{ "hash_data", &owner_formats.hash_data },
	{ "hash_packed", &owner_formats.hash_packed },
};

static const struct bit_field {
	const char *type;
	const char *member;
	struct owner_bits *bits;
} bit_fields[] = {
	{ "struct slab", "objects", &owner_layout.slab_objects },
	{ "union handle_parts", "pool_index_plus_1", &owner_layout.handle_pool },
	{ "union handle_parts", "offset", &owner_layout.handle_offset },
	{ "union handle_parts", "extra", &owner_layout.handle_extra },
};

uint32_t owner_get_u32(const void *base, long offset)
{
	uint32_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

uint64_t owner_get_u64(const void *base, long offset)
{
	uint64_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

uint32_t owner_get_bits(uint64_t word, const struct owner_bits *bits)
{
	return word >> bits->first & ((1ULL << bits->width) - 1);
}

/* Return the value of an enumerator, or @missing if the kernel has none of this name. */
long owner_enumerator(const char *name, long missing)
{
	long value;

	return enumerator_value((char *)name, &value) ? value : missing;
}

static long find_member(const char *type, const char *member)
{
	long offset = MEMBER_OFFSET((char *)type, (char *)member);

	return offset >= 0 ? offset : ANON_MEMBER_OFFSET((char *)type, (char *)member);
}

static bool find_members(void)
{
	unsigned int i;

	for (i = 0; i < OWNER_LENGTH(members); i++) {
		const struct member *m = &members[i];

		*m->offset = m->member ? find_member(m->type, m->member) :
			     STRUCT_SIZE((char *)m->type);
		if (*m->offset < 0 && m->older)
			*m->offset = find_member(m->type, m->older);
		if (*m->offset >= 0 || m->optional)
			continue;
		error(INFO,
		      "debug information lacks struct %s%s%s%s%s: is this the dump's vmlinux?\n",
		      m->type, m->member ? "." : "", m->member ? m->member : "",
		      m->older ? " or ." : "", m->older ? m->older : "");
		return false;
	}
	owner_layout.stack_room = MEMBER_SIZE("stack_record", "entries");
	owner_layout.task_comm = MEMBER_SIZE("owner_task", "comm");
	owner_layout.binary_id_room = MEMBER_SIZE("owner_binary", "build_id");
	owner_layout.binary_name_room = MEMBER_SIZE("owner_binary", "name");
	owner_layout.name_size = MEMBER_SIZE("module", "name");
	owner_layout.text_type[0] = owner_enumerator("MOD_TEXT", 0);
	owner_layout.text_type[1] = owner_enumerator("MOD_INIT_TEXT", 0);
	owner_layout.ext_owner = owner_enumerator("PAGE_EXT_OWNER", -1);
	owner_layout.ext_owner_allocated = owner_enumerator("PAGE_EXT_OWNER_ALLOCATED", -1);
	return owner_layout.stack_room > 0 && owner_layout.task_comm > 0;
}

/*
 * Find a bit field in the output of gdb's ptype/o. A line there has a comment with the byte, the
 * bit and the size of the type; then type, name, colon and width.
 */
static bool find_bit_field(const struct bit_field *field)
{
	char command[64], line[256], name[64];
	unsigned int byte, bit, width;
	FILE *text = tmpfile();
	bool found = false;

	snprintf(command, sizeof(command), "ptype/o %s", field->type);
	if (!text)
		return false;
	gdb_pass_through(command, text, GNU_RETURN_ON_ERROR);
	rewind(text);
	while (!found && fgets(line, sizeof(line), text)) {
		const char *end = strstr(line, "*/"), *colon;

		if (!end || sscanf(line, "/* %u: %u", &byte, &bit) != 2)
			continue;
		/* The declaration is the words after the comment, the last is the name. */
		colon = strchr(end, ':');
		if (!colon || sscanf(colon, ": %u;", &width) != 1)
			continue;
		while (colon > end && colon[-1] == ' ')
			colon--;
		for (end = colon; end > line && end[-1] != ' '; end--)
			;
		snprintf(name, sizeof(name), "%.*s", (int)(colon - end), end);
		if (strcmp(name, field->member))
			continue;
		field->bits->first = 8 * byte + bit;
		field->bits->width = width;
		found = width > 0 && width <= 32;
	}
	fclose(text);
	return found;
}

static bool find_bit_fields(void)
{
	unsigned int i;

	for (i = 0; i < OWNER_LENGTH(bit_fields); i++) {
		if (find_bit_field(&bit_fields[i]))
			continue;
		error(INFO, "gdb does not tell where %s.%s is\n", bit_fields[i].type,
		      bit_fields[i].member);
		return false;
	}
	return true;
}

/*
 * Read a member of a format structure. Do not ask crash for the size of the structure: it takes
 * the variable of the same name.
 */
static bool read_format_value(const char *name, const char *member, uint32_t *value,
			      bool optional)
{
	long offset = find_member(name, member);

	*value = 0;
	if (offset < 0 && optional)
		return true;
	if (offset < 0) {
		error(INFO, "%s has no %s: the kernel is older than this reader\n", name,
		      member);
		return false;
	}
	if (owner_read_u32(symbol_value((char *)name) + offset, value))
		return true;
	error(INFO, "%s cannot be read: the dump lacks the kernel's read-only data\n", name);
	return false;
}

/* Read one format structure. Return: false if the kernel's is missing or another. */
static bool read_format(const char *name, uint32_t known, const struct format_value *values,
			unsigned int count)
{
	uint32_t version = 0;
	unsigned int i;

	if (!symbol_exists((char *)name)) {
		error(INFO, "the kernel has no %s: it was built without slab_owner\n", name);
		return false;
	}
	if (!read_format_value(name, "version", &version, false))
		return false;
	if (version != known) {
		error(INFO, "%s is version %u, this reader knows %u: use that kernel's reader\n",
		      name, version, known);
		return false;
	}
	for (i = 0; i < count; i++)
		if (!read_format_value(name, values[i].member, values[i].value,
				       values[i].optional))
			return false;
	return true;
}

/* Values that would make loops endless or shifts undefined. */
static bool check_formats(void)
{
	const struct owner_formats *f = &owner_formats;

	if (!f->exts_records) {
		error(INFO, "the kernel was built without CONFIG_SLAB_OWNER\n");
		return false;
	}
	if (f->size_bits < 32 && f->ticks_shift < 32 && f->offset_shift < 32 && f->tick_ns &&
	    f->unit_bytes && f->pool_bytes >= 4096 && f->pool_bytes <= 1 << 24 &&
	    f->counters < 64 && f->user_reason_shift < 64 && f->user_place_shift < 64)
		return true;
	error(INFO, "owner_format or stack_depot_format is damaged in the dump\n");
	return false;
}

/* Fill owner_layout and owner_formats, once per session. Return: false after an error message. */
bool owner_layout_init(void)
{
	static bool done;

	if (done)
		return true;
	done = read_format("owner_format", OWNER_FORMAT, owner_values,
			   OWNER_LENGTH(owner_values)) &&
	       read_format("stack_depot_format", STACK_DEPOT_FORMAT, depot_values,
			   OWNER_LENGTH(depot_values)) &&
	       check_formats() && find_members() && find_bit_fields();
	return done;
}
