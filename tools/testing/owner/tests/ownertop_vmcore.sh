#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# ownertop reads a memory dump as any other input: what was planted is exact, each view has
# an answer, and nothing planted differs from what the live file has said. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

ownertop=build/ownertop/ownertop
seen="$work/err $work/got"
export OWNERTOP_READER=tools/mm/slab_owner.py
# Debian's drgn needs Debian's python3, which may not be the first in PATH.
export PATH="/usr/bin:$PATH"
# The records of the dump are written there.
export TMPDIR="$work"

take_vmcore()
{
	take_dump vmcore slab_owner=on "
		insmod /extra/owner_truth.ko; sleep 1; cat $debug/owner_truth
		echo ===; cat $debug/slab_owner"
}

# ask_vmcore WORD...: ask ownertop about the dump, without names from DWARF: these would add
# frames of inlined functions, which the kernel's names lack
ask_vmcore() { "$ownertop" "$@" --vmcore "$work/core" --vmlinux "$vmlinux" >"$work/got" 2>"$work/err"; }

planted_is_exact()
{
	ask_vmcore --json --no-skip -d 0 -n 0 -g stack,cache &&
		tools/testing/owner/tests/check_truth.py "$work/truth" report "$work/got" >"$work/err" 2>&1
}

view_has_answer()
{
	ask_vmcore "$@" && [ "$(wc -c <"$work/got")" -gt 200 ]
}

# Compare with the live file. The reading of that file has itself allocated and freed memory.
planted_does_not_differ()
{
	ask_vmcore diff --func 'truth_*' --json -n 0 "$work/live" && python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
print(answer["total"], answer["groups"], file=sys.stderr)
sys.exit(answer["groups"] != [] or answer["unchanged"] < 20)' "$work/got" 2>"$work/err"
}

ok "ownertop builds" build_ownertop
ok "a vmcore is taken" take_vmcore
split_output truth live
ok "planted objects are exact" planted_is_exact
for view in table tree folded flame pprof; do
	ok "$view answers" view_has_answer $view
done
ok "diff finds nothing planted that differs from the live file" planted_does_not_differ
ok "a sentence is answered" ask_vmcore "group=cache top=1 if cache == owner_truth"
ok "... exactly" file_has "$work/got" "^ +1 .* 100.0% .* 40 .* owner_truth$"
finish_tests
