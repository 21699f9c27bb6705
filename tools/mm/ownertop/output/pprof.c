// SPDX-License-Identifier: GPL-2.0
/*
 * Write a profile for pprof: profile.proto, compressed with gzip. It contains the names of
 * functions, so pprof needs no symbols to show it.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/exit_status.h"
#include "names/frame.h"
#include "names/user_frame.h"
#include "base/human.h"
#include "output/notes.h"
#include "output/proto.h"
#include "output/writer.h"

#define WRITE_SIZE 65536
#define NS_PER_SECOND 1000000000ULL

/* Field numbers of the messages in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,

	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,

	LINE_FUNCTION = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct pprof_profile {
	const struct model *m;
	gzFile gz;
	struct strings strings;	/* the string table; other messages have indexes into it */
	u32 field_names[OWNER_GROUP_FIELDS];	/* by field: index of its name in strings, or 0 */
	struct proto_buffer message;	/* the message that is being built */
	struct proto_buffer part;	/* a message inside the one that is being built */
	struct proto_buffer wire;	/* encoded messages that are not written yet */
	u64 *locations;		/* buffer for the locations of a chain */
	u32 locations_cap;
};

static u32 intern_string(struct pprof_profile *p, const char *s)
{
	return strings_intern(&p->strings, (struct text_slice){ s, strlen(s) });
}

static u32 intern_field_name(struct pprof_profile *p, enum owner_field field)
{
	if (!p->field_names[field])
		p->field_names[field] = intern_string(p, field_name(field));
	return p->field_names[field];
}

static noreturn void exit_on_write_error(gzFile gz)
{
	int error;
	const char *reason = gzerror(gz, &error);

	fprintf(stderr, "ownertop: output: %s\n",
		error == Z_ERRNO ? strerror(errno) : reason);
	exit(STATUS_FAILED);
}

static void write_pending_bytes(struct pprof_profile *p)
{
	if (p->wire.len && !gzwrite(p->gz, p->wire.bytes, p->wire.len))
		exit_on_write_error(p->gz);
	proto_clear(&p->wire);
}

static void write_pending_bytes_if_many(struct pprof_profile *p)
{
	if (p->wire.len >= WRITE_SIZE)
		write_pending_bytes(p);
}

/* Append p->message as @field of the profile, and clear it. */
static void append_pending_message(struct pprof_profile *p, u32 field)
{
	proto_append_message(&p->wire, field, &p->message);
	proto_clear(&p->message);
	write_pending_bytes_if_many(p);
}

static void emit_int(struct pprof_profile *p, u32 field, u64 v)
{
	proto_append_int(&p->wire, field, v);
	write_pending_bytes_if_many(p);
}

/* Append the type of a value as @field of the profile. */
static void emit_value_type(struct pprof_profile *p, u32 field, const char *type,
			    const char *unit)
{
	proto_append_int(&p->message, VALUE_TYPE_TYPE, intern_string(p, type));
	proto_append_int(&p->message, VALUE_TYPE_UNIT, intern_string(p, unit));
	append_pending_message(p, field);
}

