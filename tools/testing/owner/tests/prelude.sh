# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034 # scripts that source this use the variables
#
# The common beginning of the shell tests: each sources this file first.
#
#   usage='KERNEL [WORD...]'          names of the arguments; the bracketed ones are optional
#   . "$(dirname "$0")/prelude.sh"    checks their number, changes to the repository's top
#   ok NAME COMMAND...                one test
#   finish_tests                      prints the plan and ends the script
#
# Variables: $kernel is the first argument, $recipe its name without a version of Linux, $vmlinux
# and $modules are of that kernel, $work is a directory that is removed at the end, $seen the
# files that ok() shows after a failure. A test may set $seen, and $label, which precedes each
# name.
#
# guest.py keeps the console of each guest in $GUEST_LOGS and searches it for complaints of
# the kernel. finish_tests fails if it found one. A command that provokes a complaint on
# purpose says so: guest.py run --provokes REGEX.

set -u
cd "$(dirname "$0")/../../../.." || exit 1

required=0
for word in ${usage:-}; do
	case $word in
	\[*) break ;;
	esac
	required=$((required + 1))
done
if [ $# -lt "$required" ]; then
	echo "usage: $0 $usage" >&2
	exit 2
fi

kernel=${1:-}
recipe=${kernel##*/}
vmlinux=build/$kernel/vmlinux
modules=build/$kernel/owner-modules
debug=/sys/kernel/debug
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
seen="$work/out $work/err"
export GUEST_LOGS="${GUEST_LOGS:-$work/guests}"
mkdir -p "$GUEST_LOGS" || exit 1
label=
number=0
failed=0

# Options for a guest with four processors. User-mode Linux has one.
cpus="--smp 4"
case $recipe in um | um-* | page) cpus= ;; esac

# ok NAME COMMAND...: the test passes if the command succeeds.
ok()
{
	name=${label:+$label: }$1
	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number - $name"
		return
	fi
	echo "not ok $number - $name"
	failed=1
	echo "# failed: $*"
	for file in $seen "$work/guest.err"; do
		[ ! -e "$file" ] || head -n 60 "$file" | cut -c 1-300 | sed "s/^/# ${file##*/}: /"
	done
}

# skip_test NAME REASON
skip_test()
{
	number=$((number + 1))
	echo "ok $number - ${label:+$label: }$1 # SKIP $2"
}

# require_debian_root NAME: skip the only test if no root of Debian can be made here.
require_debian_root()
{
	PATH=$PATH:/usr/sbin:/sbin
	for program in mmdebstrap mkfs.ext4; do
		if [ "$(id -u)" != 0 ] || ! command -v $program >/dev/null; then
			skip_test "$1" "needs root and $program; make install-debian"
			finish_tests
		fi
	done
}

# The plan is printed last: a script that ends early has none, and the runner notices.
finish_tests()
{
	label=
	seen=$GUEST_LOGS/complaints
	if [ -n "$(ls "$GUEST_LOGS")" ]; then
		ok "no guest's kernel complained" [ ! -e "$seen" ]
	fi
	echo "1..$number"
	exit "$failed"
}

# Conditions for ok(). They print lines that explain a failure.
equals() { [ "$1" = "$2" ] || { echo "# expected '$2', got '$1'"; return 1; }; }
file_has() { grep -qE -e "$2" "$1"; }
file_lacks() { [ -f "$1" ] && ! grep -E -e "$2" "$1" | sed 's/^/# found: /' | grep .; }
command_fails() { ! "$@"; }

# run_guest APPEND CMD [OPTION...]: boot $kernel with APPEND on its command line and run
# CMD. Leaves its output in $work/out, the runner's messages in $work/guest.err and the
# console in $work/console.
run_guest()
{
	append=$1
	cmd=$2
	shift 2
	tools/testing/owner/guest/guest.py run "$kernel" --append "$append" --timeout 900 \
		--extra "$modules" --console "$work/console" --cmd "$cmd" "$@" \
		>"$work/out" 2>"$work/guest.err"
}

# print_dump_level: the highest level of makedumpfile that leaves all slabs in the dump. 1.7.2 does
# not know compound_info: it takes the second page of a slab for a process's, which level 8 omits.
print_dump_level() { if grep -aq compound_info "$vmlinux"; then echo 23; else echo 31; fi; }

# take_dump vmcore|kdump APPEND CMD [OPTION...]: boot $kernel with APPEND on its command line
# and run CMD. Then QEMU saves the memory (vmcore), or the kernel panics and a crash kernel
# does (kdump). Leaves the dump in $work/core, CMD's output in $work/out, the runner's
# messages in $work/err.
take_dump()
{
	way=$1
	append=$2
	cmd=$3
	shift 3
	[ "$way" = vmcore ] || set -- --level "$(print_dump_level)" "$@"
	rm -f "$work/core"
	tools/testing/owner/guest/guest.py "$way" "$kernel" --append "$append" --output "$work/core" \
		--smp 4 --mem 256M --timeout 900 --extra "$modules" --cmd "$cmd" "$@" \
		>"$work/out" 2>"$work/err"
}

# run_drgn SCRIPT [ARGUMENT...]: run a script of drgn on $work/core. Debian's drgn needs
# Debian's python3, which may not be the first in PATH.
run_drgn() { /usr/bin/drgn -q -c "$work/core" -s "$vmlinux" "$@"; }

# run_crash COMMAND...: run commands of crash on $work/core, with the extension of
# build/crash. Leaves what they print in $work/answer.
run_crash()
{
	{
		echo "extend $PWD/build/crash/owner.so"
		printf '%s\n' "$@"
		echo quit
	} >"$work/input"
	timeout -s KILL 600 crash -s --minimal --kaslr=auto --no_crashrc "$vmlinux" "$work/core" \
		-i "$work/input" </dev/null >"$work/answer" 2>&1
}

# split_output NAME...: split $work/out at its lines "===" into files of $work.
split_output()
{
	awk -v names="$*" -v directory="$work/" '
		BEGIN {
			n = split(names, name, " ")
			for (i = 1; i <= n; i++)
				printf "" >(directory name[i])
			i = 1
		}
		/^===$/ { i++; next } { print >(directory name[i]) }' "$work/out"
}

# build_in DIRECTORY COMMAND...: run a command that builds in DIRECTORY, when no other script
# does.
build_in()
{
	mkdir -p "$1" || return 1
	lock=$1.lock
	shift
	flock "$lock" "$@"
}

# build_crash_extension: build/crash/owner.so is up to date afterwards.
build_crash_extension() { build_in build/crash make -s -C tools/mm/crash O="$PWD/build/crash"; }

# build_ownertop: build/ownertop/ownertop is up to date afterwards.
build_ownertop() { build_in build/ownertop make -s -C tools/mm/ownertop O="$PWD/build/ownertop"; }

# build_sentence: build/lang/sentence is up to date afterwards.
build_sentence()
{
	build_in build/lang make -s -C tools/testing/owner/lang O="$PWD/build/lang"
}

# build_page_owner_sort: build/sorter/page_owner_sort is that of build/tree afterwards.
build_page_owner_sort()
{
	build_in build/sorter make -s -C build/sorter -f /dev/null \
		VPATH="$PWD/build/tree/tools/mm" CFLAGS=-O1 page_owner_sort
}

# For the guest's shell: load and unload a module until the guest ends. /tmp/passed has how
# often.
# shellcheck disable=SC2016 # for the guest's shell
let_modules_pass='
	passed=0
	while insmod /extra/owner_passing.ko && rmmod owner_passing; do
		echo $((passed += 1)) >/tmp/passed
	done &
	while [ ! -s /tmp/passed ]; do sleep 1; done
'

# For the guest's shell: compare the counter of tracked objects with the number of objects that
# a walk finds, until the count before or after the walk agrees, 300 times at most. To have the same
# objects in all three, the shell forks nobody and keeps both files open; the memory of a query
# has no owner. Objects that wait for RCU since the last try may go before the walk, or after
# it. A counter that is wrong agrees only if as many objects as it is wrong by go meanwhile.
# shellcheck disable=SC2016 # for the guest's shell
compare_counter='
	count_tracked()
	{
		exec 5</sys/kernel/debug/owner/stats
		while read -r name number _ <&5; do
			[ "$name" != tracked: ] || counted=$number
		done
	}
	count_records()
	{
		echo "group=kind sort=oldest format=tsv if kind == slab" >&6
		while read -r row _ objects _ <&6; do
			[ "$row" != total ] || walked=$objects
		done
	}
	exec 6<>/sys/kernel/debug/owner/query
	tries=0
	while [ $((tries += 1)) -le 300 ]; do
		count_tracked; before=$counted
		count_records
		count_tracked; after=$counted
		echo compared: $before $walked $after in $tries
		[ "$before" != "$walked" ] && [ "$after" != "$walked" ] || break
		sleep 0.1
	done
	exec 5<&- 6<&-
'

# The last comparison of $compare_counter.
counter_agrees_with_walk()
{
	sed -n 's/^compared: \(.*\) in \(.*\)/# counted, found, counted: \1, try \2/p' "$work/out" |
		tail -n 1
	awk '$1 == "compared:" { agreed = ($2 == $3 || $4 == $3) && $3 > 1000 }
		END { exit !agreed }' "$work/out"
}

# The chains and tasks of owner_torture's objects that the depot had when the module was
# unloaded: each is a reference that was lost. The module prints them, and $work/out has it.
show_torture_left() { sed -n 's/^.*torture: \(.*\) left in the depot$/\1/p' "$work/out"; }

# owners_have_gone BEFORE AFTER WORD: BEFORE and AFTER are copies of slab_owner, page_owner or
# show_stacks_handles. BEFORE has records with WORD, and AFTER has none of them: the same
# object at the same time, or the same handle. AFTER cannot be searched for WORD, as functions
# have no names when their module is gone. Slabs are left out: they can outlive the object for
# which they were allocated.
owners_have_gone()
{
	awk -v word="$3" -v slab='allocate_slab|new_slab|___slab_alloc' 'BEGIN { RS = "" }
		{ match($0, /PFN [^\n]*/); key = substr($0, RSTART, RLENGTH)
			match($0, / ts [0-9]+ ns/); key = key substr($0, RSTART, RLENGTH)
			match($0, /handle: [0-9]+/); key = key substr($0, RSTART, RLENGTH) }
		FNR == NR { if ($0 ~ word && $0 !~ slab) { owned[key]; before++ }; next }
		key in owned { left++ }
		END { print "# " before + 0 " records before, " left + 0 " of them left"
			exit !before || left }' "$1" "$2"
}
