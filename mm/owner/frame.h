/* SPDX-License-Identifier: GPL-2.0 */
/* Print a frame, unless its name would be that of data. */
#ifndef _MM_OWNER_FRAME_H
#define _MM_OWNER_FRAME_H

#include <linux/kallsyms.h>
#include <linux/types.h>

bool owner_is_module_data(unsigned long address);
void owner_frame_print(unsigned long frame, char *text);

#endif /* _MM_OWNER_FRAME_H */
