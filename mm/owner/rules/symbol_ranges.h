/* SPDX-License-Identifier: GPL-2.0 */
/* Address ranges of the functions or modules that a comparison names. */
#ifndef _MM_OWNER_SYMBOL_RANGES_H
#define _MM_OWNER_SYMBOL_RANGES_H

#include <linux/types.h>

#include "../lang/lang.h"

struct module;
struct owner_symbol_ranges;

bool owner_module_name(unsigned long frame, char *name, size_t size);
bool owner_frame_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			 unsigned long frame);

struct owner_symbol_ranges *owner_symbol_ranges_find(const struct owner_sentence *s,
						     const struct owner_comparison *c);
struct owner_symbol_ranges *owner_symbol_ranges_update(const struct owner_symbol_ranges *old,
						       const struct owner_sentence *s,
						       const struct owner_comparison *c,
						       const struct module *module, bool going);
bool owner_symbol_ranges_are_empty(const struct owner_symbol_ranges *ranges);
bool owner_symbol_ranges_contain(const struct owner_symbol_ranges *ranges,
				 const unsigned long *frames, unsigned int count);

#endif /* _MM_OWNER_SYMBOL_RANGES_H */
