// SPDX-License-Identifier: GPL-2.0
/* What the figures are, and what they leave out. */
#include "output/human.h"
#include "output/notes.h"

static void print_undecided(const struct model *m, FILE *out)
{
	const char *comma = "";
	char buf[HUMAN_LEN];
	unsigned int i;

	fprintf(out, "undecided: %llu objects, %s, are not counted; the input does not tell their ",
		m->undecided.objects, human_bytes(buf, m->undecided.bytes));
	for (i = 0; i < OWNER_FIELDS; i++) {
		if (!(m->untold & 1U << i))
			continue;
		fprintf(out, "%s%s", comma, field_name(i));
		comma = ", ";
	}
	putc('\n', out);
}

void notes_left_out(const struct answer *a, struct terminal term, FILE *out)
{
	const struct model *m = &a->model;
	const struct health *h = &a->health;
	char buf[HUMAN_LEN];

	if (m->filtered.objects)
		fprintf(out, "filtered out: %llu objects, %s\n",
			m->filtered.objects, human_bytes(buf, m->filtered.bytes));
	if (m->undecided.objects)
		print_undecided(m, out);
	if (m->coverage_known)
		fprintf(out,
			"untracked: %llu slab objects have no owner and are not counted\n",
			m->untracked);
	sources_print_notes(&m->sources, out);
	if (health_complete(h))
		return;
	fprintf(out,
		"%sINCOMPLETE: damaged places %llu, inputs unread %u; figures cover the rest%s\n",
		term.colour ? "\033[1;31m" : "", h->damaged, h->unread,
		term.colour ? "\033[0m" : "");
}

void notes_print(const struct answer *a, struct terminal term, FILE *out)
{
	const struct sum *total = &a->model.total;
	char buf[HUMAN_LEN];

	if (sum_is_estimate(total))
		fprintf(out, "estimated from %llu samples; errors: +-%llu objects, +-%s\n",
			total->records, sum_objects_error(total),
			human_bytes(buf, sum_bytes_error(total)));
	notes_left_out(a, term, out);
}
