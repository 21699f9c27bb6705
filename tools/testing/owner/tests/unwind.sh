#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compare every captured chain with the kernel's unwinder (owner.verify=1): in tasks,
# softirqs and hard interrupts, while tracers replace return addresses, and while modules are
# loaded and unloaded. Go on until CHAINS chains are compared. Prints TAP.
#
# The guest has one CPU: while tracers patch every function, a second CPU emulated by QEMU
# sometimes executes a breakpoint that is already removed, and the kernel dies, with or
# without slab_owner. The interrupts of one CPU suffice here.
usage='KERNEL [CHAINS]'
. "$(dirname "$0")/prelude.sh"

chains=${2:-200000}

# shellcheck disable=SC2016 # the guest's shell expands it
stress='
T=/sys/kernel/tracing
mount -t tracefs none $T
print_unwind_counts() { sed -n "s/^unwind_/$1: /p" /sys/kernel/debug/owner/stats; }
count_verified() { sed -n "s/^unwind_verified: //p" /sys/kernel/debug/owner/stats; }
run_file_system_load()
{
	find / -xdev >/dev/null
	find /proc /sys -name nothing >/dev/null 2>&1
	for file in 1 2 3 4 5 6 7 8; do echo "$file" | cat | cat >/tmp/$file; done
}
# Tasks, a kworker, timers, a tasklet, irq_work, many chains, a kretprobe, and init text.
run_contexts()
{
	insmod /extra/owner_bench_contexts.ko only=kmalloc pairs=200 && rmmod owner_bench_contexts
}
load_and_unload_modules()
{
	insmod /extra/owner_leak.ko requests=100 && rmmod owner_leak
	insmod /extra/owner_bench_memory.ko objects=1000 chains=100 && rmmod owner_bench_memory
}
keep_loading_modules()
{
	while [ ! -e /tmp/enough ]; do load_and_unload_modules; done
}
trace_functions()
{
	echo $1 >$T/current_tracer
	run_file_system_load
	run_contexts
	echo nop >$T/current_tracer
}
probe_returns()
{
	echo 1 >$T/events/owner/enable
	run_file_system_load
	echo 0 >$T/events/owner/enable
}

run_file_system_load
print_unwind_counts tasks
run_contexts
print_unwind_counts contexts
trace_functions function_graph
print_unwind_counts graph
for function in vfs_read vfs_open do_filp_open path_openat alloc_empty_file; do
	echo "r:owner/ret_$function $function" >>$T/kprobe_events
done
probe_returns
print_unwind_counts kretprobes
load_and_unload_modules
print_unwind_counts modules
if [ -e /extra/attach_fexit ]; then
	/extra/attach_fexit vfs_open find /proc /sys -name nothing >/dev/null 2>&1
	/extra/attach_fexit blocking_notifier_call_chain \
		insmod /extra/owner_bench_contexts.ko only=kmalloc contexts=fexit
	rmmod owner_bench_contexts
fi
print_unwind_counts fexit

keep_loading_modules &
while
	trace_functions function_graph
	probe_returns
	trace_functions function
	print_unwind_counts progress
	[ "$(count_verified)" -lt '"$chains"' ]
do :; done
touch /tmp/enough
wait
print_unwind_counts end'

# read_figure WHEN NAME: a number of the statistics printed with that label
read_figure() { awk -v when="$1:" -v name="$2:" '$1 == when && $2 == name { print $3 }' "$work/out"; }

ok "runs under tracers" sh -c "tools/testing/owner/guest/guest.py run $kernel --smp 1 --mem 1G \
	--stall 900 --append 'slab_owner=on owner.verify=1' --extra $modules \
	--console '$work/console' --cmd '$stress' >'$work/out' 2>'$work/err'"
grep -E 'verified|different|slow' "$work/out" | sed 's/^/# /'
before=0
for phase in tasks contexts graph kretprobes modules fexit end; do
	after=$(read_figure $phase verified)
	if [ $phase = fexit ] && [ ! -e "$modules/attach_fexit" ]; then
		skip_test "compares chains: $phase" "this kernel has no BPF"
	else
		ok "compares chains: $phase" [ "${after:-0}" -gt $((before + 100)) ]
	fi
	before=${after:-0}
done
ok "each chain is the same" equals "$(read_figure end different)" 0
ok "of $chains or more" [ "$(read_figure end verified)" -ge "$chains" ]
ok "hardly one needs the kernel's unwinder" \
	[ $(($(read_figure contexts slow) * 1000)) -lt "$(read_figure contexts verified)" ]
finish_tests