/* Returns when the dump was written, in ns of Unix time; now, if it is no file. */
static u64 get_dump_time(const struct output_options *o)
{
	const char *path = o->nr_inputs ? o->inputs[o->nr_inputs - 1] : "-";
	struct timespec now;
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		return st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/*
 * Append the time and the period, as Go's heap profiles have them: Parca and Pyroscope recognise
 * a heap profile by these and by its sample types. The period is 1 because nothing is scaled.
 */
static void emit_period(struct pprof_profile *p, const struct output_options *o)
{
	emit_int(p, PROFILE_TIME_NANOS, get_dump_time(o));
	emit_value_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	emit_int(p, PROFILE_PERIOD, 1);
}

/*
 * Append the types of a sample's values, in the order in which emit_sample() appends the
 * values.
 */
static void emit_sample_types(struct pprof_profile *p, enum measure measure)
{
	static const char * const names[NR_MEASURES] = {
		[MEASURE_BYTES] = "inuse_space",
		[MEASURE_HELD] = "held_space",
		[MEASURE_OBJECTS] = "inuse_objects",
	};

	emit_value_type(p, PROFILE_SAMPLE_TYPE, names[MEASURE_OBJECTS], "count");
	emit_value_type(p, PROFILE_SAMPLE_TYPE, names[MEASURE_BYTES], "bytes");
	emit_value_type(p, PROFILE_SAMPLE_TYPE, names[MEASURE_HELD], "bytes");
	emit_int(p, PROFILE_DEFAULT_SAMPLE_TYPE, intern_string(p, names[measure]));
}

static void append_sample_label(struct pprof_profile *p, const struct group *g,
				enum owner_field field)
{
	char number[HUMAN_LEN], *shown;
	struct text_slice name;

	proto_clear(&p->part);
	proto_append_int(&p->part, LABEL_KEY, intern_field_name(p, field));
	if (field_is_number(field)) {
		/*
		 * Write numbers as strings: pprof sums up numeric labels, which makes no sense
		 * for a pid.
		 */
		shown = (char *)model_format_number(number, p->m, g, field);
		proto_append_int(&p->part, LABEL_STR, intern_string(p, shown));
	} else {
		name = model_get_name(p->m, g, field);
		if (!name.len)
			return;
		shown = human_escape_name(name);	/* the format requires UTF-8 */
		proto_append_int(&p->part, LABEL_STR, intern_string(p, shown));
		free(shown);
	}
	proto_append_message(&p->message, SAMPLE_LABEL, &p->part);
}

/*
 * Append the frames of a chain to p->locations, which has @n of them. @first: id of the location
 * of frame 0. Returns how many there are now.
 */
static u32 append_locations(struct pprof_profile *p, const struct chain *chain, u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < chain->n; i++, n++) {
		p->locations = grow_array(p->locations, n, &p->locations_cap,
					  sizeof(*p->locations));
		p->locations[n] = chain->frames[i] + first;
	}
	return n;
}

static void emit_sample(struct pprof_profile *p, const struct group *g)
{
	const struct group_list *by = &p->m->select->group;
	const u64 values[] = { g->sum.objects, g->sum.bytes, g->sum.held };
	u32 n = 0, i;

	if (field_is_listed(by, OWNER_FIELD_STACK))
		n = append_locations(p, model_get_chain(p->m, g, OWNER_FIELD_STACK), 1, n);
	if (field_is_listed(by, OWNER_FIELD_USER))
		n = append_locations(p, model_get_chain(p->m, g, OWNER_FIELD_USER),
				     p->m->stacks.frames.n + 1, n);
	if (n)
		proto_append_ints(&p->message, SAMPLE_LOCATION, p->locations, n);
	proto_append_ints(&p->message, SAMPLE_VALUE, values, sizeof(values) / sizeof(*values));
	for (i = 0; i < by->n; i++)
		if (!field_is_chain(by->v[i].field) &&
		    model_field_is_known(p->m, g, by->v[i].field))
			append_sample_label(p, g, by->v[i].field);
	append_pending_message(p, PROFILE_SAMPLE);
}

