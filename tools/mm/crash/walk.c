// SPDX-License-Identifier: GPL-2.0
/*
 * Find slabs and their records, per-CPU areas, and the records of pages.
 *
 * SLUB keeps full slabs on no list, so a walk looks at all pages.
 */

#include "owner.h"

#define CACHES_MAX	65536
#define AREAS_MAX	1048576
#define AREA_BITS_MAX	20
#define PAGES_AT_ONCE	4096
#define OBJECT_MAX	67108864
#define KFENCE_OBJECTS_MAX	65536
#define TAIL			1UL	/* bit of the word that leads to the head of a tail page */

/* Caches by address: a hash table with linear probing, at most half full. */
static struct known_cache {
	struct owner_cache cache;
	bool listed, usable;
} *caches;
static size_t caches_size, nr_caches;
static bool caches_read, caches_complete;

/* Where this kernel has struct pages, memory sections and the pool of KFENCE. */
static struct {
	bool ready;
	ulong page_array, max_pfn;
	ulong sections, roots, sections_per_root, pages_per_section;
	ulong online;		/* bits of a section that has pages */
	uint32_t slab_type, type_shift;
	ulong kfence_pool, kfence_metadata;	/* 0 if KFENCE is off */
} memory;

/* --- Memory -------------------------------------------------------------------------- */

static bool find_memory(void)
{
	ulong shift, bits, value;
	long type;

	if (memory.ready)
		return true;
	if (symbol_exists("vmemmap_base"))
		owner_read_ulong(symbol_value("vmemmap_base"), &memory.page_array);
	if (!memory.page_array)
		memory.page_array = owner_vmcoreinfo("SYMBOL(vmemmap)", 0);
	if (symbol_exists("max_pfn"))
		owner_read_ulong(symbol_value("max_pfn"), &memory.max_pfn);
	shift = owner_vmcoreinfo("NUMBER(SECTION_SIZE_BITS)", 0);
	bits = owner_vmcoreinfo("NUMBER(MAX_PHYSMEM_BITS)", 0);
	memory.roots = owner_vmcoreinfo("LENGTH(mem_section)", 0);
	memory.sections = owner_vmcoreinfo("SYMBOL(mem_section)", 0);
	type = owner_enumerator("PGTY_slab", 0);
	value = (uint32_t)owner_vmcoreinfo("NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)", 0);
	if (!memory.page_array || !memory.max_pfn || shift < PAGESHIFT() || bits < shift ||
	    bits > 62 || !memory.roots || !memory.sections || !type || value % type) {
		error(INFO, "the pages are not found: no vmcoreinfo, or no SPARSEMEM_VMEMMAP\n");
		return false;
	}
	memory.pages_per_section = 1UL << (shift - PAGESHIFT());
	memory.sections_per_root = (1UL << (bits - shift)) / memory.roots;
	if (!memory.sections_per_root)
		memory.sections_per_root = 1;
	memory.online = 1UL << owner_enumerator("SECTION_HAS_MEM_MAP_BIT", 0) |
			1UL << owner_enumerator("SECTION_IS_ONLINE_BIT", 0);
	memory.slab_type = type;
	for (value /= type; value > 1; value >>= 1)
		memory.type_shift++;
	if (owner_layout.kfence_address >= 0 && owner_layout.kfence_size > 0 &&
	    symbol_exists("__kfence_pool") && symbol_exists("kfence_metadata")) {
		owner_read_ulong(symbol_value("__kfence_pool"), &memory.kfence_pool);
		owner_read_ulong(symbol_value("kfence_metadata"), &memory.kfence_metadata);
	}
	memory.max_pfn = MIN(memory.max_pfn, 1UL << (bits - PAGESHIFT()));
	memory.ready = true;
	return true;
}

