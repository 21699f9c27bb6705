#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measure CPU time and peak memory of ownertop and page_owner_sort on the same dump. The
# tools take turns, so that other load on the machine affects both. Fails if the table view
# is less than $least times faster than page_owner_sort.
#
# usage: bench_ownertop.sh KERNEL_TREE [DUMP]
#
# plain_loop.c only finds and hashes chains: the least that a program does that groups by them.
# A dump for which memory is slow: make_owner_dump.py --even --records 2350000 --chains 60000.
#
# KERNEL_TREE has page_owner_sort.c. The default DUMP is generated: it has 300,000 records in
# 200,000 groups. pprof, the table of many fields, and page_owner_sort without --cull, print
# all groups; the other runs print fewer.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 KERNEL_TREE [DUMP]" >&2
	exit 2
fi
here=$(dirname "$(readlink -f "$0")")
ownertop_dir=$here/../../../mm/ownertop
rounds=5
least=20
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -w -o "$work/page_owner_sort" "$1/tools/mm/page_owner_sort.c"
gcc -O2 -Wall -Wextra -Werror -DXXH_INLINE_ALL -o "$work/plain_loop" "$here/plain_loop.c"
make -s -C "$ownertop_dir" O="$work/build"
dump=${2:-$work/dump}
if [ $# -eq 1 ]; then
	"$here/make_owner_dump.py" --records 300000 --depth 6 \
		"$ownertop_dir/tests/input/page_real.txt" > "$dump"
fi

# diff compares the dump with its beginning.
old=$work/old
awk -v RS= -v ORS='\n\n' '{ print } NR == 500 { exit }' "$dump" > "$old"

# measure_command NAME COMMAND...: append "CPU-seconds KiB" to the results of NAME
measure_command()
{
	local name=$1

	shift
	/usr/bin/time -o "$work/time" -f '%U %S %M' "$@" > /dev/null
	awk '{ print $1 + $2, $3 }' "$work/time" >> "$work/$name.times"
}

for _ in $(seq "$rounds"); do
	measure_command page_owner_sort "$work/page_owner_sort" --cull stacktrace "$dump" "$work/out"
	measure_command plain_loop "$work/plain_loop" "$dump"
	measure_command ownertop "$work/build/ownertop" "$dump"
	measure_command ownertop_comm "$work/build/ownertop" -g comm "$dump"
	measure_command ownertop_filter "$work/build/ownertop" 'if pid == 5' "$dump"
	measure_command ownertop_tree "$work/build/ownertop" tree "$dump"
	measure_command ownertop_diff "$work/build/ownertop" diff "$old" "$dump"
	measure_command ownertop_sentence "$work/build/ownertop" \
		'group=stack.4,comm top=20 if age > 10m && !(comm ~ kworker*)' "$dump"
	measure_command ownertop_fields "$work/build/ownertop" -n 0 -d 0 \
		-g kind,cache,comm,pid,tgid,stack,user "$dump"
	measure_command ownertop_pprof "$work/build/ownertop" pprof "$dump"
	measure_command ownertop_as_sort "$work/build/ownertop" page_owner_sort --cull stacktrace "$dump" \
		"$work/out"
	measure_command ownertop_as_sort_all "$work/build/ownertop" page_owner_sort "$dump" "$work/out"
	# shellcheck disable=SC2016 # the inner shell expands it
	measure_command ownertop_pipe sh -c 'cat "$1" | "$2" -' sh "$dump" "$work/build/ownertop"
done

# find_median NAME COLUMN: the best run is too optimistic, and a mean includes disturbances.
find_median()
{
	cut -d ' ' -f "$2" "$work/$1.times" | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

base=$(find_median page_owner_sort 1)
printf 'dump\t%s bytes\n' "$(stat -L -c %s "$dump")"
plain=$(find_median plain_loop 1)
printf 'tool\tCPU seconds\ttimes faster\tof plain loop\tpeak KiB\n'
for name in page_owner_sort plain_loop ownertop ownertop_comm ownertop_filter ownertop_tree \
	ownertop_diff ownertop_pipe ownertop_sentence ownertop_fields ownertop_pprof \
	ownertop_as_sort ownertop_as_sort_all; do
	seconds=$(find_median "$name" 1)
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$seconds" \
		"$(awk -v a="$base" -v b="$seconds" 'BEGIN { printf "%.1f", a / b }')" \
		"$(awk -v a="$plain" -v b="$seconds" 'BEGIN { printf "%.2f", b / a }')" \
		"$(find_median "$name" 2)"
done
awk -v theirs="$base" -v ours="$(find_median ownertop 1)" -v least="$least" 'BEGIN {
	if (theirs >= least * ours)
		exit
	printf "the table must take at most 1/%d of the time of page_owner_sort\n", least
	exit 1 }' >&2
