# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034 # scripts that source this use the variables
#
# ksft_slab_owner.sh and ksft_page_owner.sh source this file.
#
#   begin_tests slab_owner ...        skip all tests, or save what they change
#   check NAME COMMAND...             one test
#   restore_changes                   restore it; a script that ends early does so, too
#
# Variables: $debug is where debugfs is, $stacks the directory of the counters of call chains,
# $files a tmpfs for the files that a test creates, $work a directory that is removed at the end.
# $planter is the process whose objects are counted.

. "$(dirname "$0")/../kselftest/ktap_helpers.sh"

export LC_ALL=C
debug=/sys/kernel/debug
control=$debug/owner/control
query=$debug/owner/query

# skip_all REASON
skip_all()
{
	ktap_skip_all "$1"
	exit "$KSFT_SKIP"
}

# begin_tests NAME SYMBOL OPTION: skip all tests if debugfs has no file NAME. The kernel has SYMBOL
# if it was built with OPTION.
begin_tests()
{
	ktap_print_header
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	grep -q " $debug debugfs " /proc/mounts || skip_all "debugfs is not mounted at $debug"
	if [ ! -e "$debug/$1" ]; then
		grep -q " $2$" /proc/kallsyms || skip_all "this kernel has no $1: it needs $3"
		skip_all "$1 is off: boot with $1=on"
	fi
	stacks=$debug/$1_stacks
	work=$(mktemp -d) || exit "$KSFT_FAIL"
	files=$work/files
	mkdir "$files"
	trap end_tests EXIT
	trap 'exit 1' HUP INT TERM
	mount -t tmpfs none "$files" 2>/dev/null || skip_all "needs tmpfs"
	cat "$stacks/count_threshold" >"$work/threshold"
	[ ! -e "$control" ] || list_rules >"$work/rules"
}

restore_changes()
{
	[ ! -e "$work/rules" ] || write_rules ""
	[ ! -e "$work/threshold" ] || cat "$work/threshold" >"$stacks/count_threshold"
}

end_tests()
{
	restore_changes
	umount "$files" 2>/dev/null
	rm -rf "$work"
}

# list_rules: the rules in force, as they are written. Comments say how often each was used.
list_rules() { sed '/^#/d; s/\t# [0-9]*: .*//' "$control"; }

# write_rules RULES: those from before the test, and these behind them, which decide if both match
write_rules()
{
	{ echo clear; cat "$work/rules"; echo "$1"; } >"$work/written"
	cat "$work/written" >"$control"
}

# plant SCRIPT: run a script of sh in a process whose name is in the rules of these tests. Other
# rules do not decide about its objects.
plant()
{
	sh -c "printf ksft_owner >/proc/\$\$/comm; $1" &
	planter=$!
	wait "$planter"
}

# check NAME COMMAND...: the test passes if the command succeeds. Its output explains a failure.
check()
{
	name=$1
	shift
	if "$@" >"$work/seen" 2>&1; then
		ktap_test_pass "$name"
	else
		ktap_test_fail "$name"
		{ echo "failed: $*"; cat "$work/seen"; } | head -n 20 | sed 's/^/# /'
	fi
}

# check_rules NAME COMMAND...: as check(), for a test that needs rules and queries
check_rules()
{
	if [ -e "$control" ] && [ -e "$query" ]; then
		check "$@"
	else
		ktap_test_skip "$1: needs CONFIG_SLAB_OWNER_RULES"
	fi
}

# Conditions for check()
equals() { [ "$1" = "$2" ] || { echo "expected '$2', got '$1'"; return 1; }; }
refuses() { ! { "$@"; } 2>/dev/null; }

# settle COMMAND...: try again for up to 20 seconds: other tasks allocate meanwhile, and memory is
# freed after a delay
settle()
{
	tries=0
	until "$@"; do
		[ $((tries += 1)) -lt 20 ] || return 1
		sleep 1
	done
}

# has_mode MODE FILE...
has_mode()
{
	mode=$1
	shift
	for file; do
		[ -e "$debug/$file" ] || continue
		equals "$file $(stat -c %a "$debug/$file")" "$file $mode" || return 1
	done
}

# ask SENTENCE: the answer. A shell ends if exec fails, therefore this is one of its own.
ask()
(
	[ -e "$query" ] || return
	exec 3<>"$query"
	printf '%s\n' "$1" >&3
	cat <&3
)

# read_column NAME ROW: a column of each row of that kind, from an answer with format=tsv
read_column()
{
	awk -F '\t' -v name="$1" -v kind="$2" '
		$1 == "row" { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		$1 == kind { print $column }'
}

# ask_sum COLUMN EXPRESSION: a sum over all that matches, from the row "total"
ask_sum() { ask "group=kind format=tsv if $2" | read_column "$1" total; }

# list_depths EXPRESSION: how many frames the chains of single objects have
list_depths()
{
	ask "format=tsv if $1" | read_column stack object | awk -F ';' '{ print NF }' | sort -u
}

# sum_records FILE EXPRESSION: evaluate EXPRESSION of awk for each record of this file that the
# planter has, and add up. The array "is" has the values of a record's first line, and pages() tells
# the pages of an order.
sum_records()
{
	grep " pid $planter, " "$debug/$1" | awk "
		function pages(order) { return order ? 2 * pages(order - 1) : 1 }
		{
			split(\"\", is)
			n = split(\$0, words, \",* \")
			for (i = 1; i < n; i++)
				is[words[i]] = words[i + 1]
			sum += $2
		}
		END { print sum + 0 }"
}

# caret_is_below WORD FILE: a line of ^~~~ as long as the word is below the word
caret_is_below()
{
	awk -v word="$1" '
		{
			at = index(last, word)
			if (at && substr($0, 1, at - 1) ~ /^#? *$/ && substr($0, at) ~ /^\^~*$/ &&
			    length($0) == at + length(word) - 1)
				found = 1
			last = $0
		}
		END { exit !found }' "$2" || { cat "$2"; return 1; }
}

# list_sums FILE: of each record in a file of $stacks its first number, and its frames and handle
list_sums()
{
	awk 'BEGIN { RS = ""; FS = "\n" }
		{
			key = number = ""
			for (i = NF; i > 0; i--) {
				if ($i ~ /^ |^handle: /)
					key = $i key
				else
					number = $i
			}
			sub(/.*: /, "", number)
			print number "\t" key
		}' "$stacks/$1"
}

# sum_of_handle HANDLE: the number that show_handles has for a handle
sum_of_handle() { list_sums show_handles | sed -n "s/\thandle: $1\$//p"; }

# sum_of_stack HANDLE: the number that show_stacks has for the frames of a handle
sum_of_stack()
{
	frames=$(list_sums show_stacks_handles | sed -n "s/^\t\(.*\)handle: $1\$/\1/p")
	list_sums show_stacks | awk -F '\t' -v frames="$frames" '$2 == frames { print $1 }'
}

# list_small_sums NUMBER: the numbers in show_handles that are smaller
list_small_sums() { list_sums show_handles | awk -F '\t' '$1 < '"$1"; }
