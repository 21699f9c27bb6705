// SPDX-License-Identifier: GPL-2.0
/* Make the arguments that select the same records in another call of ownertop. */
#include <stdlib.h>
#include <unistd.h>

#include "ask/again.h"
#include "base/alloc.h"
#include "base/quote.h"

static void print_option(const char *name, const char *value, FILE *out)
{
	if (!value)
		return;
	fprintf(out, " %s", name);
	quote_print_argument(value, out);
}

/* Print nid= and the expression of the sentence, without its settings of groups. */
static void print_condition(const struct options *o, FILE *out)
{
	struct owner_sentence s = o->select.sentence;
	char printed[OWNER_SENTENCE_MAX + 1];

	s.settings_given &= 1U << OWNER_SET_NID;
	s.nr_group_by = 0;
	s.nr_sort_by = 0;
	owner_lang_print(&s, printed, sizeof(printed));
	if (*printed)
		quote_print_argument(printed, out);
}

char *make_selection_arguments(const struct options *o)
{
	char *text, number[16];
	size_t len;
	FILE *out = xopen_memstream(&text, &len);
	u32 i;

	print_option("--vmlinux", o->vmlinux, out);
	print_option("--modules", o->modules, out);
	print_option("--kallsyms", o->kallsyms, out);
	for (i = 0; i < o->nr_binaries; i++)
		print_option("--binary", o->binaries[i], out);
	snprintf(number, sizeof(number), "%llu", (u64)o->input.page_size);
	if (o->input.page_size != (u64)sysconf(_SC_PAGESIZE))
		print_option("--page-size", number, out);
	print_condition(o, out);
	fclose(out);
	return text;
}
