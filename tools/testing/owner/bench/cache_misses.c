// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's TCG: count the instructions of a guest and the misses of its data accesses
 * in two modelled caches.
 *
 *	qemu-system-x86_64 -plugin cache_misses.so,out=FILE ...
 *
 * The guest executes the instructions of modules/owner_marks.h. At each report mark the plugin
 * writes a line to FILE, "SECTIONS INSTRUCTIONS L1-MISSES L2-MISSES": the sums of all sections
 * between a begin mark and an end mark since the last report. An interrupt in a section is
 * counted as well.
 *
 * The caches have physical addresses, replace the line that was not used for the longest time,
 * and have no prefetcher. Instruction fetches, page walks and prefetch instructions do not use
 * them. They are those of one CPU, so the guest may have only one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../modules/owner_marks.h"
#include "qemu_plugin.h"

/* The version of the interface in QEMU 7.2 of Debian 12. QEMU 9.0 has another one. */
int qemu_plugin_version = 1;

#define LINE_SHIFT	6

/* The lines of each set stand in the order of their last use. */
struct cache {
	unsigned int sets;
	unsigned int ways;
	uint64_t *lines;
	unsigned long long misses;
};

struct counts {
	unsigned long long instructions;
	unsigned long long l1;
	unsigned long long l2;
};

static uint64_t l1_lines[64 * 12], l2_lines[1024 * 16];
static struct cache l1 = { .sets = 64, .ways = 12, .lines = l1_lines };
static struct cache l2 = { .sets = 1024, .ways = 16, .lines = l2_lines };
static unsigned long long instructions;
static unsigned long long sections;
static struct counts began, sums;
/* False until the first begin mark, so that the guest boots fast. */
static bool modelling;
static FILE *out;

/* Return true if the cache has the line, which is the first of its set afterwards. */
static bool use_line(struct cache *cache, uint64_t line)
{
	uint64_t *set = cache->lines + line % cache->sets * cache->ways;
	unsigned int way = 0;
	bool hit;

	while (way < cache->ways - 1 && set[way] != line)
		way++;
	hit = set[way] == line;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = line;
	cache->misses += !hit;
	return hit;
}

static void use_memory(unsigned int cpu, uint32_t access, uint64_t address, void *data)
{
	struct qemu_plugin_hwaddr *physical;
	uint64_t first, line;

	if (!modelling)
		return;
	physical = qemu_plugin_get_hwaddr(access, address);
	if (!physical || qemu_plugin_hwaddr_is_io(physical))
		return;
	first = qemu_plugin_hwaddr_phys_addr(physical);
	/* An access across the end of a page counts as if the next page followed in memory. */
	for (line = first >> LINE_SHIFT;
	     line <= (first + (1 << qemu_plugin_mem_size_shift(access)) - 1) >> LINE_SHIFT; line++)
		if (!use_line(&l1, line))
			use_line(&l2, line);
}

static void begin_section(unsigned int cpu, void *data)
{
	modelling = true;
	began = (struct counts){ instructions, l1.misses, l2.misses };
}

static void end_section(unsigned int cpu, void *data)
{
	sections++;
	sums.instructions += instructions - began.instructions;
	sums.l1 += l1.misses - began.l1;
	sums.l2 += l2.misses - began.l2;
}

static void report_sections(unsigned int cpu, void *data)
{
	fprintf(out, "%llu %llu %llu %llu\n", sections, sums.instructions, sums.l1, sums.l2);
	fflush(out);
	sections = 0;
	sums = (struct counts){ };
}

static const struct {
	unsigned int number;
	insn_callback callback;
} marks[] = {
	{ MARK_BEGIN, begin_section },
	{ MARK_END, end_section },
	{ MARK_REPORT, report_sections },
};

static bool is_mark(const struct qemu_plugin_insn *insn, unsigned int number)
{
	const uint8_t x86[] = { 0x0f, 0x1f, 0x84, 0x00, number, number >> 8, 0, 0 };
	const uint32_t arm64 = 0xd280001f | number << 5;
	const void *data = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);

	return (size == sizeof(x86) && !memcmp(data, x86, size)) ||
	       (size == sizeof(arm64) && !memcmp(data, &arm64, size));
}

/* QEMU calls this when it translates a block of instructions. */
static void instrument_block(uint64_t plugin, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *insn;
	size_t i, j;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &instructions, 1);
		qemu_plugin_register_vcpu_mem_cb(insn, use_memory, NO_REGISTERS, LOADS_STORES,
						 NULL);
		for (j = 0; j < sizeof(marks) / sizeof(*marks); j++)
			if (is_mark(insn, marks[j].number))
				qemu_plugin_register_vcpu_insn_exec_cb(insn, marks[j].callback,
								       NO_REGISTERS, NULL);
	}
}

static void refuse_second_cpu(uint64_t plugin, unsigned int cpu)
{
	if (!cpu)
		return;
	fprintf(stderr, "cache_misses: the guest has more than one CPU\n");
	exit(1);
}

int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "usage: -plugin cache_misses.so,out=FILE\n");
		return -1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		perror(argv[0] + 4);
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(plugin, refuse_second_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, instrument_block);
	return 0;
}
