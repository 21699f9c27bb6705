/* SPDX-License-Identifier: GPL-2.0 */
/* Which function or module a return address is in. */
#ifndef _MM_OWNER_PLACES_H
#define _MM_OWNER_PLACES_H

#include <linux/types.h>

#include "lang.h"

bool owner_module_of(unsigned long frame, char *name, size_t size);
bool owner_frame_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			 unsigned long frame);

#endif /* _MM_OWNER_PLACES_H */