/* Return the address of the section of a page, 0 if there is none. */
static ulong find_section(ulong pfn)
{
	ulong number = pfn / memory.pages_per_section, root = memory.sections;
	ulong map = 0, section;

	if (number / memory.sections_per_root >= memory.roots)
		return 0;
	if (memory.sections_per_root > 1) {
		owner_read_ulong(memory.sections + number / memory.sections_per_root *
				 sizeof(ulong), &root);
		if (!root)
			return 0;
		number %= memory.sections_per_root;
	}
	section = root + number * owner_layout.section_size;
	owner_read_ulong(section + owner_layout.section_map, &map);
	return (map & memory.online) == memory.online ? section : 0;
}

ulong owner_address_of(ulong pfn)
{
	return PTOV(pfn << PAGESHIFT());
}

/* Find the page frame of an address of the direct mapping. */
bool owner_pfn_of(ulong address, ulong *pfn)
{
	if (!find_memory() || address < owner_address_of(0))
		return false;
	*pfn = (address - owner_address_of(0)) >> PAGESHIFT();
	return *pfn < memory.max_pfn;
}

static ulong page_address_of(ulong pfn)
{
	return memory.page_array + pfn * owner_layout.page_size;
}

/*
 * Find the struct page of the head of a tail page. @word has its address or, in kernels that can
 * free struct pages of huge pages, a mask for the tail's: the negative of a power of two.
 */
static ulong find_head(ulong page, ulong word)
{
	ulong head = word & ~TAIL;

	return (head & -head) == -head ? page & head : head;
}

static bool is_slab(const unsigned char *page)
{
	return owner_get_u32(page, owner_layout.page_type) >> memory.type_shift ==
	       memory.slab_type && !(owner_get_u64(page, owner_layout.page_head) & TAIL);
}

/* --- Caches --------------------------------------------------------------------------- */

static struct known_cache *probe_cache(ulong address)
{
	size_t i = address * 0x9e3779b97f4a7c15ULL >> 40;

	for (i &= caches_size - 1;
	     caches[i].cache.address && caches[i].cache.address != address;)
		i = (i + 1) & (caches_size - 1);
	return &caches[i];
}

static void read_cache(ulong address, struct known_cache *known)
{
	const struct owner_layout *l = &owner_layout;
	struct owner_cache *cache = &known->cache;
	ulong name = 0;

	cache->address = address;
	known->usable = owner_read_ulong(address + l->cache_name, &name) && name &&
			owner_read_string(name, cache->name, sizeof(cache->name)) &&
			owner_read_u32(address + l->cache_size, &cache->size) &&
			owner_read_u32(address + l->cache_object_size, &cache->object_size) &&
			cache->size >= sizeof(ulong) && cache->size <= OBJECT_MAX;
	if (known->usable && l->cache_red_left >= 0)
		owner_read_u32(address + l->cache_red_left, &cache->red_left);
	if (cache->red_left >= cache->size)
		cache->red_left = 0;
	/* A damaged name must not break the grammar of records. */
	for (name = 0; cache->name[name]; name++)
		if (cache->name[name] < ' ' || cache->name[name] > '~')
			cache->name[name] = '?';
}

static struct known_cache *add_cache(ulong address, bool listed)
{
	struct known_cache *known;

	if (!caches || nr_caches >= CACHES_MAX)
		return NULL;
	known = probe_cache(address);
	if (!known->cache.address) {
		nr_caches++;
		read_cache(address, known);
		known->listed = listed;
	}
	return known;
}

static void read_caches(void)
{
	ulong head, node = 0;
	unsigned int i;

	caches_read = true;
	caches_size = 2 * CACHES_MAX;
	caches = owner_alloc(caches_size, sizeof(*caches));
	if (!symbol_exists("slab_caches"))
		return;
	head = symbol_value("slab_caches");
	owner_read_ulong(head, &node);
	for (i = 0; node && node != head && i < CACHES_MAX; i++) {
		struct known_cache *known = add_cache(node - owner_layout.cache_list, true);

		if (!known || !known->usable || !owner_read_ulong(node, &node))
			break;
	}
	caches_complete = node == head;
	if (!caches_complete)
		owner_note(NOTE_LIST);
}

