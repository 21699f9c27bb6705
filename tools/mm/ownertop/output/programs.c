// SPDX-License-Identifier: GPL-2.0
/* Print the programs that asked for most memory. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/human.h"
#include "output/programs.h"

/* Programs in the order of what they hold. */
struct program_list {
	const struct user_chains *user;
	u32 *files;
	u32 n;
};

static int compare_held(const void *x, const void *y, void *arg)
{
	const struct user_chains *user = arg;
	u32 a = *(const u32 *)x, b = *(const u32 *)y;

	if (user->counts[a].held != user->counts[b].held)
		return user->counts[a].held < user->counts[b].held ? 1 : -1;
	return strcmp(user->files.v[a].s, user->files.v[b].s);
}

static struct program_list list_programs(const struct answer *a)
{
	struct program_list list = { .user = &a->model.user };
	u32 i;

	list.files = xmalloc((list.user->nr_counts + 1) * sizeof(*list.files));
	for (i = 0; i < list.user->nr_counts; i++)
		if (list.user->counts[i].objects)
			list.files[list.n++] = i;
	qsort_r(list.files, list.n, sizeof(*list.files), compare_held, (void *)list.user);
	return list;
}

void programs_print(const struct answer *a, u32 top, FILE *out)
{
	struct program_list list = list_programs(a);
	char held[HUMAN_LEN], percent[HUMAN_LEN];
	u32 i;

	if (list.n)
		fputs("PROGRAMS\n", out);
	for (i = 0; i < list.n && (!top || i < top); i++) {
		const struct file_count *count = &list.user->counts[list.files[i]];
		char *name = human_escape_name(list.user->files.v[list.files[i]]);

		fprintf(out, "%6s: %s in %llu object%s: %s\n",
			human_format_percent(percent, count->held, a->model.total.held),
			human_format_bytes(held, count->held), count->objects,
			count->objects == 1 ? "" : "s", name);
		free(name);
	}
	free(list.files);
}

struct json_object *json_from_programs(const struct answer *a)
{
	struct program_list list = list_programs(a);
	struct json_object *array = list.n ? json_new_list() : NULL;
	u32 i;

	for (i = 0; i < list.n; i++) {
		const struct file_count *count = &list.user->counts[list.files[i]];
		struct json_object *program = json_new_object();

		json_add_member(program, "binary",
				json_from_text(list.user->files.v[list.files[i]]));
		json_add_member(program, "objects", json_new_count(count->objects));
		json_add_member(program, "bytes", json_new_count(count->bytes));
		json_add_member(program, "held", json_new_count(count->held));
		json_add_item(array, program);
	}
	free(list.files);
	return array;
}
