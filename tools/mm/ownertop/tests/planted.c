// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel, or a module of one, of which every line is known: names.py compiles
 * it, writes a dump with its return addresses, and looks what ownertop makes of
 * them. The comments name the lines.
 */
#include "planted.h"

noinline void *take(int size)
{
	static char memory[4096];

	asm volatile("" : "+r"(size));
	return memory + size;
}

noinline void keep(void *object)
{
	asm volatile("" : : "r"(object) : "memory");
}

/* Nothing comes behind the calls: their return addresses are of another line. */
static __always_inline void inner(void)
{
	take(1);		/* INNER */
}

static __always_inline void middle(void)
{
	inner();		/* MIDDLE */
	keep("");
}

noinline void outer(void)
{
	middle();		/* OUTER */
}

/* Nothing is inlined here. */
void direct(void)
{
	keep(take(2));		/* DIRECT */
}

void _start(void)
{
	outer();
	direct();
	small();
	large();
}
