// SPDX-License-Identifier: GPL-2.0
/*
 * take_leak LEAK COUNT takes the path of one leak of this directory COUNT times. A kernel without
 * the leak frees all memory that these paths allocate. take_leak load works until it is killed,
 * and keeps nothing; take_leak spool COUNT makes files that stay.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_tun.h>
#include <linux/keyctl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* linux/ioprio.h may not be there, and linux/watch_queue.h does not go with fcntl.h. */
#define BEST_EFFORT_4 (2 << 13 | 4)
#define MAY_DO_ALL 0x3f3f0000
#define SET_WATCH_QUEUE_SIZE _IO('W', 0x60)

static char scratch[256];

static long check(long result, const char *what)
{
	if (result < 0)
		error(1, errno, "%s", what);
	return result;
}

/* A name that no call of this program has used. */
static const char *make_name(void)
{
	static unsigned long next;
	struct timespec now;

	if (!next) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		next = now.tv_sec * 1000000000UL + now.tv_nsec;
	}
	snprintf(scratch, sizeof(scratch), "leak%lx", next++);
	return scratch;
}

static void write_text(const char *path, const char *text)
{
	int file = check(open(path, O_WRONLY | O_CREAT, 0644), path);

	check(write(file, text, strlen(text)), path);
	close(file);
}

/* Requests to the kernel's routing, with attributes that may be nested. */
struct request {
	struct nlmsghdr header;
	char body[512];
};

static void *begin_request(struct request *request, int type, int flags, size_t size)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_len = NLMSG_LENGTH(size);
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	return NLMSG_DATA(&request->header);
}

static struct rtattr *add_attribute(struct request *request, int type, const void *data,
				    size_t size)
{
	struct rtattr *attribute = (void *)request + NLMSG_ALIGN(request->header.nlmsg_len);

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attribute), data, size);
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_SPACE(size);
	return attribute;
}

/* Send a request and read answers up to the acknowledgment, whose error it returns. */
static int send_request(struct request *request)
{
	static int netlink = -1;
	char answers[8192];

	if (netlink < 0)
		netlink = check(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), "netlink");
	check(send(netlink, request, request->header.nlmsg_len, 0), "netlink: send");
	while (1) {
		struct nlmsghdr *answer = (void *)answers;
		int size = check(recv(netlink, answers, sizeof(answers), 0), "netlink: receive");

		for (; NLMSG_OK(answer, size); answer = NLMSG_NEXT(answer, size))
			if (answer->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(answer))->error;
	}
}

static void check_request(struct request *request, const char *what)
{
	errno = -send_request(request);
	check(errno ? -1 : 0, what);
}

static void delete_link(const char *name)
{
	struct request request;

	begin_request(&request, RTM_DELLINK, 0, sizeof(struct ifinfomsg));
	add_attribute(&request, IFLA_IFNAME, name, strlen(name) + 1);
	check_request(&request, "delete a link");
}

static void take_keyring(void)
{
	const char *name = make_name();
	int serial = check(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name), "make a ring");

	/* Only a keyring that its user may search is found by its name. */
	check(syscall(SYS_keyctl, KEYCTL_SETPERM, serial, MAY_DO_ALL), "permit to join a keyring");
	if (check(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name), "join a keyring"))
		error(1, 0, "a keyring was not joined twice");
}

static void take_watch_queue(void)
{
	int ends[2];

	check(pipe2(ends, O_EXCL), "make a notification pipe");
	check(ioctl(ends[0], SET_WATCH_QUEUE_SIZE, 512), "set the size of a watch queue");
	close(ends[0]);
	close(ends[1]);
}

