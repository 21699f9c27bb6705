/* SPDX-License-Identifier: GPL-2.0 */
/* Where the functions or modules stand that a comparison is about. */
#ifndef _MM_OWNER_PLACES_H
#define _MM_OWNER_PLACES_H

#include <linux/types.h>

#include "lang.h"

struct module;
struct owner_places;

bool owner_module_of(unsigned long frame, char *name, size_t size);
bool owner_frame_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			 unsigned long frame);

struct owner_places *owner_places_find(const struct owner_sentence *s,
				       const struct owner_comparison *c);
struct owner_places *owner_places_change(const struct owner_places *places,
					 const struct owner_sentence *s,
					 const struct owner_comparison *c,
					 const struct module *module, bool going);
bool owner_places_have(const struct owner_places *places, const unsigned long *frames,
		       unsigned int count);

#endif /* _MM_OWNER_PLACES_H */
