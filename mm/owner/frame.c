// SPDX-License-Identifier: GPL-2.0
/*
 * Print frames, unless their names would be those of data.
 *
 * The text of a module's init functions is freed when the module is live, and the next module can
 * have its data there. Chains keep the addresses, and the kernel finds symbols of data, too.
 */

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sprintf.h>
#include <linux/stackdepot.h>

#include "frame.h"

/**
 * owner_is_module_data() - is an address in the memory of a module, and not in its text?
 * @address: a return address, or that of a call
 */
bool owner_is_module_data(unsigned long address)
{
	return is_module_address(address) && !is_module_text_address(address);
}

/**
 * owner_frame_print() - print the name of a frame as %pS does
 * @frame: the frame; its address is printed if it has no name, or if a module has data there
 * @text: gets the text; KSYM_SYMBOL_LEN bytes
 */
void owner_frame_print(unsigned long frame, char *text)
{
	if (!IS_ENABLED(CONFIG_KALLSYMS) || owner_is_module_data(frame))
		sprintf(text, "%#lx", frame);
	else
		sprint_symbol(text, frame);
}

/**
 * owner_chain_show() - show the frames of a call chain, one on a line
 * @m: the file
 * @stack: the chain; its handle is referenced
 */
void owner_chain_show(struct seq_file *m, depot_stack_handle_t stack)
{
	unsigned int i, count = stack_depot_copy(stack, NULL, 0);
	char text[KSYM_SYMBOL_LEN];

	for (i = 0; i < count; i++) {
		owner_frame_print(stack_depot_frame(stack, i), text);
		seq_printf(m, " %s\n", text);
	}
}
