// SPDX-License-Identifier: GPL-2.0
/*
 * A program of known functions, whose return addresses user_names.py puts into a dump. It is built
 * with -fno-inline.
 */

int take(int n)
{
	__asm__ volatile("" ::: "memory");
	return n;
}

static int ask_inner(int n)
{
	int got = take(n);

	__asm__ volatile("" ::: "memory");
	return got + 1;
}

/* The last instruction is the call: the return address is that of the next function. */
static _Noreturn void ask_last(int n)
{
	take(n);
	__builtin_unreachable();
}

int ask_outer(int n)
{
	int got = ask_inner(n);

	__asm__ volatile("" ::: "memory");
	return got + 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 2)
		ask_last(argc);
	return ask_outer(argc);
}
