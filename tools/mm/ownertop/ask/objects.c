// SPDX-License-Identifier: GPL-2.0
/* Print objects one by one, as in the input or as rows. */
#include <stdio.h>

#include "base/exit_status.h"
#include "model/record_fields.h"
#include "ask/answer.h"
#include "ask/objects.h"
#include "output/tsv.h"

struct objects {
	const struct options *options;
	struct answer a;
	FILE *out;
	struct tally total;
	u64 summed;		/* objects of sums, which cannot be printed one by one */
};

static enum owner_mode sentence_mode(const struct objects *o)
{
	return o->options->select.sentence.mode;
}

/* Print the frames of a chain with ";" between them. */
static void print_frames(struct text stack, FILE *out)
{
	const char *p = stack.s, *end = stack.s + stack.len;

	if (p == end)
		putc('-', out);
	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);

		if (p != stack.s)
			putc(';', out);
		fwrite(p + 1, 1, nl - p - 1 - (nl[-1] == '\r'), out);
		p = nl + 1;
	}
}

static void print_number(const struct objects *o, const struct record *rec,
			 enum owner_field field)
{
	struct field_value value = record_field_value(rec, field, o->a.model.sink.now);

	if (value.state == FIELD_KNOWN)
		fprintf(o->out, "\t%llu", value.number);
	else
		fputs("\t-", o->out);
}

static void print_word(const struct objects *o, const struct record *rec,
		       enum owner_field field)
{
	struct field_value value = record_field_value(rec, field, 0);

	putc('\t', o->out);
	tsv_name(value.state == FIELD_KNOWN ? value.word : (struct text){ "", 0 }, o->out);
}

static void print_row(const struct objects *o, const struct record *rec)
{
	static const unsigned char numbers[] = {
		OWNER_FIELD_NID, OWNER_FIELD_PID, OWNER_FIELD_TGID, OWNER_FIELD_TS,
		OWNER_FIELD_AGE,
	};
	unsigned int i;

	fprintf(o->out, "object\t%s", owner_source_names[rec->kind]);
	print_number(o, rec, OWNER_FIELD_SIZE);
	print_number(o, rec, OWNER_FIELD_HELD);
	if (rec->weight)
		fprintf(o->out, "\t%llu.%03llu", rec->weight / WEIGHT_ONE,
			rec->weight % WEIGHT_ONE);
	else
		fputs("\t-", o->out);
	for (i = 0; i < sizeof(numbers); i++)
		print_number(o, rec, numbers[i]);
	print_word(o, rec, OWNER_FIELD_CACHE);
	print_word(o, rec, OWNER_FIELD_COMM);
	if (sentence_mode(o) != OWNER_MODE_HANDLE) {
		putc('\t', o->out);
		print_frames(rec->stack, o->out);
	}
	if (sentence_mode(o) != OWNER_MODE_STACK)
		print_number(o, rec, OWNER_FIELD_HANDLE);
	putc('\n', o->out);
}

/* Copy the lines of the record. The header and the PFN line are adjacent. */
static void copy_text(const struct objects *o, const struct record *rec)
{
	const char *frames = rec->pfn.s + rec->pfn.len;

	fwrite(rec->header.s, 1, frames - rec->header.s, o->out);
	if (sentence_mode(o) != OWNER_MODE_HANDLE)
		fwrite(rec->stack.s, 1, rec->stack.len, o->out);
	if (sentence_mode(o) != OWNER_MODE_STACK && rec->handle != HANDLE_UNKNOWN)
		fprintf(o->out, "handle: %llu\n", rec->handle);
	fwrite(rec->tail.s, 1, rec->tail.len, o->out);
	putc('\n', o->out);
}

static void show_object(void *arg, const struct record *rec, const struct sum *sum)
{
	struct objects *o = arg;
	bool tsv = o->options->format == FORMAT_TSV;

	if (tsv ? rec->summed : !rec->header.len) {
		o->summed += rec->objects;
		return;
	}
	tally_add(&o->total, sum, 0, rec->ts, rec->ts);
	if (tsv)
		print_row(o, rec);
	else
		copy_text(o, rec);
}

static void print_head(const struct objects *o)
{
	static const char columns[] =
		"row\tkind\tsize\theld\tweight\tnid\tpid\ttgid\tts_ns\tage_ns\tcache\tcomm";

	tsv_sentence(&o->options->select.sentence, o->out);
	if (o->options->format == FORMAT_TSV)
		fprintf(o->out, "%s\t%s\n", columns, tsv_stack_columns(sentence_mode(o)));
	else
		putc('\n', o->out);
}

static void print_seconds(const struct objects *o, const char *name, u64 ts)
{
	u64 ms = o->total.is_any ? model_age(&o->a.model, ts) / 1000000 : 0;

	if (o->total.is_any && ts == TS_UNKNOWN)
		return;
	fprintf(o->out, ", %s %llu.%03llu s", name, ms / 1000, ms % 1000);
}

/* Print the total as a comment, so that the output can be read as a dump. */
static void print_total(const struct objects *o)
{
	const struct sum *sum = &o->total.sum;

	fprintf(o->out, "# total: objects %llu, bytes %llu, held %llu, waste %lld", sum->objects,
		sum->bytes, sum->held, (s64)(sum->held - sum->bytes));
	print_seconds(o, "oldest", o->total.oldest);
	print_seconds(o, "youngest", o->total.newest);
	if (sum_is_estimate(sum))
		fprintf(o->out, ", from %llu samples: +-%llu objects, +-%llu bytes", sum->records,
			sum_objects_error(sum), sum_bytes_error(sum));
	putc('\n', o->out);
	if (o->summed)
		fprintf(o->out, "# sums: %llu objects cannot be shown one by one\n", o->summed);
	tsv_notes(&o->a, o->out);
}

int objects_run(const struct options *options, char * const *paths, int n, FILE *out)
{
	struct objects o = { .options = options, .out = out, .total = TALLY_NONE };
	int status;

	answer_begin(&o.a, options);
	o.a.model.visit = show_object;
	o.a.model.visit_arg = &o;
	print_head(&o);
	answer_read_dump(&o.a, options, paths, n);
	print_total(&o);
	status = health_complete(&o.a.health) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
	answer_free(&o.a);
	return status;
}
