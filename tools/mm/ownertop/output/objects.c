// SPDX-License-Identifier: GPL-2.0
/* Print objects one by one, as a dump or as TSV. */
#include "model/record_fields.h"
#include "output/objects.h"
#include "output/tsv.h"

static struct cell get_kind_cell(const struct view_row *row, int arg)
{
	const char *name = owner_source_names[row->record->kind];

	(void)arg;
	return (struct cell){ .type = CELL_WORD, .name = { name, strlen(name) } };
}

static struct cell get_number_cell(const struct view_row *row, int field)
{
	struct field_value value = record_field_value(row->record, field,
						      row->a->model.sink.now);

	return (struct cell){
		.type = value.state == FIELD_KNOWN ? CELL_COUNT : CELL_UNKNOWN,
		.number = value.number,
	};
}

static struct cell get_name_cell(const struct view_row *row, int field)
{
	struct field_value value = record_field_value(row->record, field, 0);

	return (struct cell){
		.type = value.state == FIELD_KNOWN ? CELL_NAME : CELL_UNKNOWN,
		.name = value.word,
	};
}

static struct cell get_weight_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return (struct cell){
		.type = row->record->weight ? CELL_THOUSANDTHS : CELL_UNKNOWN,
		.number = row->record->weight,
	};
}

static struct cell get_stack_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return (struct cell){ .type = CELL_STACK, .name = row->record->stack };
}

static struct cell get_user_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return (struct cell){ .type = CELL_USER, .name = row->record->user };
}

static const struct column columns[] = {
	/* column names in text, JSON, CSV and TSV */
	{ { NULL, NULL, NULL, "row" }, .get = get_row_name_cell },
	{ { NULL, NULL, NULL, "kind" }, .get = get_kind_cell },
	{ { NULL, NULL, NULL, "size" }, .get = get_number_cell, .arg = OWNER_FIELD_SIZE },
	{ { NULL, NULL, NULL, "held" }, .get = get_number_cell, .arg = OWNER_FIELD_HELD },
	{ { NULL, NULL, NULL, "weight" }, .get = get_weight_cell },
	{ { NULL, NULL, NULL, "nid" }, .get = get_number_cell, .arg = OWNER_FIELD_NID },
	{ { NULL, NULL, NULL, "pid" }, .get = get_number_cell, .arg = OWNER_FIELD_PID },
	{ { NULL, NULL, NULL, "tgid" }, .get = get_number_cell, .arg = OWNER_FIELD_TGID },
	{ { NULL, NULL, NULL, "ts_ns" }, .get = get_number_cell, .arg = OWNER_FIELD_TS },
	{ { NULL, NULL, NULL, "age_ns" }, .get = get_number_cell, .arg = OWNER_FIELD_AGE },
	{ { NULL, NULL, NULL, "cache" }, .get = get_name_cell, .arg = OWNER_FIELD_CACHE },
	{ { NULL, NULL, NULL, "comm" }, .get = get_name_cell, .arg = OWNER_FIELD_COMM },
	{ { NULL, NULL, NULL, "stack" }, .get = get_stack_cell, .omit = COLUMN_STACK },
	{ { NULL, NULL, NULL, "handle" }, .get = get_number_cell, .arg = OWNER_FIELD_HANDLE,
	  .omit = COLUMN_HANDLE },
	{ { NULL, NULL, NULL, "user" }, .get = get_user_cell },
};

void objects_begin(struct object_printer *o, const struct answer *a,
		   const struct owner_sentence *sentence, enum output_format format, FILE *out)
{
	static const unsigned int omit[OWNER_MODES] = {
		[OWNER_MODE_STACK] = COLUMN_HANDLE,
		[OWNER_MODE_HANDLE] = COLUMN_STACK,
	};

	*o = (struct object_printer){
		.a = a,
		.sentence = sentence,
		.format = format,
		.out = out,
		.total = GROUP_TOTALS_NONE,
	};
	columns_choose_named(&o->list, a, columns, sizeof(columns) / sizeof(*columns), FORMAT_TSV,
			     omit[sentence->mode]);
	tsv_print_sentence(sentence, out);
	if (format == FORMAT_TSV)
		tsv_print_head(&o->list, out);
	else
		putc('\n', out);
}

static void print_object_row(const struct object_printer *o, const struct record *rec)
{
	const struct view_row row = { .a = o->a, .name = "object", .record = rec };

	tsv_print_row(&o->list, &row, o->out);
}

/* Copy the lines of a record from the input. The header and the PFN line are adjacent there. */
static void copy_record_text(const struct object_printer *o, const struct record *rec)
{
	const char *frames = rec->pfn.s + rec->pfn.len;

	fwrite(rec->header.s, 1, frames - rec->header.s, o->out);
	if (o->sentence->mode != OWNER_MODE_HANDLE)
		fwrite(rec->stack.s, 1, rec->stack.len, o->out);
	if (o->sentence->mode != OWNER_MODE_STACK && rec->handle != HANDLE_UNKNOWN)
		fprintf(o->out, "handle: %llu\n", rec->handle);
	fwrite(rec->user.s, 1, rec->user.len, o->out);
	fwrite(rec->tail.s, 1, rec->tail.len, o->out);
	putc('\n', o->out);
}

void objects_print_object(void *arg, const struct record *rec, const struct sum *sum)
{
	struct object_printer *o = arg;
	bool tsv = o->format == FORMAT_TSV;

	if (tsv ? rec->summed : !rec->header.len) {
		o->summed += rec->objects;
		return;
	}
	group_totals_add(&o->total, sum, 0, rec->ts, rec->ts);
	if (tsv)
		print_object_row(o, rec);
	else
		copy_record_text(o, rec);
}

static void print_age_in_seconds(const struct object_printer *o, const char *name, u64 ts)
{
	u64 ms = o->total.is_any ? model_compute_age(&o->a->model, ts) / 1000000 : 0;

	if (o->total.is_any && ts == TS_UNKNOWN)
		return;
	fprintf(o->out, ", %s %llu.%03llu s", name, ms / 1000, ms % 1000);
}

/* Print the total as a comment, so that the output can be read as a dump. */
void objects_print_totals(const struct object_printer *o)
{
	const struct sum *sum = &o->total.sum;

	fprintf(o->out, "# total: objects %llu, bytes %llu, held %llu, waste %lld", sum->objects,
		sum->bytes, sum->held, (s64)(sum->held - sum->bytes));
	print_age_in_seconds(o, "oldest", o->total.oldest);
	print_age_in_seconds(o, "youngest", o->total.newest);
	if (sum_is_estimate(sum))
		fprintf(o->out, ", from %llu samples: +-%llu objects, +-%llu bytes", sum->records,
			sum_objects_error(sum), sum_bytes_error(sum));
	putc('\n', o->out);
	if (o->summed)
		fprintf(o->out, "# sums: %llu objects cannot be shown one by one\n", o->summed);
	tsv_print_notes(o->a, o->out);
}