/* Find the cache of a slab. Return: NULL if it cannot be read. */
static const struct owner_cache *find_cache(ulong address)
{
	struct known_cache *known;

	if (!caches_read)
		read_caches();
	known = address ? add_cache(address, false) : NULL;
	if (!known || !known->usable) {
		owner_note(NOTE_CACHE);
		return NULL;
	}
	if (!known->listed && caches_complete)
		owner_note(NOTE_UNLISTED);
	return &known->cache;
}

/* --- Slabs ------------------------------------------------------------------------------ */

/* Forget caches: on a live system they change. */
void owner_walk_reset(void)
{
	free(caches);
	caches = NULL;
	nr_caches = 0;
	caches_read = false;
}

/* Find the object with index 0. KFENCE puts its one object at either end of a page. */
static ulong find_first_object(const struct slab_view *slab)
{
	/* Pages with an object alternate with guard pages. The first pair has no object. */
	ulong index = (slab->start - memory.kfence_pool) / (2 * PAGESIZE()) - 1;
	ulong first = 0;

	if (memory.kfence_pool && memory.kfence_metadata && slab->start > memory.kfence_pool &&
	    index < KFENCE_OBJECTS_MAX &&
	    owner_read_ulong(memory.kfence_metadata + index * owner_layout.kfence_size +
			     owner_layout.kfence_address, &first) &&
	    first - slab->start < PAGESIZE())
		return first;
	return slab->start + slab->cache->red_left;
}

/* Fill @slab from a copy of its first page. Return: false if its cache cannot be read. */
static bool fill_slab(const unsigned char *page, ulong pfn, struct slab_view *slab)
{
	const struct owner_bits *bits = &owner_layout.slab_objects;
	const struct owner_bits inside = { bits->first % 64, bits->width };

	memset(slab, 0, sizeof(*slab));
	slab->pfn = pfn;
	slab->start = owner_address_of(pfn);
	slab->exts = owner_get_u64(page, owner_layout.slab_exts);
	slab->objects = owner_get_bits(owner_get_u64(page, bits->first / 64 * 8), &inside);
	slab->cache = find_cache(owner_get_u64(page, owner_layout.slab_cache));
	if (!slab->cache)
		return false;
	slab->first = find_first_object(slab);
	return true;
}

/* Read an array of records, in a buffer that the next call overwrites. */
static const unsigned char *read_records(ulong address, unsigned int objects)
{
	static unsigned char *buffer;
	static size_t room;
	size_t size = (size_t)objects * owner_layout.record_size;

	if (size > room) {
		unsigned char *more = realloc(buffer, size);

		if (!more) {
			owner_note(NOTE_MEMORY);
			return NULL;
		}
		buffer = more;
		room = size;
	}
	return owner_read(address, buffer, size) ? buffer : NULL;
}

static bool find_slab_records(struct slab_view *slab)
{
	if (!(slab->exts & owner_formats.exts_records))
		return false;
	if ((ulong)slab->objects * slab->cache->size > OBJECT_MAX) {
		owner_note(NOTE_RECORDS);
		return false;
	}
	slab->records = read_records((slab->exts & ~(ulong)owner_formats.exts_mask) +
				     owner_layout.records_record, slab->objects);
	if (!slab->records)
		owner_note(NOTE_RECORDS);
	return slab->records;
}

void owner_copy_record(const unsigned char *from, struct owner_record *record)
{
	uint32_t word = owner_get_u32(from, owner_layout.record_size_and_rate);

	record->stack = owner_get_u32(from, owner_layout.record_stack);
	record->task = owner_get_u32(from, owner_layout.record_task);
	record->size = word & ((1U << owner_formats.size_bits) - 1);
	record->rate = word >> owner_formats.size_bits;
	record->time = owner_get_u32(from, owner_layout.record_time);
}

/* Describe an object. Return: false if it has no owner. */
bool owner_object_of(const struct slab_view *slab, unsigned int index,
		     struct owner_object *object)
{
	memset(object, 0, sizeof(*object));
	object->cache = slab->cache->name;
	object->pfn = slab->pfn;
	object->index = index;
	object->address = slab->first + (ulong)index * slab->cache->size;
	object->held = slab->cache->size;
	if (!slab->records)
		return false;
	owner_copy_record(slab->records + (size_t)index * owner_layout.record_size,
			  &object->owner);
	object->size = object->owner.size;
	return object->owner.stack || object->owner.task;
}

