// SPDX-License-Identifier: GPL-2.0
/* What the rows of groups and of objects have in common. */
#include <stdlib.h>

#include "base/alloc.h"
#include "output/notes.h"
#include "output/tsv.h"

void tally_add(struct tally *to, const struct sum *sum, u64 groups, u64 oldest, u64 newest)
{
	if (to->is_any) {
		span_add(&to->oldest, &to->newest, oldest, newest);
	} else {
		to->oldest = oldest;
		to->newest = newest;
	}
	sum_add(&to->sum, sum);
	to->groups += groups;
	to->is_any = true;
}

void tsv_sentence(const struct owner_sentence *s, FILE *out)
{
	char printed[OWNER_SENTENCE_MAX + 1];

	owner_lang_print(s, printed, sizeof(printed));
	fprintf(out, "# %s\n", printed);
}

const char *tsv_stack_columns(enum owner_mode mode)
{
	static const char * const columns[] = {
		[OWNER_MODE_STACK]		= "stack",
		[OWNER_MODE_HANDLE]		= "handle",
		[OWNER_MODE_STACK_HANDLE]	= "stack\thandle",
	};

	return columns[mode];
}

void tsv_name(struct text name, FILE *out)
{
	size_t i;

	if (!name.len)
		putc('-', out);
	for (i = 0; i < name.len; i++) {
		if (strchr(" \t\n\\,", name.s[i]))
			fprintf(out, "\\%03o", (unsigned char)name.s[i]);
		else
			putc(name.s[i], out);
	}
}

void tsv_age(const struct model *m, u64 ts, FILE *out)
{
	if (ts == TS_UNKNOWN)
		putc('-', out);
	else
		fprintf(out, "%llu", model_age(m, ts));
}

void tsv_notes(const struct answer *a, FILE *out)
{
	char *text = NULL, *line, *rest;
	struct terminal none = { 0 };
	size_t len;
	FILE *notes = open_memstream(&text, &len);

	if (!notes)
		out_of_memory();
	notes_left_out(a, none, notes);
	fclose(notes);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(out, "# %s\n", line);
	free(text);
}
