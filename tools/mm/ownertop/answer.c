// SPDX-License-Identifier: GPL-2.0
/* What was read, as the view wants it. */
#include "options.h"
#include "reader.h"

/* Ages count from the newest record, so it has to be known beforehand. */
static u64 find_newest(const struct options *o, char * const *paths, int n)
{
	static const struct selection everything = { .chains.depth = 1 };
	struct health unsaid = { .quiet = true };
	struct model model;
	u64 newest;

	model_init(&model, &everything);
	read_inputs(paths, n, o->page_size, &model, &unsaid);
	newest = model.newest;
	model_free(&model);
	return newest;
}

/* All of @paths are one dump. */
static void read_dump(struct answer *a, char * const *paths, int n)
{
	const struct options *o = a->options;

	if (o->select.filter.older)
		a->model.now = find_newest(o, paths, n);
	read_inputs(paths, n, o->page_size, &a->model, &a->health);
}

void answer_read(struct answer *a, const struct options *o, char * const *paths, int n)
{
	*a = (struct answer){ .options = o, .health.quiet = a->health.quiet };
	model_init(&a->model, &o->select);
	read_dump(a, paths, n);
}

void answer_free(struct answer *a)
{
	model_free(&a->model);
}
