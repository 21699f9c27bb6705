#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites of KASAN and SLUB while slab_owner tracks every object and the
# other users of the stack depot are on. Prints TAP. KASAN's suite also has tests of its
# other modes and of other compilers, which name their requirement: these are left out.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

mkdir "$work/extra"
cp "build/$kernel/lib/slub_kunit.ko" "build/$kernel/mm/kasan/kasan_test.ko" "$work/extra" || exit 1
# Both suites provoke reports on purpose; other complaints are none of theirs. The glob
# matches kasan and slub_test, and none of our suites.
# KFENCE would serve one allocation every 100 ms, and KASAN does not report on its objects.
# kmemleak's scan disables KASAN for its task, and for an interrupt of it: a callback of RCU that
# runs there is not reported. The scan begins 60 s after boot.
# shellcheck disable=SC2016 # for the guest's shell
ok "the suites run" run_guest \
	"slab_owner=on page_owner=on kmemleak=on kunit.enable=1 kunit.filter_glob=[ks][al]* \
		kfence.sample_interval=0" '
	kmemleak=/sys/kernel/debug/kmemleak; { [ ! -e $kmemleak ] || echo scan=off >$kmemleak; } &&
	insmod /extra/slub_kunit.ko && insmod /extra/kasan_test.ko &&
	cat /sys/kernel/debug/kunit/slub_test/results /sys/kernel/debug/kunit/kasan/results' \
	--stall 900 --mem 1G --smp 4 --extra "$work/extra" \
	--provokes 'KASAN: |Call Trace|kmemleak: Cannot insert'

# "ok" or "not", suite and test, of each test; what is left out is a comment.
awk '
	$2 == "Subtest:" { suite = $3 }
	/^    1\.\./ { planned += substr($1, 4) }
	/^    (not )?ok / { seen++ }
	/^    ok .* # SKIP Test requires / { print "# left out: " suite ": " $0; next }
	/^    (not )?ok / { sub(/^ */, ""); result = $1; sub(/^[^0-9]*[0-9]* /, ""); print result, suite ": " $0 }
	END { print "# planned " planned ", ran " seen }' "$work/out" >"$work/results"
grep '^#' "$work/results"
ok "each test of two suites ended" grep -qE '^# planned ([5-9][0-9]), ran \1$' "$work/results"
grep -B 8 '^ *not ok' "$work/out" >"$work/failures"
seen=$work/failures
while read -r result name; do
	ok "$name" [ "$result" = ok ]
done <<END
$(grep -v '^#' "$work/results")
END
finish_tests
