// SPDX-License-Identifier: GPL-2.0
/* Print the notes below a view: errors of estimates, and objects that are not shown. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/human.h"
#include "output/notes.h"

static void print_undecided(const struct model *m, FILE *out)
{
	const char *comma = "";
	char buf[HUMAN_LEN];
	unsigned int i;

	fprintf(out, "undecided: %llu objects, %s, are not counted; the input does not tell their ",
		m->undecided.objects, human_format_bytes(buf, m->undecided.held));
	for (i = 0; i < OWNER_FIELDS; i++) {
		if (!(m->unknown_fields & 1U << i))
			continue;
		fprintf(out, "%s%s", comma, field_name(i));
		comma = ", ";
	}
	putc('\n', out);
}

static void print_sources(const struct sources *s, FILE *out)
{
	const char *overlaps[SOURCES_OVERLAPS];
	char buf[HUMAN_LEN];
	unsigned int i;

	sources_find_overlaps(s, overlaps);
	for (i = 0; overlaps[i]; i++)
		fprintf(out, "overlap: %s\n", overlaps[i]);
	if (s->backing.objects)
		fprintf(out, "set aside: %llu allocations, %s: pages whose objects are counted\n",
			s->backing.objects, human_format_bytes(buf, s->backing.bytes));
	if (s->unknown_size)
		fprintf(out, "unknown size: %llu objects, counted with 0 bytes\n",
			s->unknown_size);
	if (s->inaccurate)
		fprintf(out, "inaccurate: %llu places, says the kernel\n",
			s->inaccurate);
}

/* Print how much known owners have, and which of them have nothing. */
static void print_known(const struct model *m, FILE *out)
{
	const struct known_owners *known = &m->select->chains.known;
	const char *before = "known: no call chain matches ";
	char buf[HUMAN_LEN];
	u32 i;

	if (!known->frame)
		return;
	fprintf(out, "known: %llu objects, %s, are of the known owners\n", m->known.objects,
		human_format_bytes(buf, m->known.held));
	for (i = 0; i < known->n; i++) {
		if (m->stacks.known_matched[i])
			continue;
		fprintf(out, "%s'%s'", before, known->v[i].text);
		before = ", ";
	}
	if (*before == ',')
		putc('\n', out);
}

/*
 * Print the notes below a view, except errors of estimates, which some formats show in columns.
 */
static void print_left_out(const struct answer *a, struct terminal term, FILE *out)
{
	const struct model *m = &a->model;
	const struct input_summary *summary = &m->sink.summary;
	const struct input_health *h = &a->health;
	char buf[HUMAN_LEN];

	print_known(m, out);
	if (a->view.order[0] == OWNER_SORT_OLDEST && m->total.objects && !m->newest)
		fputs("ages: unknown, the input has no times\n", out);
	if (m->filtered.objects)
		fprintf(out, "filtered out: %llu objects, %s\n",
			m->filtered.objects, human_format_bytes(buf, m->filtered.held));
	if (m->undecided.objects)
		print_undecided(m, out);
	if (summary->coverage_known)
		fprintf(out,
			"untracked: %llu slab objects have no owner and are not counted\n",
			summary->untracked);
	print_sources(&m->sources, out);
	if (summary->idle_handles)
		fprintf(out, "handles: %u explained, none counted; read show_handles as well\n",
			summary->idle_handles);
	if (health_is_complete(h))
		return;
	fprintf(out,
		"%sINCOMPLETE: damaged places %llu, inputs unread %u; figures cover the rest%s\n",
		term.colour ? "\033[1;31m" : "", h->damaged, h->unread,
		term.colour ? "\033[0m" : "");
	if (*h->first)
		fprintf(out, "first: %s\n", h->first);
}

void notes_print_all(const struct answer *a, struct terminal term, FILE *out)
{
	const struct sum *total = &a->model.total;
	char buf[HUMAN_LEN];

	if (sum_is_estimate(total))
		fprintf(out,
			"estimated from %llu samples; errors: +-%llu objects, +-%s requested\n",
			total->records, sum_objects_error(total),
			human_format_bytes(buf, sum_bytes_error(total)));
	print_left_out(a, term, out);
}

void notes_print_lines(const struct answer *a, enum notes_part part, note_printer print,
		       void *arg)
{
	const struct terminal no_terminal = { 0 };
	char *text = NULL, *line, *next;
	size_t len;
	FILE *stream = xopen_memstream(&text, &len);

	if (part == NOTES_ALL)
		notes_print_all(a, no_terminal, stream);
	else
		print_left_out(a, no_terminal, stream);
	fclose(stream);
	for (line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		print(arg, line);
	free(text);
}

/* Limit of the chains that are compared, which bounds memory. */
#define COMPARED_MAX 4096

/* A chain of a group that is shown. */
struct shown_chain {
	u64 functions;		/* hash of its functions */
	const struct chain *chain;
};

static int compare_shown_chains(const void *a, const void *b)
{
	const struct shown_chain *ca = a, *cb = b;

	if (ca->functions != cb->functions)
		return ca->functions < cb->functions ? -1 : 1;
	return (ca->chain > cb->chain) - (ca->chain < cb->chain);
}

void notes_print_same_functions(const struct model *m, const u32 *order, u32 n, FILE *out)
{
	struct shown_chain *shown;
	u32 i, same = 0;

	if (m->select->chains.by_function ||
	    !field_is_listed(&m->select->group, OWNER_FIELD_STACK))
		return;
	if (n > COMPARED_MAX)
		n = COMPARED_MAX;
	shown = xmalloc(n * sizeof(*shown));
	for (i = 0; i < n; i++) {
		struct group g = model_get_group(m, order[i]);
		const struct chain *chain = model_get_chain(m, &g, OWNER_FIELD_STACK);

		shown[i].functions = stacks_hash_functions(&m->stacks, chain);
		shown[i].chain = chain;
	}
	qsort(shown, n, sizeof(*shown), compare_shown_chains);
	for (i = 1; i < n; i++)
		same += shown[i].functions == shown[i - 1].functions &&
			shown[i].chain != shown[i - 1].chain;
	free(shown);
	if (same)
		fprintf(out, "offsets: of these chains, %u differ from another in offsets only; "
			"--by function\n", same);
}

void notes_print_not_shown(u32 n, u32 shown, FILE *out)
{
	if (shown < n)
		fprintf(out, "rest: %u of %u groups that changed; --top 0 shows them\n",
			n - shown, n);
}
