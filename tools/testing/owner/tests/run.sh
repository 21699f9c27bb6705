#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make run, with the kernel built, shows the leaking chain first with its bytes and objects.
# Prints TAP.
. "$(dirname "$0")/prelude.sh"

out=$work/out
ok "make run succeeds" sh -c "make -s run >$out 2>&1"
first=$(awk '/leak_open_session/ { print NR; exit }' "$out")
other=$(awk '/^ *2 / { print NR; exit }' "$out")
ok "the leaking chain is named" [ -n "$first" ]
ok "and stands first" [ "${first:-9999}" -lt "${other:-0}" ]
ok "with its objects" file_has "$out" '20,?000'
ok "then three lines say what to try" file_has "$out" 'What to try next'
finish_tests
