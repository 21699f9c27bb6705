#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that ownertop takes at most a twentieth of the instructions of page_owner_sort, for a dump
# with 4,000 call chains and for one whose records all have different chains. Instructions do not
# depend on other load of the machine. "make bench" compares the times.
#
# usage: throughput.sh OWNERTOP PAGE_OWNER_SORT_C [RECORDS]
set -eu

ownertop=$1
source=$2
records=${3:-20000}
least=20
here=$(dirname "$(readlink -f "$0")")

if [ ! -f "$source" ]; then
	echo "no $source"
	exit 77
fi
if ! command -v valgrind > /dev/null; then
	echo "no valgrind"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -w -o "$work/page_owner_sort" "$source"

# count_instructions COMMAND...: print the number; fails if the command fails
count_instructions()
{
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		--log-file="$work/count" "$@" > /dev/null || return 1
	sed -n 's/.*I *refs: *//p' "$work/count" | tr -d ,
}

for chains in 4000 "$records"; do
	"$here/../../../testing/owner/bench/make_owner_dump.py" --records "$records" --depth 6 \
		--chains "$chains" "$here/input/page_real.txt" > "$work/dump"
	theirs=$(count_instructions "$work/page_owner_sort" --cull stacktrace "$work/dump" \
		"$work/out")
	ours=$(count_instructions "$ownertop" "$work/dump")
	echo "$chains chains: page_owner_sort $theirs instructions, ownertop $ours"
	if [ "$((theirs / ours))" -lt "$least" ]; then
		echo "$((theirs / ours)) times as many, not $least"
		exit 1
	fi
done
