#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that ownertop takes at most a tenth of the CPU time of page_owner_sort, for a dump with
# 4,000 call chains and for one with 60,000. "make bench" checks a higher factor on a larger
# dump. Both programs run in turns, so that other load on the machine matters little. The
# elapsed time is printed, but not tested: it depends on that load, because ownertop reads a
# file with two threads.
#
# usage: throughput.sh OWNERTOP PAGE_OWNER_SORT_C [RECORDS [ROUNDS]]
set -eu

ownertop=$1
source=$2
records=${3:-100000}
rounds=${4:-4}
here=$(dirname "$(readlink -f "$0")")

if [ ! -f "$source" ]; then
	echo "no $source"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -w -o "$work/page_owner_sort" "$source"

# measure_time NAME COMMAND...: append the CPU time and the elapsed time, in ms, to those of NAME
measure_time()
{
	local name=$1 TIMEFORMAT='%3U %3S %3R'

	shift
	{ time "$@" > /dev/null; } 2>&1 |
		awk '{ print 1000 * ($1 + $2), 1000 * $3 }' >> "$work/$name.ms"
}

# find_shortest_time NAME COLUMN: print the shortest time of NAME
find_shortest_time()
{
	cut -d ' ' -f "$2" "$work/$1.ms" | sort -n | head -n 1
}

# compare_times WHAT COLUMN LEAST: print how much faster ownertop is, and fail if it is less
compare_times()
{
	awk -v theirs="$(find_shortest_time sort "$2")" -v what="$1" -v least="$3" \
		-v ours="$(find_shortest_time ownertop "$2")" 'BEGIN {
		if (ours <= 0)
			ours = 1
		printf "%s: page_owner_sort %d ms, ownertop %d ms: %.1f times, at least %d\n",
		       what, theirs, ours, theirs / ours, least
		exit !(theirs / ours >= least) }'
}

for chains in 4000 60000; do
	"$here/../../../testing/owner/bench/make_owner_dump.py" --records "$records" --depth 6 \
		--chains "$chains" "$here/input/page_real.txt" > "$work/dump"
	rm -f "$work"/*.ms
	for _ in $(seq "$rounds"); do
		measure_time sort "$work/page_owner_sort" --cull stacktrace "$work/dump" "$work/out"
		measure_time ownertop "$ownertop" "$work/dump"
	done
	echo "$(stat -c %s "$work/dump") bytes, $chains chains"
	compare_times "elapsed" 2 0
	compare_times "CPU" 1 10
done
