// SPDX-License-Identifier: GPL-2.0
/* What the figures leave out. */
#include "human.h"
#include "notes.h"

void notes_print(const struct answer *a, struct terminal term, FILE *out)
{
	const struct model *m = &a->model;
	const struct health *h = &a->health;
	char buf[HUMAN_LEN];

	if (m->filtered.objects)
		fprintf(out, "filtered out: %llu objects, %s\n",
			m->filtered.objects, human_bytes(buf, m->filtered.bytes));
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
