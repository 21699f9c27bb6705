/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of the language that the core, which builds without it, has as well.
 */
#ifndef _MM_OWNER_KIND_H
#define _MM_OWNER_KIND_H

/* Kinds of memory: values of the field "kind". */
enum owner_kind {
	OWNER_KIND_SLAB,
	OWNER_KIND_PAGE,
	OWNER_KIND_PERCPU,
	OWNER_KINDS
};

/* How an answer shows a call chain. */
enum owner_mode {
	OWNER_MODE_STACK,	/* by its frames */
	OWNER_MODE_HANDLE,	/* by its handle */
	OWNER_MODE_STACK_HANDLE,
	OWNER_MODES
};

/* Stands before the number of a cgroup that was removed, whose path is not known any more. */
#define OWNER_CGROUP_REMOVED	"removed:"

/* Upper limits of sample=BYTES and of N in sample=1/N. */
#define OWNER_SAMPLE_BYTES_MAX		(64U << 20)
#define OWNER_SAMPLE_OBJECTS_MAX	1048576U

#endif /* _MM_OWNER_KIND_H */
