// SPDX-License-Identifier: GPL-2.0
/*
 * The sentence goes down to the kernel, and what comes back are groups by whole
 * call chains: how deep they are cut, and what is hidden, is up to the view, as
 * with records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask/ask.h"
#include "base/exit_status.h"
#include "input/reader.h"

#define QUERY "/sys/kernel/debug/owner/query"

/* Some megabytes of the kernel's, at most. Beyond it, records are read. */
#define GROUPS_MOST 32768

static const unsigned int pages = 1U << OWNER_SOURCE_PAGE;

/* The kernel says what it does not like about the sentence. */
static noreturn void say_refused(int fd)
{
	char message[4096];
	ssize_t n = read(fd, message, sizeof(message));

	fprintf(stderr, "ownertop: the kernel refuses: %.*s", n > 0 ? (int)n : 0, message);
	exit(STATUS_FAILED);
}

/* Returns an open file from which the answer is read; -1: there is nobody to ask. */
static int ask(const struct owner_sentence *s)
{
	char printed[OWNER_SENTENCE_MAX + 1];
	int fd = open(QUERY, O_RDWR | O_CLOEXEC);
	size_t length;

	if (fd < 0)
		return -1;
	length = owner_lang_print(s, printed, sizeof(printed));
	if (length > OWNER_SENTENCE_MAX) {
		close(fd);
		return -1;
	}
	/* Nothing at all asks for everything. */
	if (write(fd, length ? printed : "\n", length ? length : 1) < 0)
		say_refused(fd);
	return fd;
}

/* For pages and for what may lie in them: such pages are told by cache and chain. */
static bool asks_for_both(const struct owner_sentence *s)
{
	return s->sources & pages && s->sources & ~pages;
}

static void group_by(struct owner_sentence *s, enum owner_field field)
{
	s->group_by[s->nr_group_by++] = (struct owner_group_field){
		.field = field,
		.full = field == OWNER_FIELD_STACK,
	};
}

/* What the kernel groups by, so that all that @select groups by can be told. */
static bool add_groups(struct owner_sentence *s, const struct selection *select)
{
	const unsigned int told_by_chain = 1U << OWNER_FIELD_STACK | 1U << OWNER_FIELD_FUNC |
					   1U << OWNER_FIELD_MODULE;
	/* Each object's own, and what only pages have. */
	const unsigned int untold = 1U << OWNER_FIELD_AGE | 1U << OWNER_FIELD_GFP |
				    1U << OWNER_FIELD_ORDER;
	unsigned int fields = 1U << OWNER_FIELD_KIND, i;

	for (i = 0; i < select->group.n; i++)
		fields |= 1U << select->group.v[i].field;
	if (asks_for_both(s))
		fields |= 1U << OWNER_FIELD_CACHE | 1U << OWNER_FIELD_STACK;
	if (fields & untold || (s->fields_used & 1U << OWNER_FIELD_GFP && s->sources != pages))
		return false;
	if (fields & told_by_chain)
		fields = (fields & ~told_by_chain) | 1U << OWNER_FIELD_STACK;
	s->nr_group_by = 0;
	for (i = 0; i <= OWNER_FIELD_STACK; i++) {
		if (!(fields & 1U << i))
			continue;
		if (s->nr_group_by == OWNER_GROUP_MAX)
			return false;
		group_by(s, i);
	}
	return true;
}

/*
 * Groups that are whole, in a form for programs; cut here, not there, and sorted, but
 * ages are told where they are sorted by.
 */
static bool make_question(struct owner_sentence *s, const struct options *o)
{
	const struct selection *select = &o->select;

	*s = select->sentence;
	s->settings_given &= ~(1U << OWNER_SET_SORT | 1U << OWNER_SET_TOP | 1U << OWNER_SET_MODE);
	s->settings_given |= 1U << OWNER_SET_GROUP | 1U << OWNER_SET_GROUPS | 1U << OWNER_SET_FORMAT;
	if (select->by_handle) {
		s->settings_given |= 1U << OWNER_SET_MODE;
		s->mode = OWNER_MODE_STACK_HANDLE;
	}
	if (o->ages) {
		s->settings_given |= 1U << OWNER_SET_SORT;
		s->sort_by[0] = OWNER_SORT_OLDEST;
		s->nr_sort_by = 1;
	}
	s->max_groups = GROUPS_MOST;
	s->format = OWNER_FORMAT_TSV;
	return add_groups(s, select);
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

bool ask_groups(struct answer *a, const struct options *o)
{
	struct owner_sentence question;
	struct health health = { .quiet = true };
	int fd;

	if (!make_question(&question, o))
		return false;
	fd = ask(&question);
	if (fd < 0)
		return false;
	/* The kernel has seen to it. */
	a->asked = o->select;
	a->asked.sentence.nr_comparisons = 0;
	a->asked.sentence.fields_used = 0;
	a->asked.sentence.sources = 0;
	model_init(&a->model, &a->asked);
	a->model.sink.now = now();
	a->model.sink.summary.slabs_listed = asks_for_both(&question);
	read_fd(fd, QUERY, &a->model.sink, &health);
	if (health_complete(&health))
		return true;
	/* More groups than it adds up, or a signal. */
	model_free(&a->model);
	return false;
}

bool ask_objects(const struct options *o, FILE *out, int *status)
{
	/* The kernel would not set pages aside whose objects it shows as well. */
	int fd = asks_for_both(&o->select.sentence) ? -1 : ask(&o->select.sentence);
	char buf[16384];
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, n, out);
	*status = n ? STATUS_FAILED : STATUS_COMPLETE;
	if (n)
		fprintf(stderr, "ownertop: " QUERY ": %s\n", strerror(errno));
	close(fd);
	return true;
}
