// SPDX-License-Identifier: GPL-2.0
/* Compare a figure of all objects, or of each group, with the limits of --warn and --check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/check.h"
#include "ask/usage.h"
#include "base/alloc.h"
#include "base/exit_status.h"
#include "base/human.h"
#include "output/column.h"

/* Size of the text of a range, as "@10:20": a number has at most 20 digits. */
#define RANGE_LEN 48

/* Exit statuses of monitoring plugins. */
enum {
	CHECK_OK,
	CHECK_WARNING,
	CHECK_CRITICAL,
	CHECK_UNKNOWN,
};

static const char * const status_names[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

static const int status_of_level[NR_CHECK_LEVELS] = {
	[LEVEL_WARN] = CHECK_WARNING,
	[LEVEL_CRITICAL] = CHECK_CRITICAL,
};

static bool reported;

static void exit_as_unknown(int status, void *arg)
{
	(void)arg;
	if (status != STATUS_FAILED || reported)
		return;
	puts("OWNERTOP UNKNOWN - the check failed; standard error says why");
	fflush(stdout);
	_exit(CHECK_UNKNOWN);
}

void check_prepare_exit(int argc, char *argv[])
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--check", 7) && strncmp(argv[i], "--warn", 6))
			continue;
		on_exit(exit_as_unknown, NULL);
		return;
	}
}

static enum owner_sort parse_figure(const char *option, const char *text, size_t length)
{
	int figure = owner_lang_find_name(text, length, owner_sort_names, OWNER_SORTS);

	if (figure < 0 || figure > OWNER_SORT_OBJECTS)
		usage_refuse_value(option, text,
				   "does not begin with bytes, held, waste or objects");
	return figure;
}

void check_parse(struct options *o, enum check_level level, const char *option, const char *text)
{
	struct check *check = &o->checks[level];
	size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	check->figure = parse_figure(option, text, word);
	check->text = text;
	/* The language knows numbers with units and operators: let it compare the figure. */
	sentence_parse_setting(&check->limit, option, "if size ", text + word);
	if (check->limit.nr_comparisons != 1)
		usage_refuse_value(option, text, "is not one comparison");
}

bool check_is_wanted(const struct options *o)
{
	return o->checks[LEVEL_WARN].text || o->checks[LEVEL_CRITICAL].text;
}

static bool limit_holds(const struct check *check, const struct sum *sum)
{
	const struct owner_field_values fields = {
		.known_fields = 1U << OWNER_FIELD_SIZE,
		.value[OWNER_FIELD_SIZE].number = sum_get_figure(sum, check->figure),
	};

	return check->text && owner_lang_matches(&check->limit, &fields);
}

/* The sum that decides: the total, or the group with the largest figure at the worst level. */
struct verdict {
	int status;
	enum check_level level;	/* the limit that is reported */
	struct sum sum;
	bool is_group;
	u32 group;
	u32 groups;		/* groups beyond the limit */
};

static void judge_sum(struct verdict *v, const struct options *o, const struct sum *sum)
{
	enum owner_sort figure;
	int level;

	for (level = LEVEL_CRITICAL; level >= 0; level--)
		if (limit_holds(&o->checks[level], sum))
			break;
	if (level < 0)
		return;
	v->groups++;
	figure = o->checks[level].figure;
	if (status_of_level[level] < v->status ||
	    (status_of_level[level] == v->status &&
	     sum_get_figure(sum, figure) <= sum_get_figure(&v->sum, figure)))
		return;
	v->status = status_of_level[level];
	v->level = level;
	v->sum = *sum;
	v->is_group = true;
}

static struct verdict judge(const struct options *o, const struct answer *a)
{
	struct verdict v = {
		.level = o->checks[LEVEL_CRITICAL].text ? LEVEL_CRITICAL : LEVEL_WARN,
		.sum = a->model.total,
	};
	u32 i;

	if (!o->check_groups) {
		judge_sum(&v, o, &a->model.total);
		v.is_group = false;
		return v;
	}
	for (i = 0; i < a->model.groups.n; i++) {
		struct sum sum = sum_load(&a->model.groups, i);
		int before = v.status;

		judge_sum(&v, o, &sum);
		if (v.is_group && (v.status != before || sum_equals(&v.sum, &sum)))
			v.group = i;
	}
	return v;
}

