// SPDX-License-Identifier: GPL-2.0
/*
 * Lets User-mode Linux 6.12 run on processors whose registers are more than it
 * knows of (AMX): it keeps 2696 bytes of them for each process, and the host
 * refuses to set any other number than all. Preloaded, this sets the rest to what
 * it was.
 */
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* More than any processor has. */
#define REGISTERS_MAX	65536

static long set_registers(long pid, long type, const struct iovec *some)
{
	static _Alignas(64) char bytes[REGISTERS_MAX];
	struct iovec all = { bytes, sizeof(bytes) };

	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, type, &all))
		return -1;
	if (some->iov_len >= all.iov_len)
		return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, type, some);
	memcpy(bytes, some->iov_base, some->iov_len);
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
	/* The system call stores what libc's function returns. */
	if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA &&
	    request != PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, address, data);
	result = syscall(SYS_ptrace, request, pid, address, &word);
	return result ? result : word;
}
