/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the interface between QEMU 7.2 and its plugins that cache_misses.c uses. Debian's
 * packages of QEMU have no header for plugins.
 */
#ifndef _QEMU_PLUGIN_H
#define _QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

/* Callbacks do not read registers. */
#define NO_REGISTERS	0
/* Both loads and stores. */
#define LOADS_STORES	3
/* The only operation that needs no callback. */
#define ADD_U64		0

typedef void (*tb_callback)(uint64_t plugin, struct qemu_plugin_tb *tb);
typedef void (*insn_callback)(unsigned int cpu, void *data);
typedef void (*mem_callback)(unsigned int cpu, uint32_t access, uint64_t address, void *data);

void qemu_plugin_register_vcpu_init_cb(uint64_t plugin,
				       void (*callback)(uint64_t plugin, unsigned int cpu));
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, tb_callback callback);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_callback callback,
					    int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
						void *counter, uint64_t value);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_callback callback,
				      int registers, int accesses, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t access);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t access, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

#endif /* _QEMU_PLUGIN_H */
