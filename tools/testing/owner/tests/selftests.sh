#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kselftests of mm for slab_owner and page_owner, as their Makefile builds, lists and installs
# them, in guests with and without owners. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

ours="owner_query ksft_page_owner.sh ksft_slab_owner.sh"

# Make writes beside the sources, which "make refresh" would take for new files of the tree.
copy_selftests()
{
	tree=$PWD/$(dirname "build/$kernel")/tree
	selftests=$work/tree/tools/testing/selftests
	mkdir -p "$selftests" || return 1
	ln -s "$tree/mm" "$work/tree/mm"
	ln -s "$tree/tools/include" "$work/tree/tools/include"
	for file in mm kselftest lib.mk kselftest.h kselftest_harness.h run_kselftest.sh; do
		cp -r "$tree/tools/testing/selftests/$file" "$selftests" || return 1
	done
	ln -s "$tree/tools/testing/selftests/x86" "$selftests/x86"
}

# make_selftests WORD...: the other programs of mm need libraries. Guests have none.
make_selftests()
{
	env -u MAKELEVEL -u MAKEFLAGS make -C "$selftests/mm" TEST_GEN_FILES= \
		USERLDFLAGS=-static USERCFLAGS=-Werror "$@" >"$work/out" 2>"$work/err"
}

# "make install" needs rsync.
install_selftests()
{
	make_selftests -s emit_tests COLLECTION=mm || return 1
	mkdir "$work/extra"
	grep '^mm:' "$work/out" >"$work/extra/kselftest-list.txt"
	cp -r "$selftests/mm" "$selftests/kselftest" "$selftests/run_kselftest.sh" "$work/extra"
}

# run_selftests APPEND PROGRAMS [COMMAND]: run some of ours in a guest, then the command. The runner
# has options for timeout that busybox does not know.
run_selftests()
{
	tests=
	for program in $2; do
		tests="$tests -t mm:$program"
	done
	tools/testing/owner/guest/guest.py run "$kernel" --append "kfence.sample_interval=0 $1" \
		--timeout 600 --extra "$work/extra" --cmd "cp -r /extra /tmp/installed; rm /usr/bin/timeout
		sh /tmp/installed/run_kselftest.sh $tests; echo ===; ${3:-true}" \
		>"$work/out" 2>"$work/err"
	split_output results rules threshold
}

# The line of each of ours, as "ok ksft_slab_owner.sh"
list_results() { sed -n 's/^\([a-z ]*ok\) [0-9]* selftests: mm: /\1 /p' "$work/results"; }
# The results within these, which kselftest prints behind "# "
count_inner() { grep -c "^# $1" "$work/results"; }

# shellcheck disable=SC2086 # a list of words
all_pass=$(printf 'ok %s\n' $ours)
# shellcheck disable=SC2086 # a list of words
all_skip=$(printf 'ok %s # SKIP\n' $ours)

ok "the tests are copied" copy_selftests
ok "... and built, without a warning" make_selftests
ok "... and installed as the Makefile lists them" install_selftests

seen="$work/results $work/err"
run_selftests "slab_owner=on page_owner=on" "$ours"
ok "with owners all pass" equals "$(list_results)" "$all_pass"
ok "... and skip nothing" equals "$(count_inner 'ok .*# SKIP')" 0
ok "... of what each of them plans" equals "$(count_inner 'ok ')" \
	"$(awk '/^# 1\.\.[0-9]/ { n += substr($2, 4) } END { print n }' "$work/results")"

rules='sample=512K;depth=4 if cache == dentry'
run_selftests "slab_owner=ready owner=\"$rules\"" "owner_query ksft_slab_owner.sh" \
	"cat $debug/owner/control; echo ===; cat $debug/slab_owner_stacks/count_threshold"
ok "with rules that sample, the script passes" equals "$(list_results)" "ok owner_query # SKIP
ok ksft_slab_owner.sh"
ok "... and restore the rules" equals "$(sed -n 's/\t# .*//p' "$work/rules")" \
	"$(echo "$rules" | tr ';' '\n')"
ok "... and the threshold" equals "$(cat "$work/threshold")" 0

run_selftests slab_owner=off "$ours"
ok "without owners all skip" equals "$(list_results)" "$all_skip"
ok "... and say how to boot" equals \
	"$(grep -c '^# 1\.\.0 # SKIP .*: boot with [a-z]*_owner=on$' "$work/results")" 3
finish_tests
