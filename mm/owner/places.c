// SPDX-License-Identifier: GPL-2.0
/* Which function or module a return address is in, asked one by one, by name. */

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "places.h"

/* Is this return address in a module, and which? False for one that has gone. */
bool owner_module_of(unsigned long frame, char *name, size_t size)
{
	bool found = false;
#ifdef CONFIG_MODULES
	struct module *module;

	preempt_disable();
	module = __module_address(frame - 1);
	found = module;
	if (module)
		strscpy(name, module->name, size);
	preempt_enable();
#endif
	return found;
}

/* Is it in a function or module of this comparison? The call is, not what it returns to. */
noinline bool owner_frame_matches(const struct owner_sentence *s,
				  const struct owner_comparison *c, unsigned long frame)
{
	char name[KSYM_NAME_LEN];

	if (c->field == OWNER_FIELD_FUNC ? lookup_symbol_name(frame - 1, name) :
					  !owner_module_of(frame, name, sizeof(name)))
		return false;
	return owner_lang_word_matches(s, c, name);
}
