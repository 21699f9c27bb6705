// SPDX-License-Identifier: GPL-2.0
/* Write the view "records": a block of lines for each group, one line for each field. */
#include <stdlib.h>

#include "names/frame.h"
#include "base/human.h"
#include "output/notes.h"
#include "output/terminal.h"
#include "model/report.h"
#include "output/writer.h"

#define INDENT 4
#define LABEL_WIDTH 8

static void print_field_name(const char *label, FILE *out)
{
	fprintf(out, "%*s%-*s", INDENT, "", LABEL_WIDTH, label);
}

static void print_age(const struct model *m, const struct group *g, FILE *out)
{
	char oldest[HUMAN_LEN], newest[HUMAN_LEN];

	if (!model_field_is_known(m, g, OWNER_FIELD_AGE))
		return;
	print_field_name("age", out);
	human_format_age(oldest, model_compute_age(m, g->oldest));
	human_format_age(newest, model_compute_age(m, g->newest));
	if (strcmp(oldest, newest))
		fprintf(out, "%s to %s\n", newest, oldest);
	else
		fprintf(out, "%s\n", oldest);
}

static void print_chain(const struct model *m, const struct group *g, enum owner_field field,
			const char *label, size_t width, FILE *out)
{
	const struct chain *chain = model_get_chain(m, g, field);
	u32 i;

	for (i = 0; i < chain->n; i++) {
		print_field_name(i ? "" : label, out);
		frame_print_fitted(model_get_frame(m, field, chain, i), width,
				   INDENT + LABEL_WIDTH, out);
	}
	if (!chain->n && field == OWNER_FIELD_STACK) {
		print_field_name(label, out);
		fputs("(no call chain)\n", out);
	}
}

static void print_name(struct text_slice name, FILE *out)
{
	char *shown = human_escape_name(name);

	fprintf(out, "%s\n", shown);
	free(shown);
}

static void print_fields(const struct model *m, const struct group *g, size_t width, FILE *out)
{
	const struct group_list *by = &m->select->group;
	unsigned int i;

	print_age(m, g, out);
	for (i = 0; i < by->n; i++) {
		enum owner_field f = by->v[i].field;

		if (field_is_chain(f) || f == OWNER_FIELD_AGE ||
		    !model_field_is_known(m, g, f))
			continue;
		if (!field_is_number(f) && !model_get_name(m, g, f).len)
			continue;
		print_field_name(field_name(f), out);
		if (field_is_number(f))
			fprintf(out, "%lld\n", model_get_number(m, g, f));
		else
			print_name(model_get_name(m, g, f), out);
	}
	if (field_is_listed(by, OWNER_FIELD_STACK))
		print_chain(m, g, OWNER_FIELD_STACK, "chain", width, out);
	if (field_is_listed(by, OWNER_FIELD_USER))
		print_chain(m, g, OWNER_FIELD_USER, "user", width, out);
	putc('\n', out);
}

static void print_sum(const struct sum *sum, const struct report *r, FILE *out)
{
	char bytes[HUMAN_LEN], percent[HUMAN_LEN];

	fprintf(out, "%s in %llu object%s, %s", human_format_bytes(bytes, sum->bytes), sum->objects,
		sum->objects == 1 ? "" : "s",
		human_format_percent(percent, measure_get_value(sum, r->measure),
				     measure_get_value(&r->model->total, r->measure)));
	if (sum->held != sum->bytes)
		fprintf(out, ", held %s", human_format_bytes(bytes, sum->held));
	putc('\n', out);
}

void write_group_blocks(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct terminal term = o->term;
	struct folded_text folded;
	struct report r;
	FILE *notes;
	u32 i;

	report_init(&r, a);
	for (i = 0; i < r.shown; i++) {
		struct group g = report_get_group(&r, i);

		fprintf(out, "%s#%u%s  ", term.colour ? "\033[1m" : "", i + 1,
			term.colour ? "\033[0m" : "");
		print_sum(&g.sum, &r, out);
		print_fields(m, &g, term.width, out);
	}
	if (r.shown < r.kept) {
		fprintf(out, "rest: %u of %u owners, ", r.kept - r.shown, m->groups.n);
		print_sum(&r.not_shown, &r, out);
	}
	if (r.kept < m->groups.n) {
		fprintf(out, "other: %u of %u owners, ", m->groups.n - r.kept, m->groups.n);
		print_sum(&r.other, &r, out);
	}
	fputs("total: ", out);
	print_sum(&m->total, &r, out);
	notes = fold_begin(&folded);
	notes_print_same_functions(m, r.order, r.shown, notes);
	notes_print_all(a, term, notes);
	fold_end(&folded, term, out);
	report_free(&r);
}
