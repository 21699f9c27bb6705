#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name, and the guest expands what CMD names:
# shellcheck disable=SC2317,SC2016
#
# Test the guest runner on the kernels, um and x86_64 by default. Prints TAP.
usage='[KERNEL...]'
. "$(dirname "$0")/prelude.sh"

guest=tools/testing/owner/guest/guest.py
build=${BUILD:-$PWD/build}
[ $# -gt 0 ] || set -- um x86_64
tests_per_kernel=34
seen=$work/err

# The runner creates its files below $TMPDIR; no_guest_is_left() checks that it removes them.
mkdir "$work/tmp" "$work/extra" "$work/extra/below"
export TMPDIR="$work/tmp"

skip_kernel()
{
	for _ in $(seq $tests_per_kernel); do
		skip_test guest "no kernel; make kernel K=$kernel"
	done
}

# boot_guest OPTION...: leaves $work/out, $work/err and $status
boot_guest()
{
	"$guest" run "$kernel" --build "$build" --timeout 120 "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
}

status_is() { [ "$status" = "$1" ]; }
output_has() { grep -qE "$1" "$work/out"; }
output_equals() { cmp "$work/out" "$1" >"$work/err" 2>&1; }
errors_have() { grep -qE "$1" "$work/err"; }
errors_are_empty() { [ ! -s "$work/err" ]; }

# One line of message, the headline, and 40 lines.
tail_is_complete()
{
	[ "$(wc -l <"$work/err")" = 42 ] &&
		sed -n 2p "$work/err" | grep -q 'last 40 lines'
}

# No process of a guest is left: each has a path below $work/tmp on its command line.
no_guest_is_left()
{
	[ -z "$(ls "$work/tmp")" ] || return 1
	for line in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$line"; } 2>/dev/null
		echo
	done >"$work/processes"
	! grep -qF "$work/tmp/" "$work/processes"
}

test_plain_run()
{
	echo one >"$work/extra/script"
	chmod 751 "$work/extra/script"
	echo two >"$work/extra/below/file"
	ln -sfn below/file "$work/extra/link"
	cpus=2
	[ "$kernel" != um ] || cpus=1
	boot_guest --append "word=arrives loglevel=7" --smp "$cpus" \
		--extra "$work/extra" --console "$work/console" --cmd '
		cat /proc/cmdline
		echo "cpus $(grep -c ^processor /proc/cpuinfo)"
		stat -c "%n %a" /extra/script
		echo "link $(readlink /extra/link) $(cat /extra/link)"
		echo "here $(pwd) $(hostname)"
		ls -d /sys/kernel/debug/sl* /sys/kernel/debug/bdi |
			sed "s/^/debugfs /"
		echo to-the-console >/dev/console'
	ok "status 0 passes through" status_is 0
	ok "nothing on stderr" errors_are_empty
	ok "APPEND reaches the kernel" output_has 'word=arrives loglevel=7'
	ok "SMP is the number of processors" output_has "^cpus $cpus\$"
	ok "EXTRA keeps modes" output_has '^/extra/script 751$'
	ok "EXTRA keeps links and directories" output_has '^link below/file two$'
	ok "CMD starts in / of a host named guest" output_has '^here / guest$'
	ok "debugfs is mounted" output_has '^debugfs /sys/kernel/debug/'
	ok "the console is kept apart, in its file" console_is_apart
}

console_is_apart()
{
	grep -q '^to-the-console' "$work/console" &&
		! grep -q 'to-the-console' "$work/out"
}

# The output has all 256 byte values and no newline at its end, and CMD leaves a process
# behind.
test_output()
{
	i=0
	while [ $i -lt 256 ]; do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o $i)"
		i=$((i + 1))
	done >"$work/extra/bytes"
	{ cat "$work/extra/bytes"; printf 'out\nerr\nout\nlast'; } >"$work/want"
	boot_guest --extra "$work/extra" --cmd '
		setsid sleep 1000 &
		cat /extra/bytes
		echo out; echo err >&2; echo out
		printf last
		exit 7'
	ok "status 7 passes through" status_is 7
	ok "output is exact, in order, binary-clean" output_equals "$work/want"
}

