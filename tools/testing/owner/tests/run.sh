#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make run, a second time: within a minute, and the leaking chain stands first
# with its bytes and objects. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

out=$(mktemp)
seen=$out
trap 'rm -f "$out"' EXIT
began=$(date +%s)
ok "make run succeeds" sh -c "make -s run >$out 2>&1"
took=$(($(date +%s) - began))
echo "# took $took s"
ok "within 60 s" [ "$took" -le 60 ]
first=$(awk '/leak_open_session/ { print NR; exit }' "$out")
other=$(awk '/^ *2 / { print NR; exit }' "$out")
ok "the leaking chain is named" [ -n "$first" ]
ok "and stands first" [ "${first:-9999}" -lt "${other:-0}" ]
ok "with its objects" has "$out" '20,?000'
ok "then three lines say what to try" has "$out" 'What to try next'
finish
