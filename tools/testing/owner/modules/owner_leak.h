/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _OWNER_LEAK_H
#define _OWNER_LEAK_H

#include <linux/types.h>

bool owner_leak_open(void);

#endif /* _OWNER_LEAK_H */