static void visit_slab(const unsigned char *page, ulong pfn, owner_object_fn *visit, void *arg,
		       struct owner_walk_counts *counts)
{
	struct owner_object object;
	struct slab_view slab;
	unsigned int i;

	/* Most slabs without records belong to the records themselves. */
	if (!(owner_get_u64(page, owner_layout.slab_exts) & owner_formats.exts_records))
		return;
	if (!fill_slab(page, pfn, &slab) || !find_slab_records(&slab))
		return;
	counts->slabs++;
	counts->slots += slab.objects;
	for (i = 0; i < slab.objects; i++) {
		if (!owner_object_of(&slab, i, &object))
			continue;
		counts->objects++;
		if (visit)
			visit(&object, arg);
	}
}

static void walk_slabs(owner_object_fn *visit, void *arg, struct owner_walk_counts *counts)
{
	size_t page_size = owner_layout.page_size;
	unsigned char *pages = owner_alloc(PAGES_AT_ONCE, page_size);
	ulong pfn = 0, end, i;

	while (pages && pfn < memory.max_pfn) {
		if (!find_section(pfn)) {
			pfn = (pfn / memory.pages_per_section + 1) * memory.pages_per_section;
			continue;
		}
		end = (pfn / memory.pages_per_section + 1) * memory.pages_per_section;
		end = MIN(end, memory.max_pfn);
		end = MIN(end, pfn + PAGES_AT_ONCE);
		owner_read(page_address_of(pfn), pages, (end - pfn) * page_size);
		for (i = 0; i < end - pfn; i++)
			if (is_slab(pages + i * page_size))
				visit_slab(pages + i * page_size, pfn + i, visit, arg, counts);
		pfn = end;
	}
	free(pages);
}

/*
 * Find the slab of an address, and the index of the object that the address is in. Return:
 * false if it is not in a slab. @slab->records is NULL if the slab has no records.
 */
bool owner_find_slab(ulong address, struct slab_view *slab, unsigned int *index)
{
	unsigned char *page = owner_alloc(2, owner_layout.page_size);
	bool found = false;
	ulong pfn, word, head, offset;

	if (!page || !owner_pfn_of(address, &pfn) || !find_section(pfn))
		goto out;
	owner_read(page_address_of(pfn), page, owner_layout.page_size);
	word = owner_get_u64(page, owner_layout.page_head);
	head = find_head(page_address_of(pfn), word);
	if (word & TAIL && head >= memory.page_array) {
		pfn = (head - memory.page_array) / owner_layout.page_size;
		if (pfn >= memory.max_pfn)
			goto out;
		owner_read(page_address_of(pfn), page, owner_layout.page_size);
	}
	if (!is_slab(page) || !fill_slab(page, pfn, slab) || address < slab->start)
		goto out;
	/* The bytes before an object are its left red zone. */
	offset = address + slab->cache->red_left;
	*index = offset > slab->first ? (offset - slab->first) / slab->cache->size : 0;
	found = *index < slab->objects;
	if (found)
		find_slab_records(slab);
out:
	free(page);
	return found;
}

/* Find the record of who freed an object last. Return: false if there is none. */
bool owner_freed_record(const struct slab_view *slab, unsigned int index,
			struct owner_record *freed)
{
	ulong exts = 0, mask = owner_formats.exts_mask, records = slab->exts & ~mask;
	unsigned char record[64];

	if (!(slab->exts & owner_formats.exts_records) ||
	    owner_layout.record_size > (long)sizeof(record) ||
	    !owner_read_ulong(records + owner_layout.records_exts, &exts) ||
	    !(exts & owner_formats.exts_records) ||
	    !owner_read((exts & ~mask) + owner_layout.freed_record +
			(ulong)index * owner_layout.record_size, record,
			owner_layout.record_size))
		return false;
	owner_copy_record(record, freed);
	return freed->stack || freed->task;
}

