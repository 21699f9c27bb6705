// SPDX-License-Identifier: GPL-2.0
/* JSON, with every figure exact; ownertop.8 describes it. */

#include "known.h"
#include "writer.h"

/* Length of the valid UTF-8 character that @t begins with, 0 if there is none. */
static size_t utf8_char(struct text t)
{
	unsigned char lead = t.s[0];
	u32 code, least;
	size_t len, i;

	if (lead < 0x80)
		return 1;
	if (lead >= 0xc0 && lead < 0xe0) {
		len = 2;
		code = lead & 0x1f;
		least = 0x80;
	} else if (lead >= 0xe0 && lead < 0xf0) {
		len = 3;
		code = lead & 0x0f;
		least = 0x800;
	} else if (lead >= 0xf0 && lead < 0xf8) {
		len = 4;
		code = lead & 0x07;
		least = 0x10000;
	} else {
		return 0;
	}
	if (t.len < len)
		return 0;
	for (i = 1; i < len; i++) {
		if ((t.s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (t.s[i] & 0x3f);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

/*
 * A task's name may hold any byte. One that is not UTF-8 is written as the
 * character of the same number, so that what comes out is always JSON.
 */
static void print_string(struct text t, FILE *out)
{
	putc('"', out);
	while (t.len) {
		unsigned char c = t.s[0];
		size_t len = utf8_char(t);

		if (!len || c < ' ' || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fwrite(t.s, 1, len, out);
		t.s += len ? len : 1;
		t.len -= len ? len : 1;
	}
	putc('"', out);
}

static void print_chain(const struct model *m, const struct chain *chain, FILE *out)
{
	u32 i;

	putc('[', out);
	for (i = 0; i < chain->n; i++) {
		if (i)
			fputs(", ", out);
		print_string(model_frame(m, chain, i), out);
	}
	putc(']', out);
}

static void print_field(const struct model *m, const struct group *g, enum field by,
			FILE *out)
{
	fprintf(out, ", \"%s\": ", field_name(by));
	switch (by) {
	case FIELD_STACK:
		print_chain(m, &m->stacks.chains[g->key.chain], out);
		break;
	case FIELD_PID:
		print_pid(g->key.pid, "null", out);
		break;
	case FIELD_TGID:
		print_pid(g->key.tgid, "null", out);
		break;
	default:
		print_string(model_name(m, g, by), out);
		break;
	}
}

static void print_sum(const struct sum *sum, FILE *out)
{
	fprintf(out, "\"objects\": %llu, \"bytes\": %llu, \"held\": %llu",
		sum->objects, sum->bytes, sum->held);
}

static void print_named_sum(const char *name, const struct sum *s, FILE *out)
{
	fprintf(out, "  \"%s\": {", name);
	print_sum(s, out);
	fputs("},\n", out);
}

static void print_groups(const struct report *r, FILE *out)
{
	const struct field_list *by = &r->model->view->group;
	u32 rank;
	unsigned int i;

	fputs("  \"groups\": [", out);
	for (rank = 0; rank < r->shown; rank++) {
		const struct group *g = report_group(r, rank);

		fprintf(out, "%s\n    {\"rank\": %u, ", rank ? "," : "",
			rank + 1);
		print_sum(&g->sum, out);
		fputs(", \"oldest_ns\": ", out);
		print_ts(g->oldest, "null", out);
		fputs(", \"newest_ns\": ", out);
		print_ts(g->newest, "null", out);
		for (i = 0; i < by->n; i++)
			print_field(r->model, g, by->v[i], out);
		putc('}', out);
	}
	fputs(r->shown ? "\n  ]\n" : "]\n", out);
}

void write_json(const struct report *r, FILE *out)
{
	const struct model *m = r->model;
	const struct field_list *by = &m->view->group;
	unsigned int i;

	fprintf(out, "{\n  \"schema\": \"ownertop\",\n  \"version\": %d,\n",
		JSON_SCHEMA_VERSION);
	fprintf(out, "  \"complete\": %s,\n  \"damaged\": %llu,\n  \"unread_inputs\": %u,\n",
		health_complete(r->health) ? "true" : "false", r->health->damaged,
		r->health->unread);
	fprintf(out, "  \"depth\": %u,\n  \"sort\": \"%s\",\n  \"group_by\": [",
		m->view->depth, sort_name(r->sort));
	for (i = 0; i < by->n; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", field_name(by->v[i]));
	fprintf(out, "],\n  \"newest_ns\": %llu,\n", m->newest);
	if (m->coverage_known)
		fprintf(out, "  \"tracked\": %llu,\n  \"untracked\": %llu,\n",
			m->tracked, m->untracked);
	sources_print_json(&m->sources, out);
	print_named_sum("total", &m->total, out);
	print_named_sum("filtered_out", &m->filtered, out);
	fprintf(out, "  \"groups_not_shown\": %u,\n", m->nr_groups - r->shown);
	print_named_sum("not_shown", &r->not_shown, out);
	print_groups(r, out);
	fputs("}\n", out);
}
