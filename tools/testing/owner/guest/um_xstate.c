// SPDX-License-Identifier: GPL-2.0
/*
 * A preloaded library that lets User-mode Linux 6.12 run on processors with AMX.
 *
 * UML keeps 2696 bytes of extended registers for each process. The host rejects
 * PTRACE_SETREGSET with fewer bytes than the processor has. Read all registers, replace
 * the part that UML knows, and write all.
 */
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* At least the size of any processor's extended registers. */
#define REGISTERS_MAX	65536

static long set_registers(long pid, long type, const struct iovec *subset)
{
	static _Alignas(64) char bytes[REGISTERS_MAX];
	struct iovec all = { bytes, sizeof(bytes) };

	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, type, &all))
		return -1;
	if (subset->iov_len >= all.iov_len)
		return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, type, subset);
	memcpy(bytes, subset->iov_base, subset->iov_len);
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, type, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	long pid, address, word, result;
	va_list args;
	void *data;

	va_start(args, request);
	pid = va_arg(args, long);
	address = va_arg(args, long);
	data = va_arg(args, void *);
	va_end(args);

	if (request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
		return set_registers(pid, address, data);
	/* For PEEK requests the system call stores the word that libc's ptrace() returns. */
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA &&
	    request != PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, address, data);
	result = syscall(SYS_ptrace, request, pid, address, &word);
	return result ? result : word;
}
