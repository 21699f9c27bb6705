// SPDX-License-Identifier: GPL-2.0
/*
 * Part of the program of planted.c. It is compiled twice into the program, which then has two
 * functions with the same name.
 */
#include "planted.h"

static noinline void twice(void)
{
	keep(take(3));		/* TWICE */
#ifdef LARGE
	keep(take(4));
	keep(take(5));
	keep(take(6));
	keep(take(7));
	keep(take(8));
	keep(take(9));
#endif
}

void ENTRY(void)
{
	twice();
	keep(take(10));
}