/* Append a module as a mapping, like a shared library in profiles of processes. */
static void emit_mapping(struct pprof_profile *p, u32 module)
{
	proto_append_int(&p->message, MAPPING_ID, module + 1);
	proto_append_int(&p->message, MAPPING_FILENAME,
			 strings_intern(&p->strings, p->m->stacks.modules.v[module]));
	proto_append_int(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	append_pending_message(p, PROFILE_MAPPING);
}

/*
 * Append a frame as a location in a function that only it has: pprof merges functions that have
 * the same name. Ids are frame numbers of the model plus 1, as 0 is no id.
 */
static void emit_frame(struct pprof_profile *p, u32 id)
{
	struct text_slice line = p->m->stacks.frames.v[id];
	u32 module = stacks_get_frame_module(&p->m->stacks, id);
	struct text_slice place;
	const char *colon;
	struct frame f;

	frame_parse(line, &f);
	colon = f.place.len ? memrchr(f.place.s, ':', f.place.len) : NULL;
	proto_append_int(&p->message, FUNCTION_ID, id + 1);
	proto_append_int(&p->message, FUNCTION_NAME, strings_intern(&p->strings, f.func));
	proto_append_int(&p->message, FUNCTION_SYSTEM_NAME, strings_intern(&p->strings, line));
	place = colon ? (struct text_slice){ f.place.s, colon - f.place.s } :
			p->m->stacks.modules.v[module];
	proto_append_int(&p->message, FUNCTION_FILENAME, strings_intern(&p->strings, place));
	append_pending_message(p, PROFILE_FUNCTION);

	proto_clear(&p->part);
	proto_append_int(&p->part, LINE_FUNCTION, id + 1);
	proto_append_int(&p->part, LINE_LINE, colon ? strtoull(colon + 1, NULL, 10) : 0);
	proto_append_int(&p->message, LOCATION_ID, id + 1);
	proto_append_int(&p->message, LOCATION_MAPPING, module + 1);
	proto_append_message(&p->message, LOCATION_LINE, &p->part);
	append_pending_message(p, PROFILE_LOCATION);
}

/* Append a user frame as a location in a function that only it has. */
static void emit_user_frame(struct pprof_profile *p, u32 i)
{
	u32 id = p->m->stacks.frames.n + 1 + i;
	struct text_slice line = p->m->user.frames.v[i];
	struct user_frame f;

	user_frame_parse(line, &f);
	proto_append_int(&p->message, FUNCTION_ID, id);
	proto_append_int(&p->message, FUNCTION_NAME,
			 strings_intern(&p->strings, f.func.len ? f.func : line));
	proto_append_int(&p->message, FUNCTION_SYSTEM_NAME, strings_intern(&p->strings, line));
	proto_append_int(&p->message, FUNCTION_FILENAME, strings_intern(&p->strings, f.file));
	append_pending_message(p, PROFILE_FUNCTION);

	proto_clear(&p->part);
	proto_append_int(&p->part, LINE_FUNCTION, id);
	proto_append_int(&p->message, LOCATION_ID, id);
	proto_append_message(&p->message, LOCATION_LINE, &p->part);
	append_pending_message(p, PROFILE_LOCATION);
}

static void emit_comment(void *arg, const char *line)
{
	struct pprof_profile *p = arg;

	emit_int(p, PROFILE_COMMENT, intern_string(p, line));
}

/* Append the notes as comments, which pprof prints with -comments. */
static void emit_comments(struct pprof_profile *p, const struct answer *a)
{
	char *line;

	if (asprintf(&line, "ownertop: %llu objects in %u samples", a->model.total.objects,
		     a->model.groups.n) < 0)
		exit_out_of_memory();
	emit_comment(p, line);
	free(line);
	notes_print_lines(a, NOTES_ALL, emit_comment, p);
}

static void emit_strings(struct pprof_profile *p)
{
	u32 i;

	for (i = 0; i < p->strings.n; i++) {
		struct text_slice s = p->strings.v[i];

		proto_append_bytes(&p->wire, PROFILE_STRING, s.s, s.len);
		write_pending_bytes_if_many(p);
	}
}

void write_pprof(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct pprof_profile p = { .m = m };
	u32 i;

	/* Level 1 of compression: a higher one would take as long as reading the dump. */
	p.gz = gzdopen(dup(fileno(out)), "wb1");
	if (!p.gz)
		exit_out_of_memory();
	intern_string(&p, "");	/* the format requires that string 0 is empty */
	emit_sample_types(&p, a->view.measure);
	emit_period(&p, o);
	for (i = 0; i < m->groups.n; i++) {
		struct group g = model_get_group(m, i);

		emit_sample(&p, &g);
	}
	for (i = 0; i < m->stacks.modules.n; i++)
		emit_mapping(&p, i);
	for (i = 0; i < m->stacks.frames.n; i++)
		emit_frame(&p, i);
	for (i = 0; i < m->user.frames.n; i++)
		emit_user_frame(&p, i);
	emit_comments(&p, a);
	emit_strings(&p);
	write_pending_bytes(&p);
	if (gzflush(p.gz, Z_FINISH) != Z_OK)
		exit_on_write_error(p.gz);
	gzclose(p.gz);
	strings_free(&p.strings);
	proto_free(&p.message);
	proto_free(&p.part);
	proto_free(&p.wire);
	free(p.locations);
}
