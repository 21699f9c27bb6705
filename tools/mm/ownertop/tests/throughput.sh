#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The promise is a table in a twentieth of page_owner_sort's time, and make bench
# holds ownertop to it. Here it is 15, of a smaller dump: both run in turns and are
# measured by the time that they have the CPU, so that a busy machine hurts neither.
#
# usage: throughput.sh OWNERTOP PAGE_OWNER_SORT_C
set -eu

ownertop=$1
source=$2
records=100000
rounds=4
least=15
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

# cpu NAME COMMAND...: adds the time, in ms, to what is known of NAME
cpu()
{
	local name=$1 TIMEFORMAT='%3U %3S'

	shift
	{ time "$@" > /dev/null; } 2>&1 |
		awk '{ print 1000 * ($1 + $2) }' >> "$work/$name.ms"
}

# Of several, the one that others hindered least.
best()
{
	sort -n "$work/$1.ms" | head -n 1
}

for _ in $(seq $rounds); do
	cpu sort "$work/page_owner_sort" --cull stacktrace "$work/dump" "$work/out"
	cpu ownertop "$ownertop" "$work/dump"
done
awk -v theirs="$(best sort)" -v ours="$(best ownertop)" -v least=$least 'BEGIN {
	if (ours <= 0)
		ours = 1
	printf "page_owner_sort %d ms, ownertop %d ms: %.1f times, at least %d wanted\n",
	       theirs, ours, theirs / ours, least
	exit !(theirs / ours >= least) }'