/* --- Per-CPU areas -------------------------------------------------------------------- */

/*
 * Visit an area. @next is one more than the number of the area before it: numbers increase
 * along a bucket. Return: false if they do not, as in a list that is a cycle.
 */
static bool visit_area(ulong node, uint64_t *next, owner_object_fn *visit, void *arg,
		       struct owner_walk_counts *counts)
{
	const struct owner_layout *l = &owner_layout;
	struct owner_object object = { .percpu = true, .cache = "percpu" };
	unsigned char record[256];

	if (l->area_bytes > (long)sizeof(record) ||
	    !owner_read(node - l->area_node, record, l->area_bytes))
		return false;
	if (owner_get_u64(record, l->area_number) < *next)
		return false;
	*next = owner_get_u64(record, l->area_number) + 1;
	object.address = owner_get_u64(record, l->area_area);
	object.size = owner_get_u64(record, l->area_size);
	object.held = object.size;
	owner_copy_record(record + l->area_owner, &object.owner);
	counts->areas++;
	if (visit)
		visit(&object, arg);
	return true;
}

/* Visit all per-CPU areas that have an owner. */
void owner_walk_areas(owner_object_fn *visit, void *arg, struct owner_walk_counts *counts)
{
	size_t entry = 2 * sizeof(ulong);
	ulong table = 0, head, node;
	uint32_t bits, i;
	uint64_t next;

	if (!symbol_exists("owner_percpu_table") ||
	    !owner_read_ulong(symbol_value("owner_percpu_table"), &table) || !table)
		return;
	if (!owner_read(symbol_value("owner_percpu_bits"), &bits, sizeof(bits)) ||
	    bits > AREA_BITS_MAX) {
		owner_note(NOTE_LIST);
		return;
	}
	for (i = 0; i < 1U << bits; i++) {
		head = table + i * entry;
		next = 0;
		if (!owner_read_ulong(head, &node))
			node = 0;
		while (node && node != head && counts->areas < AREAS_MAX) {
			if (!visit_area(node, &next, visit, arg, counts) ||
			    !owner_read_ulong(node, &node))
				break;
		}
		if (node != head)
			owner_note(NOTE_LIST);
	}
}

/*
 * Visit all slab objects and per-CPU areas that have an owner, in the order of the file
 * slab_owner. @visit can be NULL, to count them only.
 */
void owner_walk(owner_object_fn *visit, void *arg, struct owner_walk_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	if (!find_memory())
		return;
	walk_slabs(visit, arg, counts);
	owner_walk_areas(visit, arg, counts);
}

/* --- Pages ------------------------------------------------------------------------------ */

/*
 * Copy the record that page_owner has of a page: a struct page_owner. Return: false if
 * there is none.
 */
bool owner_page_record(ulong pfn, unsigned char *record, bool *allocated)
{
	const struct owner_layout *l = &owner_layout;
	ulong section, base = 0, size = 0, offset = 0, flags = 0, ext;

	if (!find_memory() || l->ext_owner < 0 || l->ext_owner_allocated < 0 ||
	    l->section_ext < 0 ||
	    l->ext_offset < 0 || l->po_size <= 0 || l->po_handle < 0 || l->po_free_tgid < 0 ||
	    !symbol_exists("page_ext_size") || !symbol_exists("page_owner_ops"))
		return false;
	section = find_section(pfn);
	if (!section || !owner_read_ulong(section + l->section_ext, &base) || !base || base & 1 ||
	    !owner_read_ulong(symbol_value("page_ext_size"), &size) ||
	    !owner_read_ulong(symbol_value("page_owner_ops") + l->ext_offset, &offset) ||
	    size > 4096 || offset > 4096)
		return false;
	ext = base + size * pfn;
	if (!owner_read_ulong(ext + l->ext_flags, &flags) || !(flags >> l->ext_owner & 1))
		return false;
	*allocated = flags >> l->ext_owner_allocated & 1;
	return owner_read(ext + offset, record, l->po_size);
}
