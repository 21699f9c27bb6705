#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compare every chain of our unwinder with the kernel's unwinder, while tracers replace
# return addresses and modules are loaded and unloaded. Prints TAP.
#
# The guest has one CPU: while tracers patch every function, a second CPU emulated by QEMU
# sometimes executes a breakpoint that is already removed, and the kernel dies, with or
# without slab_owner. The interrupts of one CPU suffice here.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"


# shellcheck disable=SC2016 # the guest's shell expands it
stress='
T=/sys/kernel/tracing
mount -t tracefs none $T
print_unwind_counts() { sed -n "s/^unwind_/$1 /p" /sys/kernel/debug/owner/stats; }
run_file_system_load()
{
	find / -xdev >/dev/null
	find /proc /sys -name nothing >/dev/null 2>&1
	for file in 1 2 3 4 5 6 7 8; do echo "$file" | cat | cat >/tmp/$file; done
}
load_and_unload_modules()
{
	while [ ! -e /tmp/enough ]; do
		insmod /extra/owner_leak.ko requests=100 && rmmod owner_leak
		insmod /extra/owner_bench_memory.ko objects=1000 chains=100 && rmmod owner_bench_memory
	done
}

for round in 1 2 3; do run_file_system_load; done
print_unwind_counts plain:

load_and_unload_modules &
echo function_graph >$T/current_tracer
for round in 1 2; do run_file_system_load; done
echo nop >$T/current_tracer
print_unwind_counts graph:

for function in vfs_read vfs_open do_filp_open path_openat alloc_empty_file; do
	echo "r:owner/ret_$function $function" >>$T/kprobe_events
done
echo 1 >$T/events/owner/enable
for round in 1 2; do run_file_system_load; done
echo 0 >$T/events/owner/enable
print_unwind_counts probed:

echo function >$T/current_tracer
run_file_system_load
echo nop >$T/current_tracer
for round in 1 2 3; do run_file_system_load; done
touch /tmp/enough
wait
print_unwind_counts end:'

# read_figure WHEN NAME: a number of the statistics printed with that label
read_figure() { awk -v when="$1:" -v name="$2:" '$1 == when && $2 == name { print $3 }' "$work/out"; }

ok "runs under tracers" sh -c "tools/testing/owner/guest/guest.py run $kernel --smp 1 --mem 1G --timeout 900 \
	--append 'slab_owner=on owner.verify=1' --extra $modules \
	--console '$work/console' --cmd '$stress' >'$work/out' 2>'$work/err'"
sed 's/^/# /' "$work/out"
ok "each chain is the same" equals "$(read_figure end different)" 0
ok "of many" [ "$(read_figure end verified)" -gt 100000 ]
ok "hardly one needs the kernel's unwinder" \
	[ $(($(read_figure plain slow) * 1000)) -lt "$(read_figure plain verified)" ]
ok "until the function graph tracer is on" \
	[ "$(read_figure graph slow)" -gt $(($(read_figure plain slow) + 1000)) ]
ok "or a kretprobe" [ "$(read_figure probed slow)" -gt $(($(read_figure graph slow) + 100)) ]
ok "and nothing is warned of" console_is_quiet
finish_tests