static void take_unix_oob(void)
{
	int ends[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	check(send(ends[0], "!", 1, MSG_OOB), "send an urgent byte");
	close(ends[0]);
	close(ends[1]);
}

static void ignore_signal(int number)
{
	(void)number;
}

static void take_unix_pid(void)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	int ends[2], one = 1;
	char bytes[2];
	pid_t child;

	sigaction(SIGUSR1, &action, NULL);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	for (int i = 0; i < 2; i++)
		check(setsockopt(ends[i], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)), "passcred");
	child = check(fork(), "fork");
	if (!child) {
		check(send(ends[1], "a", 1, 0), "send");
		for (;; usleep(1000)) {
			sched_yield();
			kill(getppid(), SIGUSR1);
		}
	}
	/* A signal before the byte arrived interrupts too early. */
	while (recv(ends[0], bytes, 2, MSG_WAITALL) < 0)
		check(errno == EINTR ? 0 : -1, "receive one byte of two");
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	close(ends[0]);
	close(ends[1]);
}

static void take_ip_cmsg(void)
{
	static int udp = -1;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char control[CMSG_SPACE(40) + CMSG_SPACE(1)] __attribute__((aligned(8))) = "";
	struct iovec part = { "", 1 };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &part,
				  .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *each = CMSG_FIRSTHDR(&message);

	if (udp < 0)
		udp = check(socket(AF_INET, SOCK_DGRAM, 0), "socket");
	each->cmsg_level = IPPROTO_IP;
	each->cmsg_type = IP_RETOPTS;
	each->cmsg_len = CMSG_LEN(40);
	memset(CMSG_DATA(each), IPOPT_NOP, 40);
	/* A time to live has four bytes. */
	each = CMSG_NXTHDR(&message, each);
	each->cmsg_level = IPPROTO_IP;
	each->cmsg_type = IP_TTL;
	each->cmsg_len = CMSG_LEN(1);
	if (sendmsg(udp, &message, 0) >= 0)
		error(1, 0, "a wrong control message was taken");
}

/* Add a default route, and a rule that suppresses it: the lookup leaks the route that it finds. */
static void prepare_fib6_rule(void)
{
	struct request request;
	struct fib_rule_hdr *rule;
	struct rtmsg *route;
	unsigned int priority = 100, zero = 0, loopback = if_nametoindex("lo");

	rule = begin_request(&request, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, sizeof(*rule));
	rule->family = AF_INET6;
	rule->table = RT_TABLE_MAIN;
	rule->action = FR_ACT_TO_TBL;
	add_attribute(&request, FRA_PRIORITY, &priority, sizeof(priority));
	add_attribute(&request, FRA_SUPPRESS_PREFIXLEN, &zero, sizeof(zero));
	if (send_request(&request) == -EEXIST)
		return;
	route = begin_request(&request, RTM_NEWROUTE, NLM_F_CREATE, sizeof(*route));
	route->rtm_family = AF_INET6;
	route->rtm_table = RT_TABLE_MAIN;
	route->rtm_protocol = RTPROT_STATIC;
	route->rtm_type = RTN_UNICAST;
	add_attribute(&request, RTA_OIF, &loopback, sizeof(loopback));
	check_request(&request, "add a default route");
}

/* To join a group, the kernel looks for a route to it. */
static void take_fib6_rule(void)
{
	static int udp = -1;
	struct ipv6_mreq group = { { { { 0xff, 0x0e, [15] = 0x42 } } }, 0 };

	if (udp < 0)
		udp = check(socket(AF_INET6, SOCK_DGRAM, 0), "socket");
	check(setsockopt(udp, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group, sizeof(group)), "join");
	check(setsockopt(udp, IPPROTO_IPV6, IPV6_DROP_MEMBERSHIP, &group, sizeof(group)), "leave");
}

static void take_tun(void)
{
	struct ifreq wanted = { .ifr_name = "leak1", .ifr_flags = IFF_TUN | IFF_NO_PI };
	int tun = check(open("/dev/net/tun", O_RDWR), "/dev/net/tun");

	check(ioctl(tun, TUNSETIFF, &wanted), "TUNSETIFF");
	delete_link("leak1");
	close(tun);
}

