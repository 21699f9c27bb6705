#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A machine with 16 CPUs: the kernel does not complain, and captures seldom change records that
# all CPUs share, also if each CPU has thousands of chains. Readers of 100,000 chains take a
# bounded number of instructions for each. A machine with 32 GB: each reader
# ends, and uses little memory. Prints TAP.
usage='KERNEL SECONDS'
. "$(dirname "$0")/prelude.sh"

seconds=$2
seen="$work/out $work/guest.err"

# --- 16 CPUs ------------------------------------------------------------------------

print_objects="dmesg | sed -n 's/.*torture: \([0-9]*\) objects allocated.*/objects \1/p'"
ok "16 CPUs allocate and free for $seconds s" run_guest slab_owner=on \
	"insmod /extra/owner_torture.ko seconds=$seconds; $print_objects" \
	--smp 16 --mem 2G --stall 600
echo "# $(cat "$work/out")"

# KASAN would touch 4 GB of shadow memory, and takes long to count.
[ "$recipe" != debug ] || finish_tests

# These functions change refcounts and counters of the depot.
functions=stack_depot_save_flags,stack_depot_get,stack_depot_get_many,stack_depot_put
functions=$functions,stack_depot_put_many,stack_depot_count

# Calls of all functions for 1,000 objects; nothing if one was not counted.
count_calls()
{
	awk -v wanted="$(echo $functions | tr , '\n' | wc -l)" '
		$1 == "objects" { objects = $2 }
		$1 == "calls" { calls += $3; found++ }
		END { if (objects && found == wanted) printf "%.0f\n", 1000 * calls / objects }' "$work/out"
}

# Each CPU gives back its references once in a second. A guest that counts instructions has
# some 100,000 objects for each CPU in that second, on a slow host as well.
for cpus_of_guest in 2 16; do
	ok "$cpus_of_guest CPUs count calls for 2 s" run_guest slab_owner=on "
		insmod /extra/owner_count.ko functions=$functions || exit
		insmod /extra/owner_torture.ko seconds=2 || exit
		rmmod owner_count
		$print_objects
		dmesg | sed -n 's/.*owner_count: calls/calls/p'" --icount --smp $cpus_of_guest --mem 2G --timeout 3600
	calls=$(count_calls)
	echo "# $cpus_of_guest CPUs: $(sed -n 's/^objects //p' "$work/out") objects, ${calls:-no} calls for 1,000"
	eval "calls_$cpus_of_guest=\${calls:-}"
done
# In three runs the torture made 232 to 243 calls for 1,000 objects on 16 CPUs, and 99 to 132
# on 2. It has more chains than a CPU cache has room for.
ok "... with at most three calls for ten objects" [ "${calls_16:-9999}" -le 300 ]
ok "... and not more than twice as many as on 2 CPUs" [ "${calls_16:-9999}" -le $((${calls_2:-0} * 2 + 100)) ]

# --- 100,000 chains -----------------------------------------------------------------

chains=100000
mkdir "$work/extra"
cp "$modules/owner_bench_memory.ko" "$work/extra"
ok "a counter of instructions is compiled" \
	gcc -O2 -Wall -static -o "$work/extra/count_load" tools/testing/owner/bench/count_load.c
# The guest counts instructions of all CPUs: 15 are idle, and the command stays on one.
# shellcheck disable=SC2016 # for the guest's shell
ok "16 CPUs and $chains chains are read" run_guest "slab_owner=on stack_depot_max=128M" '
	cd /sys/kernel/debug
	count() { echo "$1 $(taskset 1 /extra/count_load "$2")"; }
	ask="exec 3<>owner/query; echo group=stack top=20 >&3; cat <&3 >/dev/null"
	insmod /extra/owner_bench_memory.ko chains='$chains' frames=9; sleep 2
	for file in owner/top owner/stats slab_owner_stacks/show_handles; do
		count $file "cat $file >/dev/null"
	done
	count query "$ask"
	grep -c . slab_owner_stacks/show_handles | sed "s/^/lines /"
	sed -n "s/^refcounted_in_use:/stored/p" stackdepot/stats' \
	--icount --smp 16 --mem 2G --extra "$work/extra" --timeout 3600
# Instructions for each chain: "READER N". The command's own are some 20 for each.
awk -v chains=$chains '/^(owner|slab_owner_stacks|query)/ { printf "%s %d\n", $1, $2 / chains }' \
	"$work/out" >"$work/counts"
sed 's/^/# instructions for each chain: /' "$work/counts"
ok "the depot has all of them" [ "$(awk '$1 == "stored" { print $2 }' "$work/out")" -ge $chains ]
# Measured: 1,041, 996, 1,784, and 5,764 for a query that makes a group of each chain.
ok "four readers take a bounded number for each chain" equals \
	"$(awk '$2 > 0 && $2 <= ($1 == "query" ? 7000 : 2200)' "$work/counts" | wc -l)" 4

# --- 32 GB --------------------------------------------------------------------------

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
	for sentence in group=stack,cache,comm "group=stack,order if kind == page" "if size > 100000"; do
		free=$(free_kib); began=$(now)
		echo "$sentence" >&3; bytes=$(cat <&3 | wc -c)
		report "query_$sentence" $bytes
	done'
ok "32 GB are read" run_guest "slab_owner=on page_owner=on" \
	"insmod /extra/owner_leak.ko requests=100000
	$read_all" --smp 2 --mem 32G --timeout 3600
sed -n '/ ms, .* kept$/s/^/# /p' "$work/out"
for reader in $files query_group=stack,cache query_group=stack,order query_if; do
	ok "$reader has an answer" file_has "$work/out" "^$reader.* [0-9]+ ms, [1-9][0-9]* bytes"
done
ok "no reader keeps more than 64 MiB" equals \
	"$(awk '/ KiB kept$/ && $(NF - 2) > 65536' "$work/out")" ""
finish_tests
