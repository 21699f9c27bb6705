/* SPDX-License-Identifier: GPL-2.0 */
/* Print names that a task has chosen, without the control characters in them. */
#ifndef _MM_OWNER_ESCAPE_H
#define _MM_OWNER_ESCAPE_H

#ifdef __KERNEL__
#include <linux/sched.h>
#include <linux/types.h>

/* Size of a buffer for any escaped comm. */
#define OWNER_ESCAPED_COMM	(4 * TASK_COMM_LEN)
#else
#include <stddef.h>
#endif

size_t owner_escape_name(char *buf, size_t size, const char *name, const char *also);

#endif /* _MM_OWNER_ESCAPE_H */
