// SPDX-License-Identifier: GPL-2.0
/*
 * A program that names.py uses as vmlinux and as a module: it compiles the program, writes a
 * dump with its return addresses and checks the names that ownertop finds. Comments with a
 * word in capitals mark lines for names.py.
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

/*
 * Call take() with the last instruction of the line, so that the return address belongs to
 * another line.
 */
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

/* This function calls no inlined function. */
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