#define ASKED "/tmp/generations.asked"
#define DONE "/tmp/generations.done"

/* Each generation of this process writes its memory, forks and ends. */
static void live_for_generations(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* The caller waits for the end of its output. */
	for (int file = 0; file < 64; file++)
		close(file);
	while (1) {
		int left = 0, asked = check(open(ASKED, O_RDONLY), ASKED);

		check(read(asked, &left, sizeof(left)), ASKED);
		close(asked);
		for (; left > 0; left--) {
			*page = left;
			if (check(fork(), "fork"))
				_exit(0);
		}
		write_text(DONE, "done");
	}
}

/* One process lives from the first call on, so that without the leak a call adds nothing. */
static void take_anon_vmas(int count)
{
	char answer[8];
	int file;

	if (!mkfifo(ASKED, 0600)) {
		check(mkfifo(DONE, 0600), DONE);
		if (!check(fork(), "fork"))
			live_for_generations();
	}
	file = check(open(ASKED, O_WRONLY), ASKED);
	check(write(file, &count, sizeof(count)), ASKED);
	close(file);
	file = check(open(DONE, O_RDONLY), DONE);
	check(read(file, answer, sizeof(answer)), DONE);
	close(file);
}

static void take_ext4(void)
{
	mkdir("/tmp/ext4", 0755);
	check(mount("/dev/loop0", "/tmp/ext4", "ext4", MS_RDONLY, NULL), "mount the ext4");
	check(umount("/tmp/ext4"), "umount the ext4");
}

static void take_io_context(void)
{
	pid_t taken = 1;
	struct {
		unsigned long flags, pidfd, child_tid, parent_tid, signal, stack, stack_size, tls;
		unsigned long set_tid, set_tid_size, cgroup;
	} wanted = { .signal = SIGCHLD, .set_tid = (unsigned long)&taken, .set_tid_size = 1 };

	check(syscall(SYS_ioprio_set, 1, 0, BEST_EFFORT_4), "ioprio_set");
	if (syscall(SYS_clone3, &wanted, sizeof(wanted)) >= 0 || errno != EEXIST)
		error(1, errno, "clone3 did not refuse a pid in use");
}

/*
 * Files whose upper layer has metadata only, which an overlay without metacopy refuses. Only a
 * dentry that the overlay's own lookup made has the overlay in its call chain: drop those of
 * the files' creation.
 */
static void take_overlays(int count)
{
	static const char options[] = "lowerdir=/tmp/layers/lower/files,upperdir=/tmp/layers/upper,"
				      "workdir=/tmp/layers/scratch,metacopy=off";
	char (*names)[32] = calloc(count, sizeof(*names));
	struct stat status;
	char path[64];

	if (stat("/tmp/layers", &status)) {
		mkdir("/tmp/layers", 0755);
		mkdir("/tmp/layers/lower", 0755);
		mkdir("/tmp/layers/upper", 0755);
		mkdir("/tmp/layers/scratch", 0755);
		mkdir("/tmp/layers/all", 0755);
		check(mount("/dev/loop0", "/tmp/layers/lower", "ext4", 0, NULL), "mount the ext4");
		mkdir("/tmp/layers/lower/files", 0755);
		check(mount("overlay", "/tmp/layers/all", "overlay", 0, options), "mount it");
	}
	for (int i = 0; i < count; i++) {
		strcpy(names[i], make_name());
		snprintf(path, sizeof(path), "/tmp/layers/lower/files/%s", names[i]);
		write_text(path, "");
		snprintf(path, sizeof(path), "/tmp/layers/upper/%s", names[i]);
		write_text(path, "");
		check(setxattr(path, "trusted.overlay.metacopy", "", 0, 0), "setxattr");
	}
	sync();
	write_text("/proc/sys/vm/drop_caches", "2");
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/tmp/layers/all/%s", names[i]);
		if (!stat(path, &status))
			error(1, 0, "%s: the overlay did not refuse it", path);
		/* Files that stay are no leak. */
		snprintf(path, sizeof(path), "/tmp/layers/upper/%s", names[i]);
		check(unlink(path), path);
	}
	free(names);
}

