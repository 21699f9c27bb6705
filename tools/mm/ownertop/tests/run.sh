#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test ownertop and report in TAP. Builds what it needs.
#
# usage: run.sh                 run every test
#        run.sh --accept NAME   make the output of golden case NAME the expected one
#
# O=DIR: directory to build in; the default is build/ beside the sources.
set -u

here=$(dirname "$(readlink -f "$0")")
source=$here/..
build=${O:-$source/build}
build=$(mkdir -p "$build" && cd "$build" && pwd) || exit 2
export O=$build		# build directory, for tests that call make themselves
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number=0
failed=0

# report_result STATUS NAME: print the TAP line of a test; its messages are in $work/messages
report_result()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $number - $2"
	sed 's/^/# /' "$work/messages"
}

# run_check NAME COMMAND...: run a test, which exits with status 77 to be skipped
run_check()
{
	local name=$1 status

	shift
	"$@" > "$work/messages" 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		number=$((number + 1))
		echo "ok $number - $name # SKIP $(head -n 1 "$work/messages")"
	else
		report_result "$status" "$name"
	fi
}

# Write the output of each golden case to $work/expect/NAME, and a line to $work/cases: its name,
# a tab and its command.
split_golden_cases()
{
	mkdir "$work/expect"
	LC_ALL=C awk -v expect="$work/expect/" '
		/^=== / { close(expect name); name = $2; in_output = 0; next }
		!in_output && /^\$ / { print name "\t" substr($0, 3); in_output = 1; next }
		in_output { print >(expect name) }' "$here"/golden/* > "$work/cases"
}

run_golden_cases()
{
	local name command

	while IFS=$'\t' read -r name command; do
		"$here/golden.sh" "$build/ownertop" "$command" > "$work/got" < /dev/null
		diff -u --label "golden $name" --label got \
			"$work/expect/$name" "$work/got" > "$work/messages" 2>&1
		case $? in
		0)
			report_result 0 "golden $name"
			;;
		*)
			echo "to accept: ${BASH_SOURCE[0]} --accept $name" >> "$work/messages"
			report_result 1 "golden $name"
			;;
		esac
	done < "$work/cases"
}

accept_golden_case()
{
	local command file

	command=$(sed -n "s/^$1\t//p" "$work/cases")
	if [ -z "$command" ]; then
		echo "no golden case is called $1" >&2
		exit 2
	fi
	"$here/golden.sh" "$build/ownertop" "$command" > "$work/got" < /dev/null
	file=$(grep -lx -e "=== $1" "$here"/golden/*)
	LC_ALL=C awk -v wanted="$1" -v got="$work/got" '
		/^=== / { name = $2; in_output = 0 }
		!in_output || name != wanted { print }
		/^\$ / && !in_output {
			in_output = 1
			while (name == wanted && (getline line <got) > 0)
				print line
		}' "$file" > "$work/accepted" && cat "$work/accepted" > "$file"
}

# Each golden case has a name of its own, and a command.
golden_cases_are_named()
{
	diff <(cut -f 1 "$work/cases" | sort -u) \
		<(grep -h '^=== ' "$here"/golden/* | cut -c 5- | sort)
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
split_golden_cases
if [ "${1-}" = --accept ]; then
	accept_golden_case "$2"
	exit
fi

# --help explains each option in a line of its own, which fits 80 columns.
help_has_a_line_for_each_option()
{
	"$build/ownertop" --help | grep -v ^Example > "$work/help"
	awk 'length > 80' "$work/help" > "$work/long"
	grep -o -e ' --[a-z-]*' "$work/help" | sort > "$work/named"
	sed -n -E 's/^ +(-., )?(--[a-z-]+).*/ \2/p' "$work/help" | sort > "$work/explained"
	[ -s "$work/explained" ] && diff "$work/named" "$work/explained" && ! grep . "$work/long"
}

# The first screen of the manual names each view.
manual_begins_with_the_views()
{
	local view status=0

	MANWIDTH=80 man --local-file "$build/ownertop.8" | col -b | head -n 24 > "$work/screen"
	for view in $("$build/ownertop" --help | sed -n '/^Views:/,/^$/s/^  \([a-z_, ]*\).*/\1/p' |
			tr -d , | sed 's/   .*//'); do
		if ! grep -q -w -e "$view" "$work/screen"; then
			echo "the first screen lacks $view"
			status=1
		fi
	done
	return $status
}

# The build makes the manual and the completion from the list of options.
options_are_documented()
{
	local option status=0

	for option in $("$build/ownertop" --help | grep -o -e '--[a-z-]*' | sort -u); do
		if ! man --local-file "$build/ownertop.8" | col -b | grep -q -e "$option"; then
			echo "ownertop.8 does not have $option"
			status=1
		fi
		if ! grep -q -e "$option\>" "$build/ownertop.bash-completion"; then
			echo "ownertop.bash-completion does not have $option"
			status=1
		fi
	done
	return $status
}

manual_is_sound()
{
	local warnings

	warnings=$(man --local-file --warnings "$build/ownertop.8" 2>&1 > /dev/null)
	echo "$warnings"
	[ -z "$warnings" ]
}

# Each command of the manual's cookbook succeeds on dumps with the names that it uses. The
# commands for a live machine get a dump as well; --live would never end.
cookbook_commands_run()
{
	local command commands=0 cookbook=$work/cookbook input=$here/input dump

	mkdir -p "$cookbook"
	: > "$cookbook/flame.html"
	for dump in monday.txt dump.txt dump.00; do
		cp "$input/slab.txt" "$cookbook/$dump"
	done
	for dump in friday.txt dump.01; do
		cp "$input/slab_later.txt" "$cookbook/$dump"
	done
	cp "$input/slab_latest.txt" "$cookbook/dump.10"
	while IFS= read -r command; do
		commands=$((commands + 1))
		case $command in
		*kind\ ==\ page*)
			command="$command $input/page.txt"
			;;
		*dump* | *monday*)
			;;
		*)
			command="${command/--live=10 /} dump.txt"
			;;
		esac
		echo "$command"
		(
			# shellcheck disable=SC2317 # called by the command
			ownertop() { "$build/ownertop" "$@"; }
			cd "$cookbook" && eval "$command" > output &&
			[ -n "$(cat output flame.html)" ]
		) || return 1
	done < <(sed -n '/^\.Sh COOKBOOK/,/^\.Sh DESCRIPTION/s/^\.Dl //p' "$source/ownertop.8.in")
	[ "$commands" -eq 12 ]
}

