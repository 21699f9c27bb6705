// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into ownertop by two_threads.py: print the number of threads that were started to
 * the file OWNERTOP_THREADS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	int (*create)(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		      void *arg) = dlsym(RTLD_NEXT, "pthread_create");

	threads++;
	return create(thread, attr, start, arg);
}

static void __attribute__((destructor)) print_threads(void)
{
	FILE *file = fopen(getenv("OWNERTOP_THREADS"), "w");

	fprintf(file, "%u", threads);
	fclose(file);
}