test_large_output()
{
	boot_guest --cmd 'echo one >/dev/stderr; echo two | tee /dev/stdout'
	printf 'one\ntwo\ntwo\n' >"$work/want"
	# A process of its own copies what the devices get: it can come after the direct output.
	sort -o "$work/out" "$work/out"
	ok "/dev/stdout and /dev/stderr can be opened" output_equals "$work/want"
	boot_guest --cmd '
		dd if=/dev/urandom of=/tmp/large bs=1M count=20 2>/dev/null
		sha256sum </tmp/large >/dev/console
		cat /tmp/large' --console "$work/console"
	sum=$(sha256sum <"$work/out" | cut -d' ' -f1)
	ok "20 MB pass whole" large_output_is_whole "$sum"
}

large_output_is_whole()
{
	[ "$(wc -c <"$work/out")" = $((20 << 20)) ] &&
		grep -q "$1" "$work/console"
}

test_panic()
{
	crash='echo c >/proc/sysrq-trigger'
	[ "$kernel" != um ] ||
		crash='echo 1 >/proc/sys/vm/panic_on_oom; tail /dev/zero'
	boot_guest --mem 128M --provokes . --cmd "echo before; $crash; sleep 100"
	ok "a panic is status 125" status_is 125
	ok "a panic is told, with its line" \
		errors_have '^guest: the guest panicked while CMD ran: Kernel panic'
	ok "a panic shows 40 console lines" tail_is_complete
	ok "what came before the panic is there" output_has '^before$'
}

test_hang()
{
	# The host may be busy: give the boot five times what one took, rounded up.
	boot_guest --verbose --cmd true
	limit=$(awk '/: CMD began .* s after the start/ { for (i = 1; $i != "began"; i++) continue
		print int(5 * $(i + 1)) + 5 }' "$work/err")
	boot_guest --timeout "$limit" --cmd 'sleep 1000'
	ok "a hang is status 124" status_is 124
	ok "a hang is told, with 40 lines" hang_is_reported
	limit=15
	boot_guest --stall $limit --provokes . --console "$work/console" --cmd '
		while [ $((i += 1)) -le 18 ]; do sleep 1; echo $i >/dev/console; done
		echo last; sleep 1000'
	ok "a guest that prints does not stall" output_has '^last$'
	ok "one that stops to print does" stall_is_reported
}

hang_is_reported()
{
	tail_is_complete && errors_have "^guest: hung: CMD had not ended after $limit s"
}

# User-mode Linux has no NMI.
stall_is_reported()
{
	status_is 124 && errors_have "^guest: hung: CMD had not ended when neither CMD nor the kernel had printed for $limit s" || return
	[ "$kernel" = um ] || file_has "$work/console" 'task:sleep '
}

test_complaints()
{
	rm -rf "$work/logs"
	complain='echo "<4>WARNING: planted" >/dev/kmsg; exit 3'
	GUEST_LOGS=$work/logs boot_guest --cmd "$complain"
	ok "a kernel's complaint is told" errors_have \
		'^guest: the kernel complained: [0-9]+: .*WARNING: planted'
	ok "CMD's status passes through nevertheless" status_is 3
	ok "the console is kept" file_has "$work/logs/001-$kernel" "WARNING: planted"
	ok "and the complaint" file_has "$work/logs/complaints" \
		"^001-$kernel:[0-9]+: .*WARNING: planted"
	boot_guest --provokes 'WARNING: pla' --cmd "$complain"
	ok "a complaint that CMD provokes is not" errors_are_empty
	# shellcheck disable=SC2016 # for the script's shell
	GUEST_LOGS='' sh -c '
		. "$(dirname "$0")/prelude.sh"
		run_guest "" "echo \"<4>WARNING: planted\" >/dev/kmsg" || exit
		run_guest "" true
		finish_tests' tools/testing/owner/tests/script "$kernel" >"$work/out" 2>"$work/err"
	status=$?
	ok "a script fails whose first guest of two complained" script_failed
}

script_failed()
{
	status_is 1 && output_has "^not ok 1 - no guest's kernel complained" &&
		output_has '^# complaints: 001-.*WARNING: planted'
}

# interrupt_guest SIGNAL runner|machine [CMD]: start a guest, wait for its CMD, send the signal
interrupt_guest()
{
	# Remove the output of the previous test: the loop below waits for some.
	: >"$work/out"
	# With exec, $! is the runner itself.
	(exec "$guest" run "$kernel" --build "$build" --timeout 120 \
		--cmd "${3:-}echo up; sleep 1000" >"$work/out" 2>"$work/err") &
	runner=$!
	for _ in $(seq 1200); do
		[ ! -s "$work/out" ] || break
		sleep 0.1
	done
	if [ "$2" = machine ]; then
		kill -s "$1" "$(cut -d' ' -f1 /proc/$runner/task/$runner/children)"
	else
		kill -s "$1" "$runner"
	fi
	wait "$runner"
	status=$?
}