static void print_group_name(const struct answer *a, u32 group, FILE *out)
{
	const struct model *m = &a->model;
	const struct group_list *by = &m->select->group;
	struct group g = model_get_group(m, group);
	char number[HUMAN_LEN];
	u32 i;

	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;

		fprintf(out, "%s%s ", i ? ", " : " of ", field_name(field));
		if (field_is_chain(field))
			print_chain_field(m, &g, field, out);
		else if (!model_field_is_known(m, &g, field))
			fputs("-", out);
		else if (field_is_number(field))
			fputs(model_format_number(number, m, &g, field), out);
		else
			fprintf(out, "%.*s", (int)model_get_name(m, &g, field).len,
				model_get_name(m, &g, field).s);
	}
}

/* Write the range of figures without an alarm, as plugins do: "0 to 5" is "5". */
static const char *format_range(char buf[RANGE_LEN], const struct check *check)
{
	const union owner_value *alarm = &check->limit.values[0];

	*buf = '\0';
	if (!check->text || check->limit.nr_values != 1)
		return buf;
	switch (check->limit.comparisons[0].operator) {
	case OWNER_GT:
	case OWNER_GE:
		snprintf(buf, RANGE_LEN, "%llu", alarm->low ? alarm->low - 1 : 0);
		break;
	case OWNER_LT:
	case OWNER_LE:
		snprintf(buf, RANGE_LEN, "%llu:", alarm->high + 1);
		break;
	case OWNER_NE:
		snprintf(buf, RANGE_LEN, "%llu:%llu", alarm->low, alarm->high);
		break;
	default:
		snprintf(buf, RANGE_LEN, "@%llu:%llu", alarm->low, alarm->high);
	}
	return buf;
}

static void print_figures(const struct options *o, const struct verdict *v, FILE *out)
{
	enum owner_sort figure = o->checks[v->level].figure;
	const struct check *none = &(struct check){ 0 };
	char warn[RANGE_LEN], critical[RANGE_LEN];
	const struct check *of[NR_CHECK_LEVELS];
	int level;

	for (level = 0; level < NR_CHECK_LEVELS; level++)
		of[level] = o->checks[level].figure == figure ? &o->checks[level] : none;
	fprintf(out, " | %s=%llu%s;%s;%s;0\n", owner_sort_names[figure],
		sum_get_figure(&v->sum, figure), figure == OWNER_SORT_OBJECTS ? "" : "B",
		format_range(warn, of[LEVEL_WARN]), format_range(critical, of[LEVEL_CRITICAL]));
}

/*
 * Returns the text before the performance data, which begin at "|". Names in the text are printed
 * without that character.
 */
static char *make_message(const struct options *o, const struct answer *a,
			  const struct verdict *v, bool complete)
{
	const struct check *check = &o->checks[v->level];
	u64 value = sum_get_figure(&v->sum, check->figure);
	char buf[HUMAN_LEN], *text, *shown, *bar;
	size_t len;
	FILE *out = xopen_memstream(&text, &len);

	fprintf(out, "%s ", owner_sort_names[check->figure]);
	if (check->figure == OWNER_SORT_OBJECTS)
		fprintf(out, "%llu", value);
	else
		fputs(human_format_bytes(buf, value), out);
	if (v->is_group)
		print_group_name(a, v->group, out);
	fprintf(out, ", limit %s", check->text);
	if (o->check_groups)
		fprintf(out, ", %u of %u groups beyond it", v->groups, a->model.groups.n);
	if (!complete)
		fprintf(out, ", input INCOMPLETE: %s", a->health.first);
	fclose(out);
	shown = human_escape_name((struct text_slice){ text, len });
	for (bar = shown; (bar = strchr(bar, '|')); )
		*bar = '/';
	free(text);
	return shown;
}

int check_report(const struct options *o, const struct answer *a, FILE *out)
{
	struct verdict v = judge(o, a);
	bool complete = health_is_complete(&a->health);
	char *message = make_message(o, a, &v, complete);

	/* Records that were not read could exceed the limit. */
	if (!complete && v.status == CHECK_OK)
		v.status = CHECK_UNKNOWN;
	fprintf(out, "OWNERTOP %s - %s", status_names[v.status], message);
	print_figures(o, &v, out);
	free(message);
	reported = !fflush(out);
	return reported ? v.status : CHECK_UNKNOWN;
}
