/* SPDX-License-Identifier: GPL-2.0 */
/* Print the rules: for change.c, which holds their lock. */
#ifndef _MM_OWNER_CONTROL_SHOW_H
#define _MM_OWNER_CONTROL_SHOW_H

struct owner_rule_table;
struct seq_file;

int owner_control_show(struct seq_file *m, const struct owner_rule_table *table);

#endif /* _MM_OWNER_CONTROL_SHOW_H */
