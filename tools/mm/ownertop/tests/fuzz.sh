#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzz the readers with libFuzzer, starting from the golden inputs.
#
# usage: fuzz.sh SECONDS|runs=NUMBER [DIR]
#
# With DIR, inputs that reach new code are stored there and used again by the next run,
# and inputs that crash are stored there as well.
# O=DIR: directory to build in; the default is build/ beside the sources.
set -eu

seconds=$1
here=$(dirname "$(readlink -f "$0")")
build=${O:-$here/../build}/fuzz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=${2:-$work/found}
mkdir -p "$found" "$work/seed"

make -s -C "$here/.." O="$build" "$build/fuzz"

# libFuzzer reads one directory: turn the paths into names of files.
find "$here/input" -type f | while read -r file; do
	cp "$file" "$work/seed/$(echo "${file#"$here"/input/}" | tr / _)"
done
# The sentences of the golden cases, each followed by a small dump.
sed -n "s/^\$ ownertop .*'\([^']*=[^']*\|if [^']*\)'.*/\1/p" "$here/golden/sentences" |
	while read -r sentence; do
		number=$((${number:-0} + 1))
		printf '%s\0' "$sentence" |
			cat - "$here/input/percpu.txt" "$here/input/answer_groups.txt" \
				> "$work/seed/sentence$number"
	done
cd "$work"
status=0
case $seconds in
runs=*)	limit=-runs=${seconds#runs=} ;;
*)	limit=-max_total_time=$seconds ;;
esac
"$build/fuzz" "$limit" -max_len=8192 -timeout=10 -seed=1 \
	-dict="$here/fuzz.dict" -print_final_stats=1 \
	-artifact_prefix="${2:-$PWD}/" "$found" "$work/seed" > "$work/messages" 2>&1 ||
	status=$?
grep -v -e '^INFO' -e 'REDUCE\|NEW\|pulse\|RELOAD' "$work/messages" | tail -n 60
exit $status
