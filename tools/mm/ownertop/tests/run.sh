#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of ownertop, in TAP. Builds what it needs.
#
# usage: run.sh                 run every test
#        run.sh --accept NAME   take what golden case NAME prints as right
#
# O=DIR is where to build; without it, build/ beside the sources.
set -u

here=$(dirname "$(readlink -f "$0")")
source=$here/..
build=${O:-$source/build}
build=$(mkdir -p "$build" && cd "$build" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number=0
failed=0

# result STATUS NAME: what was said on the way is in $work/said
result()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $number - $2"
	sed 's/^/# /' "$work/said"
}

# check NAME COMMAND...: passes if the command does
check()
{
	local name=$1

	shift
	"$@" > "$work/said" 2>&1
	result $? "$name"
}

golden_cases()
{
	grep -v -e '^#' -e '^$' "$here/cases"
}

golden()
{
	local name command

	while IFS=$'\t' read -r name command; do
		"$here/golden.sh" "$build/ownertop" "$command" > "$work/got" < /dev/null
		diff -u --label "expect/$name" --label got \
			"$here/expect/$name" "$work/got" > "$work/said" 2>&1
		case $? in
		0)
			result 0 "golden $name"
			;;
		*)
			echo "to accept: ${BASH_SOURCE[0]} --accept $name" >> "$work/said"
			result 1 "golden $name"
			;;
		esac
	done < <(golden_cases)
}

accept()
{
	local command

	command=$(golden_cases | sed -n "s/^$1\t//p")
	if [ -z "$command" ]; then
		echo "no golden case is called $1" >&2
		exit 2
	fi
	mkdir -p "$here/expect"
	"$here/golden.sh" "$build/ownertop" "$command" > "$here/expect/$1" < /dev/null
}

# A file that no case names would never be compared again.
no_stray_expectations()
{
	diff <(golden_cases | cut -f 1 | sort) <(ls "$here/expect")
}

build_all()
{
	make -s -C "$source" O="$build" &&
		make -s -C "$source" O="$build/sanitized" SANITIZE=1
}

if ! build_all; then
	echo "Bail out! ownertop does not build"
	exit 1
fi
if [ "${1-}" = --accept ]; then
	accept "$2"
	exit
fi

golden
check "every expectation has a case" no_stray_expectations
check "the same groups as a second program finds" \
	"$here/compare_with_oracle.py" "$build/ownertop"
check "memory does not grow with records" "$here/memory_is_bounded.sh" "$build/ownertop"
check "200 damaged inputs under sanitizers" \
	"$here/damaged_inputs.py" "$build/sanitized/ownertop" 200

echo "1..$number"
[ "$failed" -eq 0 ]