# compare_completions LINE WANTED: compare the completions of the last word of LINE
compare_completions()
{
	local got

	# shellcheck disable=SC1091,SC2317 # a generated file; it calls compopt
	got=$(
		cd "$work" || exit
		compopt() { :; }
		source "$build/ownertop.bash-completion"
		read -r -a COMP_WORDS <<< "$1"
		[[ $1 == *' ' ]] && COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_ownertop
		echo "${COMPREPLY[*]}"
	)
	echo "'$1': want '$2', got '$got'"
	[ "$got" = "$2" ]
}

completion_offers()
{
	compare_completions 'ownertop -s ' 'bytes held waste objects oldest' &&
		compare_completions "ownertop 'gr" 'group=' &&
		compare_completions "ownertop 'group=stack,c" \
			'group=stack,cache group=stack,comm group=stack,cgroup' &&
		compare_completions "ownertop 'sort=bytes,w" 'sort=bytes,waste' &&
		compare_completions "ownertop --no" '--no-skip --now' &&
		compare_completions 'ownertop record --m' '--max-bytes' &&
		compare_completions 'ownertop page_owner_sort --c' '--cull' &&
		compare_completions 'ownertop --group stack,c' \
			'stack,cache stack,comm stack,cgroup' &&
		compare_completions 'ownertop --group cache,c' 'cache,comm cache,cgroup' &&
		compare_completions 'ownertop -d ' '' &&
		compare_completions 'ownertop pag' 'page_owner_sort' &&
		compare_completions 'ownertop flame pag' ''
}

# The source of page_owner_sort is beside ownertop in a kernel tree, or in build/tree here.
page_owner_sort_c()
{
	local in_tree=$source/../page_owner_sort.c

	[ -f "$in_tree" ] || in_tree=$source/../../../build/tree/tools/mm/page_owner_sort.c
	echo "$in_tree"
}

# check_layer FOLDER LOWER...: fail if FOLDER includes headers other than its own, those of
# LOWER and those of the language
check_layer()
{
	local folder=$1 lower

	lower=$(printf '%s|' "$@" lang)
	if grep -H '^#include "' "$source/$folder"/*.[ch] |
			grep -v -E ":#include \"(${lower%|})/"; then
		echo "$folder/ includes a folder that is not below it"
		return 1
	fi
}

folders_are_layers()
{
	check_layer base &&
		check_layer input base &&
		check_layer names base input &&
		check_layer model base input names &&
		check_layer output base input names model &&
		check_layer page_owner_sort base input names &&
		check_layer ask base input names model output &&
		check_layer ui base input names model output ask
}

# A source file and its header count as one file. tsort prints the files of a circle.
files_form_no_circle()
{
	(cd "$source" && grep -H '^#include "' ownertop.c [!t]*/*.[ch]) |
		sed -E 's,\.[ch]:#include "(.*)\.h"$, \1,' | awk '$1 != $2' | tsort > /dev/null
}

