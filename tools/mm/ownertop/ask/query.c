// SPDX-License-Identifier: GPL-2.0
/*
 * Send the sentence to the kernel and read its answer. The kernel filters, and groups by
 * complete call chains. The model cuts and merges the chains, as it does for records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask/query.h"
#include "base/exit_status.h"
#include "input/reader.h"

#define QUERY "/sys/kernel/debug/owner/query"

static const unsigned int pages = 1U << OWNER_KIND_PAGE;

/* Print the message that the kernel returns for a wrong sentence, and exit. */
static noreturn void exit_with_kernel_query_error(int fd)
{
	char message[4096];
	ssize_t n = read(fd, message, sizeof(message));

	fprintf(stderr, "ownertop: the kernel refuses: %.*s", n > 0 ? (int)n : 0, message);
	exit(STATUS_FAILED);
}

/*
 * Send a sentence to the kernel. Returns an open file with the answer, or -1 if this kernel
 * cannot be asked.
 */
static int send_query_to_kernel(const struct owner_sentence *s)
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
	if (write(fd, printed, length) < 0)
		exit_with_kernel_query_error(fd);
	return fd;
}

/*
 * Does the sentence ask for pages as well as for objects that are in pages? Then pages of
 * slabs must be recognised by cache and chain, to count their memory only once.
 */
static bool query_asks_pages_and_objects(const struct owner_sentence *s)
{
	unsigned int kinds = owner_lang_asked_kinds(s);

	return kinds & pages && kinds & ~pages;
}

static void add_group_field(struct owner_sentence *s, enum owner_field field)
{
	s->group_by[s->nr_group_by++] = (struct owner_group_field){
		.field = field,
		.full = field == OWNER_FIELD_STACK,
	};
}

/*
 * Make the kernel group by all fields that @select needs. Returns false if the kernel
 * cannot group by one of them.
 */
static bool add_group_fields(struct owner_sentence *s, const struct record_selection *select)
{
	const unsigned int derived_from_chain = 1U << OWNER_FIELD_STACK | 1U << OWNER_FIELD_FUNC |
						1U << OWNER_FIELD_MODULE |
						1U << OWNER_FIELD_SYSCALL;
	/*
	 * The kernel groups by exact sizes, and the model makes buckets of them. The kernel does
	 * not group by exact times. Fields that only pages have are read from page_owner, as the
	 * kernel refuses to group slab objects by gfp.
	 */
	const unsigned int unsupported = 1U << OWNER_FIELD_AGE | 1U << OWNER_FIELD_TS |
					 1U << OWNER_FIELD_GFP | 1U << OWNER_FIELD_ORDER;
	const unsigned int derived_from_user = 1U << OWNER_FIELD_USER | 1U << OWNER_FIELD_BINARY |
					       1U << OWNER_FIELD_UFUNC;
	unsigned int fields = 1U << OWNER_FIELD_KIND, i;

	for (i = 0; i < select->group.n; i++)
		fields |= 1U << select->group.v[i].field;
	if (select->chains.known.frame)
		fields |= 1U << OWNER_FIELD_STACK;
	if (query_asks_pages_and_objects(s))
		fields |= 1U << OWNER_FIELD_CACHE | 1U << OWNER_FIELD_STACK;
	if (fields & unsupported || (s->fields_used & 1U << OWNER_FIELD_GFP &&
				     owner_lang_asked_kinds(s) != pages))
		return false;
	if (fields & derived_from_user)
		fields = (fields & ~derived_from_user) | 1U << OWNER_FIELD_USER;
	if (fields & derived_from_chain)
		fields = (fields & ~derived_from_chain) | 1U << OWNER_FIELD_STACK;
	s->nr_group_by = 0;
	for (i = 0; i < OWNER_GROUP_FIELDS; i++) {
		if (!(fields & 1U << i))
			continue;
		if (s->nr_group_by == OWNER_GROUP_MAX)
			return false;
		add_group_field(s, i);
	}
	return true;
}

/*
 * Make the sentence for the kernel, which asks for all groups, as TSV. ownertop sorts the groups
 * itself: sort=oldest is only to make the kernel look for ages. Returns false if the kernel
 * cannot answer.
 */
static bool make_kernel_sentence(struct owner_sentence *s, const struct options *o)
{
	const struct record_selection *select = &o->select;

	*s = select->sentence;
	s->settings_given &= ~(1U << OWNER_SET_SORT | 1U << OWNER_SET_EACH | 1U << OWNER_SET_TOP |
			       1U << OWNER_SET_MIN | 1U << OWNER_SET_MODE);
	s->settings_given |= 1U << OWNER_SET_GROUP | 1U << OWNER_SET_FORMAT;
	if (select->by_handle) {
		s->settings_given |= 1U << OWNER_SET_MODE;
		s->mode = OWNER_MODE_STACK_HANDLE;
	}
	if (o->ages) {
		s->settings_given |= 1U << OWNER_SET_SORT;
		s->sort_by[0] = OWNER_SORT_OLDEST;
		s->nr_sort_by = 1;
	}
	s->format = OWNER_FORMAT_TSV;
	return add_group_fields(s, select);
}

u64 read_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The kernel does not know the functions of programs. */
static bool sentence_compares_user_functions(const struct owner_sentence *s)
{
	return s->fields_used & 1U << OWNER_FIELD_UFUNC;
}

bool query_groups(struct answer *a, const struct options *o)
{
	struct owner_sentence sentence;
	struct input_health health = { .quiet = true };
	int fd;

	if (sentence_compares_user_functions(&o->select.sentence) ||
	    !make_kernel_sentence(&sentence, o))
		return false;
	fd = send_query_to_kernel(&sentence);
	if (fd < 0)
		return false;
	/* The kernel has applied the expression: its answer is not filtered again. */
	a->rest_of_select = o->select;
	a->rest_of_select.sentence.nr_comparisons = 0;
	a->rest_of_select.sentence.fields_used = 0;
	model_init(&a->model, &a->rest_of_select);
	a->model.sink.now = read_monotonic_ns();
	a->model.sink.summary.slabs_listed = query_asks_pages_and_objects(&sentence);
	read_records_from_fd(fd, QUERY, &a->model.sink, &health);
	if (health_is_complete(&health))
		return true;
	/* The answer is incomplete: there is no memory for all groups, or a signal arrived. */
	model_free(&a->model);
	return false;
}
