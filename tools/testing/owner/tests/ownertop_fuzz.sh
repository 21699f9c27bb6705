#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Fuzz ownertop's readers for RUNS runs. Prints TAP.
usage='RUNS'
. "$(dirname "$0")/prelude.sh"

seen=$work/messages
count_fuzzer_runs() { sed -n 's/^stat::number_of_executed_units: *//p' "$seen"; }
fuzz_readers() { O=$PWD/build/ownertop tools/mm/ownertop/tests/fuzz.sh "runs=$1" >"$seen" 2>&1; }

ok "nothing breaks the readers in $1 runs" fuzz_readers "$1"
echo "# $(count_fuzzer_runs) runs"
ok "as many were made" [ "$(count_fuzzer_runs)" -ge "$1" ]
finish_tests
