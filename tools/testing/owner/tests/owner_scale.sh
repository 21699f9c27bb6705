#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A machine with 16 CPUs: captures seldom change records that all CPUs share, also if each CPU
# has thousands of chains, and the kernel does not complain. A machine with 32 GB: each reader
# ends, and uses little memory. Prints TAP.
usage='KERNEL SECONDS'
. "$(dirname "$0")/prelude.sh"

seconds=$2
seen="$work/out $work/guest.err"

# --- 16 CPUs ------------------------------------------------------------------------

# The functions that change refcounts and counters of the depot.
functions=stack_depot_save_flags,stack_depot_get,stack_depot_get_many,stack_depot_put
functions=$functions,stack_depot_put_many,stack_depot_count

# run_torture_guest CPUS: leaves "objects N" and "calls FUNCTION N" in $work/out.
run_torture_guest()
{
	tools/testing/owner/guest/guest.py run "$kernel" --append slab_owner=on --smp "$1" --mem 2G \
		--timeout $((seconds * 4 + 600)) --extra "$modules" --console "$work/console" --cmd "
	insmod /extra/owner_count.ko functions=$functions || exit
	insmod /extra/owner_torture.ko seconds=$seconds || exit
	rmmod owner_count
	dmesg | sed -n 's/.*torture: \([0-9]*\) objects allocated.*/objects \1/p
		s/.*owner_count: //p'" >"$work/out" 2>"$work/guest.err"
}

# Calls of all functions for 1,000 objects; nothing if one was not counted.
count_calls()
{
	awk -v wanted="$(echo $functions | tr , '\n' | wc -l)" '
		$1 == "objects" { objects = $2 }
		$1 == "calls" { calls += $3; found++ }
		END { if (objects && found == wanted) printf "%.0f\n", 1000 * calls / objects }' "$work/out"
}

for number_of_cpus in 2 16; do
	ok "$number_of_cpus CPUs allocate and free for $seconds s" run_torture_guest $number_of_cpus
	calls=$(count_calls)
	echo "# $number_of_cpus CPUs: $(awk '$1 == "objects" { print $2 }' "$work/out") objects, ${calls:-no} calls for 1,000"
	eval "calls_$number_of_cpus=\${calls:-}"
done
# The torture has more chains than a CPU cache has room for, so some calls are left.
ok "... with at most one call for two objects" [ "${calls_16:-9999}" -le 500 ]
ok "... and not more than twice as many as on 2 CPUs" [ "${calls_16:-9999}" -le $((${calls_2:-0} * 2 + 100)) ]

# --- 32 GB --------------------------------------------------------------------------

# KASAN would touch 4 GB of shadow memory.
[ "$kernel" != debug ] || finish_tests

files="slab_owner owner/caches owner/top owner/stats slab_owner_stacks/show_stacks"
files="$files page_owner page_owner_stacks/show_stacks"
# shellcheck disable=SC2016 # for the guest's shell
read_all='
	free_kib() { awk "/^MemFree:/ { print \$2 }" /proc/meminfo; }
	now() { read -r up _ </proc/uptime; echo ${up%.*}${up#*.}; }
	# Memory is what the open file keeps: a reader keeps its totals until it is closed.
	report() { echo "$1 $(($(now) - began))0 ms, $2 bytes, $((free - $(free_kib))) KiB kept"; }
	for file in '$files'; do
		free=$(free_kib); began=$(now)
		exec 4</sys/kernel/debug/$file
		bytes=$(wc -c <&4)
		report $file $bytes
		exec 4<&-
	done
	exec 3<>/sys/kernel/debug/owner/query
	for sentence in group=stack,cache,comm "source=page group=stack,order" "if size > 100000"; do
		free=$(free_kib); began=$(now)
		echo "$sentence" >&3; bytes=$(cat <&3 | wc -c)
		report "query_$sentence" $bytes
	done'
ok "32 GB are read" tools/testing/owner/guest/guest.py run "$kernel" \
	--append "slab_owner=on page_owner=on" --smp 2 --mem 32G --timeout 900 --extra "$modules" \
	--console "$work/console" --cmd "insmod /extra/owner_leak.ko requests=100000
	$read_all"
seen=$work/guest.err
sed -n '/ ms, .* kept$/s/^/# /p' "$work/out"
for reader in $files query_group query_source=page query_if; do
	ok "$reader has an answer" file_has "$work/out" "^$reader.* [0-9]+ ms, [1-9][0-9]* bytes"
done
ok "no reader keeps more than 64 MiB" equals \
	"$(awk '/ KiB kept$/ && $(NF - 2) > 65536' "$work/out")" ""
finish_tests
