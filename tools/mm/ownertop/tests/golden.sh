#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs one golden case and prints its result: what went to stdout, to stderr,
# and the exit status.
#
# usage: golden.sh OWNERTOP COMMAND
set -u

ownertop=$1
command=$2

ownertop()
{
	(exec -a ownertop "$ownertop" "$@")
}

# Runs a command as if in a terminal of that many columns.
at_width()
{
	local columns=$1 words

	shift
	shift	# "ownertop"
	words=$(printf '%q ' "$ownertop" "$@")
	script -qec "stty cols $columns -onlcr; $words" /dev/null < /dev/null
}

cd "$(dirname "$0")/input" || exit 2
export LC_ALL=C.UTF-8
err=$(mktemp)
trap 'rm -f "$err"' EXIT
eval "$command" 2> "$err"
status=$?
if [ -s "$err" ]; then
	echo "--- stderr"
	cat "$err"
fi
echo "--- status $status"
