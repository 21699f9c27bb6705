// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command while a BPF program is attached to the exit of a function of the kernel.
 *
 *   attach_fexit FUNCTION COMMAND [ARGUMENT...]
 *
 * The program does nothing. Its trampoline calls the function, so it is a frame of each
 * call chain that passes through the function. The guest has no libbpf: find the function
 * in the kernel's BTF here.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define BTF_MAX_SIZE	(64 << 20)

static void die(const char *what)
{
	fprintf(stderr, "attach_fexit: %s: %s\n", what, strerror(errno));
	exit(125);
}

static int call_bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static char *read_btf(void)
{
	char *data = malloc(BTF_MAX_SIZE);
	size_t size = 0;
	ssize_t got;
	int fd = open(BTF_FILE, O_RDONLY);

	if (fd < 0 || !data)
		die(BTF_FILE);
	while ((got = read(fd, data + size, BTF_MAX_SIZE - size)) > 0)
		size += got;
	close(fd);
	if (got < 0 || size < sizeof(struct btf_header))
		die(BTF_FILE);
	return data;
}

/* The number of bytes that follow a type. */
static size_t get_type_data_size(const struct btf_type *type)
{
	unsigned int count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return count * 12;
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* The number of the type of a function. */
static unsigned int find_function(const char *name)
{
	char *data = read_btf();
	struct btf_header *header = (void *)data;
	const char *strings = data + header->hdr_len + header->str_off;
	char *at = data + header->hdr_len + header->type_off;
	char *end = at + header->type_len;
	unsigned int id;

	for (id = 1; at < end; id++) {
		struct btf_type *type = (void *)at;

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(strings + type->name_off, name)) {
			free(data);
			return id;
		}
		at += sizeof(*type) + get_type_data_size(type);
	}
	errno = ENOENT;
	die(name);
	return 0;
}

static void attach_program(const char *function)
{
	const struct bpf_insn return_0[2] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int program;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACING;
	attr.expected_attach_type = BPF_TRACE_FEXIT;
	attr.attach_btf_id = find_function(function);
	attr.insns = (uintptr_t)return_0;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	program = call_bpf(BPF_PROG_LOAD, &attr);
	if (program < 0)
		die("the program was not loaded");
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.prog_fd = program;
	/* The program stays attached until this process ends. */
	if (call_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		die("the program was not attached");
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: attach_fexit FUNCTION COMMAND [ARGUMENT...]\n");
		return 125;
	}
	attach_program(argv[1]);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die(argv[2]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
