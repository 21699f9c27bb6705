/* SPDX-License-Identifier: GPL-2.0 */
/* Print a slab object or a per-CPU area that a cursor has found. */
#ifndef _MM_OWNER_SLAB_SHOW_H
#define _MM_OWNER_SLAB_SHOW_H

struct owner_object;
struct seq_file;

void owner_show_weight(struct seq_file *m, const struct owner_object *object);
void owner_show_object(struct seq_file *m, const struct owner_object *object);

#endif /* _MM_OWNER_SLAB_SHOW_H */