test_interrupted_runs()
{
	interrupt_guest TERM runner
	ok "a runner ended by SIGTERM leaves nothing" runner_ended_clean
	GUEST_LOGS='' interrupt_guest TERM runner 'echo "<4>WARNING: planted" >/dev/kmsg; '
	ok "... but what its kernel complained of" errors_have 'the kernel complained: .*planted'
	interrupt_guest KILL machine
	ok "a machine that dies is told" dead_machine_is_reported
	boot_guest --systemd --cmd true
	ok "systemd on a kernel without ext4 is refused" ext4_is_demanded systemd
	boot_guest --packages fio --cmd true
	ok "packages, too" ext4_is_demanded packages
	boot_guest --plugin plugin.so --cmd true
	ok "a plugin without TCG is refused" icount_is_demanded
	boot_guest --build "$work" --cmd true
	ok "a missing kernel is told, with what to do" missing_kernel_is_reported
}

runner_ended_clean()
{
	status_is 143 && no_guest_is_left
}

dead_machine_is_reported()
{
	status_is 125 && no_guest_is_left &&
		errors_have '^guest: .* ended by SIGKILL while CMD ran'
}

ext4_is_demanded()
{
	status_is 123 && errors_have \
		"^guest: $kernel: --$1 needs a kernel for QEMU that has ext4: K=debian or debian-vanilla\$"
}

icount_is_demanded()
{
	status_is 123 && errors_have '^guest: --plugin needs --icount, because KVM has no plugins$'
}

missing_kernel_is_reported()
{
	status_is 123 && errors_have "build it first: make kernel K=$kernel"
}

# Each line of one list is a complaint, and none of the other.
cat >"$work/complaints" <<'END'
[    1.234567] BUG: KASAN: slab-use-after-free in f+0x1/0x2
BUG kmalloc-64 (Tainted: G           O      ): Redzone overwritten
watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [cat:99]
BUG: sleeping function called from invalid context at mm/x.c:1
WARNING: CPU: 0 PID: 1 at mm/x.c:1 f+0x1/0x2
WARNING: possible circular locking dependency detected
WARNING: suspicious RCU usage
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
INFO: task cat:99 blocked for more than 120 seconds.
INFO: lockdep is turned off.
UBSAN: array-index-out-of-bounds in mm/x.c:1:2
kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
kmemleak: Cannot allocate a kmemleak_object structure
Oops: 0000 [#1] PREEMPT SMP
Unable to handle kernel paging request at virtual address 0
Internal error: Oops - BUG: 0 [#1]
Kernel panic - not syncing: no
list_add corruption. next->prev should be prev
refcount_t: underflow; use-after-free.
sh: page allocation failure: order:0, mode:0xcc0
sh invoked oom-killer: gfp_mask=0xcc0
 Call Trace:
END
cat >"$work/harmless" <<'END'
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
rcu: RCU lockdep checking is enabled.
kasan: KernelAddressSanitizer initialized (generic)
kmemleak: Kernel memory leak detector disabled
kmemleak: 0 new suspected memory leaks
slab_owner: owner= on the boot line has no effect
DEBUG: warning: oops
END
count_complaints()
{
	PYTHONPATH=tools/testing/owner/guest python3 -c '
import sys, pathlib, complaints
complaints.LINES_MAX = 1000
print("\n".join(complaints.find_complaints(pathlib.Path(sys.argv[1]))))' "$1" | grep -c .
}
ok "each kind of complaint is found" \
	equals "$(count_complaints "$work/complaints")" "$(wc -l <"$work/complaints")"
ok "and nothing else" equals "$(count_complaints "$work/harmless")" 0

for kernel; do
	label=$kernel
	if [ ! -e "$build/$kernel" ]; then
		skip_kernel
		continue
	fi
	# The first guest on a machine prints which accelerator it chose.
	boot_guest --cmd true
	test_plain_run
	test_output
	test_large_output
	test_panic
	test_hang
	test_complaints
	test_interrupted_runs
done
finish_tests
