#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites that are built into a kernel. The words are added to its command
# line. Prints the kernel's own KTAP, and a result of its own: each case of each suite of our
# sources has run, unless the words exclude the suite: kunit.filter_glob=GLOB or
# kunit.filter=module!=NAME, with commas between several.
usage='KERNEL [WORD...]'
. "$(dirname "$0")/prelude.sh"

shift
provoked='task swapper/0:1 blocked for more|Call Trace'
# KMSAN ignores writes of a task that runs KMSAN's own functions. After an interrupt of these,
# handle_softirqs() sets "pending" as that task and reads it as a softirq: KMSAN reports the read.
[ "$recipe" != kmsan ] || provoked="$provoked|KMSAN: uninit-value in handle_softirqs"
# KFENCE would move one allocation every 100 ms out of the slab in which a test expects
# it. Init waits for each test: the kernel reports it as hung if a test lasts 120 s, as it
# can on a host that is busy. The limit is for one test: each prints a line.
# shellcheck disable=SC2086 # two words or none
tools/testing/owner/guest/guest.py run "$kernel" \
	--append "slab_owner=on,free=on kunit.enable=1 kfence.sample_interval=0 $*" \
	--stall 900 --mem 1G $cpus --provokes "$provoked" \
	--cmd 'cat /sys/kernel/debug/kunit/*/results' >"$work/out" || exit 1
cat "$work/out"

# List the suites of our sources that the kernel's command line does not exclude.
list_wanted_suites()
{
	glob='*'
	filter=
	for word; do
		case $word in
		kunit.filter_glob=*) glob=${word#*=} ;;
		kunit.filter=*) filter=,${word#*=}, ;;
		esac
	done
	# Tests of a room that is left out are not built: the Makefile names their options.
	filter="$filter$(awk '
		FNR == NR { if (sub(/=y$/, "")) built["obj-$(" $0 ")"] = 1; next }
		/^obj-\$/ && !($1 in built) {
			for (i = 3; i <= NF; i++) { sub(/\.o$/, "", $i); printf ",module!=%s,", $i }
		}' "build/$kernel/.config" mm/owner/tests/Makefile)"
	grep -rl --include='*.c' '^kunit_test_suite' lib mm | while read -r file; do
		case $filter in *,module!="$(basename "$file" .c)",*) continue ;; esac
		sed -n '/^static struct kunit_suite /,/^};/s/.*\.name = "\(.*\)".*/\1/p' "$file"
	done | while read -r suite; do
		# shellcheck disable=SC2254 # a glob
		case $suite in $glob) echo "$suite" ;; esac
	done | sort
}
echo "KTAP version 1"
seen=$work/none
# List the suites that have a result for each case of their plan. A suite alone says ok also if
# none of its cases ran.
list_complete_suites()
{
	awk '/^    1\.\./ { planned = substr($1, 4) + 0; results = 0 }
		/^    (not )?ok / { results++ }
		/^(not )?ok / {
			sub(/^(not )?ok [0-9]+ /, "")
			if (planned && results == planned) print $1
			planned = 0
		}' "$work/out" | sort
}
ok "each case of each KUnit suite of the sources ran" \
	equals "$(list_complete_suites | paste -s -d ' ')" \
		"$(list_wanted_suites "$@" | paste -s -d ' ')"
finish_tests
