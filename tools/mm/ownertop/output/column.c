// SPDX-License-Identifier: GPL-2.0
/* Make the cells that several views share, and choose the columns for a format. */
#include "names/user_frame.h"
#include "output/column.h"

void fill_group_row(struct view_row *row, const struct answer *a, u32 rank, u32 id)
{
	*row = (struct view_row){
		.a = a,
		.name = "group",
		.rank = rank,
		.id = id,
		.group = model_get_group(&a->model, id),
		.has = ROW_SUM | ROW_AGES,
		.groups = 1,
	};
	row->oldest = row->group.oldest;
	row->newest = row->group.newest;
}

void fill_sums_row(struct view_row *row, const struct answer *a, const char *name,
		   const struct sum *sums, u32 nr_sums)
{
	*row = (struct view_row){
		.a = a,
		.name = name,
		.id = ROW_NO_GROUP,
		.has = ROW_SUM,
		.sums = sums,
		.nr_sums = nr_sums,
	};
}

static const struct cell no_cell = { .type = CELL_NONE };

static struct cell cell_from_count(u64 number)
{
	return (struct cell){ .type = CELL_COUNT, .number = number };
}

static struct cell cell_from_bytes(u64 number)
{
	return (struct cell){ .type = CELL_BYTES, .number = number };
}

static struct cell cell_from_word(const char *s)
{
	return (struct cell){ .type = CELL_WORD, .name = { s, strlen(s) } };
}

static const struct sum *get_row_sum(const struct view_row *row, int which)
{
	return &row->sums[which == SUM_FIRST ? 0 : row->nr_sums - 1];
}

struct cell get_row_name_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return cell_from_word(row->name);
}

struct cell get_rank_or_name_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return row->rank ? cell_from_count(row->rank) : cell_from_word(row->name);
}

struct cell get_rank_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return row->rank ? cell_from_count(row->rank) : no_cell;
}

struct cell get_groups_cell(const struct view_row *row, int arg)
{
	(void)arg;
	return cell_from_count(row->groups);
}

struct cell get_objects_cell(const struct view_row *row, int which)
{
	return row->has & ROW_OBJECTS ? cell_from_count(get_row_sum(row, which)->objects) : no_cell;
}

struct cell get_bytes_cell(const struct view_row *row, int which)
{
	return row->has & ROW_BYTES ? cell_from_bytes(get_row_sum(row, which)->bytes) : no_cell;
}

struct cell get_held_cell(const struct view_row *row, int which)
{
	return row->has & ROW_HELD ? cell_from_bytes(get_row_sum(row, which)->held) : no_cell;
}

struct cell get_waste_cell(const struct view_row *row, int which)
{
	const struct sum *sum = get_row_sum(row, which);

	return (struct cell){ .type = CELL_NUMBER, .integer = sum->held - sum->bytes };
}

static struct cell cell_from_estimate(const struct view_row *row, int which, u64 number)
{
	struct cell cell = cell_from_count(number);

	cell.is_exact = !sum_is_estimate(get_row_sum(row, which));
	return cell;
}

struct cell get_records_cell(const struct view_row *row, int which)
{
	if (!(row->has & ROW_ERRORS))
		return no_cell;
	return cell_from_estimate(row, which, get_row_sum(row, which)->records);
}

struct cell get_objects_error_cell(const struct view_row *row, int which)
{
	if (!(row->has & ROW_ERRORS))
		return no_cell;
	return cell_from_estimate(row, which, sum_objects_error(get_row_sum(row, which)));
}

struct cell get_bytes_error_cell(const struct view_row *row, int which)
{
	if (!(row->has & ROW_ERRORS))
		return no_cell;
	return cell_from_estimate(row, which, sum_bytes_error(get_row_sum(row, which)));
}

struct cell get_measure_cell(const struct view_row *row, int which)
{
	enum measure measure = row->a->view.measure;
	u64 v = measure_get_value(get_row_sum(row, which), measure);

	return measure == MEASURE_OBJECTS ? cell_from_count(v) : cell_from_bytes(v);
}

/*
 * Make the cell with the error of the measure that groups are compared by. The error of a
 * difference is at most the sum of the errors of both dumps: an object in two dumps was sampled
 * only once.
 */
struct cell get_measure_error_cell(const struct view_row *row, int arg)
{
	struct sum all = { 0 };
	u32 i;

