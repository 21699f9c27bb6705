#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test the runner of the tests with suites that print TAP written by hand. Prints TAP.
. "$(dirname "$0")/prelude.sh"

seen="$work/out $work/suites $work/skips"
suite=$work/suite
mkdir "$work/logs"

# run_runner ARGUMENT...: run the suites of $work/suites. Leaves $work/out and $status.
run_runner()
{
	tools/testing/owner/run_tests.py --suites "$work/suites" --skips "$work/skips" \
		--logs "$work/logs" "$@" >"$work/out" 2>&1
	status=$?
}

# run_one_suite [STATUS]: run a suite that prints $suite and exits with STATUS.
run_one_suite()
{
	echo "one: cat $suite; exit ${1:-0}" >"$work/suites"
	run_runner
}

# runner_says STATUS REGEX: with that status, and a line that matches
runner_says() { [ "$status" = "$1" ] && file_has "$work/out" "$2"; }

# passes NAME TOTAL, fails NAME REGEX [STATUS]: the TAP on stdin passes with that last line,
# or fails with a line that matches.
passes()
{
	cat >"$suite"
	run_one_suite
	ok "$1" runner_says 0 "^$2\$"
}
fails()
{
	cat >"$suite"
	run_one_suite "${3:-0}"
	ok "$1" runner_says 1 "$2"
}

: >"$work/skips"
passes "a plan that is fulfilled" "2 passed, 0 failed, 0 skipped" <<END
1..2
ok 1 - a
ok 2 - b
END
passes "a plan at the end" "1 passed, 0 failed, 0 skipped" <<END
ok 1 - a
1..1
END
passes "subtests are counted, their summary is not" "3 passed, 0 failed, 0 skipped" <<END
KTAP version 1
1..2
    KTAP version 1
    # Subtest: first
    1..2
    ok 1 a
        KTAP version 1
        # Subtest: b, whose parameters have no plan
        ok 1 of b
    ok 2 b
ok 1 first
ok 2 second
END
passes "two documents" "2 passed, 0 failed, 0 skipped" <<END
KTAP version 1
1..1
ok 1 a
KTAP version 1
1..1
ok 1 b
END

fails "a test that fails" "^  one: a\$" <<END
1..1
not ok 1 - a
END
fails "an empty plan" "one: has an empty plan" <<END
1..0
END
fails "no plan" "one: ran 2 tests without a plan" <<END
ok 1 - a
ok 2 - b
END
fails "no plan in one of two documents" "one: ran 1 tests without a plan" <<END
KTAP version 1
ok 1 a
KTAP version 1
1..1
ok 1 b
END
fails "no result" "one: printed no result" <<END
# nothing
END
fails "a plan without results" "one: planned 2 tests, ran 0" <<END
1..2
END
fails "fewer tests than planned" "one: planned 2 tests, ran 1" <<END
1..2
ok 1 - a
END
fails "more tests than planned" "one: planned 1 tests, ran 2" <<END
1..1
ok 1 - a
ok 2 - b
END
fails "a test too few in one document, one too many in the next" "one: planned 2 tests, ran 1" <<END
KTAP version 1
1..2
ok 1 a
KTAP version 1
1..1
ok 1 b
ok 2 c
END
fails "two plans" "one: has a second plan, of 1 tests" <<END
1..1
ok 1 - a
1..1
END
fails "a bail out" "one: bail out: the disk is full" <<END
1..1
ok 1 - a
Bail out! the disk is full
END
fails "a bail out among subtests" "one: bail out: no memory" <<END
1..1
    1..1
    ok 1 a
    Bail out! no memory
ok 1 first
END
fails "fewer subtests than planned" "one: planned 5 subtests, ran 1" <<END
1..1
    1..5
    ok 1 a
ok 1 first
END
fails "an empty plan of subtests" "one: has an empty plan" <<END
1..1
    1..0
ok 1 first
END
fails "subtests that end early" "one: subtests have no result of their own" <<END
1..1
ok 1 first
    1..1
    ok 1 a
END
fails "subtests that end early, before others" "one: planned 3 subtests, ran 1" <<END
1..2
    1..3
    ok 1 a
ok 1 first
    1..1
    ok 1 b
ok 2 second
END
fails "a summary that fails though no subtest does" "one: first, whose subtests did not fail" <<END
1..1
    1..1
    ok 1 a
not ok 1 first
END
fails "a status that is not 0" "one: ended with status 3" 3 <<END
1..1
ok 1 - a
END

