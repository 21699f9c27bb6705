// SPDX-License-Identifier: GPL-2.0
/*
 * The answers of the command "owner": one object, the chains that hold most, statistics, all
 * records, and what ownertop makes of them.
 */

#include <sys/wait.h>

#include "owner.h"

/* --- One address ------------------------------------------------------------------------ */

static void answer_slab(FILE *out, ulong address, const struct slab_view *slab,
			unsigned int index)
{
	struct owner_object object;
	struct owner_record freed;
	bool owned = owner_object_of(slab, index, &object);

	fprintf(out, "%lx: object %u of %u in a slab of %s, %u bytes each", object.address, index,
		slab->objects, slab->cache->name, slab->cache->size);
	if (address != object.address)
		fprintf(out, "; %lx is %lu bytes %s its start", address,
			address > object.address ? address - object.address :
			object.address - address, address > object.address ? "after" : "before");
	fputs("\n\n", out);
	if (owned)
		owner_print_record(out, &object);
	else
		fprintf(out, "It has no owner: it is free, or was not tracked.\n\n");
	if (owner_freed_record(slab, index, &freed))
		fprintf(out, "%s by %s, ts %llu ns\n%s%s\n",
			owned ? "Its place was freed last" : "Freed", owner_task_text(freed.task),
			owner_time_ns(freed.time), owner_chain_text(freed.stack),
			owner_user_text(freed.task));
}

struct area_search {
	FILE *out;
	ulong address;
	bool found;
};

static void search_area(const struct owner_object *object, void *arg)
{
	struct area_search *search = arg;

	if (!object->percpu || object->address != search->address)
		return;
	search->found = true;
	owner_print_record(search->out, object);
}

static bool answer_page(FILE *out, ulong address)
{
	const struct owner_layout *l = &owner_layout;
	unsigned char record[512];
	bool allocated;
	char comm[80];
	ulong pfn;

	if (l->po_size > (long)sizeof(record) || !owner_pfn_of(address, &pfn) ||
	    !owner_page_record(pfn, record, &allocated) || !owner_get_u32(record, l->po_handle))
		return false;
	owner_escape_comm(comm, sizeof(comm), (char *)record + l->po_comm, owner_layout.task_comm);
	fprintf(out, "Page %s via order %u, mask %#x, pid %d, tgid %d (%s), ts %llu ns\n",
		allocated ? "allocated" : "was allocated",
		owner_get_u32(record, l->po_order) & 0xffff, owner_get_u32(record, l->po_gfp),
		owner_get_u32(record, l->po_pid), owner_get_u32(record, l->po_tgid), comm,
		(unsigned long long)owner_get_u64(record, l->po_ts));
	fprintf(out, "PFN 0x%lx\n%s\n", pfn, owner_chain_text(owner_get_u32(record, l->po_handle)));
	if (owner_get_u32(record, l->po_free_handle))
		fprintf(out, "Page %s by pid %d, tgid %d, ts %llu ns\n%s\n",
			allocated ? "was freed last" : "freed",
			owner_get_u32(record, l->po_free_pid),
			owner_get_u32(record, l->po_free_tgid),
			(unsigned long long)owner_get_u64(record, l->po_free_ts),
			owner_chain_text(owner_get_u32(record, l->po_free_handle)));
	return true;
}

/* Print the owner of an object, of a per-CPU area, and of the page that has the address. */
void owner_answer_address(FILE *out, ulong address)
{
	struct area_search search = { .out = out, .address = address };
	struct owner_walk_counts counts = {};
	struct slab_view slab;
	unsigned int index;
	bool found;

	found = owner_find_slab(address, &slab, &index);
	if (found)
		answer_slab(out, address, &slab, index);
	else
		owner_walk_areas(search_area, &search, &counts);
	found |= search.found;
	found |= answer_page(out, address);
	if (!found)
		fprintf(out, "%lx is neither in a slab nor in a page that page_owner tracks\n",
			address);
}

/* --- The chains that hold most ------------------------------------------------------------ */

static void add_to_chain(const struct owner_object *object, void *arg)
{
	struct owner_handle *chain = owner_chain(object->owner.stack);
	double weight = owner_weight(&object->owner);

	if (!chain)
		return;
	chain->objects += weight;
	chain->bytes += weight * object->size;
	chain->held += weight * object->held;
}