	(void)arg;
	for (i = 0; i < row->nr_sums; i++)
		sum_add(&all, &row->sums[i]);
	if (!sum_is_estimate(&all))
		return (struct cell){ .type = CELL_UNKNOWN };
	if (row->a->view.measure == MEASURE_OBJECTS)
		return cell_from_count(sum_objects_error(&all));
	return cell_from_bytes(sum_bytes_error(&all));
}

static struct cell get_field_cell(const struct view_row *row, int field)
{
	const struct model *m = &row->a->model;

	if (row->id == ROW_NO_GROUP)
		return no_cell;
	if (field_is_chain(field))
		return (struct cell){
			.type = CELL_CHAIN,
			.chain = model_get_chain(m, &row->group, field),
			.frames = model_get_frames(m, field),
		};
	if (!model_field_is_known(m, &row->group, field))
		return (struct cell){ .type = CELL_UNKNOWN };
	if (field_is_number(field))
		return (struct cell){
			.type = CELL_NUMBER,
			.integer = model_get_number(m, &row->group, field),
			.by = field_find(&m->select->group, field),
		};
	return (struct cell){ .type = CELL_NAME, .name = model_get_name(m, &row->group, field) };
}

static struct cell get_handle_cell(const struct view_row *row, int arg)
{
	u64 handle;

	(void)arg;
	if (row->id == ROW_NO_GROUP)
		return no_cell;
	handle = model_get_handle(&row->a->model, &row->group);
	if (handle == HANDLE_UNKNOWN)
		return (struct cell){ .type = CELL_UNKNOWN };
	return cell_from_count(handle);
}

/*
 * Make the cell of a name as the kernel's TSV has it: "-" if an object has no cache or no
 * module.
 */
static struct cell get_kernel_name_cell(const struct view_row *row, int field)
{
	const struct model *m = &row->a->model;
	struct cell cell = get_field_cell(row, field);

	if (cell.type != CELL_NAME)
		return cell;
	if (!cell.name.len ||
	    (field == OWNER_FIELD_CACHE && !strcmp(cell.name.s, PERCPU_NAME)) ||
	    (field == OWNER_FIELD_MODULE && cell.name.s == m->stacks.modules.v[0].s))
		cell.type = CELL_UNKNOWN;
	else if (field == OWNER_FIELD_FUNC)
		cell.type = CELL_WORD;
	return cell;
}

static bool print_unquoted_cell(const struct cell *cell, FILE *out)
{
	switch (cell->type) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_AGE:
	case CELL_TIME:
		fprintf(out, "%llu", cell->number);
		return true;
	case CELL_NUMBER:
		fprintf(out, "%lld", cell->integer);
		return true;
	case CELL_TIMES:
		fprintf(out, "%llu", cell->part);
		return true;
	case CELL_PER_HOUR:
	case CELL_FRACTION:
		fprintf(out, "%.15g", cell->real);
		return true;
	case CELL_WORD:
		fwrite(cell->name.s, 1, cell->name.len, out);
		return true;
	default:
		return false;
	}
}

void print_joined_functions(const struct model *m, const struct chain *chain, u32 most, FILE *out)
{
	struct text_slice module = { "", 0 };
	u32 i;

	for (i = 0; i < chain->n && i < most; i++) {
		struct frame f;

		frame_parse(model_get_frame(m, OWNER_FIELD_STACK, chain, i), &f);
		fprintf(out, "%s%.*s", i ? " < " : "", (int)f.func.len, f.func.s);
		if (f.module.len && text_slice_compare(f.module, module))
			fprintf(out, " [%.*s]", (int)f.module.len, f.module.s);
		module = f.module;
	}
}

static void print_joined_user_frames(const struct model *m, const struct chain *chain, FILE *out)
{
	struct text_slice file = { "", 0 };
	u32 i;

	for (i = 0; i < chain->n; i++) {
		struct text_slice line = model_get_frame(m, OWNER_FIELD_USER, chain, i);
		struct user_frame f;

		user_frame_parse(line, &f);
		if (f.id.len)
			line.len = f.id.s - 1 - line.s;
		else if (f.func.len)
			line = f.func;
		fprintf(out, "%s%.*s", i ? " < " : "", (int)line.len, line.s);
		if (f.func.len && text_slice_compare(f.file, file))
			fprintf(out, " [%.*s]", (int)f.file.len, f.file.s);
		file = f.file;
	}
}

