// SPDX-License-Identifier: GPL-2.0
/* Find the inputs of a command line, and refuse a word that names no file, view or sentence. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/inputs.h"
#include "ask/option_list.h"
#include "ask/usage.h"
#include "base/alloc.h"

/* Limit of the files of a directory whose names are compared with a misspelt one. */
#define SIMILAR_FILES_MAX 4096

/* Returns the file in the directory of @path whose name is most similar, to be freed, or NULL. */
static char *find_similar_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *directory = slash ? xstrndup(path, slash + 1 - path) : xstrndup("./", 2);
	const char *names[SIMILAR_FILES_MAX];
	char *similar = NULL;
	struct dirent **found;
	int i, n, nearest;

	n = scandir(directory, &found, NULL, alphasort);
	for (i = 0; i < n && i < SIMILAR_FILES_MAX; i++)
		names[i] = found[i]->d_name;
	nearest = n > 0 ? owner_lang_nearest_name(name, strlen(name), names, i) : -1;
	if (nearest >= 0 && asprintf(&similar, "%.*s%s", (int)(name - path), path,
				     names[nearest]) < 0)
		exit_out_of_memory();
	for (i = 0; i < n; i++)
		free(found[i]);
	if (n >= 0)
		free(found);
	free(directory);
	return similar;
}

static void print_views(void)
{
	unsigned int i;

	fputs("Views: ", stderr);
	for (i = 0; i < nr_views; i++)
		fprintf(stderr, "%s, ", views[i].name);
	fputs("page_owner_sort, record\n", stderr);
}

/* Refuse a word that is no file, and suggest the view or the file with the nearest name. */
static noreturn void refuse_unknown_word(const char *word, bool may_be_view)
{
	const struct view *view = NULL;
	char *file = NULL;
	unsigned int i;

	if (may_be_view && !strcmp(word, "records"))
		usage_refuse_option(word,
				    "is no view: owners are shown in full by 'table -d 0 -g kind,cache,comm,pid,tgid,stack,user'");
	for (i = 0; i < NR_OPTIONS && may_be_view; i++) {
		if (strcmp(word, option_list[i].name))
			continue;
		fprintf(stderr, "ownertop: '%s' is an option: write --%s\n", word, word);
		usage_exit_with_hint();
	}
	if (view_find_by_name(word))
		usage_refuse_option(word, "a view comes before the files");
	if (may_be_view && !strchr(word, '/'))
		view = view_find_similar(word);
	if (!view)
		file = find_similar_file(word);

	fprintf(stderr, "ownertop: '%s' is no file%s", word,
		may_be_view ? ", no view and no sentence" : "");
	if (view || file)
		fprintf(stderr, "; did you mean '%s'?", view ? view->name : file);
	putc('\n', stderr);
	if (may_be_view && !view && !file && !strpbrk(word, "./"))
		print_views();
	free(file);
	usage_exit_with_hint();
}

void inputs_refuse_missing(const struct options *o, bool view_is_named)
{
	int i;

	if (o->old && strcmp(o->old, "-") && access(o->old, F_OK))
		refuse_unknown_word(o->old, false);
	for (i = 0; i < o->nr_inputs; i++)
		if (strcmp(o->inputs[i], "-") && access(o->inputs[i], F_OK))
			refuse_unknown_word(o->inputs[i], !i && !view_is_named);
}

/*
 * Is standard input a pipe or a file? Then it is read, even if the command line does not name it. A
 * terminal or /dev/null is not.
 */
static bool is_input_on_stdin(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/* Make the dump of --vmcore the last input. */
static void add_vmcore_to_inputs(struct options *o)
{
	const char **inputs;
	int i;

	if (!o->vmcore)
		return;
	if (!o->vmlinux)
		usage_refuse_value("--vmcore", o->vmcore,
				   "needs --vmlinux FILE, its kernel with debug information");
	inputs = xcalloc(o->nr_inputs + 1, sizeof(*inputs));
	for (i = 0; i < o->nr_inputs; i++)
		inputs[i] = o->inputs[i];
	inputs[o->nr_inputs++] = o->vmcore;
	o->inputs = (char * const *)inputs;
}

void inputs_add_unnamed(struct options *o)
{
	static char * const standard_input[] = { "-" };

	add_vmcore_to_inputs(o);
	if (o->nr_inputs || o->interval_ms || !is_input_on_stdin())
		return;
	o->inputs = standard_input;
	o->nr_inputs = 1;
}