#define INSTANCE "/sys/kernel/tracing/instances/leak"

static void take_ring_buffer(void)
{
	char page[4096];
	int file;

	check(mkdir(INSTANCE, 0755), INSTANCE);
	write_text(INSTANCE "/trace_marker", "leak");
	file = check(open(INSTANCE "/per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK), "trace");
	check(read(file, page, sizeof(page)), "read a trace");
	close(file);
	check(rmdir(INSTANCE), INSTANCE);
}

/* A bit of all that a machine does. */
static void work_and_free(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	char directory[64], path[80], bytes[512];
	int ends[2], file, epoll;

	snprintf(directory, sizeof(directory), "/tmp/load%d", getpid());
	snprintf(path, sizeof(path), "%s/file", directory);
	mkdir(directory, 0755);
	check(mount("none", directory, "tmpfs", 0, NULL), "mount a tmpfs");
	write_text(path, "some text");
	check(umount(directory), "umount a tmpfs");
	write_text(path, "some text");
	unlink(path);
	rmdir(directory);
	file = check(open("/proc/self/status", O_RDONLY), "/proc/self/status");
	check(read(file, bytes, sizeof(bytes)), "/proc/self/status");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	epoll = check(epoll_create1(0), "epoll_create1");
	check(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), "epoll_ctl");
	check(write(ends[1], bytes, sizeof(bytes)), "write to a socket");
	check(read(ends[0], bytes, 100), "read from a socket");
	close(epoll);
	close(file);
	close(ends[0]);
	close(ends[1]);
	close(check(socket(AF_INET, SOCK_STREAM, 0), "socket"));
	close(check(socket(AF_INET6, SOCK_DGRAM, 0), "socket"));
	if (!check(fork(), "fork")) {
		bytes[0] = 1;
		_exit(0);
	}
	wait(NULL);
}

static void make_spool(int count)
{
	char path[64];

	mkdir("/tmp/spool", 0755);
	while (count-- > 0) {
		snprintf(path, sizeof(path), "/tmp/spool/%s", make_name());
		write_text(path, "mail");
	}
}

static const struct leak {
	const char *name;
	void (*take)(void);
	void (*take_many)(int count);
	void (*prepare)(void);
} leaks[] = {
	{ "keyring", take_keyring },
	{ "watch_queue", take_watch_queue },
	{ "unix_oob", take_unix_oob },
	{ "unix_pid", take_unix_pid },
	{ "ip_cmsg", take_ip_cmsg },
	{ "fib6_rule", take_fib6_rule, .prepare = prepare_fib6_rule },
	{ "tun", take_tun },
	{ "anon_vma", .take_many = take_anon_vmas },
	{ "ext4", take_ext4 },
	{ "io_context", take_io_context },
	{ "overlay", .take_many = take_overlays },
	{ "ring_buffer", take_ring_buffer },
	{ "spool", .take_many = make_spool },
};

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0;

	if (argc == 2 && !strcmp(argv[1], "load"))
		for (;; usleep(2000))
			work_and_free();
	for (size_t i = 0; count > 0 && i < sizeof(leaks) / sizeof(*leaks); i++) {
		const struct leak *leak = &leaks[i];

		if (strcmp(argv[1], leak->name))
			continue;
		if (leak->prepare)
			leak->prepare();
		if (leak->take_many)
			leak->take_many(count);
		else
			while (count-- > 0)
				leak->take();
		return 0;
	}
	fprintf(stderr, "usage: take_leak LEAK COUNT, or take_leak load; leaks are\n");
	for (size_t i = 0; i < sizeof(leaks) / sizeof(*leaks); i++)
		fprintf(stderr, "  %s\n", leaks[i].name);
	return 2;
}