void print_joined_chains(const struct model *m, const struct group *g, FILE *out)
{
	const struct group_list *by = &m->select->group;
	bool has_stack = field_is_listed(by, OWNER_FIELD_STACK);
	const struct chain *chain;

	if (has_stack) {
		chain = model_get_chain(m, g, OWNER_FIELD_STACK);
		print_joined_functions(m, chain, chain->n, out);
		if (!chain->n)
			fputs("(no call chain)", out);
	}
	if (!field_is_listed(by, OWNER_FIELD_USER))
		return;
	chain = model_get_chain(m, g, OWNER_FIELD_USER);
	if (chain->n)
		fprintf(out, "%suser ", has_stack ? " < " : "");
	else if (!has_stack)
		fputs("(no user chain)", out);
	print_joined_user_frames(m, chain, out);
}

void print_chain_field(const struct model *m, const struct group *g, enum owner_field field,
		       FILE *out)
{
	const struct chain *chain = model_get_chain(m, g, field);
	u32 i;

	for (i = 0; i < chain->n; i++)
		fprintf(out, "%s%s", i ? ";" : "", model_get_frame(m, field, chain, i).s);
}

void columns_print_head(const struct column_list *list, const struct line_format *f, FILE *out)
{
	u32 i;

	for (i = 0; i < list->n; i++) {
		if (i)
			putc(f->separator, out);
		fputs(list->name[i], out);
	}
	fputs(f->line_end, out);
}

void columns_print_row(const struct column_list *list, const struct line_format *f,
		       const struct view_row *row, FILE *out)
{
	u32 i;

	for (i = 0; i < list->n; i++) {
		struct cell cell = list->v[i].get(row, list->v[i].arg);

		if (i)
			putc(f->separator, out);
		if (!print_unquoted_cell(&cell, out))
			f->print_cell(&cell, out);
	}
	fputs(f->line_end, out);
}

static void append_column(struct column_list *list, const struct column *column,
			  const char *name)
{
	list->v[list->n] = *column;
	list->name[list->n++] = name;
}

void columns_choose_named(struct column_list *list, const struct answer *a,
			  const struct column *columns, u32 n, enum output_format format,
			  unsigned int omit)
{
	u32 i;

	list->n = 0;
	/* TSV always has the columns of errors, because the kernel's TSV has them. */
	if (!a->model.sampled && format != FORMAT_TSV)
		omit |= COLUMN_SAMPLED;
	if (!a->slabinfo.n)
		omit |= COLUMN_SLABS;
	for (i = 0; i < n; i++) {
		const struct column *c = &columns[i];
		const char *name = c->name[format];

		if (!name || c->omit & omit)
			continue;
		if (format == FORMAT_TEXT && c->by_objects &&
		    a->view.measure == MEASURE_OBJECTS)
			name = c->by_objects;
		append_column(list, c, name);
	}
}

static bool any_group_has_cache(const struct model *m, const u32 *order, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct group g = model_get_group(m, order[i]);

		if (model_get_name(m, &g, OWNER_FIELD_CACHE).len)
			return true;
	}
	return false;
}

static void add_kernel_stack_column(struct column_list *list, enum owner_mode mode)
{
	const struct column stack = { .get = get_field_cell, .arg = OWNER_FIELD_STACK };
	const struct column handle = { .get = get_handle_cell };

	if (mode != OWNER_MODE_HANDLE)
		append_column(list, &stack, "stack");
	if (mode != OWNER_MODE_STACK)
		append_column(list, &handle, "handle");
}

void columns_add_group_fields(struct column_list *list, const struct model *m,
			      enum output_format format, const u32 *order, u32 n)
{
	const struct group_list *by = &m->select->group;
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;
		struct column column = { .get = get_field_cell, .arg = field };
		char *name = list->field_names[i];

		if (!model_shows_field(m, field))
			continue;
		if (format == FORMAT_TEXT) {
			if (field_is_chain(field) ||
			    (by->n > 1 && field == OWNER_FIELD_CACHE &&
			     !any_group_has_cache(m, order, n)))
				continue;
		} else if (format == FORMAT_TSV) {
			if (field == OWNER_FIELD_STACK) {
				add_kernel_stack_column(list, m->select->sentence.mode);
				continue;
			}
			column.get = get_kernel_name_cell;
		}
		owner_lang_print_column(&by->v[i], name, sizeof(list->field_names[i]));
		append_column(list, &column, name);
	}
}
