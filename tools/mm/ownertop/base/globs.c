// SPDX-License-Identifier: GPL-2.0
/* Lists of globs that functions' names are matched with. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "base/globs.h"

void globs_add(struct globs *globs, const char *glob, size_t len)
{
	globs->v = grow(globs->v, globs->n, &globs->cap, sizeof(*globs->v));
	globs->v[globs->n++] = xstrndup(glob, len);
}

bool globs_read(struct globs *globs, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool ok;

	if (!f)
		return false;
	while (getline(&line, &size, f) >= 0) {
		char *start = line + strspn(line, " \t");
		size_t len = strcspn(start, "#\r\n");

		while (len && isblank((unsigned char)start[len - 1]))
			len--;
		if (len)
			globs_add(globs, start, len);
	}
	ok = !ferror(f);
	free(line);
	fclose(f);
	return ok;
}

void globs_print(const struct globs *globs, FILE *out)
{
	u32 i;

	for (i = 0; i < globs->n; i++)
		fprintf(out, "%s\n", globs->v[i]);
}

static bool glob_matches(const char *glob, const char *name)
{
	/* Most globs fall at the first letter, which fnmatch() sees late. */
	if (*glob != *name && !strchr("*?[\\", *glob))
		return false;
	return !fnmatch(glob, name, 0);
}

/* Called once for each distinct frame of a dump: a linear search is enough. */
bool globs_match_func(const struct globs *globs, struct text func)
{
	struct text stem = frame_stem(func);
	char *full, *cut;
	bool found = false;
	u32 i;

	if (!globs->n)
		return false;
	full = xstrndup(func.s, func.len);
	cut = xstrndup(stem.s, stem.len);
	for (i = 0; i < globs->n && !found; i++)
		found = glob_matches(globs->v[i], cut) ||
			glob_matches(globs->v[i], full);
	free(full);
	free(cut);
	return found;
}

void globs_free(struct globs *globs)
{
	while (globs->n)
		free(globs->v[--globs->n]);
	free(globs->v);
	*globs = (struct globs){ 0 };
}
