#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that ownertop is at least 15 times as fast as page_owner_sort. "make bench" checks a
# higher factor on a larger dump. Both programs run in turns, and their CPU time is
# compared, so that other load on the machine matters little.
#
# usage: throughput.sh OWNERTOP PAGE_OWNER_SORT_C
set -eu

ownertop=$1
source=$2
records=100000
rounds=4
factor_min=15
here=$(dirname "$(readlink -f "$0")")

if [ ! -f "$source" ]; then
	echo "no $source"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -w -o "$work/page_owner_sort" "$source"
"$here/../../../testing/owner/bench/make_owner_dump.py" --records $records --depth 6 \
	"$here/input/page_real.txt" > "$work/dump"

# measure_cpu_time NAME COMMAND...: append the CPU time, in ms, to the times of NAME
measure_cpu_time()
{
	local name=$1 TIMEFORMAT='%3U %3S'

	shift
	{ time "$@" > /dev/null; } 2>&1 |
		awk '{ print 1000 * ($1 + $2) }' >> "$work/$name.ms"
}

# find_shortest_time NAME: print the shortest time of NAME
find_shortest_time()
{
	sort -n "$work/$1.ms" | head -n 1
}

for _ in $(seq $rounds); do
	measure_cpu_time sort "$work/page_owner_sort" --cull stacktrace "$work/dump" "$work/out"
	measure_cpu_time ownertop "$ownertop" "$work/dump"
done
awk -v theirs="$(find_shortest_time sort)" -v ours="$(find_shortest_time ownertop)" \
	-v least=$factor_min 'BEGIN {
	if (ours <= 0)
		ours = 1
	printf "page_owner_sort %d ms, ownertop %d ms: %.1f times, at least %d wanted\n",
	       theirs, ours, theirs / ours, least
	exit !(theirs / ours >= least) }'
