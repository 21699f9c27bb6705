// SPDX-License-Identifier: GPL-2.0
/* A list of known owners of memory, which are not what one looks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "names/known.h"

/* Add the functions of "func < caller [module]" as ownertop prints them, without modules. */
static void add_functions(struct globs *functions, const char *text)
{
	for (; text; text = strchr(text, '<')) {
		text += strspn(text, "< \t");
		if (*text)
			globs_add(functions, text, strcspn(text, "< \t"));
	}
}

bool known_owners_read(struct known_owners *known, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct globs lines = { 0 };
	u32 i;

	if (!globs_read_file(&lines, path)) {
		globs_free(&lines);
		return false;
	}
	if (asprintf(&known->frame, " known_owners [%s]\n", slash ? slash + 1 : path) < 0)
		exit_out_of_memory();
	for (i = 0; i < lines.n; i++) {
		known->v = grow_array(known->v, known->n, &known->cap, sizeof(*known->v));
		known->v[known->n] = (struct known_owner){
			.text = xstrndup(lines.v[i], strlen(lines.v[i])),
		};
		add_functions(&known->v[known->n++].functions, lines.v[i]);
	}
	globs_free(&lines);
	return true;
}

bool known_owner_matches(const struct known_owner *owner, u32 i, struct text_slice func)
{
	struct globs one = { .v = owner->functions.v + i, .n = 1 };

	return i < owner->functions.n && globs_match_function(&one, func);
}

void known_owners_free(struct known_owners *known)
{
	while (known->n) {
		globs_free(&known->v[--known->n].functions);
		free(known->v[known->n].text);
	}
	free(known->v);
	free(known->frame);
	*known = (struct known_owners){ 0 };
}
