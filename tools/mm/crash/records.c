// SPDX-License-Identifier: GPL-2.0
/*
 * Records as text, in the grammar of /sys/kernel/debug/slab_owner (mm/owner/slab/show.c), with the
 * objects' addresses, which the file shows hashed.
 */

#include <math.h>

#include "escape.h"
#include "owner.h"

/* Clocks and sampling rates of the kernel, read once for each command. */
static struct {
	bool ready;
	uint64_t ticks, clock_at_tick_0;
	uint64_t per_byte[256], per_object[256];
} machine;

void owner_records_reset(void)
{
	machine.ready = false;
}

static void read_machine(void)
{
	const struct owner_layout *l = &owner_layout;
	ulong ticks = 0, clock = 0, rates;
	unsigned char rate[64];
	unsigned int i;

	if (machine.ready)
		return;
	memset(&machine, 0, sizeof(machine));
	machine.ready = true;
	if (symbol_exists("jiffies_64"))
		owner_read_ulong(symbol_value("jiffies_64"), &ticks);
	if (symbol_exists("clock_at_tick_0"))
		owner_read_ulong(symbol_value("clock_at_tick_0"), &clock);
	machine.ticks = ticks >> owner_formats.ticks_shift;
	machine.clock_at_tick_0 = clock;
	rates = symbol_exists("rates") ? symbol_value("rates") : 0;
	for (i = 1; rates && i < 256 && l->rate_size <= (long)sizeof(rate); i++) {
		if (!owner_read(rates + i * l->rate_size, rate, l->rate_size))
			break;
		machine.per_byte[i] = owner_get_u32(rate, l->rate_per_byte);
		machine.per_object[i] = owner_get_u32(rate, l->rate_per_object);
	}
}

/* Convert a record's time to ns since boot, as owner_record_time_to_ns() does. */
unsigned long long owner_time_ns(uint32_t time)
{
	uint32_t age;

	read_machine();
	age = (uint32_t)machine.ticks - time;
	return machine.clock_at_tick_0 + (machine.ticks - age) * (uint64_t)owner_formats.tick_ns;
}

/* The time of the dump, in ns since boot. */
unsigned long long owner_now_ns(void)
{
	read_machine();
	return owner_time_ns(machine.ticks);
}

/* How many objects a record stands for, its own included. See mm/owner/sample.c. */
double owner_weight(const struct owner_record *owner)
{
	double cost, probability;

	if (!owner->rate)
		return 1;
	read_machine();
	cost = (double)owner->size * machine.per_byte[owner->rate & 255] +
	       machine.per_object[owner->rate & 255];
	probability = -expm1(-cost / (1ULL << 32));
	return probability > 0 ? 1 / probability : 1;
}

/* Escape a name as the live files do. In damaged memory, it may lack its NUL. */
void owner_escape_comm(char *to, size_t size, const char *from, size_t length)
{
	char name[32] = "";

	memcpy(name, from, length ? MIN(length, sizeof(name)) - 1 : 0);
	owner_escape_name(to, size, name, "");
}

const char *owner_task_text(uint32_t handle)
{
	struct owner_handle *task = owner_task(handle);

	return task && task->task ? task->task : "pid 0, tgid 0 (?)";
}

/* The lines of the user chain of a task's handle. */
const char *owner_user_text(uint32_t handle)
{
	struct owner_handle *task = owner_task(handle);

	return task && task->user ? task->user : "";
}

const char *owner_chain_text(uint32_t handle)
{
	struct owner_handle *chain = owner_chain(handle);

	return chain && chain->chain ? chain->chain : "";
}

/* Print a record with its chain, its user chain and an empty line. */
void owner_print_record(FILE *out, const struct owner_object *object)
{
	fprintf(out, "%s allocated via order 0, size %lu, slab %lu, cache %s, ",
		object->percpu ? "Per-CPU area" : "Slab object", object->size, object->held,
		object->cache);
	if (object->owner.rate)
		fprintf(out, "weight %.3f, ", owner_weight(&object->owner));
	fprintf(out, "%s, ts %llu ns\n", owner_task_text(object->owner.task),
		owner_time_ns(object->owner.time));
	fprintf(out, "PFN 0x%lx object %016lx index %u\n%s%s\n", object->pfn, object->address,
		object->index, owner_chain_text(object->owner.stack),
		owner_user_text(object->owner.task));
}