fails "a skip that is not listed" "a: it was skipped \(no gdb\), and skips has no line" <<END
1..1
ok 1 - a # SKIP no gdb
END
fails "a suite that is skipped and not listed" "all tests: it was skipped \(no gdb\)" <<END
1..0 # SKIP no gdb
END
cat >"$work/skips" <<END
# comment
one | a* | needs CONFIG_*
?one | b | no gdb
two | c | why
END
passes "skips that are listed" "1 passed, 0 failed, 2 skipped" <<END
1..3
ok 1 - abc # SKIP needs CONFIG_X
ok 2 - b # SKIP no gdb
ok 3 - d
END
ok "are printed at the end, with their reasons" file_has "$work/out" "^  one: abc: needs CONFIG_X\$"
passes "a line for some machines" "1 passed, 0 failed, 1 skipped" <<END
1..2
ok 1 - abc # SKIP needs CONFIG_X
ok 2 - b
END
fails "a line whose test is not skipped" "one: skips:2: the test 'a\*' was not skipped: remove" <<END
1..1
ok 1 - abc
END
fails "a skip for another reason" "a: it was skipped \(no memory\), and skips has no line" <<END
1..1
ok 1 - a # SKIP no memory
END
echo "one | a" >"$work/skips"
run_one_suite
ok "a line that is not understood" runner_says 1 "^error: skips:1: not 'SUITE | TEST | REASON': one | a"
: >"$work/skips"

# A guest that complained, among guests that did not.
# shellcheck disable=SC2016 # for the suite's shell
echo 'one: touch $GUEST_LOGS/001-um; echo 001-um:7: BUG: planted >$GUEST_LOGS/complaints; echo 1..1; echo ok 1' \
	>"$work/suites"
run_runner
ok "a kernel that complains fails its suite" runner_says 1 "^      001-um:7: BUG: planted"
echo "one: echo 1..1; echo ok 1" >"$work/suites"
run_runner
ok "but not the next run" runner_says 0 "^1 passed, 0 failed"

# The kernels that a suite names are built before it.
cat >"$work/suites" <<'END'
kernels: echo 'ok 1 - builds KERNELS'; echo 1..1
plain: echo ok 1; echo 1..1
small-um: sh -c 'echo ok 1; echo 1..1' um
large arm64: sh -c 'echo ok 1; echo 1..1' debug
END
builds() { runner_says 0 "^--- kernels: echo 'ok 1 - builds $1'"; }
run_runner plain
ok "a suite without a kernel builds none" file_lacks "$work/out" "^--- kernels"
run_runner small
ok "a suite builds the kernel that is a word of its command" builds "um"
run_runner large
ok "and those before the colon" builds "debug arm64"
run_runner
ok "all suites build all kernels" builds "um debug arm64"
run_runner kernels
ok "and so does the suite that builds" builds "um debug arm64"
run_runner nothing
ok "an unknown suite is refused, with those that there are" \
	runner_says 1 "^error: no suite begins with nothing; there are kernels, plain"
echo "one x86: true" >"$work/suites"
run_runner
ok "an unknown kernel is refused" runner_says 1 "^error: not 'NAME \[@tree\] \[KERNEL...\]: COMMAND': one x86: true"

# Each of these suites passes only if the other has begun.
meet() { echo "touch $work/$1; until [ -e $work/$2 ]; do sleep 0.1; done; echo ok 1; echo 1..1"; }
printf 'one: %s\ntwo: %s\n' "$(meet here there)" "$(meet there here)" >"$work/suites"
run_runner --jobs 2
ok "two suites run at a time" runner_says 0 "^2 passed, 0 failed"
# Each of these fails if another has not ended.
for name in one two three; do
	echo "$name @tree: mkdir $work/alone && sleep 0.5 && rmdir $work/alone && echo ok 1; echo 1..1"
done >"$work/suites"
run_runner --jobs 3
ok "of those that use the tree, one" runner_says 0 "^3 passed, 0 failed"
run_runner --jobs 0
ok "no jobs are refused" runner_says 1 "^error: --jobs 0: not a number from 1 up"
run_runner --limit 0
ok "and so is no time" runner_says 1 "^error: --limit 0: not a number from 1 up"
cat >"$suite" <<END
    # Subtest: counted
    # module: counted_kunit
    # test_cost: 7 runs
    # test_cost.speed: slow
    # test_cost: Test should be marked slow (runtime: 2.9s)
# counted: pass:1 fail:0 skip:0 total:1
# Totals: pass:1 fail:0 skip:0 total:1
ok 1
1..1
END
echo "one: cat $suite" >"$work/suites"
run_runner
ok "comments are not printed" file_lacks "$work/out" "7 runs\$"
run_runner --figures
ok "but figures are, if they are asked for" \
	equals "$(sed -n 's/^    #/#/p' "$work/out")" "# test_cost: 7 runs"
echo "one: sleep 1000" >"$work/suites"
run_runner --limit 1
ok "a suite is ended after its limit" runner_says 1 "one: it was ended after 1 s"
echo "one: echo \$\$ >$work/pid; sleep 1000; true" >"$work/suites"
run_runner &
runner=$!
until [ -s "$work/pid" ]; do sleep 0.1; done
pkill -TERM -P $runner
wait $runner
ok "a runner that is ended ends its suites" command_fails kill -0 "$(cat "$work/pid")" 2>/dev/null
finish_tests
