/* SPDX-License-Identifier: GPL-2.0 */
/* Print frames, unless their names would be those of data. */
#ifndef _MM_OWNER_FRAME_H
#define _MM_OWNER_FRAME_H

#include <linux/kallsyms.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct seq_file;

bool owner_is_module_data(unsigned long address);
void owner_frame_print(unsigned long frame, char *text);
void owner_chain_show(struct seq_file *m, depot_stack_handle_t stack);

#endif /* _MM_OWNER_FRAME_H */
