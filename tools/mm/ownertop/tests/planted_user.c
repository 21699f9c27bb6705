// SPDX-License-Identifier: GPL-2.0
/* A program of known functions, whose return addresses user_names.py puts into a dump. */

#define noinline __attribute__((noinline))
#define barrier() __asm__ volatile("" ::: "memory")

noinline int take(int n)
{
	barrier();
	return n;
}

static noinline int ask_inner(int n)
{
	int got = take(n);

	barrier();
	return got + 1;
}

/* The last instruction is the call: the return address is that of the next function. */
static noinline __attribute__((noreturn)) void ask_last(int n)
{
	take(n);
	__builtin_unreachable();
}

noinline int ask_outer(int n)
{
	int got = ask_inner(n);

	barrier();
	return got + 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 2)
		ask_last(argc);
	return ask_outer(argc);
}