/* Sort by bytes held, then by handle: the order must not depend on the hash table. */
static int compare_chains(const void *a, const void *b)
{
	const struct owner_handle *x = *(struct owner_handle * const *)a;
	const struct owner_handle *y = *(struct owner_handle * const *)b;

	if (x->held != y->held)
		return x->held < y->held ? 1 : -1;
	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

/* Print the chains that hold most memory. */
void owner_answer_top(FILE *out, unsigned long rows)
{
	struct owner_walk_counts counts;
	struct owner_handle *chain, **ranked;
	size_t pos = 0, count = 0, i = 0;
	double held = 0;

	owner_walk(add_to_chain, NULL, &counts);
	while (owner_next_handle(&pos))
		count++;
	ranked = owner_alloc(count, sizeof(*ranked));
	for (pos = 0; ranked && (chain = owner_next_handle(&pos));) {
		if (!chain->objects)
			continue;
		ranked[i++] = chain;
		held += chain->held;
	}
	count = i;
	if (ranked)
		qsort(ranked, count, sizeof(*ranked), compare_chains);
	fprintf(out, "%lu slab objects and %lu per-CPU areas hold %.0f bytes", counts.objects,
		counts.areas, held);
	fprintf(out, ", from %zu call chains\n\n", count);
	for (i = 0; ranked && i < count && i < rows; i++)
		fprintf(out, "%.0f bytes held (%.1f%%), %.0f requested, by %.0f objects of\n%s\n",
			ranked[i]->held, held ? 100 * ranked[i]->held / held : 0, ranked[i]->bytes,
			ranked[i]->objects, ranked[i]->chain ? ranked[i]->chain : "");
	free(ranked);
}

/* --- Statistics --------------------------------------------------------------------------- */

/* Limit for what damaged memory may claim. */
#define REASONS_MAX	64

/* Add up a long that each possible CPU has. */
static long sum_percpu(ulong symbol, long offset)
{
	int cpus = get_array_length("__per_cpu_offset", NULL, 0), cpu;
	ulong mask, base;
	long sum = 0, value;

	if (!symbol || !symbol_exists("__per_cpu_offset") || !symbol_exists("__cpu_possible_mask"))
		return 0;
	for (cpu = 0; cpu < cpus && cpu < 1 << 16; cpu++) {
		if (!owner_read_ulong(symbol_value("__cpu_possible_mask") +
				      cpu / 64 * sizeof(mask), &mask) || !(mask >> cpu % 64 & 1))
			continue;
		if (owner_read_ulong(symbol_value("__per_cpu_offset") + cpu * sizeof(base),
				     &base) &&
		    owner_read(base + symbol + offset, &value, sizeof(value)))
			sum += value;
	}
	return sum;
}

/* Print what each CPU counts by reason. The kernel's array @names has the names. */
static void print_reasons(FILE *out, const char *names, const char *counts)
{
	int reasons = get_array_length((char *)names, NULL, 0), i;
	ulong symbol = owner_symbol(counts), address;
	char name[64];

	if (!symbol_exists((char *)names) || !symbol)
		return;
	for (i = 0; i < reasons && i < REASONS_MAX; i++)
		if (owner_read_ulong(symbol_value((char *)names) + i * sizeof(address), &address) &&
		    owner_read_string(address, name, sizeof(name)))
			fprintf(out, "%s: %ld\n", name, sum_percpu(symbol, i * sizeof(long)));
}

/* Sums for statistics. */
struct tracked_objects {
	double weight;
	ulong samples;
};

static void add_tracked_object(const struct owner_object *object, void *arg)
{
	struct tracked_objects *tracked = arg;

	if (object->percpu)
		return;
	tracked->weight += owner_weight(&object->owner);
	tracked->samples += object->owner.rate > 0;
}

/* Print statistics, named as in owner/stats. */
void owner_answer_statistics(FILE *out)
{
	struct tracked_objects tracked = {};
	struct owner_walk_counts counts;
	uint32_t max_pools = 0;
	ulong symbol;

	owner_walk(add_tracked_object, &tracked, &counts);
	fprintf(out, "tracked: %.0f\nsamples: %lu\npercpu: %lu\nslabs: %lu\nslots: %lu\n",
		tracked.weight, tracked.samples, counts.areas, counts.slabs, counts.slots);
	symbol = owner_symbol("records_counts");
	fprintf(out, "bytes: %ld\n",
		sum_percpu(symbol, MEMBER_OFFSET("owner_records_counts", "bytes")));
	print_reasons(out, "loss_names", "owner_losses");
	symbol = owner_symbol("owner_slow_captures");
	if (symbol)
		fprintf(out, "slow: %ld\n", sum_percpu(symbol, 0));
	if (symbol_exists("stack_depot_max_pools"))
		owner_read_u32(symbol_value("stack_depot_max_pools"), &max_pools);
	fprintf(out, "pools: %u\npools_max: %u\n", owner_count_pools(), max_pools);
}

/* --- All records --------------------------------------------------------------------------- */

static void write_record(const struct owner_object *object, void *arg)
{
	owner_print_record(arg, object);
}

/* Write all records to a file. Return: false after an error message. */
bool owner_write_records(const char *path)
{
	struct owner_walk_counts counts;
	FILE *file = fopen(path, "w");
	bool failed;

	if (!file) {
		error(INFO, "%s: %s\n", path, strerror(errno));
		return false;
	}
	owner_walk(write_record, file, &counts);
	failed = ferror(file);
	if (fclose(file) || failed) {
		error(INFO, "%s: %s\n", path, strerror(errno));
		return false;
	}
	fprintf(fp, "%s: %lu slab objects and %lu per-CPU areas\n", path, counts.objects,
		counts.areas);
	return true;
}

/* Run ownertop on the records. Return: false after an error message. */
bool owner_ask(const char *sentence)
{
	const char *program = getenv("OWNERTOP") ?: "ownertop";
	sighandler_t handler = signal(SIGPIPE, SIG_IGN);
	struct owner_walk_counts counts;
	int ends[2], status = 0;
	FILE *records = NULL;
	pid_t child = -1;
	char now[32];

	/* Tell ownertop when the dump was taken: it cannot search a pipe for the last record. */
	snprintf(now, sizeof(now), "%lluns", owner_now_ns());
	fflush(fp);
	if (!pipe(ends)) {
		child = fork();
		if (!child) {
			signal(SIGPIPE, SIG_DFL);
			dup2(ends[0], 0);
			dup2(fileno(fp), 1);
			close(ends[0]);
			close(ends[1]);
			execlp(program, program, "--now", now, sentence, "-", NULL);
			dprintf(2, "owner: %s: %s: install ownertop, or set OWNERTOP to its path\n",
				program, strerror(errno));
			_exit(127);
		}
		close(ends[0]);
		records = child > 0 ? fdopen(ends[1], "w") : NULL;
		if (!records)
			close(ends[1]);
	}
	if (records) {
		owner_walk(write_record, records, &counts);
		fclose(records);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	signal(SIGPIPE, handler);
	if (child < 0 || !records || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		error(INFO, "%s did not answer\n", program);
		return false;
	}
	return true;
}