# Each query for groups in the language's documentation works on dumps.
documented_queries()
{
	local text=$source/../../../Documentation/mm/slab_owner_language.rst query asked=0

	while IFS= read -r query; do
		asked=$((asked + 1))
		echo "$query"
		"$build/ownertop" --page-size 4096 --sum "$query" "$here/input/slab.txt" \
			"$here/input/page.txt" "$here/input/percpu.txt" > "$work/answer" ||
			return 1
		grep -q '^\(# \)*total\| total$' "$work/answer" || return 1
	done < <(sed -n '/^\t# query$/{n;s/^\t//p}' "$text" | grep group= | grep -v sort=slabs)
	[ "$asked" -ge 8 ]
}

# damaged_inputs.py tests views: run the golden cases of page_owner_sort, too.
blocks_under_sanitizers()
{
	local name command

	while IFS=$'\t' read -r name command; do
		"$here/golden.sh" "$build/sanitized/ownertop" "$command" < /dev/null |
			diff -u "$work/expect/$name" - || return 1
	done < <(grep page_owner_sort "$work/cases")
}

# explained_commands_run INPUT...: run the three commands of "ownertop explain INPUT..."
explained_commands_run()
{
	local command commands=0

	"$build/ownertop" explain "$@" > "$work/explained" || return 1
	while IFS= read -r command; do
		commands=$((commands + 1))
		echo "$command"
		(
			# shellcheck disable=SC2317 # called by the command
			ownertop() { "$build/ownertop" "$@"; }
			eval "$command" > "$work/answer" && [ -s "$work/answer" ]
		) || return 1
	done < <(grep '^ownertop ' "$work/explained")
	[ "$commands" -eq 3 ]
}

# The commands that explain proposes run, also with names that a shell would change.
explained_inputs()
{
	local odd="$work/a dump's name"

	cp "$here/input/slab.txt" "$odd"
	explained_commands_run "$odd" &&
		explained_commands_run "$odd" "$here/input/slab_later.txt" &&
		explained_commands_run "$here/input/show_stacks.txt" &&
		explained_commands_run "$here/input/raw_frames.txt" &&
		explained_commands_run --page-size 65536 "if kind == page && comm != 'a b'" \
			"$here/input/page.txt" &&
		explained_commands_run --cache 'kmalloc-*' "$here/input/slab.txt"
}

run_golden_cases
run_check "the commands of explain run" explained_inputs
run_check "help has a line for each option" help_has_a_line_for_each_option
run_check "the manual begins with the views" manual_begins_with_the_views
run_check "every option is in the manual and the completion" options_are_documented
run_check "the manual is sound" manual_is_sound
run_check "the commands of the cookbook run" cookbook_commands_run
run_check "the completion offers what fits" completion_offers
run_check "the documented questions are answered" documented_queries
run_check "folders include only those below them" folders_are_layers
run_check "files do not include each other in a circle" files_form_no_circle
run_check "each golden case has a name of its own" golden_cases_are_named
run_check "the same groups as a second program finds" \
	"$here/compare_with_oracle.py" "$build/ownertop"
run_check "the same trees and growth as a second program finds" \
	"$here/views_with_oracle.py" "$build/ownertop"
run_check "go tool pprof shows the same figures" "$here/pprof_with_go.py" "$build/ownertop"
run_check "the flame graph works in a browser" "$here/flame_in_browser.py" "$build/ownertop"
run_check "the page of a trend works in a browser" "$here/trend_in_browser.py" "$build/ownertop"
run_check "page_owner_sort's answers, its errors aside" \
	"$here/against_page_owner_sort.py" "$build/ownertop" "$(page_owner_sort_c)"
run_check "a twentieth of page_owner_sort's instructions" \
	"$here/throughput.sh" "$build/ownertop" "$(page_owner_sort_c)"
run_check "memory does not grow with records" "$here/memory_is_bounded.sh" "$build/ownertop"
run_check "a file and a pipe have the same answer" \
	"$here/file_and_pipe.py" "$build/ownertop" "$work"
run_check "names from DWARF" "$here/names.py" "$build/ownertop"
run_check "names of user frames" "$here/user_names.py" "$build/ownertop"
run_check "progress on a terminal" "$here/progress.py" "$build/ownertop"
run_check "asks the kernel for what is shown" "$here/asked.py" "$build/ownertop"
run_check "snapshots" "$here/record.py" "$build/ownertop"
run_check "Prometheus reads the metrics" "$here/prom.py" "$build/ownertop"
run_check "systemd units" "$here/units.sh" "$build/ownertop"
run_check "the Debian package" "$here/deb.sh"
run_check "live mode in a terminal" "$here/live.py" "$build/ownertop"
run_check "10 s of fuzzing the readers" "$here/fuzz.sh" 10
run_check "page_owner_sort under sanitizers" blocks_under_sanitizers
run_check "200 damaged inputs under sanitizers" \
	"$here/damaged_inputs.py" "$build/sanitized/ownertop" 200

echo "1..$number"
[ "$failed" -eq 0 ]
